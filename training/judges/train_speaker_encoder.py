"""Train the speaker encoder to tell the labelled speakers of the training split apart."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from training.common.corpora import speech_items, waveforms
from training.common.loop import fit, numpy_generator
from training.judges.frontend import N_BANDS, add_noise, mask_bands_and_times, pad
from training.judges.metrics import equal_error
from training.judges.speaker_encoder import SpeakerEncoder, scale

BATCH = 48
LEARNING_RATE = 3e-3
WINDOW = 1.6  # seconds
MARGIN, SHARPNESS = 0.2, 25.0  # of the additive-margin softmax
MIN_RECORDINGS = 5  # of a speaker; those with fewer are left out


def train_speaker_encoder(
    data: Path, state: Path, steps: int, seed: int
) -> tuple[SpeakerEncoder, dict[str, float]]:
    """Train the network; return it in evaluation mode, with its measures on the validation split.

    state: a folder that keeps the state of the training, to go on from there.
    """
    speakers = list(_recordings(data, "train").values())
    model = SpeakerEncoder()
    trained = nn.ModuleDict({"encoder": model})
    torch.manual_seed(seed)
    classes = nn.Parameter(torch.randn(len(speakers), model.size))
    trained.register_parameter("classes", classes)

    def step_loss(generator: torch.Generator) -> Tensor:
        rng = numpy_generator(generator)
        labels = rng.integers(0, len(speakers), BATCH)
        spoken = [_window(speakers[label], rng) for label in labels]
        return _loss(model, classes, spoken, torch.from_numpy(labels), rng)

    result = fit(
        trained,
        step_loss,
        lambda: validate(model, data),
        state / "speaker_encoder.state",
        steps,
        LEARNING_RATE,
        seed=seed,
    )
    return model, {
        "val_eer": result["score"],
        "speakers": len(speakers),
        "steps": steps,
        "minutes": 60 * result["hours"],
    }


def validate(model: SpeakerEncoder, data: Path) -> float:
    """Measure the equal error rate (%) of telling if two windows are by one validation speaker."""
    rng = np.random.default_rng(0)
    vectors, labels = [], []
    for label, recordings in enumerate(_recordings(data, "val").values()):
        vectors.append(model.embed([_window(recordings, rng) for _ in range(12)]))
        labels += [label] * 12
    cosines = np.concatenate(vectors) @ np.concatenate(vectors).T
    same = np.equal.outer(labels, labels)
    pairs = np.triu(np.ones_like(same), 1)
    return 100 * equal_error(cosines[pairs & same], cosines[pairs & ~same])[1]


def _recordings(data: Path, split: str) -> dict[str, list[np.ndarray]]:
    """Load the recordings of each labelled speaker of a split, of speakers with MIN_RECORDINGS."""
    items = [item for item in speech_items(data) if item.split == split and item.speaker]
    speakers: dict[str, list[np.ndarray]] = defaultdict(list)
    for item, waveform in waveforms(items):
        speakers[str(item.speaker)].append(waveform)
    return {name: spoken for name, spoken in speakers.items() if len(spoken) >= MIN_RECORDINGS}


def _window(recordings: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Cut 0.8 to 1.6 s of a speaker: part of a sentence, or words one after another."""
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
    """Compute the additive-margin softmax of augmented windows: equaliser, bandwidth, noise,
    SpecAugment.
    """
    noisy = [add_noise(waveform, rng.uniform(15.0, 50.0), rng) for waveform in spoken]
    batch, lengths = pad(noisy)
    cutoff = np.where(rng.random(len(spoken)) < 0.2, rng.uniform(3300, 4200, len(spoken)), NYQUIST)
    with torch.autocast("cpu", enabled=False):
        features = model.log_mel(batch, cutoff=torch.from_numpy(cutoff))
    features = features + torch.from_numpy(_equalisers(len(spoken), rng))[:, None]
    features = mask_bands_and_times(scale(features), rng)
    vectors = model(features, lengths)
    cosines = vectors @ F.normalize(classes, dim=1).T
    margins = MARGIN * F.one_hot(labels, len(classes))
    return F.cross_entropy(SHARPNESS * (cosines - margins), labels)


def _equalisers(count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw smooth random gains over the bands, of about 6 dB, in natural logarithms: (count,
    40).
    """
    knots = rng.normal(0.0, 1.4, (count, 5))
    bands = np.linspace(0, 4, N_BANDS)
    return np.stack([np.interp(bands, np.arange(5), row) for row in knots]).astype(np.float32)
