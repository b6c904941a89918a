"""One stage of the training of a word embedder: which words, which objective, which start; the
learning rate schedule of Rhodes & Bains (section 3.2); and scores on the validation speakers, who
are not trained on.

Shapes: N recordings, B batch, S frames, M mel bands, W written words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import Tensor, nn

from earshot.models.words.word_embedder import MultiViewEmbedder, WordEmbedderConfig, build_embedder
from training.common.loop import device, fit, save
from training.words.concatenation import Word
from training.words.frames.arrays import padded, stacked
from training.words.frames.batches import MIXTURE, Batch, Mixture, TrainingWords
from training.words.losses import LOSSES, on_device
from training.words.metrics import average_precision, edit_distance

EPOCH: Final = 50  # steps between scores
MAX_PATIENCE: Final = 4  # epochs without a better score
DECAY: Final = 0.1
MIN_RATE: Final = 1e-7  # learning rate at which training ends
BATCH: Final = 192  # recordings
N_UNRECORDED: Final = 1500  # words that nobody recorded


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


class DecayOnPlateau:
    """A schedule that multiplies the learning rate by DECAY when the validation score has not
    improved for MAX_PATIENCE epochs, goes back to the best weights, and ends below MIN_RATE.

    A schedule for training.common.loop.fit. validate returns a score that falls as the network gets
    better.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, network: nn.Module, validate: Callable[[], float]
    ) -> None:
        self._optimizer = optimizer
        self._network = network
        self._validate = validate
        self._steps = 0
        self._best_score = float("inf")
        self._epochs_since = 0
        self._best = _copy(network)

    @property
    def rate(self) -> float:
        """Read the learning rate of the next step."""
        return self._optimizer.param_groups[0]["lr"]

    @property
    def finished(self) -> bool:
        """Say whether the learning rate has fallen below MIN_RATE."""
        return self.rate < MIN_RATE

    def step(self) -> None:
        """Count a step of the optimizer, and score the network at the end of an epoch."""
        self._steps += 1
        if self._steps % EPOCH:
            return
        score = self._validate()
        print(f"step {self._steps}  score {score:.4f}  rate {self.rate:.0e}", flush=True)
        self._epochs_since += 1
        if score < self._best_score:
            self._best_score, self._epochs_since, self._best = score, 0, _copy(self._network)
        elif self._epochs_since >= MAX_PATIENCE:
            self.restore()
            self._epochs_since = 0
            self._optimizer.state.clear()  # the moments belong to the weights that were left
            for group in self._optimizer.param_groups:
                group["lr"] *= DECAY

    def restore(self) -> None:
        """Put the best weights back into the network."""
        self._network.load_state_dict(self._best)

    def state_dict(self) -> dict[str, Any]:
        """Collect the best weights and score, and the steps and epochs counted."""
        return {
            "steps": self._steps,
            "best_score": self._best_score,
            "epochs_since": self._epochs_since,
            "best": self._best,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from state_dict(); the optimizer, with its rate, is resumed on its own."""
        self._steps = state_dict["steps"]
        self._best_score = state_dict["best_score"]
        self._epochs_since = state_dict["epochs_since"]
        self._best = state_dict["best"]


def _copy(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


@torch.inference_mode()
def cross_view_scores(
    network: MultiViewEmbedder, words: TrainingWords, held_out: frozenset[Word]
) -> dict[str, float]:
    """Measure the cross-view average precision of validation recordings with all recorded words,
    written: cross_view_ap and p_at_1 of all recordings; unseen_cross_view_ap of the held-out words;
    new_cross_view_ap of words concatenated from recordings of validation speakers, which nobody
    recorded. The last two show whether the network has learned phonemes or memorised words.

    score falls as the network gets better.
    """
    network.eval()
    recordings = [(u.word, words.mel(u.number)) for u in words.validation]
    vocabulary = sorted(set(words.recorded) | {word for word, _ in recordings})
    cosines, match = _cosines(network, recordings, vocabulary)
    unseen = np.array([word in held_out for word, _ in recordings])
    scores = {"cross_view_ap": average_precision(cosines[match], cosines[~match])}
    scores["p_at_1"] = float(match[np.arange(len(match)), cosines.argmax(axis=1)].mean())
    if unseen.any():
        scores["unseen_cross_view_ap"] = average_precision(
            cosines[unseen][match[unseen]], cosines[unseen][~match[unseen]]
        )
    score = 1 - float(np.mean([value for name, value in scores.items() if "ap" in name]))
    unrecorded = words.unrecorded(N_UNRECORDED)
    vocabulary = sorted({*vocabulary, *(word for word, _ in unrecorded)})
    cosines, match = _cosines(network, unrecorded, vocabulary)
    scores["new_cross_view_ap"] = average_precision(cosines[match], cosines[~match])
    network.train()
    print({name: round(value, 4) for name, value in scores.items()}, flush=True)
    return scores | {"score": score}


@torch.inference_mode()
def phoneme_errors(
    network: MultiViewEmbedder, words: TrainingWords, held_out: frozenset[Word]
) -> dict[str, float]:
    """Measure the phoneme error rate of greedy CTC decoding on validation recordings:
    phoneme_errors of all words, unseen_phoneme_errors of the held-out words. score falls as the
    network gets better.
    """
    network.eval()
    errors = np.zeros(len(words.validation))
    references = [utterance.word for utterance in words.validation]
    recordings = [words.mel(utterance.number) for utterance in words.validation]
    for rows, mel, lengths in _batches(recordings):
        logits, steps = network.predict_phonemes(mel, lengths)
        for row, best, length in zip(rows, logits.argmax(dim=-1).tolist(), steps, strict=True):
            predicted = [number for number, _ in groupby(best[:length]) if number]
            errors[row] = edit_distance(references[row], predicted)
    network.train()
    n_phonemes = np.array([len(word) for word in references])
    unseen = np.array([word in held_out for word in references])
    scores = {"phoneme_errors": float(errors.sum() / n_phonemes.sum())}
    if unseen.any():
        scores["unseen_phoneme_errors"] = float(errors[unseen].sum() / n_phonemes[unseen].sum())
    print({name: round(score, 4) for name, score in scores.items()}, flush=True)
    return scores | {"score": scores["phoneme_errors"]}


def _cosines(
    network: MultiViewEmbedder, recordings: list[tuple[Word, np.ndarray]], vocabulary: list[Word]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the cosine of each recording with each written word, and whether they match: (N, W)
    each.
    """
    written = network.embed_phonemes(*on_device(*padded(vocabulary)))
    audio = torch.zeros(len(recordings), network.config.width)
    for rows, mel, lengths in _batches([mel for _, mel in recordings]):
        audio[rows] = network.embed_audio(mel, lengths).cpu()
    columns = {word: i for i, word in enumerate(vocabulary)}
    match = np.zeros((len(recordings), len(vocabulary)), bool)
    match[np.arange(len(recordings)), [columns[word] for word, _ in recordings]] = True
    return (audio @ written.cpu().t()).numpy(), match


def _batches(recordings: list[np.ndarray]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yield batches of recordings (S, M) of similar length: their rows, mel (B, S, M), lengths
    (B,).
    """
    order = sorted(range(len(recordings)), key=lambda i: len(recordings[i]))
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        mel, lengths = stacked([recordings[i] for i in rows])
        yield rows, mel.to(device()), lengths.to(device())
