"""The example that lip to speech shows before a visitor's first video, in assets/examples."""

import json
from dataclasses import asdict
from typing import Final

from earshot.core.paths import ASSETS
from earshot.tabs.components.lanes import Spectrogram, VideoStrip, Word
from earshot.tabs.lip_to_speech.view import LipResult

SOURCE: Final = ASSETS / "heads" / "noor.mp4"
NOTE: Final = "This example is Noor, a synthetic speaker from the training set."
FINISHED: Final = ASSETS / "examples" / "finished-lips.json"
FILES: Final = {
    "video": "finished-lips.mp4",
    "speech": "finished-lips.wav",
    "landmarks": "finished-lips-landmarks.json",
}


def write_finished(result: LipResult) -> None:
    """Write what the tab shows before its first run: the result of SOURCE, without its audio."""
    data = asdict(result)
    del data["original"]
    for name, file in FILES.items():
        (FINISHED.parent / file).write_bytes(data.pop(name))
    FINISHED.write_text(json.dumps(data) + "\n")


def read_finished() -> LipResult | None:
    """Read the result that the tab shows before its first run; None where nothing is stored."""
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    mouths = data.pop("mouths")
    return LipResult(
        **{name: (FINISHED.parent / file).read_bytes() for name, file in FILES.items()},
        words=tuple(Word(*word) for word in data.pop("words")),
        predicted=Spectrogram(**data.pop("predicted")),
        mouths=VideoStrip(**mouths | {"pictures": tuple(mouths["pictures"])}),
        **data,
    )
