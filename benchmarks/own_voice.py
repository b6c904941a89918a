"""python -m benchmarks.own_voice: whom the check of a visitor's own voice lets in. Writes
own_voice.md.

Let in wrongly: recordings of $EARSHOT_DATA in which people say something else, each against very
many texts. Refused wrongly: people who read other texts, by the recogniser that knows none, with as
many lines of theirs as ours have; and the whole check, of our texts in voices of espeak-ng, which
are harder to understand than people. Both in noise too.
"""

import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.recogniser import Transcriber
from earshot.systems.voice_conversion import reading
from earshot.systems.voice_conversion.reading import N_LINES, SLOTS, Reading
from training.common.corpora import Item, data_root, speech_items, waveforms

TEXTS: Final = 20_000  # that each recording is compared with
RECORDINGS: Final = 30  # of people who say something else, a speaker each
N_FORCED: Final = 5  # of them, which the recogniser that has the text takes for texts
ACCENTS: Final = ("en-us", "en-us+f3", "en-gb", "en-gb+f4", "en-gb-scotland", "en-gb-x-rp+f2")
READINGS: Final = 1  # of each accent
READERS: Final = 12  # readings of people
NOISES: Final = (None, 10.0)  # dB of speech over white noise
MAX_LINE: Final = 7.0  # seconds of the longest line of these
PAUSE: Final = 0.3  # seconds between two lines
BEFORE: Final = 0.5  # share of the slots that once was enough


def main() -> None:
    """Measure, print the tables, and write them."""
    items = [each for each in speech_items(data_root(None)) if each.language == "en"]
    lines = []
    for line in document(items):
        print(line, flush=True)
        lines.append(f"{line}\n")
    Path(__file__).with_suffix(".md").write_text("".join(lines), encoding="utf-8")


def document(items: Sequence[Item]) -> Iterator[str]:
    """Write the page, and measure what is on it."""
    rng = np.random.default_rng(0)
    yield "# Whom the check of one's own voice lets in\n"
    yield f"`python -m benchmarks.own_voice`: {(__doc__ or '').partition('md.')[2].strip()}\n"
    others = [*strangers(items)]
    transcripts = [transcribe(waveform) for waveform in others]
    drawn = Random(0)
    texts = [Reading.draw(drawn).spoken for _ in range(TEXTS)]
    accepted = sum(reading.agrees(lines, each) for each in transcripts for lines in texts)
    tries = len(texts) * len(transcripts)
    yield "## Let in wrongly, a try\n"
    yield "| check | share of tries |\n| --- | --- |"
    chances = [
        [chance(wave, share) for share in (BEFORE, reading.MIN_RIGHT)] for wave in others[:N_FORCED]
    ]
    before, now = np.mean(chances, axis=0)
    yield f"| half of the slots, by the recogniser that has the text | {before:.1e} |"
    yield f"| two thirds of the slots | {now:.1e} |"
    most = f"{max(accepted, 3) / tries:.1e}"
    yield f"| the text, by the one that knows none | {accepted} of {tries:,} (at most {most}) |"
    yield "\n## Refused wrongly\n"
    yield "| noise | people, other texts | espeak-ng, the whole check |\n| --- | --- | --- |"
    people, accents = [*readers(items)], [*spoken()]
    for snr in NOISES:
        lost = [not reading.agrees(lines, transcribe(noisy(w, snr, rng))) for lines, w in people]
        refused = [not passes(text, noisy(waveform, snr, rng)) for text, waveform in accents]
        name = "none" if snr is None else f"{snr:.0f} dB"
        yield f"| {name} | {sum(lost)} of {len(lost)} | {sum(refused)} of {len(refused)} |"


@cache
def transcriber() -> Transcriber:
    """Load the recogniser that knows no text."""
    return Transcriber.from_pretrained(device="cpu")


def transcribe(waveform: np.ndarray) -> str:
    """Write down the words of a waveform (T,)."""
    return transcriber()((SAMPLE_RATE, waveform)).text


def strangers(items: Sequence[Item]) -> Iterator[np.ndarray]:
    """Yield speech (T,) of 10 to 30 s, of other speakers each."""
    long = [item for item in items if item.corpus == "librispeech_251"]
    speakers: dict[str | None, Item] = {}
    for item, waveform in waveforms(long):
        if 10 * SAMPLE_RATE < len(waveform) < 30 * SAMPLE_RATE and item.speaker not in speakers:
            speakers[item.speaker] = item
            yield waveform
        if len(speakers) == RECORDINGS:
            return


def readers(items: Sequence[Item]) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield lines of people who read, and the waveform (T,) of these."""
    rng = Random(0)
    by_speaker: dict[str | None, list[tuple[str, np.ndarray]]] = {}
    read = [item for item in items if item.text and item.corpus == "librispeech_251"]
    read += [i for i in items if i.corpus == "studio_prompts" and len(i.text.split()) > 6][:60]
    for item, waveform in waveforms(read):
        by_speaker.setdefault(item.speaker, []).append((item.text, waveform))
    for turn in range(READERS):
        lines = [*by_speaker.values()][turn % len(by_speaker)]
        short = [line for line in lines if len(line[1]) < MAX_LINE * SAMPLE_RATE]
        chosen = rng.sample(short, N_LINES + 1)
        pause = np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)
        whole = np.concatenate([part for _, waveform in chosen for part in (waveform, pause)])
        yield [text for text, _ in chosen], whole


def spoken() -> Iterator[tuple[Reading, np.ndarray]]:
    """Yield our texts, and how espeak-ng reads them (T,)."""
    rng = Random(1)
    with TemporaryDirectory() as folder:
        file = Path(folder, "text.wav")
        for accent in ACCENTS * READINGS:
            drawn = Reading.draw(rng)
            command = ["espeak-ng", "-v", accent, "-s", "145", "-w", file, drawn.text]
            subprocess.run(command, check=True)
            yield drawn, load(file, SAMPLE_RATE, 30.0).waveform


def noisy(waveform: np.ndarray, snr: float | None, rng: np.random.Generator) -> np.ndarray:
    """Add white noise so many dB below the speech."""
    if snr is None:
        return waveform
    noise = rng.standard_normal(len(waveform)) * np.std(waveform) * 10 ** (-snr / 20)
    return (waveform + noise).astype(np.float32)


def passes(text: Reading, waveform: np.ndarray) -> bool:
    """Whether the check takes the waveform for a reading of the text."""
    try:
        text.check(waveform)
    except InputError:
        return False
    return True


def chance(waveform: np.ndarray, share: float) -> float:
    """Compute the share of all words for the slots of which this speech has so many, as the
    recogniser that has the text finds them."""
    lines = Reading.draw(Random(len(waveform))).lines
    slots = [slot for line in lines for slot in reading._slots(line)]
    words = reading._recognise(lines, waveform)
    counts = np.eye(1, len(slots) + 1)[0]  # the probability of each number of right words
    for slot, _ in zip(slots, words, strict=False):
        hit = 1 / len(SLOTS[slot])
        counts = (1 - hit) * counts + hit * np.roll(counts, 1)
    return float(counts[int(np.ceil(share * len(slots))) :].sum())


if __name__ == "__main__":
    main()
