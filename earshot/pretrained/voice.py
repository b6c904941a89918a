"""A voice as data: a vector that the inverter is given, and how high and how widely it moves."""

import secrets
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.speech import NOBODY, OWN, REFERENCE, SHIPPED
from earshot.media.constants import LOG_F0_BELIEF, LOG_F0_VARIANCE

# Cosine of the vectors of 3 s of speech each, for any-voice. Of 52 references of 14 s by one
# validation speaker each, 49 have more (.63 or more where sentences are read, and not single
# words); of 250 by two of them, 6 s each, 229 have less.
ONE_VOICE = 0.45
STRENGTH = 0.8  # of Nobody, unless another is asked for
SEED_BITS = 48  # that JavaScript has as whole numbers
NAMES = {  # of the shipped voices: what networks and files call them, and what people do
    "SF1": "Sophie",
    "TF2": "Tessa",
    "SM1": "Simon",
    "TM3": "Theo",
    "S1": "Stan",
    "Nell": "Nell",
    "Odile": "Odile",
    "Vera": "Vera",
    "Heart": "Heart",
}


def voice_named(name: str) -> str:
    """Return what networks and files call a voice that is given as people call it, as TF2 is Tessa;
    any other name stays as it is.
    """
    return {called.lower(): voice for voice, called in NAMES.items()}.get(name.lower(), name)


@dataclass(frozen=True, eq=False)
class Correction:
    """A measure of what the inverter misses in a voice (earshot.pretrained.correction): content (N,
    C) → what its log-mel spectrograms lack there, in nepers (N, M), both float32.

    loudest: the level of the loudest frame of the reference, in nepers.
    """

    content: np.ndarray
    error: np.ndarray
    loudest: float


@dataclass(frozen=True, eq=False)
class Voice:
    """A voice. vector: float32 (128,) of mean 0 and variance 1; mean and standard deviation of
    log-F0 in log Hz; kind: whose it is, see earshot.media.audio.speech.Origin; corrections: what is
    added to the inverter's spectrograms, and how much of it: none in a voice that the inverter was
    trained on; evened: how far its intonation is predicted where that of the source is kept.
    """

    name: str
    vector: np.ndarray
    pitch_mean: float
    pitch_std: float
    kind: str = SHIPPED
    corrections: tuple[tuple[float, Correction], ...] = ()
    evened: float = 0.0

    def blend(self, other: "Voice", share: float) -> "Voice":
        """Blend a voice between this one (share 0) and another (share 1).

        Raises InputError for a share outside 0 to 1.
        """
        if not 0 <= share <= 1:
            raise InputError("A blend is between 0 (the first voice) and 1 (the second).")
        vector = (1 - share) * self.vector + share * other.vector
        vector = vector - vector.mean()
        return Voice(
            f"{self.name} {100 * (1 - share):.0f} %, {other.name} {100 * share:.0f} %",
            (vector / max(float(vector.std()), 1e-6)).astype(np.float32),
            (1 - share) * self.pitch_mean + share * other.pitch_mean,
            (1 - share) * self.pitch_std + share * other.pitch_std,
            max(self.kind, other.kind, key=(SHIPPED, NOBODY, OWN, REFERENCE).index),
            tuple(
                (part * weight, correction)
                for part, voice in ((1 - share, self), (share, other))
                for weight, correction in voice.corrections
            ),
        )


@dataclass(frozen=True)
class Nobody:
    """A target of conversion that is nobody. strength: how much of the speaker goes, from 0,
    nothing, to 1; seed: the same draws the same voice.

    Raises InputError for a strength that is none.
    """

    strength: float = STRENGTH
    seed: int = field(default_factory=partial(secrets.randbits, SEED_BITS))

    def __post_init__(self) -> None:
        if not isinstance(self.strength, int | float) or not 0 <= self.strength <= 1:
            raise InputError("The strength is between 0, all of you stays, and 1, all of you goes.")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**SEED_BITS:
            raise InputError(f"The seed of a draw is a whole number below 2 to the {SEED_BITS}.")


def check_one_voice(vectors: np.ndarray) -> None:
    """Raise InputError where vectors of consecutive pieces of speech (N, 128) are of two voices.

    A quarter of the pairs may differ: laughter, a cough, a piece that is mostly noise.
    """
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    if len(pairs) and np.percentile(pairs, 25) < ONE_VOICE:
        raise InputError(
            "This sounds like more than one voice.",
            "Record again where nobody else speaks and no music plays.",
        )


def pitch_statistics(pitch: np.ndarray) -> tuple[float, float]:
    """Compute mean and standard deviation of the log-F0 of a contour in Hz (S,), 0 where unvoiced.

    Without a voiced frame the mean is that of 150 Hz.
    """
    voiced = pitch[pitch > 0]
    log_f0 = np.log(voiced if len(voiced) else np.array([150.0]))
    mean = float(log_f0.mean())
    square = float(((log_f0 - mean) ** 2).sum()) + LOG_F0_BELIEF * LOG_F0_VARIANCE
    return mean, float(np.sqrt(square / (len(log_f0) + LOG_F0_BELIEF)))
