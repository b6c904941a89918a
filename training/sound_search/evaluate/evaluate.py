"""The table of sound search: how well each system ranks the clips of a fold for text queries."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.pretrained.checkpoint import read_config
from earshot.pretrained.sentence import SentenceEncoder
from earshot.sound_index.embedding import SoundEncoder
from earshot.systems.sound_search.encoders.encoder import EarshotEncoder
from earshot.systems.sound_search.encoders.models import DEFAULT_MODEL
from training.common.report import markdown
from training.judges.metrics import equal_error
from training.sound_search.evaluate.compound import Answers, answer, embed, measure
from training.sound_search.evaluate.evaluator import Evaluator
from training.sound_search.evaluate.test_set import QUERIES, QUICK, Budget, choose

DEFAULT_NAMES = [folder.name for folder in DEFAULT_MODEL]
CHANCE_DRAWS: Final = 50
TIE_BREAK: Final = 1e-4  # weight of the classifier's score among clips of one predicted class

Row = dict[str, Any]


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
    return {"system": encoder.name, **measure(evaluator, answers), "no_match_error": error}


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
