"""Discrete units as data: what a visitor sees, edits, saves and loads."""

import json
from dataclasses import dataclass

import numpy as np

from media.errors import InputError

MUTED = -1  # in place of a unit: silence for as long


@dataclass(frozen=True, eq=False)
class Units:
    """A sequence of units.

    codes: int64 (U,), indices of the codebook or MUTED; step: seconds a unit lasts; model: name
    of the model; fingerprint: of its codebook, so that units are spoken by no other.
    """

    codes: np.ndarray
    step: float
    model: str
    fingerprint: str

    def to_json(self) -> str:
        """A JSON document that from_json reads."""
        return json.dumps(
            {
                "model": self.model,
                "fingerprint": self.fingerprint,
                "step": self.step,
                "codes": self.codes.tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Units":
        """Units of a JSON document. Raises InputError when it is not one of ours."""
        try:
            document = json.loads(text)
            codes = document["codes"]
            if not all(type(code) is int for code in codes):
                raise TypeError("codes are whole numbers")
            return cls(
                np.array(codes, dtype=np.int64).reshape(-1),
                float(document["step"]),
                str(document["model"]),
                str(document["fingerprint"]),
            )
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise InputError(
                "This is not a units file. Use the JSON that “units” downloads after a conversion."
            ) from error
