"""python -m benchmarks.live_quality [HOP/AHEAD/ANEW/INVERTED …]: what is lost live.

Recordings of $EARSHOT_DATA, converted whole and as a stream, both through the neural vocoder.

- GRID sentences by speakers whom nothing was trained on: word errors by pocketsphinx with GRID's
  grammar; DNSMOS of the first few; how many are nearer to the target than to the original; how much
  of the units is as in the whole recording; and seams: how much the spectrum changes from frame to
  frame at that place of a hop where it changes most, in terms of its mean change.
- Open vocabulary, the recordings that conversion was developed with: word errors of both groups of
  training.judges.sphinx.

HOP/AHEAD/ANEW/INVERTED: milliseconds of a hop, of what is seen ahead, of what the encoder computes
anew every hop, and of what the inverter sees; by default the timings of Live. Each stream has heard
the end of another recording before, as after the first seconds. Processor time is that of this
process, for a second of sound. Writes live_quality.md.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.features import log_mel
from earshot.media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.grammar import GRID
from earshot.pretrained.judges import dnsmos
from earshot.systems.voice_conversion import Converter, VoiceConversion, settings
from earshot.systems.voice_conversion.live.networks import (
    TIMINGS,
    LiveNetworks,
    Timing,
    load_networks,
)
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.session import LiveConversion
from earshot.systems.voice_conversion.settings import MUTED
from training.judges.evaluator import EvaluationModels
from training.judges.metrics import word_error_rate
from training.judges.speaker_encoder import nearer_to_target
from training.judges.sphinx import Sphinx, open_test_set, recogniser
from training.voice_conversion.test_set import Budget, choose

TARGET: Final = settings.DEFAULT_VOICE
N_JUDGED: Final = 6  # sentences, by DNSMOS
MEASURES: Final = ("DNSMOS", "nearer", "units as in the whole", "seams", "processor ms a second")
BEFORE: Final = 4.0  # seconds that a stream has heard
NONE: Final = np.zeros(0, int)  # units of what has none

Spoken = tuple[np.ndarray, np.ndarray]  # a waveform (T,) and its units (U,)
System = Callable[[Sequence[np.ndarray]], list[Spoken]]


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_quality", description=__doc__)
    parser.add_argument("timings", nargs="*", metavar="HOP/AHEAD/ANEW/INVERTED")
    parser.add_argument("--most", type=int, default=20, help="recordings of each kind")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    chosen = parser.parse_args()
    checkpoint = settings.live_checkpoint(CHECKPOINTS)
    name = next(n for n, its in settings.MODELS.items() if its == checkpoint.name)
    pipeline, networks = VoiceConversion.from_pretrained(name, "cpu"), load_networks(checkpoint)
    judges = Judges(Path(os.environ["EARSHOT_DATA"]), chosen.most)
    arguments = " ".join([*chosen.timings, f"--most {chosen.most}"])
    load = os.getloadavg()[0]
    lines = [
        f"`python -m benchmarks.live_quality {arguments}`: {judges}, by {name} to {TARGET}.",
        "",
    ]
    lines += [f"| system | {' | '.join(judges.columns)} |", f"|---|{'---:|' * len(judges.columns)}"]

    def row(system: str, convert: System, hop: int = TIMINGS[0].hop) -> None:
        lines.append(f"| {system} | {' | '.join(judges.measure(convert, hop))} |")
        print(lines[-1], flush=True)

    row("original", lambda waveforms: [(waveform, NONE) for waveform in waveforms])
    row("whole", lambda waveforms: [whole(pipeline, waveform) for waveform in waveforms])
    for timing in [timing_of(text) for text in chosen.timings] or networks.timings:
        label = f"live, {1000 * timing.latency:.0f} ms: {describe(timing)}"
        row(label, lambda waveforms, timing=timing: lives(networks, timing, waveforms), timing.hop)
    lines += ["", f"Load average {load:.1f} before and {os.getloadavg()[0]:.1f} after."]
    text = "\n".join(lines) + "\n"
    print(text)
    chosen.out.write_text(text)


class Judges:
    """Judges of conversions: the recordings, and all that is measured of their conversions."""

    columns: tuple[str, ...]

    def __init__(self, data: Path, most: int) -> None:
        """Choose the recordings. data: a folder as training wants it; most: recordings of each
        kind.
        """
        budget = Budget(abx_speakers=0, parallel=0, sentences=most, seen_sentences=0, digits=0)
        test_set = choose(data, "test", budget)
        sentences = test_set.sentences
        self._waveforms = [sentence.waveform for sentence in sentences]
        self._words = [sentence.words for sentence in sentences]
        self._sphinx = Sphinx(word for slot in GRID for word in slot.items())
        self._open = {
            group: (every[:: max(1, len(every) // most)], recogniser(group, every))
            for group, every in open_test_set(data).items()
        }
        self._embed = EvaluationModels.load().speaker_encoder.embed
        self._target = self._embed(test_set.speakers[TARGET]).mean(0)
        self._units: list[np.ndarray] | None = None  # of the whole recordings
        self.columns = ("word errors %", *(f"{group} %" for group in self._open), *MEASURES)

    def __str__(self) -> str:
        words = sum(map(len, self._words))
        groups = [
            f"{len(some)} recordings of {group}, {sum(len(s.words) for s in some)} words"
            for group, (some, _) in self._open.items()
        ]
        return "; ".join([f"{len(self._waveforms)} sentences of GRID, {words} words", *groups])

    def measure(self, convert: System, hop: int) -> list[str]:
        """Measure a figure for each column. The first system that has units is that of whole
        recordings.
        """
        self._seconds = self._processor = 0.0
        waveforms, units = zip(*self._timed(convert, self._waveforms), strict=True)
        transcripts = [self._sphinx.words(waveform, GRID) for waveform in waveforms]
        errors = [word_error_rate(self._words, transcripts)]
        for some, judge in self._open.values():
            spoken = self._timed(convert, [recording.waveform for recording in some])
            words = [recording.words for recording in some]
            errors.append(word_error_rate(words, [judge.words(w) for w, _ in spoken]))
        score = dnsmos(waveforms[:N_JUDGED])["dnsmos"]
        target = np.tile(self._target, (len(waveforms), 1))
        near = nearer_to_target(self._embed(list(waveforms)), self._embed(self._waveforms), target)
        figures = [*(f"{error:.1f}" for error in errors), f"{score:.2f}", f"{near.mean():.2f}"]
        processor = f"{1000 * self._processor / self._seconds:.0f}"
        return [*figures, self._alike(units), f"{seam(waveforms, hop):.2f}", processor]

    def _timed(self, convert: System, waveforms: Sequence[np.ndarray]) -> list[Spoken]:
        began = time.process_time()
        spoken = convert(waveforms)
        self._processor += time.process_time() - began
        self._seconds += sum(map(len, waveforms)) / SAMPLE_RATE
        return spoken

    def _alike(self, units: Sequence[np.ndarray]) -> str:
        if not len(units[0]):
            return "–"
        self._units = self._units or list(units)
        return f"{np.mean([agreement(*pair) for pair in zip(self._units, units, strict=True)]):.2f}"


def seam(waveforms: Sequence[np.ndarray], hop: int) -> float:
    """Measure how much the log-mel spectrum changes between two frames at that place of a hop where
    it changes most, in terms of its mean change; by chance a little above 1.

    waveforms: (T,) each, which begin at the same place of a hop; hop: in frames.
    """
    spectra = [log_mel(waveform) for waveform in waveforms]
    changes = [np.abs(np.diff(spectrum, axis=0)).mean(axis=1) for spectrum in spectra]
    places = np.concatenate([np.arange(len(change)) % hop for change in changes])
    every = np.concatenate(changes)
    return max(every[places == place].mean() for place in range(hop)) / every.mean()


def timing_of(text: str) -> Timing:
    """Read a timing from "40/60/600/1200", in ms."""
    return Timing(*(round(float(part) / 1000 / FRAME_SECONDS) for part in text.split("/")))


def describe(timing: Timing) -> str:
    ms = 1000 * FRAME_SECONDS
    return (
        f"{timing.ahead * ms:.0f} ahead, hops of {timing.hop * ms:.0f}, "
        f"{timing.anew * ms:.0f} anew, {timing.inverted * ms:.0f} inverted"
    )


def whole(pipeline: Converter, waveform: np.ndarray) -> Spoken:
    """Convert a recording (T,) as a whole."""
    conversion = pipeline((SAMPLE_RATE, waveform), TARGET, vocoder="neural")
    return conversion.converted.waveform, conversion.units.codes


def lives(networks: LiveNetworks, timing: Timing, waveforms: Sequence[np.ndarray]) -> list[Spoken]:
    """Convert recordings (T,), each as a stream that has heard the next before."""
    return [
        live(networks, timing, before, waveform)
        for before, waveform in zip([*waveforms[1:], waveforms[0]], waveforms, strict=True)
    ]


def live(
    networks: LiveNetworks, timing: Timing, before: np.ndarray, waveform: np.ndarray
) -> Spoken:
    """Convert a recording (T,) as a stream that has heard another one before."""
    step = networks.stride * HOP_LENGTH  # samples of a unit
    before = before[-round(BEFORE * SAMPLE_RATE) :]
    before = before[len(before) % (timing.hop * HOP_LENGTH) :]  # whole hops
    rest = np.zeros(round((timing.latency + 1) * SAMPLE_RATE), np.float32)
    conversion = LiveConversion(networks, Choice(TARGET), timing)
    spoken = conversion.push(np.concatenate([before, waveform, rest]))
    late = round(timing.delay * SAMPLE_RATE)
    ahead = timing.ahead // networks.stride
    units = np.array(conversion.units)[len(before) // step + ahead :]
    return spoken[len(before) + late :][: len(waveform)], units[: len(waveform) // step]


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """Measure the share of the units (U,) that are the same, where both speak."""
    count = min(len(one), len(other))
    a, b = one[:count], other[:count]
    both = (a != MUTED) & (b != MUTED)
    return float((a == b)[both].mean())


if __name__ == "__main__":
    main()
