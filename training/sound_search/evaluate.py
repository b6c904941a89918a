"""The table of sound search: how well each system ranks the clips of a fold for text queries, which
it answers as the app does: those that name several sounds, second by second. And the table of
queries in other languages, next to the same queries in English.

translated.csv: 150 of the queries, one of each style for each class, drawn with seed 0 and put into
the other languages as people would type them. They were written before the first measurement and
are changed no more; nothing is made from them.
"""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.pretrained.checkpoint import read_config
from earshot.pretrained.sound_search import SentenceEncoder
from earshot.sound_index.embedding import SoundEncoder
from earshot.sound_index.embedding import embed as embed_sound
from earshot.systems.sound_search.encoder import DEFAULT_MODEL, EarshotEncoder
from earshot.systems.sound_search.query import Compound, parse
from earshot.systems.sound_search.ranking import order_scores
from earshot.systems.sound_search.translation import LANGUAGES, translate
from training.common.checkpoints import update_metrics
from training.common.report import markdown, write_card
from training.judges.metrics import equal_error
from training.sound_search.evaluator import Evaluator
from training.sound_search.test_set import QUERIES, QUICK, Budget, choose

DEFAULT_NAMES = [folder.name for folder in DEFAULT_MODEL]
CHANCE_DRAWS: Final = 50
TIE_BREAK: Final = 1e-4  # weight of the classifier's score among clips of one predicted class

Row = dict[str, Any]
TRANSLATED: Final = Path(__file__).parent / "translated.csv"
LANGUAGE_COLUMNS: Final = {
    "R@1": ("R@1", ".3f"),
    "R@10": ("R@10", ".3f"),
    "mAP@10": ("mAP@10", ".3f"),
    "R@10_sentence": ("R@10, sentences", ".2f"),
    "R@10_keywords": ("keywords", ".2f"),
    "R@10_indirect": ("indirect", ".2f"),
    "recognised": ("language recognised", ".3f"),
}


@dataclass(frozen=True)
class Embedded:
    """Embedded sounds: the mean vector of each over its segments (N, D), and the vectors of the
    seconds of each, (S, D).
    """

    means: np.ndarray
    seconds: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, part: slice) -> "Embedded":
        return Embedded(self.means[part], self.seconds[part])


def embed(encoder: SoundEncoder, evaluator: Evaluator) -> Embedded:
    """Embed the clips, the mixtures, and those in sequence once more in the other order."""
    pairs = [embed_sound(encoder, sound) for sound in evaluator.sounds(encoder.sample_rate)]
    means = np.stack([vectors.mean(axis=0) for vectors, _ in pairs])
    return Embedded(means, [seconds.astype(np.float32) for _, seconds in pairs])


@dataclass(frozen=True)
class Answers:
    """The scores of a system. whole (Q, N): every text as one query; split (Q, N): texts that name
    several sounds by their parts; best_second (Q, N): of each text; order_right: share of mixtures
    in sequence that score higher than the same clips in the other order.
    """

    whole: np.ndarray
    split: np.ndarray
    best_second: np.ndarray
    order_right: float


def answer(
    evaluator: Evaluator, embed_text: Callable[[Sequence[str]], np.ndarray], sounds: Embedded
) -> Answers:
    """Score evaluator.texts with the sounds that `embed` returned."""
    library = sounds[: len(evaluator.clips) + len(evaluator.mixtures)]
    reversed_sounds = sounds[len(library) :]
    vectors = embed_text(evaluator.texts)
    whole = vectors @ library.means.T
    split = whole.copy()
    compounds = {number: parse(text) for number, text in enumerate(evaluator.texts)}
    named = {number: compound for number, compound in compounds.items() if compound.links}
    parts = sorted({part for compound in named.values() for part in compound.parts})
    part_vectors = dict(zip(parts, embed_text(parts), strict=True)) if parts else {}

    def scores(compound: Compound, among: Embedded) -> list[float]:
        queries = np.stack([part_vectors[part] for part in compound.parts])
        steps = compound.steps
        return [float(order_scores(queries @ seconds.T, steps)) for seconds in among.seconds]

    for number, compound in named.items():
        split[number] = scores(compound, library)
    right = []
    for number, other in zip(evaluator.in_sequence, range(len(reversed_sounds)), strict=True):
        row = len(evaluator.queries) + number
        column = len(evaluator.clips) + number
        if row in named:
            (against,) = scores(named[row], reversed_sounds[other : other + 1])
        else:
            against = float(vectors[row] @ reversed_sounds.means[other])
        right.append(split[row, column] > against)
    best = np.stack([(vectors @ seconds.T).max(axis=1) for seconds in library.seconds], axis=1)
    return Answers(whole, split, best, float(np.mean(right)) if right else float("nan"))


def measure_answers(evaluator: Evaluator, answers: Answers) -> dict[str, float]:
    """Measure every metric of the split queries; those of whole queries for mixtures end in
    _whole.
    """
    metrics = evaluator.measure(answers.split, answers.best_second)
    if evaluator.mixtures:
        whole = evaluator.measure(answers.whole)
        for name in ("mixture_R@1", "mixture_R@10", "both_found", "R@1", "mAP@10"):
            metrics[f"{name}_whole"] = whole[name]
        metrics["order_right"] = answers.order_right
    return metrics


def evaluate(
    data: Path,
    checkpoints: Sequence[Path],
    queries: Path = QUERIES,
    fold: int | None = None,
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
) -> list[Row]:
    """Rank the clips of a fold by every system; print and return the rows of the table.

    checkpoints: folders of our models; those of DEFAULT_MODEL, or else all, also form an ensemble.
    fold, split and queries: see test_set.choose; quick: a seeded sample. Raises SystemExit if there
    are no clips, no queries or no checkpoints.
    """
    if not checkpoints:
        raise SystemExit("There is no checkpoint of sound search to evaluate.")
    evaluator = Evaluator(*choose(data, queries, fold, split, QUICK if quick else Budget()))
    print(evaluator)
    rows = _rows(evaluator, checkpoints)
    print(markdown(rows))
    for row in rows:
        shares = ", ".join(f"{style} {row[f'R@1_{style}']:.3f}" for style in evaluator.styles)
        print(f"{row['system']}: R@1 by style: {shares}")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def calibrate(encoder: SoundEncoder, data: Path, fold: int) -> float:
    """Find the threshold of a match: the point of equal error between queries with a match that are
    refused and queries without one that are accepted, on a fold that was not trained on.
    """
    evaluator = Evaluator(*choose(data, QUERIES, fold, "test", Budget(mixtures=0)))
    return equal_error(*evaluator.best(score(encoder, evaluator)))[0]


def score(encoder: SoundEncoder, evaluator: Evaluator) -> np.ndarray:
    """Compute the encoder's scores (Q + M + C, N + M), as Evaluator takes them."""
    library = len(evaluator.clips) + len(evaluator.mixtures)
    return encoder.embed_text(evaluator.texts) @ embed(encoder, evaluator).means[:library].T


def _rows(evaluator: Evaluator, folders: Sequence[Path]) -> list[Row]:
    """Measure chance, the sentence encoder alone, each model, and the ensemble."""
    ensemble = [folder for folder in folders if folder.name in DEFAULT_NAMES] or list(folders)
    systems = [[folder] for folder in folders] + ([ensemble] if len(ensemble) > 1 else [])
    rows: list[Row] = []
    text_only: Row = {}
    for system in systems:
        encoder = EarshotEncoder.from_pretrained(system)
        answers = answer(evaluator, encoder.embed_text, embed(encoder, evaluator))
        shipped = system == ensemble
        seen = _seen(evaluator, system)
        rows.append(_row(evaluator, encoder, answers) | {"shipped": shipped, "seen": seen})
        if system is systems[-1]:
            text_only = _text_only(evaluator, answers.whole) | {"seen": seen}
    return [_chance(evaluator), text_only, *rows]


def _seen(evaluator: Evaluator, folders: Sequence[Path]) -> bool:
    """Say whether any of the models was trained on any of the clips."""
    return any(evaluator.folds & set(read_config(folder)["folds"]) for folder in folders)


def _row(evaluator: Evaluator, encoder: SoundEncoder, answers: Answers) -> Row:
    error = evaluator.no_match_error(answers.whole, encoder.threshold)
    return {"system": encoder.name, **measure_answers(evaluator, answers), "no_match_error": error}


def _chance(evaluator: Evaluator) -> Row:
    """Average the metrics of random rankings."""
    rng = np.random.default_rng(0)
    shape = len(evaluator.texts), len(evaluator.clips) + len(evaluator.mixtures)
    draws = [evaluator.measure(rng.random(shape)) for _ in range(CHANCE_DRAWS)]
    means = {metric: float(np.mean([draw[metric] for draw in draws])) for metric in draws[0]}
    return {"system": "chance", "shipped": False, "seen": False, **means}


def _text_only(evaluator: Evaluator, scores: np.ndarray) -> Row:
    """Measure the pretrained sentence encoder alone: similarity of a text and the name of the class
    that the scores predict for a sound; sounds of one class are ordered by the confidence of that.
    """
    encoder = SentenceEncoder()
    predicted = evaluator.predict_classes(scores)
    confidence = scores[len(evaluator.texts) - len(evaluator.names) :].max(axis=0)
    similarity = encoder(evaluator.texts) @ encoder(evaluator.names)[predicted].T
    measured = evaluator.measure(similarity + TIE_BREAK * confidence)
    return {"system": "text-only", "shipped": False, **measured}


def publish(rows: list[dict[str, Any]], measured: Sequence[Path], checkpoints: Path) -> None:
    """Write a model's rows, alone and in the ensemble, to its metrics.json and its model card.

    measured: the folders of the evaluated models. A shipped model that was trained on every fold
    has the results, and the folds, of the model of the same name that was not. Raises SystemExit if
    a row is of a model that was trained on the clips.
    """
    if any(row["seen"] for row in rows):
        raise SystemExit("Not published: these models were trained on the clips that were ranked.")
    for folder in measured:
        target = checkpoints / folder.name
        if not target.is_dir():
            continue  # evaluated for comparison, not shipped
        own = [row for row in rows if folder.name in row["system"].split(" + ")]
        results = {"results": own, "results_trained_on_folds": read_config(folder)["folds"]}
        update_metrics(target, results)
        write_card(target, results=markdown(rows))


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
    print(markdown(rows, LANGUAGE_COLUMNS))
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
