"""What plain queries find in the shipped library, and whether the page says that they match.

python -m benchmarks.plain_queries prints the table of docs/sound_search.md, and the threshold of
earshot.sound_index.descriptions: what FALSE of the queries of FITTED reach that have no answer.
plain_queries.csv was written by hand before any score was looked at: what people type, one to five
words; the kinds of sound that answer it, none where the library has no answer; and the set that it
is of. The third test was written after the others were looked at, and looked at once.
"""

import csv
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binomtest

from earshot.core.paths import ASSETS
from earshot.sound_index.descriptions import THRESHOLD, Descriptions
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.encoder import EarshotEncoder

QUERIES: Final = Path(__file__).with_suffix(".csv")
HITS: Final = 5
FITTED: Final = ("fit", "test", "second test")
FALSE: Final = 0.12
HEADING: Final = (
    "set",
    "queries with an answer",
    "of these called no match",
    "by sound alone",
    "queries without",
    "of these called a match",
    "by sound alone",
    "first is right",
    f"right of {HITS}",
)


class Answer(NamedTuple):
    """An answer to a query: whether the library has one; whether the page says that something
    matches, and whether it would by the score of sounds alone; which of the first HITS are right;
    and the highest sum of what is compared with the threshold.
    """

    has_answer: bool
    matched: bool
    matched_by_sound: bool
    right: list[bool]
    evidence: float


def main() -> None:
    search = SoundSearch.from_pretrained(device="cpu")
    index = SoundIndex.open(ASSETS / "sounds.index", search.encoder)
    with QUERIES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert isinstance(search.encoder, EarshotEncoder)
    descriptions = Descriptions(index.sounds, search.encoder.embed_sentences)
    print(f"| {' | '.join(HEADING)} |")
    print("|---" * len(HEADING) + "|")
    others = []
    for name in (*FITTED, "third test"):
        answers = [_answer(search, index, descriptions, r) for r in rows if r["half"] == name]
        print(f"| {' | '.join([name, *_cells(answers)])} |", flush=True)
        others += [a.evidence for a in answers if name in FITTED and not a.has_answer]
    print(f"\nthreshold {np.quantile(others, 1 - FALSE):.2f}, now {THRESHOLD}")


def _answer(
    search: SoundSearch, index: SoundIndex, descriptions: Descriptions, row: dict[str, str]
) -> Answer:
    result, kinds = search(index, row["query"], limit=HITS), row["kinds"].split()
    texts = result.compound.captions
    cosines = np.mean([descriptions.cosines(v) for v in descriptions.sentences(texts)], axis=0)
    shares = np.mean([descriptions.shares(text) for text in texts], axis=0)
    evidence = cosines + shares + result.scores
    by_sound = bool(np.nanmax(result.scores) >= result.threshold)
    right = [hit.sound.kind in kinds for hit in result.hits]
    highest = float(np.nanmax(evidence))
    return Answer(bool(kinds), result.matched, by_sound, right, highest)


def _cells(answers: list[Answer]) -> list[str]:
    some, none = ([a for a in answers if a.has_answer is which] for which in (True, False))
    first = np.mean([a.right[0] for a in some])
    return [
        str(len(some)),
        _share([not a.matched for a in some]),
        _share([not a.matched_by_sound for a in some]),
        str(len(none)),
        _share([a.matched for a in none]),
        _share([a.matched_by_sound for a in none]),
        f"{first:.3f}",
        f"{np.mean([a.right for a in some]):.3f}",
    ]


def _share(wrong: list[bool]) -> str:
    low, high = binomtest(sum(wrong), len(wrong)).proportion_ci(method="wilson")
    return f"{np.mean(wrong):.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
