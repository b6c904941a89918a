"""The film that lip to speech shows before a visitor's first one, kept in assets/examples."""

import json
from dataclasses import asdict
from typing import Final

from media.paths import ASSETS
from tabs.components.timeline.lanes import Spectrogram
from tabs.components.timeline.video_lanes import FilmStrip, Word
from tabs.lip_to_speech.view import LipResult

SOURCE: Final = ASSETS / "heads" / "noor.mp4"
FINISHED: Final = ASSETS / "examples" / "finished-lips.json"
FILES: Final = {
    "film": "finished-lips.mp4",
    "speech": "finished-lips.wav",
    "landmarks": "finished-lips-landmarks.json",
}


def write_finished(result: LipResult) -> None:
    """Writes what the tab shows before its first run: that of SOURCE, without its real sound."""
    data = asdict(result)
    del data["real"]
    for name, file in FILES.items():
        (FINISHED.parent / file).write_bytes(data.pop(name))
    FINISHED.write_text(json.dumps(data) + "\n")


def read_finished() -> LipResult | None:
    """What the tab shows before its first run; None where nothing was made."""
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    mouths = data.pop("mouths")
    return LipResult(
        **{name: (FINISHED.parent / file).read_bytes() for name, file in FILES.items()},
        words=tuple(Word(*word) for word in data.pop("words")),
        drawn=Spectrogram(**data.pop("drawn")),
        mouths=FilmStrip(**mouths | {"pictures": tuple(mouths["pictures"])}),
        **data,
    )
