"""Train the two views together, by our contrast or the paper's triplets on the paper's schedule, or
first the acoustic view to read phonemes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal

import torch
from torch import Tensor

from models.word_embedder import WordEmbedder, WordEmbedderConfig
from training.common.loop import device, fit, save
from training.words.data.batches import MIXTURE, Batch, Mixture, Words
from training.words.data.concatenation import Word
from training.words.train.losses import LOSSES
from training.words.train.plateau import descend
from training.words.train.validation import held_out, misread

N_WORDS: Final = 96  # in a batch


@dataclass(frozen=True)
class Stage:
    """One stage of training. shards: of the synthetic words, that it hears; left_out: words that it
    does not; start: the run it goes on from; objective: reading phonemes alone (CTC), our contrast
    and reading, or the paper's triplets on its schedule, for at most so many steps; reading: its
    weight beside the contrast; kept: share of the start's weights in the mean of them and of those
    learned from there, which keeps more of what the start knew of other words (Wortsman et al.
    2022, Robust fine-tuning of zero-shot models)."""

    steps: int
    learning_rate: float
    shards: int
    left_out: frozenset[Word] = field(default_factory=frozenset)
    start: str = ""
    objective: Literal["reading", "contrast", "triplets"] = "contrast"
    reading: float = 0.5
    mixture: Mixture = MIXTURE
    kept: float = 0.0


def align(run: Path, name: str, config: WordEmbedderConfig, stage: Stage) -> None:
    """Train run/name.pt on the prepared arrays in run."""
    words = Words(run, stage.shards, stage.left_out, stage.mixture)
    network = WordEmbedder(config).to(device())
    start: dict[str, Tensor] = {}
    if stage.start:
        path = run / f"{stage.start}.pt"
        start = torch.load(path, weights_only=True, map_location=device())["network"]
        network.load_state_dict(start)
    batches: list[Iterator[Batch]] = []

    def draw(generator: torch.Generator) -> Batch:
        if not batches:
            batches.append(words.batches(N_WORDS, generator))
        return next(batches[0])

    state = run / f"{name}-state.pt"
    measure = misread if stage.objective == "reading" else held_out
    score = partial(measure, network, words, stage.left_out)
    loss = partial(LOSSES[stage.objective], network, stage.reading)
    if stage.objective == "triplets":
        result = descend(
            network,
            lambda generator: loss(draw(generator), generator),
            lambda: score()["score"],
            state,
            stage.steps,
            stage.learning_rate,
        )
    else:
        result = fit(
            network,
            lambda generator: loss(draw(generator), generator),
            lambda: score()["score"],
            state,
            stage.steps,
            stage.learning_rate,
            weight_decay=0.05,
        )
    if stage.kept:
        learned = network.state_dict()
        mean = {part: learned[part].lerp(start[part], stage.kept) for part in learned}
        network.load_state_dict(mean)
    save(run, name, config, network, result | score())
