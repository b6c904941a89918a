"""Units and intonation as data: what a visitor sees, edits, saves and loads.

Shapes: U units; of an intonation S frames of 10 ms, U = S / 2 steps of 20 ms, P = ceil(U / 2)
points of 40 ms.
"""

import colorsys
import json
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.json_limits import check_json
from earshot.pretrained.voice import pitch_statistics
from earshot.systems.voice_conversion.settings import MAX_SECONDS, MUTED

MAX_VALUE: Final = 1e4  # in a vector; ours have some tens at most
FRAMES_PER_STEP: Final = 2
STEPS_PER_POINT: Final = 2
LEVELS: Final = 64
RANGE: Final = 3.2  # standard deviations to each side of the mean
# A second: the voicing of each step, and one of 64 levels of each point.
INTONATION_BITS: Final = 50 + 25 * 6.0


@dataclass(frozen=True, eq=False)
class Intonation:
    """The intonation of speech. voiced: bool (U,); log_f0: float32 (U,), relative to the speaker's
    mean and in the speaker's standard deviations, interpolated where unvoiced.
    """

    voiced: np.ndarray
    log_f0: np.ndarray

    @classmethod
    def of(cls, pitch: np.ndarray, statistics: tuple[float, float] | None = None) -> "Intonation":
        """Quantise an F0 contour in Hz (S,), S even, 0 where unvoiced, to INTONATION_BITS a second.

        statistics: mean and standard deviation of the speaker's log-F0, where they are not those
        of the contour.
        """
        frames = np.arange(len(pitch))
        voiced = pitch > 0
        mean, std = statistics or pitch_statistics(pitch)
        relative = np.zeros(len(pitch))
        if voiced.any():
            relative = (np.interp(frames, frames[voiced], np.log(pitch[voiced])) - mean) / std
        steps = relative.reshape(-1, FRAMES_PER_STEP).mean(axis=1)
        padded = np.pad(steps, (0, -len(steps) % STEPS_PER_POINT), mode="edge")
        points = padded.reshape(-1, STEPS_PER_POINT).mean(axis=1)
        levels = np.round((points / RANGE + 1) / 2 * (LEVELS - 1)).clip(0, LEVELS - 1)
        centres = STEPS_PER_POINT * np.arange(len(points)) + (STEPS_PER_POINT - 1) / 2
        quantized = (2 * levels / (LEVELS - 1) - 1) * RANGE
        return cls(
            np.asarray(voiced.reshape(-1, FRAMES_PER_STEP).any(axis=1)),
            np.interp(np.arange(len(steps)), centres, quantized).astype(np.float32),
        )

    def at(self, steps: np.ndarray | slice) -> "Intonation":
        """Take the intonation of the steps with these indices, one after the other."""
        return Intonation(self.voiced[steps], self.log_f0[steps])

    def then(self, other: "Intonation") -> "Intonation":
        """Append another intonation."""
        return Intonation(
            np.append(self.voiced, other.voiced), np.append(self.log_f0, other.log_f0)
        )

    def contour(self, pitch_std: float) -> np.ndarray:
        """Compute voicing (0 or 1) and log-F0 relative to the mean of a voice with this standard
        deviation, as the inverter takes them: float32 (S, 2).
        """
        voiced = np.repeat(self.voiced, FRAMES_PER_STEP)
        centres = FRAMES_PER_STEP * np.arange(len(self.log_f0)) + (FRAMES_PER_STEP - 1) / 2
        relative = np.interp(np.arange(len(voiced)), centres, self.log_f0) * pitch_std
        return np.stack([voiced, voiced * relative], axis=1).astype(np.float32)

    def document(self) -> dict[str, Any]:
        """Write the intonation for a JSON file; from_document reads it."""
        return {"voiced": self.voiced.astype(int).tolist(), "log_f0": _rounded(self.log_f0)}

    @classmethod
    def from_document(cls, document: Any, steps: int) -> "Intonation":
        """Read an intonation. Raises ValueError, TypeError or KeyError unless it is one of this
        many steps.
        """
        voiced = np.array(document["voiced"], dtype=np.float32)
        log_f0 = np.array(document["log_f0"], dtype=np.float32)
        if voiced.shape != (steps,) or log_f0.shape != (steps,) or not np.isfinite(log_f0).all():
            raise ValueError("one number a step")
        return cls(voiced > 0, log_f0.clip(-RANGE, RANGE))


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
            document["vectors"] = _rounded(self.vectors)
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


def _rounded(values: np.ndarray) -> list:
    return values.astype(np.float64).round(3).tolist()


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
