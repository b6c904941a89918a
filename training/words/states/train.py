"""Train word embeddings over a recogniser's states: posteriors of phonemes first, then vectors.

1. CTC on sentences and words, so that a network hears phonemes in the states, whoever speaks.
2. Its posteriors tell where each phoneme of a recording is. From then on a batch also holds
   stretches of sentences ("words" of any phonemes, by hundreds of people), words spliced from the
   states of two recorded ones, and words that nobody said.

Needs torch and numpy alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.models.words.word_embedder import (
    MultiViewEmbedder,
    PhonemeBottleneckConfig,
    PhonemeBottleneckEmbedder,
    ViewConfig,
    WordEmbedder,
    WordEmbedderConfig,
    build_embedder,
    config_from_dict,
)
from training.common.loop import Budget, FallAtEnd, device, fit, numpy_generator, save
from training.words.concatenation import DEVELOPMENT, Word
from training.words.frames.arrays import padded
from training.words.losses import contrastive_loss, corrupted_words
from training.words.states.arrays import FILE, KINDS, Packed, on_components, read_basis
from training.words.states.batches import Batches, SpokenBatch

# Network → its checkpoint. The networks of a stage are run/STAGE-NETWORK.pt.
NETWORKS: Final = {"bottleneck": "words-states-bottleneck", "whole": "words-states"}
LEXICON: Final = 3000  # words of the lexicon among which fluent ones are recognised
SENTENCES: Final = 48  # in a batch
CTC_WEIGHTS: Final = {"bottleneck": 1.0, "whole": 0.3}
MAX_SCALE: Final = 4.0  # of the logarithm of the scale of the cosines

SHALLOW: Final = ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0)
DEEP: Final = ViewConfig("conformer", 4, 4, width=192, inner=512, dropout=0.1)


@dataclass(frozen=True)
class Stage:
    """One stage of the training of both networks. phonemes: first steps, of CTC alone; full: last
    steps, in which words of DEVELOPMENT are trained on too; aligned: steps after which phonemes are
    looked for anew; falling: share of the steps in which the learning rate falls.

    start: the stage whose weights it starts from, where the run has none those of the shipped
    checkpoints; either know DEVELOPMENT already.
    """

    steps: int
    learning_rate: float
    aligned: int
    falling: float
    phonemes: int = 0
    full: int = 0
    start: str = ""


class Members(nn.Module):
    """Both networks, which are trained together, on frames of this width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        sizes: dict[str, Any] = {
            "n_mels": width, "stack": 1, "channels": 0, "mean": 0.0, "std": 1.0
        }  # fmt: skip
        self.bottleneck = PhonemeBottleneckEmbedder(
            PhonemeBottleneckConfig(SHALLOW, SHALLOW, **sizes, local_layers=5, local_width=288)
        )
        self.whole = WordEmbedder(WordEmbedderConfig(DEEP, SHALLOW, **sizes))

    def by_name(self) -> dict[str, MultiViewEmbedder]:
        """List the networks by their names in NETWORKS."""
        return {"bottleneck": self.bottleneck, "whole": self.whole}


def train_states(run: Path, name: str, stage: Stage) -> None:
    """Train both networks on run/states.npz; write run/NAME-bottleneck.pt and run/NAME-whole.pt,
    and print how the words of validation speakers are recognised meanwhile. Resumes."""
    torch.manual_seed(0)
    held_out = () if stage.start else DEVELOPMENT
    batches = Batches(Packed.read(run / FILE), held_out, device(), seed=0)
    members = Members(batches.frames.width).to(device())
    if stage.start:
        for part, network in members.by_name().items():
            network.load_state_dict(_start(run, stage.start, part, batches.frames.scale))
    budget = Budget(steps=stage.steps)
    aligned: int | None = None  # the step at which phonemes were looked for

    def step_loss(generator: torch.Generator) -> Tensor:
        nonlocal aligned
        step = budget.steps_spent
        batches.rng = numpy_generator(generator)
        if step >= stage.steps - stage.full and batches.held_out:
            batches.hold_out(())
            aligned = None
        if step < stage.phonemes:
            return _phoneme_loss(batches, members.bottleneck)
        if aligned is None or step - aligned >= stage.aligned:
            batches.align(members.bottleneck)
            aligned = step
        return _loss(batches, members, generator)

    def validate(network: nn.Module) -> dict[str, float]:
        assert isinstance(network, Members)
        return scores(batches, network)

    schedule = partial(
        FallAtEnd,
        network=members,
        budget=budget,
        validate=validate,
        log=run / f"{name}.jsonl",
        falling=stage.falling,
        lowest=0.01,
        warmup=100,
        decay=0.998,
    )
    result = fit(
        members,
        step_loss,
        lambda: 1 - validate(members).get("validation, both", 0.0),
        run / f"{name}.state",
        None,
        stage.learning_rate,
        weight_decay=0.02,
        schedule_of=schedule,
        max_norm=2.0,
    )
    result |= {"scale": batches.frames.scale}
    for part, network in members.by_name().items():
        save(run, f"{name}-{part}", network.config, network, result)


def _start(run: Path, stage: str, part: str, scale: float) -> Mapping[str, Tensor]:
    """Read the weights of a network, on the components of the run."""
    from earshot.pretrained.checkpoint import load_weights, read_config  # late: safetensors

    path = run / f"{stage}-{part}.pt"
    if path.exists():
        return torch.load(path, weights_only=True, map_location=device())["network"]
    folder = CHECKPOINTS / NETWORKS[part]
    network = build_embedder(config_from_dict(read_config(folder)["network"]))
    load_weights(network, folder, torch.device("cpu"))
    return on_components(network.state_dict(), scale, read_basis(run))


def _phoneme_loss(batches: Batches, bottleneck: PhonemeBottleneckEmbedder) -> Tensor:
    """Compute CTC of the bottleneck on sentences and words."""
    drawn = batches.sentences(SENTENCES), batches.words(2 * SENTENCES)
    return torch.stack([_ctc(bottleneck, each) for each in drawn]).mean()


def _loss(batches: Batches, members: Members, generator: torch.Generator) -> Tensor:
    """Compute the contrastive loss of both networks on recordings and spliced words, with CTC; of
    the bottleneck's acoustic view also on words that nobody said."""
    recordings, spliced, unsaid = batches.recordings(), batches.spliced(), batches.unsaid()
    edited = corrupted_words([*dict.fromkeys(recordings.words)], generator)
    loss = _ctc(members.bottleneck, batches.sentences(SENTENCES // 2))
    for name, network in members.by_name().items():
        rows, words = [], []
        parts = [*recordings.by_length(), *spliced.by_length()]
        for part in parts:
            vectors, logits, steps = network.encode(part.frames, part.lengths)
            loss = loss + CTC_WEIGHTS[name] / len(parts) * _ctc_of(logits, steps, part.words)
            rows, words = [*rows, vectors], [*words, *part.words]
        if network is members.bottleneck:
            for part in unsaid.by_length():
                rows.append(members.bottleneck.embed_posteriors(part.frames, part.lengths))
                words += part.words
        vectors = torch.cat(rows)
        vocabulary = {word: row for row, word in enumerate(dict.fromkeys(words))}
        wrong = [word for word in edited if word not in vocabulary]
        spellings = network.embed_phonemes(
            *(each.to(vectors.device) for each in padded([*vocabulary, *wrong]))
        )
        labels = torch.tensor([vocabulary[word] for word in words], device=vectors.device)
        scale = network.log_scale.clamp(max=MAX_SCALE).exp()
        written, others = spellings[: len(vocabulary)], spellings[len(vocabulary) :]
        loss = loss + contrastive_loss(vectors, written, others, labels, scale, network.bias)
    return loss


def _ctc(network: MultiViewEmbedder, batch: SpokenBatch) -> Tensor:
    return _ctc_of(*network.predict_phonemes(batch.frames, batch.lengths), batch.words)


def _ctc_of(logits: Tensor, steps: Tensor, words: list[Word]) -> Tensor:
    targets, sizes = padded(words)
    log = logits.float().log_softmax(dim=-1).transpose(0, 1)
    targets, sizes = targets.to(log.device), sizes.to(log.device)
    return F.ctc_loss(log, targets, steps, sizes, zero_infinity=True)


@torch.inference_mode()
def scores(batches: Batches, members: Members) -> dict[str, float]:
    """Measure the share of recordings that are recognised first, by each network and by both: P@1.
    Words of validation speakers, the same in noise, and words that are held out, among all recorded
    words; words of fluent sentences among these and LEXICON others.
    """
    packed = batches.packed
    kinds = np.array(KINDS)[packed.kinds]
    recorded = {w for w, kind in zip(packed.phonemes, kinds, strict=True) if kind == "word"}
    fluent = {w for w, kind in zip(packed.phonemes, kinds, strict=True) if kind == "fluent"}
    is_recorded = np.array([word in recorded for word in packed.phonemes])
    new = is_recorded & np.array([word in batches.held_out for word in packed.phonemes])
    groups = {
        "validation": (is_recorded & ~new & (kinds == "val"), recorded),
        "noisy": (is_recorded & ~new & (kinds == "noisy"), recorded),
        "fluent": (kinds == "fluent", {*recorded, *fluent, *packed.lexicon[:LEXICON]}),
        "held out": (new & np.isin(kinds, ("word", "val")), recorded),
    }
    shares: dict[str, float] = {}
    for group, (chosen, vocabulary) in groups.items():
        rows, written = np.flatnonzero(chosen), sorted(vocabulary)
        if not len(rows):
            continue
        index = {word: i for i, word in enumerate(written)}
        own = np.array([index[packed.phonemes[i]] for i in rows.tolist()])
        cosines = {
            name: _cosines(batches, network, rows, written)
            for name, network in members.by_name().items()
        }
        cosines["both"] = sum(cosines.values(), np.zeros(1))
        shares |= {
            f"{group}, {name}": float((each.argmax(axis=1) == own).mean())
            for name, each in cosines.items()
        }
    return shares


def _cosines(
    batches: Batches, network: MultiViewEmbedder, rows: np.ndarray, vocabulary: list[Word]
) -> np.ndarray:
    """Compute the cosines of recordings with the words of a vocabulary."""
    written = network.embed_phonemes(*(each.to(batches.device) for each in padded(vocabulary)))
    parts = []
    for some in np.array_split(rows, max(1, len(rows) // 256)):
        x, lengths = batches.frames.batch(batches.starts[some], batches.lengths[some])
        parts.append(network.embed_audio(x, lengths) @ written.T)
    return torch.cat(parts).cpu().numpy()
