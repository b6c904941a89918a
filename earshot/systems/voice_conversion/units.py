"""Discovered units as data: what a visitor sees, edits, saves and loads."""

import colorsys
import json
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.json_limits import check_json
from earshot.systems.voice_conversion.intonation import Intonation
from earshot.systems.voice_conversion.settings import MAX_SECONDS, MUTED

MAX_VALUE: Final = 1e4  # in a vector; ours have some tens at most


@dataclass(frozen=True, eq=False)
class Units:
    """A sequence of units, and what goes with them in models that carry more.

    codes: int64 (U,), indices into the codebook or settings.MUTED; step: duration of a unit in
    seconds; model: its name; fingerprint: of its codebook, so that no other model decodes them;
    vectors: float32 (U, D), what is decoded where a model carries more than one of its units a
    step, whose codes are then the nearest units; intonation: of the source; edited: bool (U,),
    which units an edit put in, None where there are none.
    """

    codes: np.ndarray
    step: float
    model: str
    fingerprint: str
    vectors: np.ndarray | None = None
    intonation: Intonation | None = None
    edited: np.ndarray | None = None

    def check(self, model: str, fingerprint: str, codebook_size: int, step: float) -> None:
        """Raise InputError unless the model with this codebook and step can decode the units."""
        if (self.model, self.fingerprint) != (model, fingerprint):
            raise InputError(
                f"These units are of another model ({self.model}). Choose that one to speak them."
            )
        if len(self.codes) == 0:
            raise InputError("There are no units left to speak.", "Undo, or convert again.")
        if len(self.codes) * step > MAX_SECONDS:
            raise InputError(f"There are more units than fit in {MAX_SECONDS:.0f} s.")
        if self.codes.min() < MUTED or self.codes.max() >= codebook_size:
            raise InputError(f"Units of this model are numbered 0 to {codebook_size - 1}.")

    def at(self, indices: np.ndarray) -> "Units":
        """Take the units with these indices, one after the other, with all that goes with them."""
        return replace(
            self,
            codes=self.codes[indices],
            vectors=None if self.vectors is None else self.vectors[indices],
            intonation=self.intonation and self.intonation.at(indices),
            edited=None if self.edited is None else self.edited[indices],
        )

    def put(self, indices: np.ndarray, unit: int) -> "Units":
        """Put a unit, or MUTED, in the place of those with these indices, which are edited then."""
        codes, edited = self.codes.copy(), np.zeros(len(self.codes), bool)
        if self.edited is not None:
            edited |= self.edited
        codes[indices], edited[indices] = unit, True
        return replace(self, codes=codes, edited=edited)

    def to_json(self) -> str:
        """Write the units as a JSON document, for from_json."""
        document: dict[str, Any] = {
            "model": self.model,
            "fingerprint": self.fingerprint,
            "step": self.step,
            "codes": self.codes.tolist(),
        }
        if self.vectors is not None:
            document["vectors"] = self.vectors.astype(np.float64).round(3).tolist()
        if self.intonation is not None:
            document["intonation"] = self.intonation.document()
        if self.edited is not None and self.edited.any():
            document["edited"] = np.flatnonzero(self.edited).tolist()
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str) -> "Units":
        """Read units from a JSON document. Raises InputError when it is not one of to_json."""
        check_json(text.encode("utf-8", "surrogatepass"))
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
                _vectors(document.get("vectors"), len(codes)),
                _intonation(document.get("intonation"), len(codes)),
                _edited(document.get("edited"), len(codes)),
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise InputError(
                "This is not a units file.",
                "Use the JSON that “units” downloads after a conversion.",
            ) from error


def _vectors(document: Any, steps: int) -> np.ndarray | None:
    if document is None:
        return None
    vectors = np.array(document, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != steps or not (np.abs(vectors) <= MAX_VALUE).all():
        raise ValueError("one vector a step")
    return vectors


def _intonation(document: Any, steps: int) -> Intonation | None:
    return None if document is None else Intonation.from_document(document, steps)


def _edited(document: Any, steps: int) -> np.ndarray | None:
    if document is None:
        return None
    edited = np.zeros(steps, bool)
    if not all(type(index) is int and 0 <= index < steps for index in document):
        raise ValueError("indices of units")
    edited[document] = True
    return edited


def codebook_colors(codebook: np.ndarray) -> tuple[str, ...]:
    """Choose a colour for each unit, similar for similar codebook vectors: (K, D) → K times
    "#rrggbb".

    The angle of the first two principal components is the hue, the rank along the third the
    lightness.
    """
    centred = codebook - codebook.mean(axis=0)
    components = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    hue = np.arctan2(components[:, 1], components[:, 0]) / (2 * np.pi) % 1.0
    rank = components[:, 2].argsort().argsort() / max(len(codebook) - 1, 1)
    rgb = [colorsys.hls_to_rgb(h, 0.35 + 0.35 * r, 0.6) for h, r in zip(hue, rank, strict=True)]
    return tuple("#" + "".join(f"{round(255 * c):02x}" for c in color) for color in rgb)
