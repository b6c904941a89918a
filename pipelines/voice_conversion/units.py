"""Discrete units as data: what a visitor sees, edits, saves and loads."""

import colorsys
import json
from dataclasses import dataclass

import numpy as np

from media.errors import InputError


@dataclass(frozen=True, eq=False)
class Units:
    """A sequence of units.

    codes: int64 (U,), indices into the codebook or settings.MUTED; step: duration of a unit in
    seconds; model: its name; fingerprint: of its codebook, so that no other model decodes them.
    """

    codes: np.ndarray
    step: float
    model: str
    fingerprint: str

    def to_json(self) -> str:
        """The units as a JSON document, for from_json."""
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
        """Units from a JSON document. Raises InputError when it is not one of to_json."""
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


def codebook_colors(codebook: np.ndarray) -> tuple[str, ...]:
    """A colour for each unit, similar for similar codebook vectors: (K, D) → K times "#rrggbb".

    The angle of the first two principal components is the hue, the rank along the third the
    lightness.
    """
    centred = codebook - codebook.mean(axis=0)
    components = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    hue = np.arctan2(components[:, 1], components[:, 0]) / (2 * np.pi) % 1.0
    rank = components[:, 2].argsort().argsort() / max(len(codebook) - 1, 1)
    rgb = [colorsys.hls_to_rgb(h, 0.35 + 0.35 * r, 0.6) for h, r in zip(hue, rank, strict=True)]
    return tuple("#" + "".join(f"{round(255 * c):02x}" for c in color) for color in rgb)
