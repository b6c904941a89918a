"""Fit the kinds of sound of a trained network: their keys to captions, their values to clips.

Shapes: N texts, K kinds, W width of sentence vectors, D dimensions of the shared space.
"""

import time
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.sound_search.sound_embedder import SoundEmbedder, kind_logits
from training.common.loop import device, save
from training.sound_search.data.batches import SoundDataset
from training.sound_search.train.train import Stage, class_accuracy, load

EPOCHS = 15
BATCH = 128
PAIRS = 24  # captions of mixtures added to each batch
PAIRS_WEIGHT = 0.4
LEARNING_RATE = 3e-3
SMOOTHING = 0.05


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
    optimizer = torch.optim.AdamW([keys], LEARNING_RATE, weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(texts), generator=generator).split(BATCH):
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
