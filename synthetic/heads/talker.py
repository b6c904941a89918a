"""Who is painted."""

from dataclasses import dataclass
from typing import Literal

from synthetic.heads.canvas import Colour


@dataclass(frozen=True)
class Talker:
    """Colours are RGB. voice: of espeak-ng, with pitch and speed as its options have them; jaw:
    how wide, 1 for a usual one; beard: from 0, shaven, to 1."""

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


TALKERS = (
    Talker(
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
    Talker(
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
    Talker(
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
