"""Train a codebook inverter on the target voices, for the units of a trained VQ-VAE.

The units are those of disturbed copies of the voices (another vocal tract, room and line), so
that the inverter learns what strangers' units sound like, not only the talker's own.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from models.inverter import Inverter, InverterConfig
from models.vqvae import VQVAE, VQVAEConfig
from training.common.loop import device, fit, save
from training.voice_conversion.data.augment import disturb
from training.voice_conversion.data.batches import Cepstra, Windows

WINDOW = 200  # frames
BATCH = 16
LEARNING_RATE = 1e-3
PITCH_WEIGHT = 2.0


def train_inverter(
    run: Path, name: str, units: str, config: InverterConfig, steps: int, start: str | None = None
) -> None:
    """Train for the VQ-VAE run/units.pt, from the weights of run/start.pt if that is given.

    With pitch, the target is the log-mel spectrogram, by L1 distance; without (the paper's) it is
    the linear magnitude, by L2 distance (eq. 14). Writes run/name.pt.
    """
    vqvae = _load_vqvae(run / f"{units}.pt")
    cepstra = Cepstra(run / "constants.npz")
    train = Windows(run / "voices-train.npz", balance="voice")
    val = Windows(run / "voices-val.npz")
    config = replace(config, stride=vqvae.config.stride, code_width=vqvae.config.code_width)
    network = Inverter(config).to(device())
    if start:
        saved = torch.load(run / f"{start}.pt", weights_only=True, map_location=device())
        network.load_state_dict(saved["network"])
    names = ("log_bands", "log_mel" if config.pitch else "waveform", "pitch", "voice")
    pitch_mean = _mean_log_pitch(train)
    if config.pitch:
        config = replace(config, pitch_means=tuple(pitch_mean.tolist()))
    _fit_scale(network, _spectrogram(train.windows(names, WINDOW)[1][::4]))

    def losses(batch: list[Tensor], disturbed: Tensor) -> Tensor:
        bands, target, pitch, voice = (part.to(device()) for part in batch)
        voice, target = voice[:, 0], _spectrogram(target)
        with torch.no_grad():
            codes = vqvae.encode(vqvae.normalize(cepstra(disturbed.to(device()))))
            vectors = vqvae.codebook.vectors[codes]
        melody = _relative_melody(pitch, pitch_mean[voice])
        made, predicted = network(vectors, voice, melody)
        made, target = made / network.output_std, target / network.output_std
        if predicted is None:
            return F.mse_loss(made, target)
        voiced = melody[..., 0] > 0
        voicing_loss = F.binary_cross_entropy_with_logits(predicted[..., 0], melody[..., 0])
        pitch_loss = F.l1_loss(predicted[..., 1][voiced], melody[..., 1][voiced])
        return F.l1_loss(made, target) + 0.2 * voicing_loss + PITCH_WEIGHT * pitch_loss

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(names, BATCH, WINDOW, generator)
        return losses(batch, disturb(batch[0], generator))

    @torch.no_grad()
    def validate() -> float:
        batch = val.windows(names, WINDOW)
        return losses(batch, disturb(batch[0], torch.Generator().manual_seed(1))).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def _load_vqvae(path: Path) -> VQVAE:
    """A trained VQ-VAE, frozen."""
    saved = torch.load(path, weights_only=True, map_location=device())
    vqvae = VQVAE(VQVAEConfig(**saved["config"])).to(device()).eval().requires_grad_(False)
    vqvae.load_state_dict(saved["network"])
    return vqvae


def _relative_melody(pitch: Tensor, mean: Tensor) -> Tensor:
    """Pitch in Hz (B, S), 0 where unvoiced, and mean log pitch (B,) → melody (B, S, 2)."""
    voiced = pitch > 0
    relative = torch.where(voiced, pitch.clamp(min=1).log() - mean[:, None], 0.0)
    return torch.stack([voiced.float(), relative], dim=-1)


def _spectrogram(target: Tensor) -> Tensor:
    """Log-mel as it is; a waveform (B, T) as linear magnitude (B, S, n_fft // 2 + 1)."""
    if target.ndim == 3:
        return target
    window = torch.hann_window(640, device=target.device)
    spectrum = torch.stft(target, 640, 160, window=window, return_complex=True)
    return spectrum.abs().transpose(1, 2)[:, :-1]


def _fit_scale(network: Inverter, target: Tensor) -> None:
    network.output_mean.copy_(target.mean(dim=(0, 1)))
    network.output_std.copy_(target.std(dim=(0, 1)) if network.melody else target.std())


def _mean_log_pitch(train: Windows) -> Tensor:
    """Mean log pitch of each voice: (n_voices,)."""
    pitch, voice = train.arrays["pitch"], train.arrays["voice"]
    return torch.stack(
        [pitch[(voice == v) & (pitch > 0)].log().mean() for v in range(int(voice.max()) + 1)]
    ).to(device())
