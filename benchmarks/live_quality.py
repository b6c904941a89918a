"""python -m benchmarks.live_quality: what is lost when speech is converted live, by words.

GRID sentences of $EARSHOT_DATA by speakers whom nothing was trained on, converted whole and as a
stream, both through the neural vocoder; word errors by pocketsphinx with GRID's grammar, and DNSMOS
of the first few. Each stream has heard another sentence before, as after the first seconds. Writes
live_quality.md.
"""

import os
from pathlib import Path
from typing import Final

import numpy as np

from media.constants import SAMPLE_RATE
from media.paths import CHECKPOINTS
from media.text.grammar import GRID
from pipelines.voice_conversion import VoiceConversion, settings
from pipelines.voice_conversion.live import LiveConversion
from training.evaluators import naturalness
from training.evaluators.metrics import word_error_rate
from training.evaluators.sphinx import Sphinx
from training.voice_conversion.evaluate.material import Budget, choose

MOST: Final = 20  # sentences
JUDGED: Final = 6  # of them, by DNSMOS


def main() -> None:
    """Measure, print, and write the table."""
    name = settings.LIVE
    pipeline = VoiceConversion.from_pretrained(CHECKPOINTS / name, "cpu")
    sentences = choose(Path(os.environ["EARSHOT_DATA"]), "test", Budget()).sentences[:MOST]
    said = [sentence.waveform for sentence in sentences]
    words = [sentence.words for sentence in sentences]
    systems = {
        "original": said,
        f"{name}, whole": [whole(pipeline, waveform) for waveform in said],
        f"{name}, live": [
            live(pipeline, before, waveform)
            for before, waveform in zip(said[1:] + said[:1], said, strict=True)
        ],
    }
    judge = Sphinx(word for slot in GRID for word in slot.items())
    lines = [
        f"`python -m benchmarks.live_quality`: {len(said)} sentences of GRID, "
        f"{sum(map(len, words))} words, to {settings.DEFAULT_VOICE}.",
        "",
        "| system | word errors % | DNSMOS |",
        "|---|---:|---:|",
    ]
    for system, waveforms in systems.items():
        error = word_error_rate(words, [judge.words(waveform, GRID) for waveform in waveforms])
        score = naturalness.dnsmos(waveforms[:JUDGED])["dnsmos"]
        lines.append(f"| {system} | {error:.1f} | {score:.2f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def whole(pipeline: VoiceConversion, waveform: np.ndarray) -> np.ndarray:
    """The conversion of a recording (T,)."""
    return pipeline((SAMPLE_RATE, waveform), vocoder="neural").converted.waveform


def live(pipeline: VoiceConversion, before: np.ndarray, waveform: np.ndarray) -> np.ndarray:
    """The conversion of a recording (T,) as a stream that has heard another one before."""
    conversion = LiveConversion(pipeline)
    late = round(LiveConversion.delay * SAMPLE_RATE)
    rest = np.zeros(round(LiveConversion.latency * SAMPLE_RATE), np.float32)
    spoken = conversion.push(np.concatenate([before, waveform, rest]))
    return spoken[len(before) + late :][: len(waveform)]


if __name__ == "__main__":
    main()
