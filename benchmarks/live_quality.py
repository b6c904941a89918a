"""python -m benchmarks.live_quality [HOP/AHEAD …]: what is lost when speech is converted live.

GRID sentences of $EARSHOT_DATA by speakers whom nothing was trained on, converted whole and as a
stream, both through the neural vocoder; word errors by pocketsphinx with GRID's grammar, DNSMOS of
the first few, and how much of the units is as in the whole recording. HOP/AHEAD: milliseconds of a
hop and of what is seen ahead, by default those of Live. Each stream has heard another sentence
before, as after the first seconds. Writes live_quality.md.
"""

import os
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

from media.constants import FRAME_SECONDS, SAMPLE_RATE
from media.paths import CHECKPOINTS
from media.text.grammar import GRID
from pipelines.voice_conversion import settings
from pipelines.voice_conversion.converter import Converter
from pipelines.voice_conversion.converters import Converters
from pipelines.voice_conversion.live import LiveConversion, LiveNetworks, Timing, load_networks
from pipelines.voice_conversion.live.conversion import TIMING
from pipelines.voice_conversion.settings import MUTED
from training.evaluators import naturalness
from training.evaluators.metrics import word_error_rate
from training.evaluators.sphinx import Sphinx
from training.voice_conversion.evaluate.material import Budget, choose

MOST: Final = 20  # sentences
JUDGED: Final = 6  # of them, by DNSMOS


def main(asked: list[str]) -> None:
    """Measure, print, and write the table."""
    checkpoint = settings.live_checkpoint(CHECKPOINTS)
    name = next(n for n, m in settings.MODELS.items() if m.checkpoint == checkpoint.name)
    pipeline, networks = Converters(CHECKPOINTS, "cpu")(name), load_networks(checkpoint)
    sentences = choose(Path(os.environ["EARSHOT_DATA"]), "test", Budget()).sentences[:MOST]
    said = [sentence.waveform for sentence in sentences]
    words = [sentence.words for sentence in sentences]
    judge = Sphinx(word for slot in GRID for word in slot.items())
    lines = [
        f"`python -m benchmarks.live_quality {' '.join(asked)}`: {len(said)} sentences of GRID, "
        f"{sum(map(len, words))} words, by {name} to {settings.DEFAULT_VOICE}.",
        "",
        "| system | word errors % | DNSMOS | units as in the whole | CPU time of real time |",
        "|---|---:|---:|---:|---:|",
    ]

    def row(system: str, waveforms: list[np.ndarray], rest: str = "– | –") -> None:
        error = word_error_rate(words, [judge.words(waveform, GRID) for waveform in waveforms])
        score = naturalness.dnsmos(waveforms[:JUDGED])["dnsmos"]
        lines.append(f"| {system} | {error:.1f} | {score:.2f} | {rest} |")
        print(lines[-1], flush=True)

    row("original", said)
    wholes = [whole(pipeline, waveform) for waveform in said]
    row("whole", [waveform for waveform, _ in wholes])
    for timing in [timing_of(text) for text in asked] or [TIMING]:
        began = time.process_time()
        pairs = zip(said[1:] + said[:1], said, strict=True)
        lives = [live(networks, timing, before, waveform) for before, waveform in pairs]
        heard = sum(len(w) for w in said) * 2 / SAMPLE_RATE
        share = (time.process_time() - began) / heard
        alike = np.mean([agreement(*codes) for codes in zip(wholes, lives, strict=True)])
        label = f"live, {1000 * timing.latency:.0f} ms: {describe(timing)}"
        row(label, [waveform for waveform, _ in lives], f"{alike:.2f} | {share:.2f}")
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def timing_of(text: str) -> Timing:
    """From "80/140", in ms."""
    hop, ahead = (round(float(part) / 1000 / FRAME_SECONDS) for part in text.split("/"))
    return Timing(hop, ahead)


def describe(timing: Timing) -> str:
    ms = 1000 * FRAME_SECONDS
    return f"{timing.ahead * ms:.0f} ahead, hops of {timing.hop * ms:.0f}"


Spoken = tuple[np.ndarray, np.ndarray]  # a waveform (T,) and its units (U,)


def whole(pipeline: Converter, waveform: np.ndarray) -> Spoken:
    """The conversion of a recording (T,)."""
    conversion = pipeline((SAMPLE_RATE, waveform), vocoder="neural")
    return conversion.converted.waveform, conversion.units.codes


def live(
    networks: LiveNetworks, timing: Timing, before: np.ndarray, waveform: np.ndarray
) -> Spoken:
    """The conversion of a recording (T,) as a stream that has heard another one before."""
    step = networks.stride * FRAME_SECONDS * SAMPLE_RATE  # samples of a unit
    before = before[len(before) % round(step) :]
    rest = np.zeros(round((timing.latency + 1) * SAMPLE_RATE), np.float32)
    conversion = LiveConversion(networks, timing=timing)
    spoken = conversion.push(np.concatenate([before, waveform, rest]))
    late = round(timing.delay * SAMPLE_RATE)
    ahead = timing.ahead // networks.stride
    units = np.array(conversion.units)[round(len(before) / step) + ahead :]
    return spoken[len(before) + late :][: len(waveform)], units[: round(len(waveform) / step)]


def agreement(one: Spoken, other: Spoken) -> float:
    """Share of the units that are the same, where both speak."""
    count = min(len(one[1]), len(other[1]))
    a, b = one[1][:count], other[1][:count]
    both = (a != MUTED) & (b != MUTED)
    return float((a == b)[both].mean())


if __name__ == "__main__":
    main(sys.argv[1:])
