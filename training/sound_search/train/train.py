"""Bring sounds and captions together: NT-Xent over clips and captions (Primus et al. 2023, 2.).

Shapes: B batch, N captions, K kinds, D the shared space.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from models.patch_transformer import PatchTransformer
from models.sound_embedder import SoundEmbedder, SoundEmbedderConfig
from training.common.loop import device, fit, save
from training.sound_search.data.batches import Diet, Sounds

BATCH = 48
TRAINING_FOLDS = (0, 1, 2, 3)
VALIDATION_FOLD = 4
DISTILLATION = 5.0  # weight of the distance to the teacher's vectors
OWN_CAPTION = 0.5  # how much more a clip's own caption is meant than another of its kind


@dataclass(frozen=True)
class Stage:
    """One stage of training: how long, how fast, on what."""

    steps: int
    learning_rate: float
    diet: Diet
    folds: tuple[int, ...] = TRAINING_FOLDS
    start: str = ""  # the run whose weights it starts from
    teacher: str = ""  # the run whose vectors of clips it also learns to give


def align(run: Path, name: str, config: SoundEmbedderConfig, stage: Stage) -> None:
    """Train run/name.pt on the prepared arrays in run."""
    sounds = Sounds(run, stage.folds)
    network = SoundEmbedder(config).to(device())
    if stage.start:
        network.load_state_dict(load(run, stage.start).state_dict())
    teacher = load(run, stage.teacher) if stage.teacher else None
    if teacher and not stage.start:
        _inherit(network, teacher)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = sounds.batch(BATCH, stage.diet, generator)
        bank, bank_kinds = sounds.bank(stage.diet, generator)
        mel = batch.mel.to(device())
        audio = network.embed_audio(mel)
        text = network.embed_sentences(torch.cat([batch.captions, bank]).to(device()))
        positives = weights(batch.kinds, torch.cat([batch.kinds, bank_kinds])).to(device())
        loss = nt_xent(audio, text, network.log_scale.clamp(max=4.0).exp(), positives)
        if teacher is not None:
            with torch.no_grad():
                goal = teacher.embed_audio(mel)
            loss = loss + DISTILLATION * (1 - (audio * goal).sum(dim=1)).mean()
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


def _inherit(student: SoundEmbedder, teacher: SoundEmbedder) -> None:
    """Starts from what of the teacher fits: its captions' place, and the stages of the stem."""
    for part in ("adapter", "sentence_projection"):
        getattr(student, part).load_state_dict(getattr(teacher, part).state_dict())
    if isinstance(student.trunk, PatchTransformer) and student.trunk.stem:
        known = teacher.trunk.state_dict()
        stem = student.trunk.stem
        stem.load_state_dict({name: known[name] for name in stem.state_dict()})


def weights(audio_kinds: Tensor, text_kinds: Tensor) -> Tensor:
    """How well each caption fits each clip: kinds (B, K), (N, K) → (B, N), N ≥ B.

    Captions of the same kinds fit too, so that clips of one kind do not repel each other; one of
    two kinds named fits by half. A clip's own caption, of the same number, fits best.
    """
    both = audio_kinds @ text_kinds.t()
    either = audio_kinds.sum(dim=1)[:, None] + text_kinds.sum(dim=1)[None] - both
    return both / either + OWN_CAPTION * torch.eye(*both.shape)


def nt_xent(audio: Tensor, text: Tensor, scale: Tensor, positives: Tensor) -> Tensor:
    """Cross-entropy to the positives in both directions, averaged (equation 2): (B, D), (N, D)."""
    logits = scale * audio @ text.t()
    to_text = positives / positives.sum(dim=1, keepdim=True)
    named = positives.sum(dim=0) > 0  # some captions of the bank describe no clip of the batch
    to_audio = positives[:, named] / positives[:, named].sum(dim=0)
    return 0.5 * (
        F.cross_entropy(logits, to_text) + F.cross_entropy(logits[:, named].t(), to_audio.t())
    )


@torch.inference_mode()
def class_accuracy(network: SoundEmbedder, run: Path, fold: int = VALIDATION_FOLD) -> float:
    """Share of the fold's clips nearest to the captions of their own kind, of the fold's kinds."""
    sounds = Sounds(run, [fold])
    network.eval()
    prototypes = torch.stack(
        [
            network.embed_sentences(
                sounds.vectors[sounds.table["written"][kind]].to(device())
            ).mean(dim=0)
            for kind in sounds.written
        ]
    )
    right = []
    for number, clip in enumerate(sounds.clips):
        if clip["kind"] in sounds.written:
            vector = network.embed_audio(sounds.whole(number)[None].to(device()))[0]
            nearest = int((prototypes @ vector).argmax())
            right.append(sounds.written[nearest] == clip["kind"])
    return float(np.mean(right))


def load(run: Path, name: str) -> SoundEmbedder:
    """The trained network run/name.pt, ready for inference."""
    saved = torch.load(run / f"{name}.pt", weights_only=True)
    network = SoundEmbedder(SoundEmbedderConfig.from_dict(saved["config"])).to(device())
    network.load_state_dict(saved["network"])
    return network.eval().requires_grad_(False)
