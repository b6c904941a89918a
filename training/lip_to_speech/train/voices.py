"""Train the voice encoder to classify the speakers of all corpora."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.audio.vtlp import N_FACTORS, vtlp
from earshot.models.lip_to_speech import VoiceEncoder, VoiceEncoderConfig
from training.common.loop import device, fit, numpy_generator, save

BATCH: Final = 64
FRAMES: Final = 80
SCALE: Final = 20.0  # of cosines
MARGIN: Final = 0.15  # additive, on the cosine of the right speaker (Wang et al. 2018, Eq. (4))
# VTLP factors; each makes another class of a speaker, as vocal tract length is part of a voice.
VTLP_FACTORS: Final = (0, N_FACTORS // 2, N_FACTORS - 1)


class Voices:
    """Random segments of the speakers in the prepared file."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as file:
            frames, ends = file["log_mel"], np.cumsum(file["lengths"])
            speakers, split = file["speaker"], file["split"]
        self.recordings: dict[str, list[np.ndarray]] = {}
        self.held_out: list[tuple[str, np.ndarray]] = []
        starts = ends - np.diff(ends, prepend=0)
        for start, end, speaker, part in zip(starts, ends, speakers, split, strict=True):
            if part == "val":
                self.held_out.append((str(speaker), frames[start:end]))
            else:
                self.recordings.setdefault(str(speaker), []).append(frames[start:end])
        self.names = sorted(self.recordings)
        self.held_out = [(name, mel) for name, mel in self.held_out if name not in self.recordings]

    def batch(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw log-mel frames (B, S, M) and their classes (B,): three per speaker, by VTLP
        factor.
        """
        rng = numpy_generator(generator)
        speakers = rng.integers(0, len(self.names), BATCH)
        segments = []
        for speaker in speakers:
            recordings = self.recordings[self.names[speaker]]
            segments.append(segment(recordings[rng.integers(len(recordings))], rng))
        mel = torch.from_numpy(np.stack(segments))
        factor = torch.from_numpy(rng.integers(0, len(VTLP_FACTORS), BATCH))
        mel = vtlp(mel, torch.tensor(VTLP_FACTORS)[factor])
        gain = torch.from_numpy(rng.uniform(-0.7, 0.7, (BATCH, 1, 1)).astype(np.float32))
        return mel + gain, torch.from_numpy(speakers) * len(VTLP_FACTORS) + factor


def segment(mel: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Cut FRAMES frames of a recording, repeated where it is shorter: (S, M)."""
    repeated = np.tile(mel, (-(-FRAMES // len(mel)), 1))
    start = rng.integers(0, len(repeated) - FRAMES + 1)
    return repeated[start : start + FRAMES].astype(np.float32)


def train_voices(run: Path, name: str, config: VoiceEncoderConfig, steps: int) -> None:
    """Train on the arrays of ``prepare`` in ``run``; write run/name.pt."""
    voices = Voices(run / "voices.npz")
    network = VoiceEncoder(config).to(device())
    classes = len(voices.names) * len(VTLP_FACTORS)
    centres = nn.Parameter(torch.randn(classes, config.size).to(device()))
    trained = nn.ModuleDict({"encoder": network})
    trained.register_parameter("centres", centres)

    def step_loss(generator: torch.Generator) -> Tensor:
        mel, speakers = (part.to(device()) for part in voices.batch(generator))
        return margin_loss(network(mel), centres, speakers)

    @torch.inference_mode()
    def validate() -> float:
        return equal_error_rate(network, voices.held_out)

    result = fit(trained, step_loss, validate, run / f"{name}-state.pt", steps, 2e-3)
    save(run, name, config, network, result)


def margin_loss(vectors: Tensor, centres: Tensor, speakers: Tensor) -> Tensor:
    """Compute the additive margin softmax (Wang et al. 2018) of the unit vectors (B, D) of speakers
    (B,), whose classes have these centres (K, D): a scalar."""
    cosines = vectors @ F.normalize(centres, dim=1).T
    margin = MARGIN * F.one_hot(speakers, len(centres))
    return F.cross_entropy(SCALE * (cosines - margin), speakers)


def equal_error_rate(network: VoiceEncoder, held_out: list[tuple[str, np.ndarray]]) -> float:
    """Measure the equal error rate of speaker verification over all pairs of segments, each with
    its speaker.
    """
    rng = np.random.default_rng(0)
    mel = torch.from_numpy(np.stack([segment(mel, rng) for _, mel in held_out]))
    vectors = torch.cat([network(part.to(device())) for part in mel.split(256)]).cpu().numpy()
    names = np.array([name for name, _ in held_out])
    pairs = np.triu_indices(len(names), 1)
    same = (names[:, None] == names[None])[pairs]
    cosines = (vectors @ vectors.T)[pairs]
    order = cosines.argsort()
    misses = np.cumsum(same[order]) / same.sum()
    false_alarms = 1 - np.cumsum(~same[order]) / (~same).sum()
    return float(misses[np.argmin(abs(misses - false_alarms))])
