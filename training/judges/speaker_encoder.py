"""A small speaker encoder for evaluation, whether a conversion is nearer to source or target; and
its training.

It is trained only on original recordings of the training splits, to separate their speakers.
Shapes: B batch, S frames of 10 ms, D embedding size.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from training.common.corpora import speech_items, waveforms
from training.common.loop import fit, numpy_generator
from training.judges.frontend import N_BANDS, LogMel, add_noise, mask_bands_and_times, pad
from training.judges.metrics import equal_error

BATCH = 48
LEARNING_RATE = 3e-3
WINDOW = 1.6  # seconds
MARGIN, SHARPNESS = 0.2, 25.0  # of the additive-margin softmax
MIN_RECORDINGS = 5  # of a speaker; those with fewer are left out


class SpeakerEncoder(nn.Module):
    """Dilated convolutions, then mean and standard deviation over time, then a unit vector."""

    def __init__(self, width: int = 160, size: int = 96, dropout: float = 0.1) -> None:
        super().__init__()
        self.width, self.size = width, size
        self.log_mel = LogMel()
        self.entry = nn.Conv1d(N_BANDS, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(width),
                nn.ReLU(),
                nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation),
            )
            for dilation in (1, 2, 3)
        )
        self.norm = nn.BatchNorm1d(width)
        self.exit = nn.Sequential(nn.Dropout(dropout), nn.Linear(2 * width, size))

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Map log-mel features (B, S, 40), frames (B,) to unit vectors (B, D)."""
        inside = torch.arange(features.shape[1]) < lengths[:, None]
        x = self.entry((features * inside[..., None]).transpose(1, 2))
        steps = (lengths + 1) // 2
        mask = (torch.arange(x.shape[2]) < steps[:, None]).to(x.dtype)[:, None]
        for block in self.blocks:
            x = x + block(x * mask)
        x = F.relu(self.norm(x * mask)).float() * mask
        count = steps[:, None].clamp(min=1)
        mean = x.sum(2) / count
        std = (x.square().sum(2) / count - mean.square()).clamp(min=1e-6).sqrt()
        return F.normalize(self.exit(torch.cat([mean, std], 1)).float(), dim=1)

    @torch.inference_mode()
    def embed(self, waveforms: list[np.ndarray]) -> np.ndarray:
        """Embed waveforms (T,) at 16 kHz, of any lengths and levels, as unit vectors (N, D)."""
        vectors = []
        for first in range(0, len(waveforms), 16):
            batch, lengths = pad([_at_level(w) for w in waveforms[first : first + 16]])
            vectors.append(self(scale(self.log_mel(batch)), lengths).numpy())
        return np.concatenate(vectors)


def scale(log_mel: Tensor) -> Tensor:
    """Bring log-mel energies of speech at power 0.01 near zero mean and unit variance."""
    return (log_mel + 5.0) / 4.0


def nearer_to_target(converted: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which conversions (N, D) have a greater cosine to their target's mean vector than to
    their source's, given those vectors (N, D) for each: bool (N,)."""
    return (converted * _unit(target)).sum(1) > (converted * _unit(source)).sum(1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _at_level(waveform: np.ndarray) -> np.ndarray:
    power = float(np.sqrt(np.mean(waveform**2)))
    return waveform * np.float32(0.1 / max(power, 1e-5))


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
