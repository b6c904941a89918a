"""The table of sound search: how well each system ranks the clips of a fold for typed queries."""

import json
from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from pipelines.checkpoint import read_config
from pipelines.sound_search.encoder import EarshotEncoder, SoundEncoder
from pipelines.sound_search.models import DEFAULT_MODEL, ENSEMBLE
from pipelines.sound_search.sentence_encoder import SentenceEncoder
from training.evaluators.metrics import equal_error
from training.evaluators.report import markdown
from training.sound_search.evaluate.evaluator import Bench
from training.sound_search.evaluate.material import QUERIES, QUICK, Budget, choose

BATCH: Final = 16  # sounds
DEFAULT_NAMES, ENSEMBLE_NAMES = (
    [folder.name for folder in folders] for folders in (DEFAULT_MODEL, ENSEMBLE)
)
CHANCE_DRAWS: Final = 50
TIE_BREAK: Final = 1e-4  # weight of the classifier's score among clips of one guessed class

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
    """Ranks the clips of a fold by every system; prints and returns the table's rows.

    checkpoints: folders of our models; those of ENSEMBLE, or else all, are also put together.
    fold, split and queries: see material.choose; quick: a sample, seeded, for a quick answer.
    Raises SystemExit where there is nothing to rank, or nothing to rank it by.
    """
    if not checkpoints:
        raise SystemExit("There is no checkpoint of sound search to evaluate.")
    bench = Bench(*choose(data, queries, fold, split, QUICK if quick else Budget()))
    print(bench)
    rows = _rows(bench, checkpoints)
    print(markdown(rows))
    for row in rows:
        shares = ", ".join(f"{style} {row[f'R@1_{style}']:.3f}" for style in bench.styles)
        print(f"{row['system']}: R@1 by style: {shares}")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def calibrate(encoder: SoundEncoder, data: Path, fold: int) -> float:
    """The score below which nothing matches: on the clips of a fold that the encoder was not
    trained on, it refuses as many queries with an answer as it accepts without one."""
    bench = Bench(*choose(data, QUERIES, fold, "test", Budget(mixtures=0)))
    return equal_error(*bench.best(score(encoder, bench)))[0]


def score(encoder: SoundEncoder, bench: Bench) -> np.ndarray:
    """The scores of the encoder that Bench measures: (Q + M + C, N + M)."""
    return encoder.embed_text(bench.texts) @ embed(encoder, bench).T


def embed(encoder: SoundEncoder, bench: Bench) -> np.ndarray:
    """The sounds of the bench as vectors, the mean over the segments of each: (N + M, D)."""
    segments = map(encoder.segments, bench.sounds(encoder.sample_rate))
    vectors = []
    for shape, alike in groupby(segments, key=np.shape):
        while batch := list(islice(alike, BATCH)):
            embedded = encoder.embed_audio(np.concatenate(batch)).vectors
            vectors.append(embedded.reshape(len(batch), shape[0], -1).mean(axis=1))
    return np.concatenate(vectors)


def _rows(bench: Bench, folders: Sequence[Path]) -> list[Row]:
    """Chance, the sentence encoder alone, each model, and the ensemble."""
    encoder = EarshotEncoder.from_pretrained(folders)
    texts, sounds = encoder.embed_text(bench.texts), embed(encoder, bench)
    # Of the ensemble's vectors each model has a part, divided by the root of their number.
    widths = [EarshotEncoder.from_pretrained([folder]).dimension for folder in folders]
    ends = np.cumsum(widths)
    scores = {
        folder: len(folders) * texts[:, end - width : end] @ sounds[:, end - width : end].T
        for folder, width, end in zip(folders, widths, ends, strict=True)
    }
    ensemble = [folder for folder in folders if folder.name in ENSEMBLE_NAMES] or list(folders)
    default = [folder for folder in folders if folder.name in DEFAULT_NAMES] or ensemble
    systems = [[folder] for folder in folders] + ([ensemble] if len(ensemble) > 1 else [])
    rows = [_chance(bench)]
    rows.append(_text_only(bench, _mean(scores, default)) | {"seen": _seen(bench, default)})
    for system in systems:
        row = _row(bench, EarshotEncoder.from_pretrained(system), _mean(scores, system))
        rows.append(row | {"shipped": system == default, "seen": _seen(bench, system)})
    return rows


def _mean(scores: dict[Path, np.ndarray], folders: Sequence[Path]) -> np.ndarray:
    return np.mean([scores[folder] for folder in folders], axis=0)


def _seen(bench: Bench, folders: Sequence[Path]) -> bool:
    """Whether any of the models was trained on any of the clips."""
    return any(bench.folds & set(read_config(folder)["folds"]) for folder in folders)


def _row(bench: Bench, encoder: SoundEncoder, scores: np.ndarray) -> Row:
    error = bench.no_match_error(scores, encoder.threshold)
    return {"system": encoder.name, **bench.measure(scores), "no_match_error": error}


def _chance(bench: Bench) -> Row:
    """The mean over many random rankings."""
    rng = np.random.default_rng(0)
    shape = len(bench.texts), len(bench.clips) + len(bench.mixtures)
    draws = [bench.measure(rng.random(shape)) for _ in range(CHANCE_DRAWS)]
    means = {metric: float(np.mean([draw[metric] for draw in draws])) for metric in draws[0]}
    return {"system": "chance", "shipped": False, "seen": False, **means}


def _text_only(bench: Bench, scores: np.ndarray) -> Row:
    """The sentence encoder as it comes: a text against the name of the class that the scores
    guess for a sound; among sounds of one class the surer guess comes first."""
    encoder = SentenceEncoder()
    guesses = bench.guesses(scores)
    surety = scores[len(bench.texts) - len(bench.names) :].max(axis=0)
    similarity = encoder(bench.texts) @ encoder(bench.names)[guesses].T
    measured = bench.measure(similarity + TIE_BREAK * surety)
    return {"system": "text-only", "shipped": False, **measured}
