"""Train an audio trunk and a text side: NT-Xent over clips and captions (Primus et al. 2023, 2).

Shapes: B batch, N captions, K kinds, D dimensions of the shared space.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.sound_search.sound_embedder import (
    PatchTransformer,
    SoundEmbedder,
    SoundEmbedderConfig,
)
from training.common.loop import device, fit, save
from training.common.sounds import TRAINING_FOLDS
from training.sound_search.data.batches import Shares, SoundDataset, left_out

BATCH = 48
VALIDATION_FOLD = 4
DISTILLATION = 5.0  # weight of the cosine distance to the teacher's vectors
OWN_CAPTION = 0.5  # additional target weight of a clip's own caption


@dataclass(frozen=True)
class Stage:
    """One stage of training: steps, peak learning rate, and data. What is fitted at once needs the
    folds alone."""

    steps: int = 0
    learning_rate: float = 0.0
    shares: Shares = Shares()
    folds: tuple[int, ...] = TRAINING_FOLDS
    start: str = ""  # the network whose weights initialise this one
    teacher: str = ""  # the network whose audio vectors are distilled into this one
    without_unseen: bool = False  # leave out the kinds that measure what it never heard

    def left_out(self, run: Path) -> frozenset[str]:
        """List the kinds that this stage is not trained on."""
        return left_out(run) if self.without_unseen else frozenset()


def train(run: Path, name: str, config: SoundEmbedderConfig, stage: Stage) -> None:
    """Train run/name.pt on the prepared arrays in run."""
    sounds = SoundDataset(run, stage.folds, stage.left_out(run))
    network = SoundEmbedder(config).to(device())
    if stage.start:
        network.load_state_dict(load(run, stage.start).state_dict())
    teacher = load(run, stage.teacher) if stage.teacher else None
    if teacher and not stage.start:
        _initialise(network, teacher)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = sounds.batch(BATCH, stage.shares, generator)
        bank, bank_kinds = sounds.bank(stage.shares, generator)
        mel = batch.mel.to(device())
        audio = network.embed_audio(mel)
        text = network.embed_sentences(torch.cat([batch.captions, bank]).to(device()))
        positives = target_weights(batch.kinds, torch.cat([batch.kinds, bank_kinds])).to(device())
        loss = nt_xent(audio, text, network.log_scale.clamp(max=4.0).exp(), positives)
        if teacher is not None:
            with torch.no_grad():
                target = teacher.embed_audio(mel)
            loss = loss + DISTILLATION * distillation_loss(audio, target)
        return loss

    result = fit(
        network,
        step_loss,
        lambda: 1 - class_accuracy(network, run),
        run / f"{name}-state.pt",
        stage.steps,
        stage.learning_rate,
        weight_decay=0.05,
    )
    save(run, name, config, network, result)


def _initialise(student: SoundEmbedder, teacher: SoundEmbedder) -> None:
    """Copy from the teacher what fits the student: the text side, and the stages of the stem."""
    for part in ("adapter", "sentence_projection"):
        getattr(student, part).load_state_dict(getattr(teacher, part).state_dict())
    if isinstance(student.trunk, PatchTransformer) and student.trunk.stem:
        known = teacher.trunk.state_dict()
        stem = student.trunk.stem
        stem.load_state_dict({name: known[name] for name in stem.state_dict()})


def target_weights(audio_kinds: Tensor, text_kinds: Tensor) -> Tensor:
    """Compute unnormalised targets of NT-Xent: kinds of clips (B, K) and captions (N, K) → (B, N),
    N ≥ B.

    The Jaccard index of the kinds: captions of the same kind are positives too, so that clips of
    one kind do not repel each other. The caption of the same number is a clip's own, which weighs
    OWN_CAPTION more.
    """
    both = audio_kinds @ text_kinds.t()
    either = audio_kinds.sum(dim=1)[:, None] + text_kinds.sum(dim=1)[None] - both
    return both / either + OWN_CAPTION * torch.eye(*both.shape, device=both.device)


def nt_xent(audio: Tensor, text: Tensor, scale: Tensor, positives: Tensor) -> Tensor:
    """Compute the cross-entropy with soft targets in both directions, averaged (Eq. (2)).

    audio (B, D), text (N, D): unit vectors; scale: the inverse temperature; positives (B, N): see
    target_weights.
    """
    logits = scale * audio @ text.t()
    to_text = positives / positives.sum(dim=1, keepdim=True)
    described = positives.sum(dim=0) > 0  # some captions of the bank describe no clip of the batch
    to_audio = positives[:, described] / positives[:, described].sum(dim=0)
    return 0.5 * (
        F.cross_entropy(logits, to_text) + F.cross_entropy(logits[:, described].t(), to_audio.t())
    )


def distillation_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Average the cosine distance of unit vectors (B, D) of the same clips."""
    return (1 - (student * teacher).sum(dim=1)).mean()


@torch.inference_mode()
def class_accuracy(network: SoundEmbedder, run: Path, fold: int = VALIDATION_FOLD) -> float:
    """Measure the share of the fold's clips whose nearest mean caption vector is that of their own
    kind.
    """
    sounds = SoundDataset(run, [fold])
    network.eval()
    prototypes = torch.stack(
        [
            network.embed_sentences(
                sounds.vectors[sounds.table["written"][kind]].to(device())
            ).mean(dim=0)
            for kind in sounds.written
        ]
    )
    correct = []
    for number, clip in enumerate(sounds.clips):
        if clip["kind"] in sounds.written:
            vector = network.embed_audio(sounds.whole(number)[None].to(device()))[0]
            nearest = int((prototypes @ vector).argmax())
            correct.append(sounds.written[nearest] == clip["kind"])
    return float(np.mean(correct))


def load(run: Path, name: str) -> SoundEmbedder:
    """Load the trained network run/name.pt, ready for inference."""
    saved = torch.load(run / f"{name}.pt", weights_only=True)
    network = SoundEmbedder(SoundEmbedderConfig.from_dict(saved["config"])).to(device())
    network.load_state_dict(saved["network"])
    return network.eval().requires_grad_(False)
