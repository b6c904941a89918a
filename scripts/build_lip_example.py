"""Makes the film that lip to speech shows before a visitor's first one.

Run as `python -m scripts.build_lip_example`, with the trained checkpoints in place.
"""

from media.paths import CHECKPOINTS
from media.video import frames
from media.video.encode import silent_film
from pipelines.lip_to_speech import LipToSpeech
from tabs.lip_to_speech import MODEL
from tabs.lip_to_speech.example import SOURCE, write_finished
from tabs.lip_to_speech.view import Watched, landmarks


def main() -> None:
    pipeline = LipToSpeech.from_pretrained(CHECKPOINTS / MODEL, device="cpu")
    pipeline(SOURCE)  # once for nothing, so that the time shown is that of a warm model
    speech = pipeline(SOURCE)
    film = silent_film(frames(SOURCE, pipeline.MAX_SECONDS))
    write_finished(Watched(speech, film, landmarks(speech.reading.mouth), None).result())


if __name__ == "__main__":
    main()
