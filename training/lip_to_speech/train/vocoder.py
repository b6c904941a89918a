"""Fine-tune the neural vocoder on what the reader of lips draws, and on the real spectrograms.

Drawn frames are smoother than real ones: the vocoder learns to give them their edges back.
"""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from media.audio import features
from media.paths import CHECKPOINTS
from models.vocoder import Vocoder, VocoderConfig
from pipelines.checkpoint import load_weights, read_config
from training.common.loop import device, fit, save
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.train.reader import load_reader, load_voices
from training.lip_to_speech.train.stoi_loss import sounds_apart
from training.voice_conversion.data.batches import Windows
from training.voice_conversion.train.vocoder import SpectralLoss

START: Final = CHECKPOINTS / "vocoder"
WINDOW: Final = 150  # frames
BATCH: Final = 8
LEARNING_RATE: Final = 5e-4
ENVELOPES: Final = 4.0  # weight of intelligibility
NAMES: Final = ("log_mel", "waveform", "pitch")


def train_vocoder(run: Path, name: str, steps: int, reader: str, films: str = "clips") -> None:
    """Go on from the vocoder of voice conversion, with what run/reader.pt draws of run/films.npz
    and of the painted films; write run/name.pt."""
    train = Windows(_draw(run, "train", reader, [films, "painted"]), "voice")
    val = Windows(_draw(run, "val", reader, ["clips"]), "voice")
    config = VocoderConfig(**read_config(START))
    network = Vocoder(config).to(device())
    load_weights(network, START, device())
    network.requires_grad_(True)
    distance = SpectralLoss(
        torch.from_numpy(features.mel_filters(features.N_FFT, features.N_MELS))
    ).to(device())

    def loss(batch: list[Tensor]) -> Tensor:
        mel, real, pitch = (part.to(device()) for part in batch)
        made = network(mel, pitch)
        return distance(made, real) + ENVELOPES * sounds_apart(made, real)

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
def _draw(run: Path, split: str, name: str, films: list[str]) -> Path:
    """Write what the reader draws of each clip, end to end, and for training the real frames too:
    log_mel (N, 80), the real pitch (N,) and waveform (N * 160,), and the number of the voice (N,).

    Training clips are disturbed: of those that it has seen as they are, it draws too well.
    """
    reader = load_reader(run / f"{name}.pt")
    voices = load_voices(run).cpu()
    paths = [run / f"{part}.npz" for part in films]
    clips = Clips(paths, split)
    rng = np.random.default_rng(0)
    drawn = []
    for row in range(len(clips)):
        if split == "train":
            batch = clips.disturbed_rows(row, row + 1, rng)
        else:
            batch = clips.rows(row, row + 1)
        states, words = reader.watch(batch.crops, batch.points)
        count = batch.log_mel.shape[1]
        drawn.append(reader.draw(states, words, voices(batch.log_mel), count).log_mel[0].numpy())
    real = clips.arrays["log_mel"].reshape(-1, features.N_MELS)
    waveform = np.concatenate([_waveform(path, split) for path in paths])
    _, voice = np.unique(clips.arrays["speaker"], return_inverse=True)
    both = 2 if split == "train" else 1
    path = run / f"drawn-{split}.npz"
    np.savez(
        path,
        log_mel=np.concatenate([np.concatenate(drawn).astype(np.float16), real][:both]),
        pitch=np.tile(clips.arrays["pitch"].flatten(), both),
        waveform=np.tile(waveform, both),
        voice=np.tile(np.repeat(voice, clips.arrays["log_mel"].shape[1]), both).astype(np.int8),
    )
    return path


def _waveform(path: Path, split: str) -> np.ndarray:
    with np.load(path) as file:
        return file["waveform"][file["split"] == split].flatten()
