"""python -m benchmarks.mark: whether the mark in speech is found, and what it costs.

Conversions of held-out speech ($EARSHOT_DATA; librispeech_251's test speakers), cut to 5 s, are
marked, changed in the ways below, and searched; speech, sounds and our own conversions without a
mark are searched for false alarms. Prints the tables of docs/provenance.md; with --quick, of a few
clips. Without --cache, conversions are made anew each time.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import librosa
import numpy as np
import soxr
from rapidfuzz.distance import Levenshtein
from scipy.signal import butter, fftconvolve, firwin2, sosfilt
from scipy.stats import binomtest

import earshot
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.encode import encode_audio
from earshot.pretrained.judges import dnsmos, embed, has_dnsmos, has_resemblyzer
from earshot.pretrained.recogniser import Transcriber
from earshot.provenance import mark
from earshot.provenance.mark import MarkReport, find_mark, mark_speech
from training.common.corpora import data_root, speech_items, waveforms
from training.common.sounds import sound_files
from training.judges import whisper_base

CLIP: Final = 5 * SAMPLE_RATE
SYSTEMS: Final = (  # tag, model, voice, vocoder, and every nth recording
    ("cont.TF2", "continuous", "TF2", "neural", 1),
    ("cont.SM1", "continuous", "SM1", "neural", 1),
    ("cont.Heart", "continuous", "Heart", "neural", 1),
    ("cont.Nell", "continuous", "Nell", "neural", 1),
    ("gl.SF1", "continuous", "SF1", "griffin-lim", 2),
    ("vq.S1", "vqvae-128", "S1", "neural", 2),
)
N_UNMARKED: Final = 10_000  # clips
QUICK: Final = 8  # clips of each kind
SILENT: Final = 1e-4

Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class Conversion:
    """A conversion (T,) without a mark, the words that are said in it, and its voice."""

    waveform: np.ndarray
    words: list[str]
    voice: str


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mark")
    parser.add_argument("--data", help="default: $EARSHOT_DATA")
    parser.add_argument("--quick", action="store_true", help="of a few clips")
    parser.add_argument("--cache", type=Path, help="folder in which conversions are kept")
    parser.add_argument("--false-alarms", action="store_true", help="of unmarked clips only")
    arguments = parser.parse_args()
    os.environ[mark.NO_MARK] = "1"  # what is converted here is marked here
    data = data_root(arguments.data)
    whole = list(conversions(data, arguments.cache, arguments.quick))
    clips = [conversion.waveform[:CLIP] for conversion in whole]
    if not arguments.false_alarms:
        print(cost(clips))
        print(words_and_voice(whole))
        print(detection(clips))
    print(false_alarms(unmarked(data, clips), QUICK * 10 if arguments.quick else N_UNMARKED))


def conversions(data: Path, cache: Path | None, quick: bool) -> Iterator[Conversion]:
    """Convert held-out recordings of CLIP and longer."""
    items = [i for i in speech_items(data) if i.corpus == "librispeech_251" and i.split == "test"]
    for tag, model, voice, vocoder, every in SYSTEMS:
        count, converter = 0, None
        for item in items[::every]:
            file = cache / f"{tag}_{item.path.stem}.npy" if cache else None
            if file and file.exists():
                waveform = np.load(file).astype(np.float32)
            else:
                converter = converter or earshot.VoiceConversion.from_pretrained(model, "cpu")
                waveform = converter(item.path, voice, vocoder).converted.waveform
                if file:
                    np.save(file, waveform.astype(np.float16))
            if len(waveform) >= CLIP:
                yield Conversion(waveform, whisper_base.plain_words(item.text), voice)
                count += 1
            if quick and count == QUICK // 4:
                break


def coded(ending: str, bit_rate: int) -> Change:
    """Encode without metadata, and decode."""
    return lambda x, _: load(encode_audio(x, SAMPLE_RATE, ending, "", bit_rate)).waveform


def telephone(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Pass 300 to 3400 Hz at 8 kHz, in 8 bits of µ-law."""
    band = butter(4, [300, 3400], "band", fs=8_000, output="sos")
    narrow = sosfilt(band, soxr.resample(x, SAMPLE_RATE, 8_000))
    scale = max(float(np.abs(narrow).max()), 1e-9)
    law = np.round(127 * np.sign(narrow) * np.log1p(255 * np.abs(narrow) / scale) / np.log(256))
    narrow = np.sign(law) * scale * (256 ** np.abs(law / 127) - 1) / 255
    return soxr.resample(narrow, 8_000, SAMPLE_RATE)


def resampled(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Resample to 11,025 Hz and back."""
    return soxr.resample(soxr.resample(x, SAMPLE_RATE, 11_025), 11_025, SAMPLE_RATE)


def clipped(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Clip at 15 dB below full scale."""
    return np.clip(x, -0.18, 0.18)


def noise(snr: float) -> Change:
    """Add white noise."""

    def add(x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        return x + generator.normal(0, x.std() * 10 ** (-snr / 20), len(x))

    return add


def excerpt(x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Cut out 3 s."""
    start = int(generator.integers(len(x) - 3 * SAMPLE_RATE))
    return x[start : start + 3 * SAMPLE_RATE]


def room(seconds: float, direct: float) -> Change:
    """Reverberate as ``reverberate`` does, for half a second."""
    return lambda x, generator: reverberate(x, seconds, direct, 0.5, generator)


def reverberate(
    speech: np.ndarray,
    seconds: float,
    direct: float,
    response_seconds: float,
    generator: np.random.Generator,
) -> np.ndarray:
    """Put speech (T,) into a room, whose response decays by 60 dB in so many seconds. direct: the
    share of the power that comes straight; response_seconds: after which the response ends."""
    response = generator.standard_normal(round(response_seconds * SAMPLE_RATE))
    response *= np.exp(-6.9 * np.arange(len(response)) / SAMPLE_RATE / seconds)
    response *= math.sqrt((1 - direct) / np.square(response).sum())
    response[0] += math.sqrt(direct)
    return fftconvolve(speech, response)[: len(speech)]


def over_the_air(x: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Play by a small loudspeaker into a microphone: soft clipping, an uneven response, a room in
    which 35 % of the power is direct, and noise at 25 dB.
    """
    hz = [0, 150, 250, 400, 800, 1500, 3000, 5000, 7000, 8000]
    db = np.array([-40, -18, -6, 0, 0, 0, 0, 0, -6, -15.0])
    db[2:] += generator.uniform(-4, 4, 8)
    response = firwin2(511, np.array(hz) / 8000, 10 ** (db / 20))
    played = fftconvolve(np.tanh(1.5 * x / np.abs(x).max()), response)[: len(x)]
    return noise(25)(room(0.5, 0.35)(played, generator), generator)


def speed(share: float) -> Change:
    """Play faster, and higher."""
    return lambda x, _: soxr.resample(x, SAMPLE_RATE * (1 + share), SAMPLE_RATE)


def pitch(share: float) -> Change:
    """Play higher at the same tempo, by a phase vocoder."""
    steps = 12 * math.log2(1 + share)
    return lambda x, _: librosa.effects.pitch_shift(x, sr=SAMPLE_RATE, n_steps=steps)


def tempo(share: float) -> Change:
    """Play faster at the same pitch, by a phase vocoder."""
    return lambda x, _: librosa.effects.time_stretch(x, rate=1 + share)


CHANGES: Final[dict[str, tuple[float, Change]]] = {  # the share that must be found, 0 for none
    "untouched": (0.99, lambda x, _: x),
    "MP3, 64 kbit/s": (0.99, coded(".mp3", 64_000)),
    "AAC, 64 kbit/s": (0.99, coded(".m4a", 64_000)),
    "Opus, 24 kbit/s": (0.99, coded(".opus", 24_000)),
    "telephone, 8 kHz µ-law": (0.99, telephone),
    "resampled to 11 kHz": (0.99, resampled),
    "gain of -20 dB": (0.99, lambda x, _: x / 10),
    "clipped": (0.99, clipped),
    "3 s of it": (0.99, excerpt),
    "white noise, 20 dB": (0.99, noise(20)),
    "reverberation, 0.4 s": (0.99, room(0.4, 0.5)),
    "Opus, 12 kbit/s": (0.9, coded(".opus", 12_000)),
    "MP3, 32 kbit/s": (0.9, coded(".mp3", 32_000)),
    "speed +2 %": (0.9, speed(0.02)),
    "speed -2 %": (0.9, speed(-0.02)),
    "pitch +2 %": (0.9, pitch(0.02)),
    "pitch -2 %": (0.9, pitch(-0.02)),
    "loudspeaker to microphone": (0.9, over_the_air),
    "white noise, 10 dB": (0.0, noise(10)),
    "tempo +10 %": (0.0, tempo(0.1)),
    "speed +5 %": (0.0, speed(0.05)),
}


def detection(clips: list[np.ndarray]) -> str:
    """Tabulate how often the mark is found, with Wilson's interval, and its number is right."""
    rows = ["| change | floor | found | of | 95 % | number read | right | median score | lowest |"]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    numbers = np.random.default_rng(1).integers(2**16, size=len(clips))
    marked = [mark_speech(x, SAMPLE_RATE, int(n)) for x, n in zip(clips, numbers, strict=True)]
    for name, (floor, change) in CHANGES.items():
        generator = np.random.default_rng(0)
        reports = [find_mark(change(x, generator), SAMPLE_RATE) for x in marked]
        rows.append(f"| {name} | {floor or '–'} | " + row(reports, numbers))
        print(rows[-1], flush=True)
    return "\n".join(["", *rows, ""])


def row(reports: list[MarkReport], numbers: np.ndarray) -> str:
    """Write the cells of one change."""
    present = [r.present for r in reports]
    low, high = wilson(sum(present), len(present))
    numbers_read = [
        r.installation == n
        for r, n in zip(reports, numbers, strict=True)
        if r.installation is not None
    ]
    scores = [r.score for r in reports]
    right = f"{np.mean(numbers_read):.1%}" if numbers_read else "–"
    return (
        f"{np.mean(present):.1%} | {len(present)} | {low:.1%} to {high:.1%} | "
        f"{len(numbers_read) / max(1, sum(present)):.1%} | {right} | "
        f"{np.median(scores):.1f} | {min(scores):.1f} |"
    )


def wilson(count: int, total: int) -> tuple[float, float]:
    """Compute Wilson's interval of a share, of 95 %."""
    interval = binomtest(count, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def unmarked(data: Path, clips: list[np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield clips (CLIP,) without a mark: of each corpus in turn, short recordings joined."""
    groups: dict[str, list] = {}
    for item in speech_items(data):
        groups.setdefault(item.corpus, []).append(item)
    sources: dict[str, Iterator[np.ndarray]]
    sources = {name: (x for _, x in waveforms(items)) for name, items in groups.items()}
    sources["sounds"] = (load(s.path, SAMPLE_RATE).waveform for s in sound_files(data))
    sources["our own"] = iter(clips)
    rest = {name: np.zeros(0, np.float32) for name in sources}
    while sources:
        for name in list(sources):
            while len(rest[name]) < CLIP and name in sources:
                try:
                    rest[name] = np.append(rest[name], next(sources[name]))
                except StopIteration:
                    del sources[name]
            if name in sources and np.abs(rest[name][:CLIP]).max() > SILENT:
                yield name, rest[name][:CLIP]
            rest[name] = rest[name][CLIP:]


def false_alarms(sounds: Iterator[tuple[str, np.ndarray]], count: int) -> str:
    """Tabulate the highest scores of clips without a mark, and fit their tail."""
    scores: dict[str, list[float]] = {}
    for (name, clip), _ in zip(sounds, range(count), strict=False):
        scores.setdefault(name, []).append(mark.search(clip)[0])
    every = np.concatenate(list(scores.values()))
    lowest = math.sqrt((mark.TAIL[0] - mark.MAX_FALSE_ALARM) / mark.TAIL[1])
    rows = ["", "| without a mark | clips | false alarms | 95 % | highest score |"]
    rows.append("|---|---|---|---|---|")
    for name, values in {**scores, "all": every}.items():
        alarms = int((np.array(values) >= lowest).sum())
        low, high = wilson(alarms, len(values))
        interval = f"{low:.2%} to {high:.2%}"
        rows.append(f"| {name} | {len(values)} | {alarms} | {interval} | {max(values):.2f} |")
    slope, start = tail(every)
    rows += ["", f"log10 P(score ≥ s) = {start:.3f} - {slope:.4f} s²"]
    return "\n".join(rows)


def tail(scores: np.ndarray) -> tuple[float, float]:
    """Fit log10 of the share of scores above each as a Gaussian's tail, start - slope · score²."""
    ordered = np.sort(scores)[::-1]
    ranks = np.arange(1, len(ordered) // 20 + 2)
    share = np.log10((ranks - 0.5) / len(ordered))
    slope, start = np.polyfit(ordered[: len(ranks)] ** 2, share, 1)
    return -float(slope), float(start)


def cost(clips: list[np.ndarray]) -> str:
    """Measure time, change of level, and DNSMOS where it is installed."""
    began = time.process_time()
    marked = [mark_speech(x, SAMPLE_RATE, 1) for x in clips]
    marking = (time.process_time() - began) / len(clips) / CLIP * SAMPLE_RATE
    began = time.process_time()
    for x in marked[:QUICK]:
        find_mark(np.tile(x, 2), SAMPLE_RATE)
    searching = (time.process_time() - began) / len(marked[:QUICK])
    pairs = list(zip(clips, marked, strict=True))
    level = np.mean([20 * np.log10(y.std() / x.std()) for x, y in pairs])
    ratio = np.mean([20 * np.log10(x.std() / (y - x).std()) for x, y in pairs])
    rows = [
        f"Marking takes {1000 * marking:.1f} ms a second of speech, and a search {searching:.2f} s",
        f"for 10 s (CPU). The level changes by {level:+.2f} dB, signal to mark is {ratio:.1f} dB.",
    ]
    if has_dnsmos():
        gains = [dnsmos([y])["dnsmos"] - dnsmos([x])["dnsmos"] for x, y in pairs]
        error = 1.96 * np.std(gains) / math.sqrt(len(gains))
        rows.append(f"DNSMOS changes by {np.mean(gains):+.3f} ± {error:.3f} ({len(gains)} clips).")
    return "\n".join(rows)


def words_and_voice(conversions: Sequence[Conversion]) -> str:
    """Count the words that recognisers get wrong without and with the mark, and compare the voice
    with its own recordings, by the judges that are installed."""
    marked = [mark_speech(c.waveform, SAMPLE_RATE, 1) for c in conversions]
    transcribe = Transcriber.from_pretrained()
    recognisers: dict[str, Callable[[np.ndarray], list[str]]] = {
        "Moonshine tiny": lambda x: whisper_base.plain_words(transcribe((SAMPLE_RATE, x)).text)
    }
    if whisper_base.available():
        recognisers["Whisper base"] = whisper_base.words
    rows = []
    for name, words in recognisers.items():
        wrong = np.array(
            [
                [Levenshtein.distance(c.words, words(x)) for x in (c.waveform, y)]
                for c, y in zip(conversions, marked, strict=True)
            ]
        )
        total = sum(len(c.words) for c in conversions)
        points = 100 * interval(wrong[:, 1] - wrong[:, 0], [len(c.words) for c in conversions])
        rows.append(
            f"{name} gets {wrong[:, 0].sum()} of {total} words wrong without, {wrong[:, 1].sum()} "
            f"with the mark: {points[1]:+.1f} points ({points[0]:+.1f} to {points[2]:+.1f})."
        )
    if has_resemblyzer():
        voices = {c.voice: load(ASSETS / "voices" / f"{c.voice}.ogg").waveform for c in conversions}
        targets = dict(zip(voices, embed(list(voices.values())), strict=True))
        vectors = embed(
            [x for c, y in zip(conversions, marked, strict=True) for x in (c.waveform, y)]
        )
        near = np.array(
            [v @ targets[c.voice] for c, v in zip(conversions, vectors[::2], strict=True)]
        )
        later = np.array(
            [v @ targets[c.voice] for c, v in zip(conversions, vectors[1::2], strict=True)]
        )
        low, middle, high = interval(later - near, [1] * len(near))
        rows.append(
            f"SECS to the voice is {near.mean():.3f} without, and changes by {middle:+.4f} "
            f"({low:+.4f} to {high:+.4f})."
        )
    return "\n".join(rows)


def interval(differences: np.ndarray, weights: Sequence[int]) -> np.ndarray:
    """Compute a ratio of sums, and its bootstrapped interval of 95 % over recordings (2,000 draws):
    lowest, ratio, highest."""
    totals = np.asarray(weights)
    draws = np.random.default_rng(0).integers(len(totals), size=(2000, len(totals)))
    ratios = differences[draws].sum(1) / totals[draws].sum(1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return np.array([low, differences.sum() / totals.sum(), high])


if __name__ == "__main__":
    main()
