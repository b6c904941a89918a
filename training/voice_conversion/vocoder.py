"""Train the neural vocoder on the target voices: first on real spectrograms with spectral losses,
then on those of an inverter with discriminators, so that it mends what inverters blur.

The spectral loss is the L1 distance of log magnitudes and the spectral convergence at several
resolutions (Yamamoto et al. 2020), and the log-mel distance. The adversarial losses are those of
Vocos (Siuzdak 2023): hinge and feature matching.
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
from training.voice_conversion.discriminator import (
    RESOLUTIONS,
    Discriminators,
    adversarial_loss,
    hinge_loss,
    magnitude,
)
from training.voice_conversion.inverter import load_vqvae, mean_log_pitch, relative_melody
from training.voice_conversion.loop import device, fit, save

WINDOW = 64  # frames
BATCH = 12
LEARNING_RATE = 1e-3
TUNING_WINDOW = 200  # frames, of which three pieces of WINDOW are used
TUNING_BATCH = 4
TUNING_RATE = 2e-4
ADVERSARIAL_WEIGHT = 1.0
MEL_WEIGHT = 4.0
FLOOR = 1e-5


class SpectralLoss(nn.Module):
    """Distance between waveforms (B, T) in log magnitude and log mel."""

    def __init__(self, constants: Path) -> None:
        super().__init__()
        self.filters: Tensor
        with np.load(constants) as file:
            self.register_buffer("filters", torch.from_numpy(file["mel_filters"]))

    def forward(self, made: Tensor, real: Tensor) -> Tensor:
        """Sum of the distances, a scalar."""
        loss = MEL_WEIGHT * F.l1_loss(self._log_mel(made), self._log_mel(real))
        for n_fft, hop in RESOLUTIONS:
            a, b = magnitude(made, n_fft, hop), magnitude(real, n_fft, hop)
            convergence = (b - a).norm(dim=(1, 2)) / b.norm(dim=(1, 2)).clamp(min=1e-3)
            loss = loss + convergence.mean() + F.l1_loss(_log(a), _log(b))
        return loss

    def _log_mel(self, waveform: Tensor) -> Tensor:
        n_fft = 2 * (self.filters.shape[1] - 1)
        return _log(self.filters @ magnitude(waveform, n_fft, n_fft // 4))


def train_vocoder(run: Path, name: str, config: VocoderConfig, steps: int) -> None:
    """Train with spectral losses on the arrays of ``prepare`` in ``run``; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz"), Windows(run / "voices-val.npz")
    network = Vocoder(config).to(device())
    distance = SpectralLoss(run / "constants.npz").to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        mel, real = train.batch(("log_mel", "waveform"), BATCH, WINDOW, generator)
        return distance(network(mel.to(device())), real.to(device()))

    @torch.no_grad()
    def validate() -> float:
        mel, real = val.windows(("log_mel", "waveform"), 400)
        return distance(network(mel.to(device())), real.to(device())).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def tune_vocoder(run: Path, name: str, start: str, units: str, inverter: str, steps: int) -> None:
    """Train run/start.pt further, on real spectrograms and on those of run/inverter.pt, with the
    spectral and the adversarial losses; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz", "voice"), Windows(run / "voices-val.npz")
    saved = torch.load(run / f"{start}.pt", weights_only=True, map_location=device())
    config = VocoderConfig(**saved["config"])
    # The discriminators travel with the vocoder, so that training can be resumed.
    networks = nn.ModuleDict({"vocoder": Vocoder(config), "judges": Discriminators()}).to(device())
    vocoder, judges = networks["vocoder"], networks["judges"]
    vocoder.load_state_dict(saved["network"])
    judges_optimizer = torch.optim.AdamW(judges.parameters(), TUNING_RATE, betas=(0.8, 0.99))
    distance = SpectralLoss(run / "constants.npz").to(device())
    speak = Speaker(run, units, inverter, train)
    names = ("log_bands", "log_mel", "waveform", "pitch", "voice")

    def pieces(batch: list[Tensor], generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Spectrograms, half of them the inverter's, with the sound that they should make."""
        bands, mel, real, pitch, voice = (part.to(device()) for part in batch)
        half = len(mel) // 2
        mel = torch.cat([mel[:half], speak(bands, pitch, voice, generator)[half:]])
        count = mel.shape[1] // WINDOW
        real = real.unflatten(1, (-1, config.hop_length))
        mel, real = (x[:, : count * WINDOW].unflatten(1, (count, WINDOW)) for x in (mel, real))
        return mel.flatten(0, 1), real.flatten(0, 1).flatten(1)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(names, TUNING_BATCH, TUNING_WINDOW, generator)
        mel, real = pieces(batch, generator)
        made = vocoder(mel)
        judges.requires_grad_(True)
        verdict = judges(real)
        judges_optimizer.zero_grad()
        hinge_loss(verdict, judges(made.detach())).backward()
        judges_optimizer.step()
        judges.requires_grad_(False)
        return distance(made, real) + ADVERSARIAL_WEIGHT * adversarial_loss(verdict, judges(made))

    @torch.no_grad()
    def validate() -> float:
        """Spectral distance on validation speech by way of the inverter."""
        bands, _, real, pitch, voice = (p.to(device()) for p in val.windows(names, 200))
        mel = speak(bands, pitch, voice, torch.Generator().manual_seed(1))
        return distance(vocoder(mel), real).item()

    result = fit(networks, step_loss, validate, run / f"{name}.state", steps, TUNING_RATE)
    save(run, name, config, vocoder, result)


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


def _log(magnitude: Tensor) -> Tensor:
    return magnitude.clamp(min=FLOOR).log()
