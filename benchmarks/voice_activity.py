"""python -m benchmarks.voice_activity: speech found in quiet, noisy and spoken-over recordings.

By our detector, by Silero's, and by both together, as the app does. Writes voice_activity.md.
Recordings of $EARSHOT_DATA: sentences of GRID, whose bounds are those of its alignments, and single
words between pauses, whose bounds are where they are less than RANGE below their loudest frame;
both with rain, engines and the like, with six other speakers (babble), and with one (spoken over).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio import voice_activity
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.speech_segments import MIN_SPEECH, Segments, common, silero_segments
from training.common.corpora import Item, data_root, grid_words, speech_items, waveforms
from training.common.sounds import ESC50, sound_files

RECORDINGS: Final = 40  # sentences, and as many words
PAUSE: Final = 0.7  # seconds before and after a word
RANGE: Final = 35.0  # dB
ROOM: Final = -50.0  # dB, of the noise in the pauses to the word
FRAME: Final = 0.01  # seconds
STEADY: Final = tuple("rain sea_waves vacuum_cleaner engine washing_machine wind train".split())
ALIVE: Final = tuple(  # voices, or as good as
    "laughing crying_baby sneezing coughing breathing snoring clapping footsteps drinking_sipping "
    "brushing_teeth cat crow rooster hen sheep cow dog pig insects frog chirping_birds".split()
)
EVERY: Final = 6  # nth of the other sounds


@dataclass(frozen=True)
class Speech:
    """A recording (T,) at 16 kHz with the start and end of its speech in seconds."""

    waveform: np.ndarray
    start: float
    end: float

    @property
    def part(self) -> slice:
        return slice(round(self.start * SAMPLE_RATE), round(self.end * SAMPLE_RATE))


def main() -> None:
    """Measure, print, and write the table."""
    data, rng = data_root(None), np.random.default_rng(0)
    items = speech_items(data)
    speakers = [item for item in items if item.corpus == "librispeech_251" and not item.text]
    sounds = [sound for sound in sound_files(data) if sound.corpus == ESC50]
    noises = [sound.path for sound in sounds if sound.label in STEADY]
    others = [sound.path for sound in sounds if sound.label not in ALIVE][::EVERY]
    groups = {"sentences": [*sentences(items)], "words": [*words(items, rng)]}
    babble = partial(talk, [item.path for item in speakers], rng)
    conditions: dict[str, Callable[[Speech], Speech]] = {
        "clean": lambda speech: speech,
        **{f"{gain} dB": partial(quieter, gain=gain) for gain in (-30, -40, -50)},
        **{
            f"{name}, {snr} dB": partial(mixed, other=other, snr=snr)
            for name, other, ratios in (
                ("noise", partial(noise, noises, rng), (20, 10, 5)),
                ("babble", partial(babble, 6), (20, 10, 5)),
                ("spoken over", partial(babble, 1), (20, 10)),
            )
            for snr in ratios
        },
    }
    rows = []
    for condition, change in conditions.items():
        cells = [condition]
        for group in groups.values():
            changed = [change(speech) for speech in group]
            for bounds in zip(*(detected(speech.waveform) for speech in changed), strict=True):
                overlap = np.mean([*map(overlap_of, changed, bounds)])
                whole = np.mean([len(segments) == 1 for segments in bounds])
                cells.append(f"{overlap:.2f} / {whole:.0%}")
        rows.append(cells)
        print(*cells, sep=" | ", flush=True)
    alarms = np.mean(
        [[has_word(segments) for segments in detected(sound(path))] for path in others], axis=0
    )
    text = document(rows, alarms, len(others), {name: len(group) for name, group in groups.items()})
    print(text)
    Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


def has_word(segments: Segments) -> bool:
    """Tell whether there is a segment that can be a word."""
    return any(end - start >= MIN_SPEECH for start, end in segments)


def detected(waveform: np.ndarray) -> tuple[Segments, Segments, Segments]:
    """Find speech by our detector, by Silero's, and by both."""
    ours, theirs = voice_activity.words(waveform), silero_segments(waveform)
    return ours, theirs, common(ours, theirs)


def sentences(items: Sequence[Item]) -> Iterator[Speech]:
    """Yield sentences of GRID, of as many speakers as there are, without those in noise."""
    by_speaker: dict[str | None, list[Item]] = {}
    for item in items:
        if item.corpus == "grid" and item.path.with_suffix(".align").exists():
            by_speaker.setdefault(item.speaker, []).append(item)
    turns = [
        items[turn]
        for turn in range(RECORDINGS)
        for items in by_speaker.values()
        if turn < len(items)
    ]
    for item in turns[:RECORDINGS]:
        spoken = grid_words(item)
        yield Speech(load(item.path, SAMPLE_RATE).waveform, spoken[0][1], spoken[-1][2])


def words(items: Sequence[Item], rng: np.random.Generator) -> Iterator[Speech]:
    """Yield single words between pauses."""
    clips = [i for i in items if i.corpus in ("dspspeech20", "picovoice_wake_words")]
    chosen = [clips[number] for number in sorted(rng.permutation(len(clips))[:RECORDINGS])]
    for _, word in waveforms(chosen):
        power = np.mean(word[: len(word) // 160 * 160].reshape(-1, 160) ** 2, axis=1)
        loud = np.flatnonzero(10 * np.log10(power / power.max() + 1e-12) > -RANGE)
        pause = np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)
        whole = np.concatenate([pause, word, pause])
        whole += 10 ** (ROOM / 20) * np.std(word) * rng.standard_normal(len(whole))
        start, end = PAUSE + loud[0] * FRAME, PAUSE + (loud[-1] + 1) * FRAME
        yield Speech(whole.astype(np.float32), start, end)


def quieter(speech: Speech, gain: float) -> Speech:
    """Record the speech so much quieter (dB), with 24 bits."""
    quiet = np.round(speech.waveform * 10 ** (gain / 20) * 2**23) / 2**23
    return Speech(quiet.astype(np.float32), speech.start, speech.end)


def mixed(speech: Speech, other: Callable[[int], np.ndarray], snr: float) -> Speech:
    """Add another sound, so many dB quieter than the speech."""
    added = other(len(speech.waveform))
    added *= np.std(speech.waveform[speech.part]) * 10 ** (-snr / 20) / (np.std(added) + 1e-9)
    return Speech((speech.waveform + added).astype(np.float32), speech.start, speech.end)


def noise(paths: Sequence[Path], rng: np.random.Generator, length: int) -> np.ndarray:
    """Cut a steady noise to a length."""
    return _cut(sound(paths[int(rng.integers(len(paths)))]), length, rng)


def talk(paths: Sequence[Path], rng: np.random.Generator, speakers: int, length: int) -> np.ndarray:
    """Let so many people read at once."""
    chosen = rng.choice(len(paths), speakers, replace=False)
    parts = [_cut(sound(paths[int(number)]), length, rng) for number in chosen]
    return np.sum([part / (np.std(part) + 1e-9) for part in parts], axis=0)


@cache
def sound(path: Path) -> np.ndarray:
    """Load a sound (T,) at 16 kHz."""
    return load(path, SAMPLE_RATE).waveform


def _cut(waveform: np.ndarray, length: int, rng: np.random.Generator) -> np.ndarray:
    repeated = np.resize(waveform, max(length, len(waveform)))
    start = rng.integers(len(repeated) - length + 1)
    return repeated[start : start + length].astype(np.float64)


def overlap_of(speech: Speech, segments: Segments) -> float:
    """Compute how much the segments and the speech share, of all that either covers."""
    frames = round(len(speech.waveform) / SAMPLE_RATE / FRAME)
    predicted, true = np.zeros(frames, bool), np.zeros(frames, bool)
    for mask, parts in ((predicted, segments), (true, [(speech.start, speech.end)])):
        for start, end in parts:
            mask[round(start / FRAME) : round(end / FRAME)] = True
    return float(np.sum(predicted & true) / np.sum(predicted | true))


def document(
    rows: Sequence[Sequence[str]], alarms: np.ndarray, others: int, counts: dict[str, int]
) -> str:
    """Write the tables as Markdown."""
    names = ("ours", "Silero's", "both")
    head = [f"{group}: {name}" for group in counts for name in names]
    table = [["recording", *head], ["---"] * (1 + len(head)), *rows]
    how_many = " and ".join(f"{count} {name}" for name, count in counts.items())
    shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(names, alarms, strict=True))
    return (
        "# Speech in quiet, noisy and spoken-over recordings\n\n`python -m "
        f"benchmarks.voice_activity` over {how_many}: the overlap with the speech, as the share of "
        "what either covers, and how often one segment is found.\n\n"
        + "\n".join(f"| {' | '.join(row)} |" for row in table)
        + f"\n\nOf {others} sounds without a voice (ESC-50), taken for speech: {shares}.\n"
    )


if __name__ == "__main__":
    main()
