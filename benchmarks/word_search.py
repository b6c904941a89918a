"""python -m benchmarks.word_search --data DIR: finding words in long recordings, and the time.

The recordings are strung together from words by speakers that no training heard, with pauses. Each
query is typed, or spoken by another speaker. Baseline: subsequence DTW over MFCC, with the same
spoken queries. Writes word_search.md. With --split val, of trained words by validation speakers, on
which thresholds are chosen; nothing is written.
"""

import argparse
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from earshot.media.audio.dtw import mfcc_frames, subsequence_means
from earshot.media.audio.features import HOP_LENGTH, SAMPLE_RATE
from earshot.media.audio.load import match_loudness
from earshot.pipelines.words import Spoken, Words, Written
from earshot.pipelines.words.heard import LEVEL
from earshot.pipelines.words.pronunciation import Pronunciation
from earshot.pipelines.words.word_search import MAX_SECONDS_SEARCHED, THRESHOLDS, Place, WordSearch
from training.common.corpora import data_root
from training.words.evaluate.test_set import Recording, TestSet, WordType, select_test_set

ROOT = Path(__file__).parents[1]
PAUSES: Final = (0.1, 0.5)  # seconds between two words
QUERIES: Final = 16  # words
TOLERANCE: Final = 0.5  # seconds from the middle of a word to that of a place (NIST STD 2006)
Judged = tuple[np.ndarray, np.ndarray, int]  # see judge
NIST_BETA: Final = 999.9  # of the term-weighted value: for a word that is said once in 10,000 s


@dataclass(frozen=True, eq=False)
class Task:
    """A recording of MAX_SECONDS_SEARCHED at most, its words with their times, and the queries: a
    word, a recording of it by another speaker, and whether no training heard it."""

    waveform: np.ndarray
    said: list[tuple[WordType, float, float]]
    queries: list[tuple[WordType, np.ndarray, bool]]

    @property
    def seconds(self) -> float:
        return len(self.waveform) / SAMPLE_RATE

    def middles(self, word: WordType) -> list[float]:
        """Find the middle of each time that the word is said, in seconds."""
        return [(start + end) / 2 for said, start, end in self.said if said == word]


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=MAX_SECONDS_SEARCHED, help="of the recording"
    )
    parser.add_argument("--split", choices=["test", "val"], default="test")
    options = parser.parse_args()
    test_set = select_test_set(data_root(options.data), options.split, limit=900)
    task = string_together(test_set, options.seconds, zero_shot_too=options.split == "test")
    text = "\n".join(lines(task)) + "\n"
    print(text)
    if options.split == "test":
        Path(__file__).with_suffix(".md").write_text(text)


def string_together(test_set: TestSet, seconds: float, zero_shot_too: bool = True) -> Task:
    """String words together in random order, at one level, with pauses; as queries words that are
    said in it, and that another speaker says outside it. zero_shot_too: also the words held out
    from training.
    """
    rng = np.random.default_rng(0)
    chosen = np.flatnonzero(zero_shot_too | ~test_set.zero_shot[test_set.labels])
    order = [test_set.recordings[i] for i in rng.permutation(chosen)]
    parts, said, position = [], [], 0
    rest: list[Recording] = []
    for recording in order:
        if position > seconds * SAMPLE_RATE:
            rest.append(recording)
            continue
        word = match_loudness(recording.waveform, SAMPLE_RATE, LEVEL)
        pause = np.zeros(round(rng.uniform(*PAUSES) * SAMPLE_RATE), np.float32)
        start = position + len(pause)
        position = start + len(word)
        said.append((recording, start / SAMPLE_RATE, position / SAMPLE_RATE))
        parts += [pause, word]
    new = {
        w for w, held_out in zip(test_set.vocabulary, test_set.zero_shot, strict=True) if held_out
    }
    queries: dict[WordType, tuple[WordType, np.ndarray, bool]] = {}
    for recording in rest:
        speakers = {r.speaker for r, _, _ in said if r.word == recording.word}
        if speakers and recording.speaker not in speakers and len(queries) < QUERIES:
            word = recording.word
            queries.setdefault(word, (word, recording.waveform, word in new))
    waveform = np.concatenate(parts)[: round(seconds * SAMPLE_RATE)]
    return Task(waveform, [(r.word, a, b) for r, a, b in said], list(queries.values()))


def lines(task: Task) -> list[str]:
    """Measure the search, and write the lines of word_search.md."""
    words = Words.from_pretrained(ROOT / "checkpoints" / "words", "cpu")
    search = WordSearch(words)
    search.listen((SAMPLE_RATE, task.waveform[: 30 * SAMPLE_RATE]))  # warm-up
    began, used = time.perf_counter(), time.process_time()
    recording = search.listen((SAMPLE_RATE, task.waveform))
    listening = time.perf_counter() - began, time.process_time() - used
    typed = [written(words, word) for word, _, _ in task.queries]
    spoken = [
        Spoken(waveform, 0.0, len(waveform) / SAMPLE_RATE, words.embed_waveforms([waveform])[0])
        for _, waveform, _ in task.queries
    ]
    rows, times = [], {}
    for kind, queries in (("typed", typed), ("spoken", spoken)):
        name = f"ours, {kind}"
        began, used = time.perf_counter(), time.process_time()
        places = [search(recording, query, limit=200).places for query in queries]
        count = len(queries)
        times[name] = (time.perf_counter() - began) / count, (time.process_time() - used) / count
        rows.append(row(name, task, places, THRESHOLDS["written" if kind == "typed" else kind]))
    frames = mfcc_frames(recording.waveform).astype(np.float32)
    began, used = time.perf_counter(), time.process_time()
    places = [warped(frames, waveform) for _, waveform, _ in task.queries]
    name, count = "MFCC, subsequence DTW, spoken", len(task.queries)
    times[name] = (time.perf_counter() - began) / count, (time.process_time() - used) / count
    rows.append(row(name, task, places))
    new = sum(unseen for _, _, unseen in task.queries)
    beta = own_beta(task)
    return [
        "# Finding a word in a long recording",
        "",
        f"`python -m benchmarks.word_search --data DIR`, {torch.get_num_threads()} threads, "
        f"{platform.machine()}, torch {torch.__version__}.",
        "",
        f"{task.seconds:.0f} s, strung together from {len(task.said)} words by speakers that no "
        f"training heard; {len(task.queries)} queries, {new} of them words that no training heard.",
        "",
        f"| | TWV, β = {NIST_BETA} | at threshold | TWV, β = {beta:.0f} | at threshold "
        "| at the app's | of new words | found, no false alarm |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
        "TWV: maximum term-weighted value (NIST STD 2006), 1 for all found and no false alarm; a "
        f"place is right if its middle is within {TOLERANCE} s of the word's. NIST's β is for "
        "words that are said once in 10,000 s: here a false alarm costs "
        f"{NIST_BETA / task.seconds:.1f}. The other β is for words as frequent as these; *at the "
        "app's*: the value at the threshold of the app, chosen on validation speakers. *found, "
        "no false alarm*: the share of the times a word is said that rank before the first wrong "
        "place.",
        "",
        "| step | s | s of processor time |",
        "|---|---:|---:|",
        f"| listening to {task.seconds:.0f} s, once | {listening[0]:.1f} | {listening[1]:.1f} |",
        *(f"| a query: {n} | {wall:.2f} | {used:.2f} |" for n, (wall, used) in times.items()),
    ]


def row(
    name: str, task: Task, places: Sequence[Sequence[Place]], threshold: float | None = None
) -> str:
    """Write a row of the table. threshold: of the app."""
    new = [i for i, (_, _, unseen) in enumerate(task.queries) if unseen]
    nist, nist_at = best_value(task, places, NIST_BETA)
    own, own_at = best_value(task, places, own_beta(task))
    app = "–"
    if threshold is not None:
        judged = [judge(task, i, found) for i, found in enumerate(places)]
        app = f"{value(task, judged, own_beta(task), threshold):.2f}"
    of_new = f"{best_value(task, places, own_beta(task), new)[0]:.2f}" if new else "–"
    clean = np.mean([before_false_alarm(task, i, found) for i, found in enumerate(places)])
    return (
        f"| {name} | {nist:.2f} | {nist_at:.2f} | {own:.2f} | {own_at:.2f} | {app} "
        f"| {of_new} | {clean:.2f} |"
    )


def best_value(
    task: Task, places: Sequence[Sequence[Place]], beta: float, chosen: Sequence[int] | None = None
) -> tuple[float, float]:
    """Find the maximum term-weighted value over one threshold for all queries, and that
    threshold.
    """
    numbers = range(len(places)) if chosen is None else chosen
    judged = [judge(task, i, places[i]) for i in numbers]
    thresholds = np.unique(np.concatenate([scores for scores, _, _ in judged]).round(3)).tolist()
    values = [value(task, judged, beta, threshold) for threshold in thresholds]
    best = int(np.argmax(values))
    return values[best], thresholds[best]


def value(task: Task, judged: Sequence[Judged], beta: float, threshold: float) -> float:
    """Compute the term-weighted value at one threshold for all queries."""
    terms = []
    for scores, right, count in judged:
        above = scores >= threshold
        miss = 1 - (above & right).sum() / count
        false = (above & ~right).sum() / (task.seconds - count)
        terms.append(miss + beta * false)
    return float(1 - np.mean(terms))


def judge(task: Task, number: int, places: Sequence[Place]) -> Judged:
    """Judge the places: their scores, whether each is right, and how often the word is said. Of two
    places at one word the better one counts as right, the other as wrong.
    """
    truth = task.middles(task.queries[number][0])
    left, right = list(truth), []
    for place in sorted(places, key=lambda place: -place.score):
        middle = (place.start + place.end) / 2
        near = min(left, key=lambda t: abs(t - middle), default=None)
        right.append(near is not None and abs(near - middle) <= TOLERANCE)
        if right[-1] and near is not None:
            left.remove(near)
    scores = np.sort([place.score for place in places])[::-1]
    return scores, np.array(right, bool), len(truth)


def before_false_alarm(task: Task, number: int, places: Sequence[Place]) -> float:
    """Measure the share of the times the word is said that rank before the first wrong place."""
    _, right, count = judge(task, number, places)
    first = int(np.argmin(right)) if not right.all() else len(right)
    return first / count


def own_beta(task: Task) -> float:
    """Compute β of the term-weighted value for words as frequent as the queries, with NIST's
    costs.
    """
    often = np.mean([len(task.middles(word)) for word, _, _ in task.queries])
    return 0.1 * (task.seconds / float(often) - 1)


def written(words: Words, word: WordType) -> Written:
    """Make the typed query of a word."""
    vector = words.embed_phonemes([word.phonemes])[0]
    return Written(" ".join(word.phonemes), Pronunciation(word.phonemes, "dictionary"), vector)


def warped(frames: np.ndarray, waveform: np.ndarray, limit: int = 200) -> list[Place]:
    """Find places by subsequence DTW of MFCC frames; score: 1 − the mean distance."""
    query = mfcc_frames(waveform).astype(np.float32)
    costs, starts = subsequence_means(np.ascontiguousarray(1 - query @ frames.T, np.float32))
    taken, places = np.zeros(len(costs), bool), []
    hop = HOP_LENGTH / SAMPLE_RATE
    for end in np.argsort(costs).tolist():
        start = int(starts[end])
        if taken[start : end + 1].any():
            continue
        taken[start : end + 1] = True
        places.append(Place(start * hop, (end + 1) * hop, 1 - float(costs[end])))
        if len(places) == limit:
            break
    return places


if __name__ == "__main__":
    main()
