"""Queries as the pipeline answers them: those that name several sounds, second by second."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from earshot.sound_index.embedding import SoundEncoder
from earshot.sound_index.embedding import embed as embed_sound
from earshot.systems.sound_search.compound import Compound, parse
from earshot.systems.sound_search.order import order_scores
from training.sound_search.evaluate.evaluator import Evaluator


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


def measure(evaluator: Evaluator, answers: Answers) -> dict[str, float]:
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
