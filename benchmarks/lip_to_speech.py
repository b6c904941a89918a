"""python -m benchmarks.lip_to_speech: from a video to its predicted speech, by part.

Next to it, in the same run, MediaPipe's face mesh alone: a lower bound for tracking with it. Times
are medians. Writes lip_to_speech.md.
"""

import platform
import resource
from pathlib import Path

import torch

from benchmarks.voice_conversion import REPEATS, median
from earshot.media.encode import add_audio, encode_video
from earshot.media.video import Frame, frames
from earshot.media.video.face import track_face
from earshot.media.video.lips import crop_mouth
from earshot.systems.lip_to_speech import LipReading, LipToSpeech

ROOT = Path(__file__).parents[1]
VIDEO = ROOT / "assets" / "heads" / "ada.mp4"


def main() -> None:
    """Measure, print, and write the table."""
    pipeline = LipToSpeech.from_pretrained(ROOT / "checkpoints" / "lip-to-speech", "cpu")
    text = "\n".join(lines(pipeline)) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def lines(pipeline: LipToSpeech) -> list[str]:
    """Measure every part, and write the page."""
    images = list(frames(VIDEO, pipeline.MAX_SECONDS))
    seen = track_face(iter(images))
    reading = pipeline.encode(VIDEO)
    speech = pipeline.speak(reading, reading.voice).speech
    mesh = median(lambda: _mesh(images))
    parts = {
        "decoding the video": median(lambda: list(frames(VIDEO, pipeline.MAX_SECONDS))),
        "tracking the face": median(lambda: track_face(iter(images))),
        "cropping the mouth": median(lambda: crop_mouth(seen)),
        "encoding the mouth and the face": median(lambda: _read(pipeline, reading)),
        **{
            f"speaking, {vocoder}": median(
                lambda name=vocoder: pipeline.speak(reading, reading.voice, name)
            )
            for vocoder in pipeline.VOCODERS
        },
        "encoding the video for the page, with the speech": median(
            lambda: add_audio(encode_video(iter(images)), speech.waveform, speech.sample_rate)
        ),
        "**video → speech**": median(lambda: pipeline(VIDEO)),
        "MediaPipe's face mesh alone": mesh,
    }
    seconds = reading.mouth.seconds
    tracking = parts["decoding the video"] + parts["tracking the face"]
    whole, memory = parts["**video → speech**"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [
        "# Lip to speech: speed",
        "",
        f"`python -m benchmarks.lip_to_speech`, threads: {torch.get_num_threads()}, "
        f"{platform.machine()}, torch {torch.__version__}. Medians of {REPEATS} runs.",
        "",
        f"| {seconds:.1f} s of video, {images[0].image.shape[1]} × {images[0].image.shape[0]}, "
        f"{len(images)} frames | s | of real time |",
        "|---|---:|---:|",
        *(f"| {name} | {taken:.3f} | {taken / seconds:.3f} |" for name, taken in parts.items()),
        "",
        f"Tracking runs at {len(images) / tracking:.0f} images a second, MediaPipe alone at "
        f"{len(images) / mesh:.0f}; the whole takes {whole / mesh:.1f} times as long as "
        f"MediaPipe alone. Peak memory of the process, libraries included: {memory / 1e6:.2f} GB.",
    ]


def _read(pipeline: LipToSpeech, reading: LipReading) -> None:
    with torch.inference_mode():
        pipeline._read_lips(reading.mouth)
        pipeline._suggest_voice(reading.mouth.portraits)


def _mesh(images: list[Frame]) -> None:
    from mediapipe.python.solutions import face_mesh  # late, as in earshot.media.video.face

    with face_mesh.FaceMesh(max_num_faces=1) as mesh:
        for _, image in images:
            mesh.process(image)


if __name__ == "__main__":
    main()
