"""The movement of the mouth, made from phones by dominance functions.

Every phone has a target shape, weighted by a dominance that decays with distance in time; features
with low dominance follow the neighbouring phones (Cohen and Massaro, Modeling coarticulation in
synthetic visual speech, 1993). Shapes: N frames of the video.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from synthetic.heads.speech import Phone


@dataclass(frozen=True)
class Pose:
    """The shape of the mouth. opening: between the lips, in units; below 0 they are pressed. width:
    half the mouth's, in units, before it is rounded. jaw: how far it has dropped, in units. The
    others from 0 to 1: rounding, teeth bared, tongue raised, and tuck, the lower lip at the upper
    teeth.
    """

    opening: float = 0.0
    width: float = 0.56
    jaw: float = 0.0
    rounding: float = 0.0
    teeth: float = 0.0
    tongue: float = 0.3
    tuck: float = 0.0


@dataclass(frozen=True)
class Viseme:
    """The target of a phone; height: its dominance over opening, jaw, teeth, tongue and tuck; lips:
    over width and rounding."""

    pose: Pose
    height: float = 1.0
    lips: float = 1.0


REST: Final = Viseme(Pose(), 0.6, 0.6)
BILABIAL: Final = Viseme(Pose(-0.08, 0.56, 0.02), 4.0, 0.3)
LABIODENTAL: Final = Viseme(Pose(0.05, 0.57, 0.03, 0.0, 0.6, 0.2, 1.0), 4.0, 0.4)
DENTAL: Final = Viseme(Pose(0.1, 0.58, 0.05, 0.0, 0.3, 1.0), 2.0, 0.3)
SIBILANT: Final = Viseme(Pose(0.09, 0.6, 0.03, 0.0, 1.0, 0.3), 2.5, 0.4)
ALVEOLAR: Final = Viseme(Pose(0.13, 0.58, 0.07, 0.0, 0.5, 0.8), 1.2, 0.25)
VELAR: Final = Viseme(Pose(0.16, 0.57, 0.1, 0.0, 0.2, 0.4), 0.8, 0.2)
POSTALVEOLAR: Final = Viseme(Pose(0.13, 0.52, 0.04, 0.7, 0.8, 0.3), 2.0, 2.0)
CLOSE_FRONT: Final = Viseme(Pose(0.17, 0.66, 0.07, 0.0, 0.6, 0.6))
MID_FRONT: Final = Viseme(Pose(0.26, 0.61, 0.16, 0.0, 0.4, 0.4))
OPEN_BACK: Final = Viseme(Pose(0.38, 0.58, 0.28, 0.0, 0.3, 0.2))
OPEN_FRONT: Final = Viseme(Pose(0.36, 0.63, 0.24, 0.0, 0.5, 0.2))
MID_CENTRAL: Final = Viseme(Pose(0.24, 0.56, 0.15, 0.1, 0.2, 0.3), 0.8, 0.6)
MID_ROUNDED: Final = Viseme(Pose(0.26, 0.52, 0.17, 0.75, 0.0, 0.2), 1.2, 2.0)
CLOSE_ROUNDED: Final = Viseme(Pose(0.11, 0.5, 0.06, 1.0, 0.0, 0.2), 1.5, 3.0)
VISEMES: Final[dict[str, tuple[Viseme, ...]]] = {
    **dict.fromkeys("B M P".split(), (BILABIAL,)),
    **dict.fromkeys("F V".split(), (LABIODENTAL,)),
    **dict.fromkeys("DH TH".split(), (DENTAL,)),
    **dict.fromkeys("S Z".split(), (SIBILANT,)),
    **dict.fromkeys("D L N T".split(), (ALVEOLAR,)),
    **dict.fromkeys("G HH K NG".split(), (VELAR,)),
    **dict.fromkeys("CH ER JH R SH ZH".split(), (POSTALVEOLAR,)),
    **dict.fromkeys("IH IY Y".split(), (CLOSE_FRONT,)),
    **dict.fromkeys("AO UH".split(), (MID_ROUNDED,)),
    **dict.fromkeys("UW W".split(), (CLOSE_ROUNDED,)),
    "AA": (OPEN_BACK,),
    "AE": (OPEN_FRONT,),
    "AH": (MID_CENTRAL,),
    "EH": (MID_FRONT,),
    "AW": (OPEN_BACK, CLOSE_ROUNDED),
    "AY": (OPEN_BACK, CLOSE_FRONT),
    "EY": (MID_FRONT, CLOSE_FRONT),
    "OW": (MID_ROUNDED, CLOSE_ROUNDED),
    "OY": (MID_ROUNDED, CLOSE_FRONT),
}
LEAD: Final = 0.03  # s by which articulation leads the sound
REACH: Final = 0.02  # s added to the time constant of dominance, half the phone's duration
MIN_CLOSURE: Final = 0.02  # s: closed lips stay closed, to both sides of their middle
OPENING_SPEED: Final = 5.0  # units per second
REST_PARTS: Final = 3  # into which a silence is cut, so that it begins and ends soon


def poses(phones: Sequence[Phone], times: np.ndarray) -> list[Pose]:
    """Compute the mouth at each of the times (N,), in seconds."""
    parts = _parts(phones, times[-1])
    starts, ends = np.array([(start, end) for _, start, end in parts]).T - LEAD
    distance = np.abs(times[:, None] - (starts + ends) / 2)
    dominance = np.exp(-distance / ((ends - starts) / 2 + REACH))
    height = dominance * [viseme.height for viseme, _, _ in parts]
    lips = dominance * [viseme.lips for viseme, _, _ in parts]
    curves = {}
    for name in (field.name for field in fields(Pose)):
        weights = lips if name in ("width", "rounding") else height
        targets = np.array([getattr(viseme.pose, name) for viseme, _, _ in parts])
        curves[name] = weights @ targets / weights.sum(axis=1)
    # Bilabials close however short they are, in the frame nearest to them.
    for viseme, start, end in parts:
        if viseme is BILABIAL:
            outside = np.abs(times - (start + end) / 2 + LEAD) - max((end - start) / 4, MIN_CLOSURE)
            opening = viseme.pose.opening + OPENING_SPEED * np.clip(outside, 0, None)
            curves["opening"] = np.minimum(curves["opening"], opening)
    return [Pose(*map(float, values)) for values in zip(*curves.values(), strict=True)]


def _parts(phones: Sequence[Phone], end: float) -> list[tuple[Viseme, float, float]]:
    """Time the visemes, with start and end in seconds: diphthongs in two halves, and rest in
    silence.
    """
    spans = [((REST,) * REST_PARTS, 0.0, phones[0].start)]
    spans += [(VISEMES[phone.name], phone.start, phone.end) for phone in phones]
    spans += [((REST,) * REST_PARTS, phones[-1].end, end)]
    return [
        (viseme, float(begins), float(ends))
        for visemes, start, stop in spans
        for edges in [np.linspace(start, stop, len(visemes) + 1)]
        for viseme, begins, ends in zip(visemes, edges[:-1], edges[1:], strict=True)
    ]
