"""The table of queries in other languages, next to the same queries in English.

translated.csv: 150 of the queries, one of each style for each class, drawn with seed 0 and put into
the other languages as people would type them. They were written before the first measurement and
are changed no more; nothing is made from them.
"""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.systems.sound_search.encoder import EarshotEncoder
from earshot.systems.sound_search.translation import LANGUAGES, translate
from training.common.report import markdown
from training.sound_search.evaluate import Embedded, answer, embed
from training.sound_search.evaluator import Evaluator
from training.sound_search.test_set import QUERIES, QUICK, Budget, choose

TRANSLATED: Final = Path(__file__).parent / "translated.csv"
COLUMNS: Final = {
    "R@1": ("R@1", ".3f"),
    "R@10": ("R@10", ".3f"),
    "mAP@10": ("mAP@10", ".3f"),
    "R@10_sentence": ("R@10, sentences", ".2f"),
    "R@10_keywords": ("keywords", ".2f"),
    "R@10_indirect": ("indirect", ".2f"),
    "recognised": ("language recognised", ".3f"),
}


def evaluate_languages(
    data: Path,
    folders: Sequence[Path],
    fold: int | None = None,
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
) -> list[dict[str, Any]]:
    """Rank the clips of a fold for translated queries; print and return the rows of the table.

    fold, split: see test_set.choose. The clips may be among the training data of the model: rows
    compare languages, not models. Raises SystemExit if there are no clips.
    """
    encoder = EarshotEncoder.from_pretrained(folders)
    budget = replace(QUICK if quick else Budget(), mixtures=0)
    evaluator = Evaluator(*choose(data, QUERIES, fold, split, budget))
    with TRANSLATED.open(encoding="utf-8", newline="") as file:
        texts = {row["en"]: row for row in csv.DictReader(file)}
    evaluator = replace(evaluator, queries=[q for q in evaluator.queries if q.text in texts])
    print(evaluator)
    sounds = embed(encoder, evaluator)

    def row(system: str, queries: list[str], **more: Any) -> dict[str, Any]:
        return {
            "system": system,
            "shipped": False,
            **_measure(evaluator, encoder, sounds, queries),
        } | more

    rows = [row("English", [query.text for query in evaluator.queries])]
    for code, name in LANGUAGES.items():
        typed = [texts[query.text][code] for query in evaluator.queries]
        readings = [translate(text) for text in typed]
        recognised = float(np.mean([reading.language == code for reading in readings]))
        rows.append(row(f"{name}, as typed", typed))
        english = [reading.english for reading in readings]
        rows.append(row(f"{name}, translated", english, recognised=recognised))
    print(markdown(rows, COLUMNS))
    _count_english(data / "sounds" / "captions" / "audiocaps.csv")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def _count_english(captions: Path) -> None:
    """Print how many English captions are taken for another language."""
    if captions.exists():
        with captions.open(encoding="utf-8", newline="") as file:
            texts = [row["caption"] for row in csv.DictReader(file)]
        wrong = sum(bool(translate(text).language) for text in texts)
        print(f"{wrong} of {len(texts):,} English captions are read as another language.")


def _measure(
    evaluator: Evaluator, encoder: EarshotEncoder, sounds: Embedded, texts: list[str]
) -> dict[str, float]:
    """Measure every metric of the same queries in other words."""
    pairs = zip(evaluator.queries, texts, strict=True)
    other = replace(evaluator, queries=[replace(query, text=text) for query, text in pairs])
    return other.measure(answer(other, encoder.embed_text, sounds).split)
