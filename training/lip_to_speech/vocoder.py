"""Fine-tune the neural vocoder on mel frames that the lip reader predicts, and on reference frames.

Predicted frames are over-smooth: the vocoder learns to restore their detail.
"""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.paths import CHECKPOINTS
from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.loop import device, fit, save
from training.common.windows import Windows
from training.lip_to_speech.batches import Clips
from training.lip_to_speech.losses import spectral_loss, stoi_loss_wave
from training.lip_to_speech.readers import load_reader, load_voices

START: Final = CHECKPOINTS / "vocoder"
WINDOW: Final = 150  # frames
BATCH: Final = 8
LEARNING_RATE: Final = 5e-4
STOI_WEIGHT: Final = 4.0
NAMES: Final = ("log_mel", "waveform", "pitch")


def train_vocoder(run: Path, name: str, steps: int, reader: str, videos: str = "clips") -> None:
    """Fine-tune the vocoder of voice conversion on what run/reader.pt predicts for
    run/videos.npz and the rendered heads; write run/name.pt.

    It starts from a shipped checkpoint, so that this stage alone also needs safetensors.
    """
    from earshot.pretrained.checkpoint import load_weights, read_config

    train = Windows(_predict(run, "train", reader, [videos, "rendered"]), "voice")
    val = Windows(_predict(run, "val", reader, ["clips"]), "voice")
    config = VocoderConfig(**read_config(START))
    network = Vocoder(config).to(device())
    load_weights(network, START, device())
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
        lambda generator: loss(train.batch(NAMES, BATCH, WINDOW, generator)),
        validate,
        run / f"{name}-state.pt",
        steps,
        LEARNING_RATE,
    )
    save(run, name, config, network, result)


@torch.inference_mode()
def _predict(run: Path, split: str, name: str, videos: list[str]) -> Path:
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
