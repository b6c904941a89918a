"""python -m benchmarks.lip_to_speech: from a film to the speech of its lips, by part.

Beside it, in the same run, MediaPipe's face mesh alone, which nothing that follows a face by it can
be faster than. Times are medians. Writes lip_to_speech.md.
"""

import platform
import resource
from pathlib import Path

import torch

from benchmarks.voice_conversion import REPEATS, median
from media.video import Frame, frames
from media.video.encode import silent_film, with_sound
from media.video.face import look
from media.video.lips import follow
from pipelines.lip_to_speech import LipToSpeech
from pipelines.lip_to_speech.result import Reading

ROOT = Path(__file__).parents[1]
FILM = ROOT / "assets" / "heads" / "ada.mp4"


def main() -> None:
    """Measure, print, and write the table."""
    pipeline = LipToSpeech.from_pretrained(ROOT / "checkpoints" / "lip-to-speech", "cpu")
    text = "\n".join(lines(pipeline)) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def lines(pipeline: LipToSpeech) -> list[str]:
    """The page."""
    pictures = list(frames(FILM, pipeline.MAX_SECONDS))
    seen = look(iter(pictures))
    reading = pipeline.watch(FILM)
    speech = pipeline.speak(reading, reading.voice).speech
    mesh = median(lambda: _mesh(pictures))
    parts = {
        "decoding the film": median(lambda: list(frames(FILM, pipeline.MAX_SECONDS))),
        "following the face": median(lambda: look(iter(pictures))),
        "cutting out the mouth": median(lambda: follow(seen)),
        "reading the lips, and the voice from the face": median(lambda: _read(pipeline, reading)),
        **{
            f"speaking, {vocoder}": median(
                lambda name=vocoder: pipeline.speak(reading, reading.voice, name)
            )
            for vocoder in pipeline.VOCODERS
        },
        "the film for the page, with the speech": median(
            lambda: with_sound(silent_film(iter(pictures)), speech.waveform, speech.sample_rate)
        ),
        "**film → speech**": median(lambda: pipeline(FILM)),
        "MediaPipe's face mesh alone": mesh,
    }
    seconds = reading.mouth.seconds
    tracking = parts["decoding the film"] + parts["following the face"]
    whole, memory = parts["**film → speech**"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [
        "# Lip to speech: speed",
        "",
        f"`python -m benchmarks.lip_to_speech`, {torch.get_num_threads()} threads, "
        f"{platform.machine()}, torch {torch.__version__}. Medians of {REPEATS} runs.",
        "",
        f"| {seconds:.1f} s of film, {pictures[0].image.shape[1]} × {pictures[0].image.shape[0]}, "
        f"{len(pictures)} pictures | s | of real time |",
        "|---|---:|---:|",
        *(f"| {name} | {taken:.3f} | {taken / seconds:.3f} |" for name, taken in parts.items()),
        "",
        f"Tracking runs at {len(pictures) / tracking:.0f} pictures a second, MediaPipe alone at "
        f"{len(pictures) / mesh:.0f}; the whole takes {whole / mesh:.1f} times as long as "
        f"MediaPipe alone. Peak memory of the process, libraries included: {memory / 1e6:.2f} GB.",
    ]


def _read(pipeline: LipToSpeech, reading: Reading) -> None:
    with torch.inference_mode():
        pipeline._read(reading.mouth)
        pipeline._guess(reading.mouth.portraits)


def _mesh(pictures: list[Frame]) -> None:
    from mediapipe.python.solutions import face_mesh  # late, as in media.video.face

    with face_mesh.FaceMesh(max_num_faces=1) as mesh:
        for _, image in pictures:
            mesh.process(image)


if __name__ == "__main__":
    main()
