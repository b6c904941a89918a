"""Makes the example that lip to speech shows before a visitor's first video.

Run as `python -m scripts.build_lip_example`, with the trained checkpoints in place.
"""

from earshot.core.paths import CHECKPOINTS
from earshot.media.video import frames
from earshot.media.video.encode import encode_video
from earshot.pipelines.lip_to_speech import LipToSpeech
from earshot.tabs.lip_to_speech import MODEL
from earshot.tabs.lip_to_speech.example import SOURCE, write_finished
from earshot.tabs.lip_to_speech.view import VisitorVideo, landmarks


def main() -> None:
    pipeline = LipToSpeech.from_pretrained(CHECKPOINTS / MODEL, device="cpu")
    pipeline(SOURCE)  # to warm up, so that the time shown is that of a warm model
    speech = pipeline(SOURCE)
    silent = encode_video(frames(SOURCE, pipeline.MAX_SECONDS))
    write_finished(VisitorVideo(speech, silent, landmarks(speech.reading.mouth), None).result())


if __name__ == "__main__":
    main()
