"""python -m benchmarks.word_search --data DIR: finding words in long recordings, and the time.

One recording is strung together from words by speakers that no training heard, with pauses; each
query is typed, or spoken by another speaker. Baseline: subsequence DTW over MFCC, with the same
spoken queries. The other is fluent speech by such speakers; queries are typed. Writes
word_search.md. With --split val, of trained words by validation speakers, and of prompts by a
speaker whose other prompts were trained on: what is chosen, is chosen on these; nothing is written.
"""

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from benchmarks.support.search_tasks import Task, fluent, string_together
from earshot.media.audio.dtw import mfcc_frames, subsequence_means
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.systems.words import Spoken, Words, Written
from earshot.systems.words.pronunciation import Pronunciation
from earshot.systems.words.word_search import MAX_SECONDS_SEARCHED, FoundPlaces, Place, WordSearch
from training.common.corpora import data_root, speech_items
from training.words.recordings import aligned_utterances
from training.words.test_set import WordType, select_test_set

ROOT = Path(__file__).parents[1]
# The corpus of each split that holds fluent speech whose words are known.
FLUENT: Final = {"test": "librispeech_251", "val": "studio_prompts"}
MAX_PLACES: Final = 200  # places of a query
TOLERANCE: Final = 0.5  # seconds from the middle of a word to that of a place (NIST STD 2006)
Judged = tuple[np.ndarray, np.ndarray, int]  # see judge
NIST_BETA: Final = 999.9  # of the term-weighted value: for a word that is said once in 10,000 s


HEAD: Final = (
    "# Finding a word in a long recording",
    "",
    f"`python -m benchmarks.word_search --data DIR`, threads: {torch.get_num_threads()}, "
    f"{platform.machine()}, torch {torch.__version__}.",
    "",
    "TWV: maximum term-weighted value (NIST STD 2006), 1 for all found and no false alarm; a "
    f"place is right if its middle is within {TOLERANCE} s of the word's. NIST's β is for "
    "words that are said once in 10,000 s, the other for words as frequent as these; *at the "
    "app's*: the value at the thresholds of the app, chosen on validation speakers. *found, "
    "no false alarm*: the share of the times a word is said that rank before the first wrong "
    "place.",
)


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=MAX_SECONDS_SEARCHED, help="of a recording at most"
    )
    parser.add_argument("--split", choices=FLUENT, default="test")
    options = parser.parse_args()
    data = data_root(options.data)
    test_set = select_test_set(data, options.split, limit=900)
    items = [i for i in speech_items(data) if i.language == "en" and i.split == options.split]
    sentences = aligned_utterances(i for i in items if i.corpus == FLUENT[options.split])
    tasks = [
        string_together(test_set, options.seconds, zero_shot_too=options.split == "test"),
        fluent(sentences, options.seconds),
    ]
    search = WordSearch(Words.from_pretrained(ROOT / "checkpoints" / "words", "cpu"))
    text = "\n".join([*HEAD, *(line for task in tasks for line in lines(task, search))]) + "\n"
    print(text)
    if options.split == "test":
        Path(__file__).with_suffix(".md").write_text(text)


def lines(task: Task, search: WordSearch) -> list[str]:
    """Measure the search in a recording, and write the lines about it."""
    search.encode((SAMPLE_RATE, task.waveform[: 30 * SAMPLE_RATE]))  # warm-up
    began, used = time.perf_counter(), time.process_time()
    recording = search.encode((SAMPLE_RATE, task.waveform))
    times = {"listening, once": (time.perf_counter() - began, time.process_time() - used)}

    def find_ours(query: Written | Spoken) -> FoundPlaces:
        return search(recording, query, limit=MAX_PLACES)

    spoken = [query.spoken for query in task.queries if query.spoken is not None]
    typed = [written(search.words, query.word) for query in task.queries]
    systems: dict[str, tuple[Callable[[Any], FoundPlaces], Sequence[Any]]] = {
        "ours, typed": (find_ours, typed)
    }
    if spoken:
        systems["ours, spoken"] = (find_ours, [first_word(search.words, one) for one in spoken])
        frames = mfcc_frames(recording.waveform).astype(np.float32)
        systems["MFCC, subsequence DTW, spoken"] = (lambda w: warped(frames, w), spoken)
    rows = []
    for name, (find, queries) in systems.items():
        began, used = time.perf_counter(), time.process_time()
        places = [find(query) for query in queries]
        count = len(queries)
        times[f"a query: {name}"] = (
            (time.perf_counter() - began) / count,
            (time.process_time() - used) / count,
        )
        rows.append(row(name, task, places))
    new = sum(query.is_new for query in task.queries)
    head = f"{len(task.queries)} queries"
    return [
        "",
        f"## {task.seconds:.0f} s {task.source}",
        "",
        f"{head}, {new} of them words that no training heard." if new else f"{head}.",
        "",
        f"| | TWV, β = {NIST_BETA} | at threshold | TWV, β = {own_beta(task):.0f} | at threshold "
        "| at the app's | of new words | found, no false alarm |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
        "| step | s | s of processor time |",
        "|---|---:|---:|",
        *(f"| {n} | {wall:.2f} | {used:.2f} |" for n, (wall, used) in times.items()),
    ]


def row(name: str, task: Task, ranked: Sequence[FoundPlaces]) -> str:
    """Write a row of the table."""
    new = [i for i, query in enumerate(task.queries) if query.is_new]
    places = [each.places for each in ranked]
    nist, nist_at = best_value(task, places, NIST_BETA)
    own, own_at = best_value(task, places, own_beta(task))
    app, thresholds = "–", [each.threshold for each in ranked]
    if np.isfinite(thresholds).all():
        judged = [judge(task, i, some) for i, some in enumerate(places)]
        app = f"{value(task, judged, own_beta(task), thresholds):.2f}"
    of_new = f"{best_value(task, places, own_beta(task), new)[0]:.2f}" if new else "–"
    clean = np.mean([before_false_alarm(task, i, some) for i, some in enumerate(places)])
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


def value(
    task: Task, judged: Sequence[Judged], beta: float, threshold: float | Sequence[float]
) -> float:
    """Compute the term-weighted value at one threshold for all queries, or at one for each."""
    terms = []
    thresholds = np.broadcast_to(threshold, len(judged))
    for (scores, right, count), least in zip(judged, thresholds, strict=True):
        above = scores >= least
        miss = 1 - (above & right).sum() / count
        false = (above & ~right).sum() / (task.seconds - count)
        terms.append(miss + beta * false)
    return float(1 - np.mean(terms))


def judge(task: Task, number: int, places: Sequence[Place]) -> Judged:
    """Judge the places: their scores, whether each is right, and how often the word is said. Of two
    places at one word the better one counts as right, the other as wrong.
    """
    truth = task.middles(task.queries[number].word)
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
    often = np.mean([len(task.middles(query.word)) for query in task.queries])
    return 0.1 * (task.seconds / float(often) - 1)


def written(words: Words, word: WordType) -> Written:
    """Make the typed query of a word."""
    vector = words.embed_phonemes([word.phonemes])[0]
    return Written(" ".join(word.phonemes), Pronunciation(word.phonemes, "dictionary"), vector)


def first_word(words: Words, waveform: np.ndarray) -> Spoken:
    """Make the spoken query of a recording."""
    seconds = len(waveform) / SAMPLE_RATE
    return Spoken(waveform, 0.0, seconds, words.embed_waveforms([waveform])[0])


def warped(frames: np.ndarray, waveform: np.ndarray) -> FoundPlaces:
    """Find places by subsequence DTW of MFCC frames; score: 1 − the mean distance. No threshold was
    chosen for it."""
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
        if len(places) == MAX_PLACES:
            break
    return FoundPlaces(tuple(places), np.nan)


if __name__ == "__main__":
    main()
