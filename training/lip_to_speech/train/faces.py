"""Train the face encoder: from a face to a voice embedding and a mean F0."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.models.lip_to_speech import FaceEncoder, FaceEncoderConfig
from training.common.loop import device, fit, numpy_generator, save
from training.lip_to_speech.train.reader import load_voices

BATCH: Final = 64
STEPS: Final = 600
LEARNING_RATE: Final = 1e-3


class Faces:
    """Portraits (C, K, 64, 64, 3) of each speaker, and their voices: embeddings (N, V), mean F0 in
    Hz (N,), in the order of names."""

    def __init__(self, run: Path) -> None:
        voices = load_voices(run)
        with np.load(run / "clips.npz") as file:
            speaker, portraits = file["speaker"], file["portraits"]
            mel, pitch = file["log_mel"], file["pitch"]
        self.names = tuple(str(name) for name in np.unique(speaker))
        self.portraits = [portraits[speaker == name] for name in self.names]
        embeddings, self.pitch = [], np.zeros(len(self.names))
        for number, name in enumerate(self.names):
            frames = torch.from_numpy(mel[speaker == name].astype(np.float32))
            embeddings.append(voices(frames.to(device())).mean(dim=0).cpu())
            f0 = pitch[speaker == name]
            self.pitch[number] = np.exp(np.log(f0[f0 > 0]).mean())
        self.embeddings = torch.nn.functional.normalize(torch.stack(embeddings), dim=1)

    def batch(
        self, speakers: list[int], generator: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Draw augmented portraits (B, 3, 64, 64) of these speakers, with their embeddings and
        F0."""
        rng = numpy_generator(generator)
        chosen = rng.choice(speakers, BATCH)
        pictures = []
        for speaker in chosen:
            clips = self.portraits[speaker]
            picture = clips[rng.integers(len(clips)), rng.integers(clips.shape[1])]
            pictures.append(_augmented(picture, rng))
        images = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
        return images, self.embeddings[chosen], torch.from_numpy(self.pitch[chosen]).float()


def train_faces(run: Path, name: str, config: FaceEncoderConfig) -> None:
    """Train on all speakers, and evaluate with each speaker left out (``left_out``)."""
    faces = Faces(run)
    network, hours = _fitted(faces, range(len(faces.names)), run / f"{name}-state.pt", config)
    save(run, name, config, network, {"hours": hours} | left_out(faces, run / name, config))


def left_out(faces: Faces, states: Path, config: FaceEncoderConfig) -> dict[str, float]:
    """Measure, leaving one speaker out at a time, the mean rank of the right voice among all
    speakers', and the mean error of F0 in semitones, next to that of the other speakers' mean
    F0."""
    ranks, errors, baseline = [], [], []
    for speaker in range(len(faces.names)):
        others = [other for other in range(len(faces.names)) if other != speaker]
        network, _ = _fitted(faces, others, Path(f"{states}-{speaker}-state.pt"), config)
        with torch.inference_mode():
            pictures = torch.from_numpy(faces.portraits[speaker].reshape(-1, 64, 64, 3) / 255.0)
            embeddings, pitch = network(pictures.permute(0, 3, 1, 2).float().to(device()))
        cosines = faces.embeddings @ embeddings.mean(dim=0).cpu()
        ranks.append(1 + int((cosines > cosines[speaker]).sum()))
        errors.append(12 * abs(pitch.mean().item() - np.log(faces.pitch[speaker])) / np.log(2))
        mean = np.log(faces.pitch[others]).mean()
        baseline.append(12 * abs(mean - np.log(faces.pitch[speaker])) / np.log(2))
    return {
        "speakers": len(ranks),
        "rank": float(np.mean(ranks)),
        "pitch_error": float(np.mean(errors)),
        "pitch_error_of_mean": float(np.mean(baseline)),
    }


def _fitted(
    faces: Faces, speakers: Collection[int], state: Path, config: FaceEncoderConfig
) -> tuple[FaceEncoder, float]:
    network = FaceEncoder(config).to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        images, embeddings, pitch = faces.batch(list(speakers), generator)
        predicted, log_pitch = network(images.to(device()))
        return voice_loss(predicted, log_pitch, embeddings.to(device()), pitch.to(device()))

    result = fit(network, step_loss, lambda: 0.0, state, STEPS, LEARNING_RATE, weight_decay=0.1)
    return network.eval(), result["hours"]


def voice_loss(predicted: Tensor, log_pitch: Tensor, embeddings: Tensor, pitch: Tensor) -> Tensor:
    """Compute the cosine distance of voices (B, D), unit vectors, and L1 of log F0, given pitch
    (B,) in Hz: a scalar."""
    distance = 1 - (predicted * embeddings).sum(dim=1)
    return (distance + (log_pitch - pitch.log()).abs()).mean()


def _augmented(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Flip, shift and tint a picture at random, and change its gamma: (64, 64, 3), float32."""
    image = picture.astype(np.float32) / 255
    image = np.roll(image, rng.integers(-4, 5, 2), axis=(0, 1))
    if rng.random() < 0.5:
        image = image[:, ::-1]
    tint = rng.uniform(0.8, 1.2, 3).astype(np.float32)
    return np.clip(image ** rng.uniform(0.7, 1.4) * tint, 0, 1)
