"""Train the neural vocoder on the target voices: first on real spectrograms, then half on those of
an inverter, so that it mends what inverters blur.

The loss is the L1 distance of log magnitudes and the spectral convergence at several resolutions
(Yamamoto et al. 2020), and the log-mel distance.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.inverter import Inverter, InverterConfig
from models.vocoder import Vocoder, VocoderConfig
from training.voice_conversion.augment import disturb
from training.voice_conversion.data import Cepstra, Windows
from training.voice_conversion.inverter import load_vqvae, mean_log_pitch, relative_melody
from training.voice_conversion.loop import device, fit, save

WINDOW = 100  # frames
BATCH = 8
LEARNING_RATE = 1e-3
TUNING_WINDOW = 200  # frames, as the inverter was trained
TUNING_BATCH = 4
TUNING_RATE = 3e-4
RESOLUTIONS = ((1024, 256), (512, 128), (256, 64))  # FFT size and hop, samples
MEL_WEIGHT = 4.0
FLOOR = 1e-5


class SpectralLoss(nn.Module):
    """Distance between waveforms (B, T) in log magnitude and log mel."""

    filters: Tensor

    def __init__(self, constants: Path) -> None:
        super().__init__()
        with np.load(constants) as file:
            self.register_buffer("filters", torch.from_numpy(file["mel_filters"]))

    def forward(self, made: Tensor, real: Tensor) -> Tensor:
        """Sum of the distances, a scalar."""
        loss = MEL_WEIGHT * F.l1_loss(self._log_mel(made), self._log_mel(real))
        for n_fft, hop in RESOLUTIONS:
            a, b = _magnitude(made, n_fft, hop), _magnitude(real, n_fft, hop)
            convergence = (b - a).norm(dim=(1, 2)) / b.norm(dim=(1, 2)).clamp(min=1e-3)
            loss = loss + convergence.mean() + F.l1_loss(_log(a), _log(b))
        return loss

    def _log_mel(self, waveform: Tensor) -> Tensor:
        n_fft = 2 * (self.filters.shape[1] - 1)
        return _log(self.filters @ _magnitude(waveform, n_fft, n_fft // 4))


def train_vocoder(run: Path, name: str, config: VocoderConfig, steps: int) -> None:
    """Train on real spectrograms, of the arrays of ``prepare`` in ``run``; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz", "voice"), Windows(run / "voices-val.npz")
    network = Vocoder(config).to(device())
    distance = SpectralLoss(run / "constants.npz").to(device())
    names = ("log_mel", "waveform", "pitch")

    def loss(batch: list[Tensor]) -> Tensor:
        mel, real, pitch = (part.to(device()) for part in batch)
        return distance(network(mel, pitch), real)

    def step_loss(generator: torch.Generator) -> Tensor:
        return loss(train.batch(names, BATCH, WINDOW, generator))

    @torch.no_grad()
    def validate() -> float:
        return loss(val.windows(names, 400)).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def tune_vocoder(run: Path, name: str, start: str, units: str, inverter: str, steps: int) -> None:
    """Train run/start.pt further, half on spectrograms of run/inverter.pt; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz", "voice"), Windows(run / "voices-val.npz")
    saved = torch.load(run / f"{start}.pt", weights_only=True, map_location=device())
    config = VocoderConfig(**saved["config"])
    network = Vocoder(config).to(device())
    network.load_state_dict(saved["network"])
    distance = SpectralLoss(run / "constants.npz").to(device())
    speak = Speaker(run, units, inverter, train)
    names = ("log_bands", "log_mel", "waveform", "pitch", "voice")

    def loss(batch: list[Tensor], real_share: float, generator: torch.Generator) -> Tensor:
        bands, mel, real, pitch, voice = (part.to(device()) for part in batch)
        kept = round(real_share * len(mel))
        mel = torch.cat([mel[:kept], speak(bands, pitch, voice, generator)[kept:]])
        return distance(network(mel, pitch), real)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(names, TUNING_BATCH, TUNING_WINDOW, generator)
        return loss(batch, 0.5, generator)

    @torch.no_grad()
    def validate() -> float:
        """On validation speech by way of the inverter."""
        return loss(val.windows(names, TUNING_WINDOW), 0.0, torch.Generator().manual_seed(1)).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, TUNING_RATE)
    save(run, name, config, network, result)


class Speaker:
    """Speech through units and back: the spectrograms that the vocoder will meet in use."""

    def __init__(self, run: Path, units: str, inverter: str, train: Windows) -> None:
        saved = torch.load(run / f"{inverter}.pt", weights_only=True, map_location=device())
        self.inverter = Inverter(InverterConfig(**saved["config"])).to(device())
        self.inverter.load_state_dict(saved["network"])
        self.inverter.eval().requires_grad_(False)
        self.vqvae = load_vqvae(run / f"{units}.pt")
        self.cepstra = Cepstra(run / "constants.npz")
        self.pitch_mean = mean_log_pitch(train)

    @torch.no_grad()
    def __call__(
        self, bands: Tensor, pitch: Tensor, voice: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Log bands (B, S, 40), pitch (B, S), voice (B, S) → log-mel (B, S, 80)."""
        features = self.cepstra(disturb(bands.cpu(), generator).to(bands.device))
        codes = self.vqvae.encode(self.vqvae.normalize(features))
        melody = relative_melody(pitch, self.pitch_mean[voice[:, 0]])
        return self.inverter(self.vqvae.codebook.vectors[codes], voice[:, 0], melody)[0].float()


def _magnitude(waveform: Tensor, n_fft: int, hop: int) -> Tensor:
    window = torch.hann_window(n_fft, device=waveform.device)
    spectrum = torch.stft(waveform, n_fft, hop, window=window, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square() + 1e-12).sqrt()


def _log(magnitude: Tensor) -> Tensor:
    return magnitude.clamp(min=FLOOR).log()
