"""The synthetic speakers: face, hair, clothes, and voice of espeak-ng."""

from dataclasses import dataclass
from typing import Literal

from synthetic.heads.canvas import Colour


@dataclass(frozen=True)
class Speaker:
    """A synthetic speaker. Colours are RGB. voice, pitch and speed: options of espeak-ng; jaw:
    relative width, 1 on average; beard: from 0, shaven, to 1.
    """

    name: str
    voice: str
    pitch: int
    speed: int
    skin: Colour
    lips: Colour
    eyes: Colour
    hair: Colour
    style: Literal["long", "short", "curly"]
    clothes: Colour
    backdrop: Colour
    jaw: float = 1.0
    beard: float = 0.0
    glasses: bool = False


# The lip reader is trained on other sentences of these.
SPEAKERS = (
    Speaker(
        name="ada",
        voice="en-gb+f3",
        pitch=58,
        speed=130,
        skin=(238, 193, 165),
        lips=(196, 96, 96),
        eyes=(72, 112, 96),
        hair=(112, 52, 30),
        style="long",
        clothes=(38, 84, 96),
        backdrop=(214, 208, 196),
        jaw=0.94,
    ),
    Speaker(
        name="kofi",
        voice="en-us+m3",
        pitch=32,
        speed=130,
        skin=(150, 98, 70),
        lips=(148, 84, 78),
        eyes=(58, 36, 24),
        hair=(30, 25, 24),
        style="curly",
        clothes=(196, 148, 62),
        backdrop=(120, 150, 156),
        jaw=1.06,
        beard=0.65,
    ),
    Speaker(
        name="noor",
        voice="en-gb-scotland+f2",
        pitch=48,
        speed=130,
        skin=(212, 158, 120),
        lips=(170, 84, 84),
        eyes=(84, 58, 34),
        hair=(36, 30, 34),
        style="short",
        clothes=(120, 62, 84),
        backdrop=(196, 186, 204),
        glasses=True,
    ),
)

# The lip reader has seen neither these faces nor these voices.
UNSEEN_SPEAKERS = (
    Speaker(
        name="mina",
        voice="en-us+f5",
        pitch=66,
        speed=140,
        skin=(226, 178, 142),
        lips=(184, 92, 98),
        eyes=(48, 34, 28),
        hair=(24, 20, 22),
        style="long",
        clothes=(148, 54, 60),
        backdrop=(176, 196, 188),
        jaw=0.9,
    ),
    Speaker(
        name="tom",
        voice="en-gb-x-rp+m6",
        pitch=40,
        speed=120,
        skin=(246, 208, 186),
        lips=(190, 112, 106),
        eyes=(96, 128, 152),
        hair=(168, 116, 64),
        style="short",
        clothes=(52, 66, 104),
        backdrop=(222, 214, 190),
        jaw=1.1,
        beard=0.3,
        glasses=True,
    ),
)
