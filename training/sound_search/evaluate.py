"""The table of sound search: how well each system ranks the clips of a fold for text queries, which
it answers as the app does: those that name several sounds, second by second.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from training.common.checkpoints import update_metrics
from training.common.report import markdown, write_card
from training.judges.metrics import equal_error
from training.sound_search.evaluator import Evaluator
from training.sound_search.test_set import QUERIES, QUICK, Budget, choose

DEFAULT_NAMES = [folder.name for folder in DEFAULT_MODEL]
CHANCE_DRAWS: Final = 50
TIE_BREAK: Final = 1e-4  # weight of the classifier's score among clips of one predicted class

Row = dict[str, Any]


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
    for system in systems:
        encoder = EarshotEncoder.from_pretrained(system)
        answers = answer(evaluator, encoder.embed_text, embed(encoder, evaluator))
        shipped = system == ensemble
        seen = _seen(evaluator, system)
        rows.append(_row(evaluator, encoder, answers) | {"shipped": shipped, "seen": seen})
    text_only = _text_only(evaluator, answers.whole) | {"seen": seen}  # by the last system
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
