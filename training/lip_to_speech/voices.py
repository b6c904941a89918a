"""Train what gives the reader a voice: the voice encoder, which classifies the speakers of all
corpora; the face encoder, which guesses a voice embedding and a mean F0 from a face; and the neural
vocoder, on mel frames that the lip reader predicts, and on reference frames. Predicted frames are
over-smooth: the vocoder learns to restore their detail.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.vtlp import N_FACTORS, vtlp
from earshot.models.lip_to_speech import (
    FaceEncoder,
    FaceEncoderConfig,
    VoiceEncoder,
    VoiceEncoderConfig,
)
from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.loop import device, fit, numpy_generator, save
from training.common.windows import Windows
from training.lip_to_speech.batches import Clips
from training.lip_to_speech.losses import spectral_loss, stoi_loss_wave
from training.lip_to_speech.readers import load_reader, load_voices

BATCH: Final = 64
FRAMES: Final = 80
SCALE: Final = 20.0  # of cosines
MARGIN: Final = 0.15  # additive, on the cosine of the right speaker (Wang et al. 2018, Eq. (4))
# VTLP factors; each makes another class of a speaker, as vocal tract length is part of a voice.
VTLP_FACTORS: Final = (0, N_FACTORS // 2, N_FACTORS - 1)
FACE_STEPS: Final = 600
FACE_LEARNING_RATE: Final = 1e-3
VOCODER_START: Final = CHECKPOINTS / "vocoder"
VOCODER_WINDOW: Final = 150  # frames
VOCODER_BATCH: Final = 8
VOCODER_RATE: Final = 5e-4
STOI_WEIGHT: Final = 4.0
NAMES: Final = ("log_mel", "waveform", "pitch")


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

    result = fit(
        network, step_loss, lambda: 0.0, state, FACE_STEPS, FACE_LEARNING_RATE, weight_decay=0.1
    )
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


def train_vocoder(run: Path, name: str, steps: int, reader: str, videos: str = "clips") -> None:
    """Fine-tune the vocoder of voice conversion on what run/reader.pt predicts for
    run/videos.npz and the rendered heads; write run/name.pt.

    It starts from a shipped checkpoint, so that this stage alone also needs safetensors.
    """
    from earshot.pretrained.checkpoint import load_weights, read_config

    train = Windows(_predict_frames(run, "train", reader, [videos, "rendered"]), "voice")
    val = Windows(_predict_frames(run, "val", reader, ["clips"]), "voice")
    config = VocoderConfig(**read_config(VOCODER_START))
    network = Vocoder(config).to(device())
    load_weights(network, VOCODER_START, device())
    network.requires_grad_(True)
    spectral = spectral_loss().to(device())

    def loss(batch: list[Tensor]) -> Tensor:
        mel, reference, pitch = (part.to(device()) for part in batch)
        waveform = network(mel, pitch)
        return spectral(waveform, reference) + STOI_WEIGHT * stoi_loss_wave(waveform, reference)

    @torch.no_grad()
    def validate() -> float:
        return loss(val.windows(NAMES, 300)).item()

    result = fit(
        network,
        lambda generator: loss(train.batch(NAMES, VOCODER_BATCH, VOCODER_WINDOW, generator)),
        validate,
        run / f"{name}-state.pt",
        steps,
        VOCODER_RATE,
    )
    save(run, name, config, network, result)


@torch.inference_mode()
def _predict_frames(run: Path, split: str, name: str, videos: list[str]) -> Path:
    """Write what the reader predicts for each clip, concatenated, and for training the reference
    frames too: log_mel (N, 80), the reference pitch (N,) and waveform (N * HOP_LENGTH,), and the
    number of the voice (N,).

    Training clips are augmented: on clips as it was trained on them, its predictions are too good.
    """
    reader = load_reader(run / f"{name}.pt")
    voices = load_voices(run).cpu()
    paths = [run / f"{part}.npz" for part in videos]
    clips = Clips(paths, split)
    rng = np.random.default_rng(0)
    predicted = []
    for row in range(len(clips)):
        if split == "train":
            batch = clips.augmented_rows(row, row + 1, rng)
        else:
            batch = clips.rows(row, row + 1)
        states, ctc_logits = reader.encode(batch.crops)
        frames = batch.log_mel.shape[1]
        prediction = reader.decode(states, ctc_logits, voices(batch.log_mel), frames)
        predicted.append(prediction.log_mel[0].numpy())
    reference = clips.arrays["log_mel"].reshape(-1, clips.arrays["log_mel"].shape[-1])
    waveform = np.concatenate([_waveform(path, split) for path in paths])
    _, voice = np.unique(clips.arrays["speaker"], return_inverse=True)
    copies = 2 if split == "train" else 1  # predicted and reference frames, or the predicted alone
    path = run / f"predicted-{split}.npz"
    np.savez(
        path,
        log_mel=np.concatenate([np.concatenate(predicted).astype(np.float16), reference][:copies]),
        pitch=np.tile(clips.arrays["pitch"].flatten(), copies),
        waveform=np.tile(waveform, copies),
        voice=np.tile(np.repeat(voice, clips.arrays["log_mel"].shape[1]), copies).astype(np.int8),
    )
    return path


def _waveform(path: Path, split: str) -> np.ndarray:
    with np.load(path) as file:
        return file["waveform"][file["split"] == split].flatten()
