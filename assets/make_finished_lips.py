"""Makes the film that lip to speech shows before a visitor's first one.

Run as `python -m assets.make_finished_lips`, with the trained checkpoints in place.
"""

from pathlib import Path
from typing import Final

from media.film import silent_film
from media.video import frames
from pipelines.lip_to_speech import LipToSpeech
from tabs.finished_lips import SOURCE, write_finished
from tabs.lip_result import Watched, landmarks
from tabs.lip_to_speech import MODEL

CHECKPOINTS: Final = Path(__file__).parent.parent / "checkpoints"


def main() -> None:
    pipeline = LipToSpeech.from_pretrained(CHECKPOINTS / MODEL, device="cpu")
    pipeline(SOURCE)  # once for nothing, so that the time shown is that of a warm model
    speech = pipeline(SOURCE)
    film = silent_film(frames(SOURCE, pipeline.MAX_SECONDS))
    write_finished(Watched(speech, film, landmarks(speech.reading.mouth), None).result())


if __name__ == "__main__":
    main()
