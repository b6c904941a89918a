"""python -m benchmarks.word_index PART --data DIR --out OUT: a word in ten hours, part by part.

``speak`` has espeak-ng read captions of sounds (sounds/captions in DIR) in many voices, a recording
each 20 minutes, and notes when each sentence is said. ``index`` makes their index; killed, it goes
on where it was. ``search`` looks for words of the captions, drawn by seed, in all of the index;
``scan`` for some in ten minutes by the scan of a recording too (earshot.systems.words.word_search);
``fluent`` for those of benchmarks.word_search in fluent human speech, by both. Each of these three
writes its section of word_index.md.
"""

import argparse
import csv
import json
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
import torch

from benchmarks.support.search_tasks import Task, fluent
from benchmarks.word_search import NIST_BETA, best_value, judge, own_beta, value, written
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words import Words, Written
from earshot.systems.words.word_index import Hit, WordIndex, update
from earshot.systems.words.word_search import (
    MAX_SECONDS_SEARCHED,
    FoundPlaces,
    Place,
    WordSearch,
)
from training.common.corpora import data_root, speech_items
from training.words.recordings import aligned_utterances

VOICES: Final = tuple(
    f"{accent}+{variant}"
    for variant in ("m1", "f1", "m2", "f2", "m3", "f3", "m4", "f4", "m5", "f5", "m6", "m7")
    for accent in ("en-us", "en-gb", "en-gb-scotland")
)
SECONDS: Final = 1200.0  # of a recording
PAUSE: Final = 0.4  # seconds between sentences
MIN_LETTERS: Final = 4  # of a word that is searched for
TOLERANCE: Final = 0.5  # seconds between the middles of two places that are the same
SECTIONS: Final = ("search", "scan", "fluent")
HEAD: Final = (
    "# A word in hours of recordings",
    "",
    f"`python -m benchmarks.word_index PART --data DIR --out OUT`, {platform.machine()}, torch "
    f"{torch.__version__}; the machine had other work.",
)

Sentence = tuple[float, float, str]  # a sentence, and when it is said


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["speak", "index", *SECTIONS])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hours", type=float, default=10.0)
    parser.add_argument("--queries", type=int, default=20)
    options = parser.parse_args()
    recordings, out = options.out / "recordings", options.out / "index"
    if options.part == "speak":
        speak(data_root(options.data), recordings, options.hours)
        return
    words = Words.from_pretrained(device="cpu")
    if options.part == "index":
        began = time.perf_counter(), time.process_time()
        report = update(recordings, out, words, lambda *progress: print(*progress, flush=True))
        seconds = (time.perf_counter() - began[0], time.process_time() - began[1])
        print(f"{report.added} added in {seconds[0]:.0f} s, {seconds[1]:.0f} s of processor time")
        return
    index = WordIndex.open(out, words)
    sentences = [sentences_of(recordings / r.name) for r in index.recordings]
    if options.part == "search":
        lines = in_all(index, sentences, words, options.queries)
    elif options.part == "scan":
        lines = beside_scan(index, recordings, sentences, words, options.queries)
    else:
        lines = in_fluent_speech(data_root(options.data), words, options.queries)
    section = options.out / f"{options.part}.md"
    section.write_text("\n".join(lines) + "\n")
    print(section.read_text())
    paths = [options.out / f"{part}.md" for part in SECTIONS]
    text = "".join(path.read_text() for path in paths if path.exists())
    Path(__file__).with_suffix(".md").write_text("\n".join(HEAD) + "\n" + text)


def speak(data: Path, folder: Path, hours: float) -> None:
    """Write recordings, and beside each its sentences with their times; what is there, stays."""
    with open(data / "sounds" / "captions" / "audiocaps.csv", newline="") as table:
        captions = list(dict.fromkeys(row["caption"] for row in csv.DictReader(table)))
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(round(hours * 3600 / SECONDS)):
        path = folder / f"{number:02}.flac"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        voice, speed = VOICES[number % len(VOICES)], int(rng.integers(130, 185))
        parts, times, seconds = [], [], 0.0
        for sentence in rng.permutation(captions).tolist():
            if seconds > SECONDS:
                break
            waveform = spoken(sentence, voice, speed)
            end = seconds + len(waveform) / SAMPLE_RATE
            times.append((round(seconds, 3), round(end, 3), sentence))
            seconds = end + PAUSE
            parts += [waveform, np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)]
        path.with_suffix(".json").write_text(json.dumps(times))
        soundfile.write(path, np.concatenate(parts), SAMPLE_RATE)
        print(path, f"{seconds:.0f} s", voice, flush=True)


def spoken(sentence: str, voice: str, speed: int) -> np.ndarray:
    """Have espeak-ng read a sentence → (T,)."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        command = ["espeak-ng", "-v", voice, "-s", str(speed), "-w", file.name, sentence]
        subprocess.run(command, check=True)
        waveform, rate = soundfile.read(file.name, dtype="float32")
        return load((rate, waveform), SAMPLE_RATE).waveform


def in_all(
    index: WordIndex, sentences: Sequence[Sequence[Sentence]], words: Words, count: int
) -> list[str]:
    """Search in all of the index."""
    queries = drawn([s for some in sentences for s in some], words, count)
    size = sum(path.stat().st_size for path in index.out.iterdir()) / 1e6
    index.find(queries[0])  # warm-up
    times, right, counts = [], [], []
    for query in queries:
        began, used = time.perf_counter(), time.process_time()
        results = index.find(query, limit=None)
        times.append((time.perf_counter() - began, time.process_time() - used))
        right.append([is_said(query.spelling, hit, index, sentences) for hit in results.hits[:5]])
        counts.append(len(results.matches))
    wall, used = np.array(times).T
    hours = index.seconds / 3600
    return [
        "",
        f"## {hours:.1f} hours of espeak-ng in {len(index.recordings)} recordings",
        "",
        f"{len(queries)} words of {MIN_LETTERS} letters or more, drawn by seed; {size / hours:.1f} "
        "MB an hour on the disk. A place is right if its sentence holds the word.",
        "",
        "| | median | most |",
        "|---|---:|---:|",
        f"| a query, s | {np.median(wall):.2f} | {wall.max():.2f} |",
        f"| s of processor time | {np.median(used):.2f} | {used.max():.2f} |",
        f"| places found | {np.median(counts):.0f} | {max(counts)} |",
        "",
        f"P@1 {np.mean([each[0] for each in right]):.2f}, "
        f"P@5 {np.mean([np.mean(each) for each in right]):.2f}.",
    ]


def beside_scan(
    index: WordIndex,
    recordings: Path,
    sentences: Sequence[Sequence[Sentence]],
    words: Words,
    count: int,
) -> list[str]:
    """Search in the first recording by the index of it alone, and by the scan."""
    first = index.recordings[0]
    alone = WordIndex(index.out, index.folder, [first], words)
    search, piece = WordSearch(words), round(MAX_SECONDS_SEARCHED * SAMPLE_RATE)
    waveform = load(recordings / first.name, SAMPLE_RATE, 2 * SECONDS).waveform[:piece]
    began = time.process_time()
    recording = search.encode((SAMPLE_RATE, waveform))
    encoding = time.process_time() - began
    scan_time, index_time = 0.0, 0.0
    scanned, listed, matched = 0, 0, 0
    there = [sentence for sentence in sentences[0] if sentence[1] < recording.seconds]
    for query in drawn(there, words, count):
        began = time.process_time()
        matches = search(recording, query, limit=200).matches
        scan_time += time.process_time() - began
        began = time.process_time()
        results = alone.find(query, limit=None)
        index_time += time.process_time() - began
        scanned += len(matches)
        listed += sum(near(place, results.hits) for place in matches)
        matched += sum(near(place, results.matches) for place in matches)
    return [
        "",
        f"## Beside the scan, in {recording.seconds / 60:.0f} minutes of these",
        "",
        f"The scan listens in {encoding:.0f} s of processor time, "
        f"{recording.seconds / encoding:.0f} times real time, and takes {scan_time / count:.1f} s "
        f"a query, the index, of {first.seconds / 60:.0f} minutes, {index_time / count:.1f} s. "
        f"Of {scanned} places that the scan finds for {count} words, "
        f"the index lists {listed / max(scanned, 1):.1%}, "
        f"{matched / max(scanned, 1):.1%} as found.",
    ]


def in_fluent_speech(data: Path, words: Words, count: int) -> list[str]:
    """Compare both in fluent human speech by the term-weighted value."""
    items = [i for i in speech_items(data) if i.language == "en" and i.split == "test"]
    task = fluent(
        aligned_utterances(i for i in items if i.corpus == "librispeech_251"), MAX_SECONDS_SEARCHED
    )
    task = replace(task, queries=task.queries[:count])
    search, typed = WordSearch(words), [written(words, query.word) for query in task.queries]
    recording = search.encode((SAMPLE_RATE, task.waveform))
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in" / "fluent.flac", Path(folder) / "index"
        path.parent.mkdir()
        soundfile.write(path, task.waveform, SAMPLE_RATE)
        update(path.parent, out, words)
        index = WordIndex.open(out, words)
        results = [index.find(query, limit=200) for query in typed]
    systems = {
        "scan": [search(recording, query, limit=200) for query in typed],
        "index": [FoundPlaces(tuple(h.place for h in r.hits), r.threshold) for r in results],
    }
    return [
        "",
        f"## {task.seconds:.0f} s {task.source}",
        "",
        f"{len(typed)} queries, typed; TWV as in [word_search.md](word_search.md).",
        "",
        f"| | TWV, β = {NIST_BETA} | TWV, β = {own_beta(task):.0f} | at the app's |",
        "|---|---:|---:|---:|",
        *(twv_row(name, task, each) for name, each in systems.items()),
    ]


def twv_row(name: str, task: Task, ranked: Sequence[FoundPlaces]) -> str:
    """Write a row of term-weighted values."""
    places, beta = [each.places for each in ranked], own_beta(task)
    judged = [judge(task, i, some) for i, some in enumerate(places)]
    app = value(task, judged, beta, [each.threshold for each in ranked])
    best = (best_value(task, places, each)[0] for each in (NIST_BETA, beta))
    return f"| {name} | {' | '.join(f'{each:.3f}' for each in (*best, app))} |"


def sentences_of(recording: Path) -> list[Sentence]:
    """Read what is said in a recording."""
    return [tuple(each) for each in json.loads(recording.with_suffix(".json").read_text())]


def words_of(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z]+", sentence.lower()))


def drawn(sentences: Sequence[Sentence], words: Words, count: int) -> list[Written]:
    """Draw words that are said, by seed, and make their queries."""
    vocabulary = {w for *_, s in sentences for w in words_of(s) if len(w) >= MIN_LETTERS}
    some = np.random.default_rng(0).permutation(sorted(vocabulary))[:count]
    return [words.embed_text(str(word)) for word in some]


def is_said(word: str, hit: Hit, index: WordIndex, sentences: Sequence[Sequence[Sentence]]) -> bool:
    """Whether the sentence at a place holds the word."""
    middle = (hit.place.start + hit.place.end) / 2
    return any(
        start - PAUSE / 2 <= middle <= end + PAUSE / 2 and word in words_of(sentence)
        for start, end, sentence in sentences[index.recordings.index(hit.recording)]
    )


def near(place: Place, hits: Sequence[Hit]) -> bool:
    """Whether a place is among the hits."""
    middle = (place.start + place.end) / 2
    return any(abs((h.place.start + h.place.end) / 2 - middle) <= TOLERANCE for h in hits)


if __name__ == "__main__":
    main()
