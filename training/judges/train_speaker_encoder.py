"""Trains the speaker encoder to tell the labelled speakers of the training split apart."""

from collections import defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from training.common.corpora import speech_items, waveforms
from training.judges.frontend import N_BANDS, add_noise, mask_bands_and_times, pad
from training.judges.metrics import equal_error
from training.judges.speaker_encoder import SpeakerEncoder, scale

BATCH = 48
LEARNING_RATE = 3e-3
WINDOW = 1.6  # seconds
MARGIN, SHARPNESS = 0.2, 25.0  # of the additive-margin softmax
FEWEST = 5  # recordings; speakers with fewer are left out


def train_speaker_encoder(
    data: Path, steps: int, seed: int
) -> tuple[SpeakerEncoder, dict[str, float]]:
    """Returns the network in evaluation mode and its measures on the validation split."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    started = perf_counter()
    speakers = list(_recordings(data, "train").values())
    model = SpeakerEncoder()
    classes = torch.nn.Parameter(torch.randn(len(speakers), model.size))
    parameters = [*model.parameters(), classes]
    optimizer = torch.optim.AdamW(parameters, LEARNING_RATE, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps)
    losses = []
    for step in range(1, steps + 1):
        labels = rng.integers(0, len(speakers), BATCH)
        spoken = [_window(speakers[label], rng) for label in labels]
        loss = _loss(model.train(), classes, spoken, torch.from_numpy(labels), rng)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if step % 100 == 0:
            print(f"speaker encoder {step}: loss {np.mean(losses[-100:]):.3f}", flush=True)
    measured = validate(model.eval(), data)
    minutes = (perf_counter() - started) / 60
    return model, measured | {"speakers": len(speakers), "steps": steps, "minutes": minutes}


def validate(model: SpeakerEncoder, data: Path) -> dict[str, float]:
    """Equal error rate (%) of telling whether two windows are by one validation speaker."""
    rng = np.random.default_rng(0)
    vectors, labels = [], []
    for label, recordings in enumerate(_recordings(data, "val").values()):
        vectors.append(model.embed([_window(recordings, rng) for _ in range(12)]))
        labels += [label] * 12
    cosines = np.concatenate(vectors) @ np.concatenate(vectors).T
    same = np.equal.outer(labels, labels)
    pairs = np.triu(np.ones_like(same), 1)
    return {"val_eer": 100 * equal_error(cosines[pairs & same], cosines[pairs & ~same])[1]}


def _recordings(data: Path, split: str) -> dict[str, list[np.ndarray]]:
    """The recordings of each labelled speaker of a split, of speakers with at least FEWEST."""
    items = [item for item in speech_items(data) if item.split == split and item.speaker]
    speakers: dict[str, list[np.ndarray]] = defaultdict(list)
    for item, waveform in waveforms(items):
        speakers[str(item.speaker)].append(waveform)
    return {name: spoken for name, spoken in speakers.items() if len(spoken) >= FEWEST}


def _window(recordings: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """0.8 to 1.6 s of a speaker: part of a sentence, or words one after another."""
    size = round(rng.uniform(0.5, 1.0) * WINDOW * SAMPLE_RATE)
    parts: list[np.ndarray] = []
    while sum(map(len, parts)) < size:
        parts.append(recordings[rng.integers(len(recordings))])
    joined = np.concatenate(parts)
    start = rng.integers(0, len(joined) - size + 1)
    window = joined[start : start + size]
    return window * np.float32(0.1 / max(float(np.sqrt(np.mean(window**2))), 1e-4))


def _loss(
    model: SpeakerEncoder,
    classes: Tensor,
    spoken: list[np.ndarray],
    labels: Tensor,
    rng: np.random.Generator,
) -> Tensor:
    """Additive-margin softmax of augmented windows: equaliser, bandwidth, noise, SpecAugment."""
    noisy = [add_noise(waveform, rng.uniform(15.0, 50.0), rng) for waveform in spoken]
    batch, lengths = pad(noisy)
    cutoff = np.where(rng.random(len(spoken)) < 0.2, rng.uniform(3300, 4200, len(spoken)), NYQUIST)
    features = model.log_mel(batch, cutoff=torch.from_numpy(cutoff))
    features = features + torch.from_numpy(_equalisers(len(spoken), rng))[:, None]
    features = mask_bands_and_times(scale(features), rng)
    with torch.autocast("cpu", torch.bfloat16):
        vectors = model(features, lengths)
    cosines = vectors @ F.normalize(classes, dim=1).T
    margins = MARGIN * F.one_hot(labels, len(classes))
    return F.cross_entropy(SHARPNESS * (cosines - margins), labels)


def _equalisers(count: int, rng: np.random.Generator) -> np.ndarray:
    """Smooth random gains over the bands, of about 6 dB, in natural logarithms: (count, 40)."""
    knots = rng.normal(0.0, 1.4, (count, 5))
    bands = np.linspace(0, 4, N_BANDS)
    return np.stack([np.interp(bands, np.arange(5), row) for row in knots]).astype(np.float32)
