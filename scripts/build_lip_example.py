"""Make the example that lip to speech shows before a visitor's first video.

Run as `python -m scripts.build_lip_example`, with the trained checkpoints in place.
"""

from earshot.core.paths import CHECKPOINTS
from earshot.media.encode import SilentVideo
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.tabs.lip_to_speech import MODEL
from earshot.tabs.lip_to_speech.view import SOURCE, VisitorVideo, landmarks, write_finished


def main() -> None:
    pipeline = LipToSpeech.from_pretrained(CHECKPOINTS / MODEL, device="cpu")
    pipeline(SOURCE)  # to warm up, so that the time shown is that of a warm model
    silent = SilentVideo()
    reading = pipeline.encode(SOURCE, silent.write)
    speech = pipeline.speak(reading, reading.voice)
    video = VisitorVideo(speech, silent.finish(), landmarks(reading.mouth), None)
    write_finished(video.result())


if __name__ == "__main__":
    main()
