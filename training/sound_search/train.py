"""Train an audio trunk and a text side: NT-Xent over clips and captions (Primus et al. 2023, 2);
then fit the kinds of sound of a trained network: their keys to captions, their values to clips.

Shapes: B batch, N captions, K kinds, W width of sentence vectors, D dimensions of the shared space.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.sound_search.sound_embedder import (
    PatchTransformer,
    SoundEmbedder,
    SoundEmbedderConfig,
    kind_logits,
)
from training.common.loop import device, fit, save
from training.common.sounds import TRAINING_FOLDS
from training.sound_search.batches import Shares, SoundDataset, left_out

BATCH = 48
VALIDATION_FOLD = 4
DISTILLATION = 5.0  # weight of the cosine distance to the teacher's vectors
OWN_CAPTION = 0.5  # additional target weight of a clip's own caption
EPOCHS = 15
KEYS_BATCH = 128
PAIRS = 24  # captions of mixtures added to each batch
PAIRS_WEIGHT = 0.4
KEYS_LEARNING_RATE = 3e-3
SMOOTHING = 0.05


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
        teacher_state = teacher.trunk.state_dict()
        stem = student.trunk.stem
        stem.load_state_dict({name: teacher_state[name] for name in stem.state_dict()})


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


def fit_kinds(run: Path, name: str, start: str, stage: Stage) -> None:
    """Write run/name.pt: the network run/start.pt with kinds fitted to the clips of its stage."""
    began = time.monotonic()
    before = load(run, start)
    sounds = SoundDataset(run, stage.folds, stage.left_out(run))
    config = replace(before.config, n_kinds=len(sounds.written))
    network = SoundEmbedder(config)
    weights = {n: w.cpu() for n, w in before.state_dict().items() if not n.startswith("kind_")}
    weights["kind_keys"] = train_keys(sounds)
    weights["kind_values"] = _values(before, sounds).cpu()
    network.load_state_dict(weights)
    hours = (time.monotonic() - began) / 3600
    result = {"hours": hours, "score": 1 - class_accuracy(network.to(device()), run)}
    save(run, name, config, network, result)


def train_keys(sounds: SoundDataset) -> Tensor:
    """Train keys (K, W) that classify captions by kind; captions of mixtures have two kinds."""
    texts, targets = _captions(sounds)
    pair_texts, pair_targets = _pairs(sounds)
    written = [sounds.vectors[sounds.table["written"][kind]].mean(dim=0) for kind in sounds.written]
    keys = F.normalize(torch.stack(written), dim=1).requires_grad_()
    optimizer = torch.optim.AdamW([keys], KEYS_LEARNING_RATE, weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(texts), generator=generator).split(KEYS_BATCH):
            logits = kind_logits(texts[batch], keys)
            loss = F.cross_entropy(logits, targets[batch], label_smoothing=SMOOTHING)
            if len(pair_texts):
                drawn = torch.randint(len(pair_texts), (PAIRS,), generator=generator)
                pair_logits = kind_logits(pair_texts[drawn], keys)
                loss = loss + PAIRS_WEIGHT * F.cross_entropy(pair_logits, pair_targets[drawn])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return keys.detach()


def _captions(sounds: SoundDataset) -> tuple[Tensor, Tensor]:
    """Collect every caption of one kind: vectors (N, W), numbers of kinds (N,)."""
    number = {kind: place for place, kind in enumerate(sounds.written)}
    captions = [
        (text, place)
        for kind, place in number.items()
        for text in [*sounds.table["written"][kind], *sounds.table["audiocaps"].get(kind, [])]
    ]
    # Real clips have only uploaders' titles, which too often do not name the kind.
    captions += sorted(
        {
            (sounds.table["own"][text], number[clip["kind"]])
            for clip in sounds.clips
            if clip["synthetic"] and clip["kind"] in number
            for text in clip["captions"]
        }
    )
    texts, kinds = zip(*captions, strict=True)
    return sounds.vectors[list(texts)], torch.tensor(kinds)


def _pairs(sounds: SoundDataset) -> tuple[Tensor, Tensor]:
    """Collect captions of two kinds: vectors (N, W), target probabilities of 0.5 each (N, K)."""
    number = {kind: place for place, kind in enumerate(sounds.written)}
    pairs = [pair for pair in sounds.pairs if pair[0] in number and pair[1] in number]
    targets = torch.zeros(len(pairs), len(number))
    for row, (a, b, *_) in enumerate(pairs):
        targets[row, [number[a], number[b]]] = 0.5
    return sounds.vectors[[pair[3] for pair in pairs]], targets


@torch.inference_mode()
def _values(network: SoundEmbedder, sounds: SoundDataset) -> Tensor:
    """Compute the normalised mean vector of the clips of each kind: (K, D)."""
    means = []
    for kind in sounds.written:
        clips = [sounds.whole(number)[None].to(device()) for number in sounds.of_kind[kind]]
        means.append(torch.cat([network.embed_audio(clip) for clip in clips]).mean(dim=0))
    return F.normalize(torch.stack(means), dim=1)
