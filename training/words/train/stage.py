"""One stage of the training of a word embedder: which words, which objective, which start."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from earshot.models.words.word_embedder import MultiViewEmbedder, WordEmbedderConfig, build_embedder
from training.common.loop import device, fit, save
from training.words.data.batch import MIXTURE, Batch, Mixture
from training.words.data.batches import TrainingWords
from training.words.data.concatenation import Word
from training.words.train.losses import LOSSES
from training.words.train.schedule import DecayOnPlateau
from training.words.train.validation import cross_view_scores, phoneme_errors


@dataclass(frozen=True)
class Stage:
    """One stage. shards: of the synthetic words; held_out: words that are not trained on; start:
    the stage whose weights it starts from; n_words: in a batch; converted: with words in people's
    voices.

    objective: CTC alone, our contrastive loss plus ctc_weight times CTC, or the papers' triplet
    loss on their schedule, for ``steps`` steps at most. wise_ft_alpha: weight of the start in the
    final weights, which are interpolated with those that were learned (WiSE-FT: Wortsman et al.
    2022, "Robust fine-tuning of zero-shot models"); it keeps more of what the start knew.
    """

    steps: int
    learning_rate: float
    shards: int
    held_out: frozenset[Word] = field(default_factory=frozenset)
    start: str = ""
    objective: Literal["ctc", "contrastive", "triplet"] = "contrastive"
    ctc_weight: float = 0.5
    mixture: Mixture = MIXTURE
    wise_ft_alpha: float = 0.0
    n_words: int = 96
    converted: bool = False


def train_stage(run: Path, name: str, config: WordEmbedderConfig, stage: Stage) -> None:
    """Train run/name.pt on the prepared arrays in ``run``; resumes from run/name-state.pt."""
    words = TrainingWords(run, stage.shards, stage.held_out, stage.mixture, stage.converted)
    config = words.fitted(config)
    network = build_embedder(config).to(device())
    start: dict[str, Tensor] = {}
    if stage.start:
        path = run / f"{stage.start}.pt"
        start = torch.load(path, weights_only=True, map_location=device())["network"]
        network.load_state_dict(network.state_dict() | start)  # which may have had no pitch
    validation = phoneme_errors if stage.objective == "ctc" else cross_view_scores
    validate = partial(validation, network, words, stage.held_out)
    result = _fit(network, words, stage, lambda: validate()["score"], run / f"{name}-state.pt")
    if stage.wise_ft_alpha:
        learned = network.state_dict()
        mean = {part: learned[part].lerp(start[part], stage.wise_ft_alpha) for part in start}
        network.load_state_dict(learned | mean)
    save(run, name, config, network, result | validate())


def _fit(
    network: MultiViewEmbedder,
    words: TrainingWords,
    stage: Stage,
    validate: Callable[[], float],
    state: Path,
) -> dict[str, float]:
    batches: list[Iterator[Batch]] = []
    loss = partial(LOSSES[stage.objective], network, stage.ctc_weight)

    def step_loss(generator: torch.Generator) -> Tensor:
        if not batches:
            batches.append(words.batches(stage.n_words, generator))
        return loss(next(batches[0]), generator)

    schedule: dict[str, Any] = {"weight_decay": 0.05}
    if stage.objective == "triplet":  # the papers' schedule, with Adam's usual constants
        decay = partial(DecayOnPlateau, network=network, validate=validate)
        schedule = {"weight_decay": 0.0, "betas": (0.9, 0.999), "schedule_of": decay}
    return fit(network, step_loss, validate, state, stage.steps, stage.learning_rate, **schedule)
