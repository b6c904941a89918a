"""Train the neural vocoder on all speakers: spectral losses, then discriminators as well.

The discriminators look at magnitudes of the short-time Fourier transform at several resolutions
(Jang et al. 2021, UnivNet) and at every second to eleventh sample (Kong et al. 2020, HiFi-GAN);
feature matching as in MelGAN (Kumar et al. 2019).
"""

import math
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import HOP_LENGTH
from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.loop import Budget, FallAtEnd, device, fit, save
from training.common.spectral_loss import RESOLUTIONS, SpectralLoss
from training.voice_conversion.networks import frozen
from training.voice_conversion.speech import FLOOR, LogMel, Speech, Windows

CONFIG: Final = VocoderConfig(width=288, inner=864, layers=6, learned_phase=True)
WINDOW: Final = 104  # frames, of which two at each end lack their neighbours
EDGE: Final = 2  # frames
BATCH: Final = 64
CPU_BATCH: Final = 8
LEARNING_RATE: Final = 6e-4
MAX_NORM: Final = 5.0  # of the gradient
ADVERSARIAL_FROM: Final = 0.12  # of the training
PERIODS: Final = (2, 3, 5, 7, 11)  # samples
REAL_WEIGHT: Final = 0.5
FEATURE_WEIGHT: Final = 3.0
GAIN: Final = 5.0  # dB by which speech is made louder or quieter at most
VALIDATED: Final = 96  # windows


class ResolutionDiscriminator(nn.Module):
    """A discriminator of log magnitudes at one resolution: how real each patch of them is."""

    WIDTHS = (1, 32, 32, 48, 64)

    def __init__(self, n_fft: int, hop_length: int) -> None:
        super().__init__()
        self.n_fft, self.hop_length = n_fft, hop_length
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(
                nn.Conv2d(a, b, (9, 3), stride=(2, 1), padding=(4, 1))
            )
            for a, b in zip(self.WIDTHS[:-1], self.WIDTHS[1:], strict=True)
        )
        self.output = nn.Conv2d(self.WIDTHS[-1], 1, 3, padding=1)

    def forward(self, waveform: Tensor) -> list[Tensor]:
        """Map waveforms (B, T) to the features of every layer, and last the scores."""
        window = torch.hann_window(self.n_fft, device=waveform.device)
        spectrum = torch.stft(
            waveform, self.n_fft, self.hop_length, window=window, return_complex=True
        )
        power = spectrum.real.square() + spectrum.imag.square()
        features, x = [], 0.5 * (power + 1e-7).log()[:, None]
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            features.append(x)
        return [*features, self.output(x)]


class PeriodDiscriminator(nn.Module):
    """A discriminator of every n-th sample: how real each stretch of them is."""

    WIDTHS = (1, 32, 96, 192, 256)

    def __init__(self, period: int) -> None:
        super().__init__()
        self.period = period
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(
                nn.Conv2d(a, b, (5, 1), stride=(3, 1), padding=(2, 0))
            )
            for a, b in zip(self.WIDTHS[:-1], self.WIDTHS[1:], strict=True)
        )
        self.output = nn.Conv2d(self.WIDTHS[-1], 1, (3, 1), padding=(1, 0))

    def forward(self, waveform: Tensor) -> list[Tensor]:
        """Map waveforms (B, T) to the features of every layer, and last the scores."""
        x = F.pad(waveform, (0, -waveform.shape[1] % self.period))
        x = x.view(len(x), 1, -1, self.period)
        features = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            features.append(x)
        return [*features, self.output(x)]


class VocoderTraining(nn.Module):
    """The vocoder, and the discriminators that are left behind."""

    def __init__(self, mel_filters: Tensor, config: VocoderConfig = CONFIG) -> None:
        super().__init__()
        self.vocoder = Vocoder(config)
        self.distance = SpectralLoss(mel_filters)
        self.discriminators = nn.ModuleList(
            [
                *(ResolutionDiscriminator(n_fft, hop) for n_fft, hop in RESOLUTIONS),
                *(PeriodDiscriminator(period) for period in PERIODS),
            ]
        )

    def losses(self, mel: Tensor, pitch: Tensor, real: Tensor, share: float) -> dict[str, Tensor]:
        """Compute the losses. mel: (B, S, 80); pitch: (B, S) in Hz; real: (B, T); share: of the
        training.
        """
        with torch.autocast(real.device.type, enabled=False):  # phases need single precision
            generated = self.vocoder(mel, pitch)
            losses = {"spectral": self.distance(generated, real)}
        if share < ADVERSARIAL_FROM:
            return losses
        terms = [self._adversarial(d, generated, real) for d in self.discriminators]
        sums = {key: torch.stack([term[key] for term in terms]).mean() for key in terms[0]}
        return losses | sums

    def _adversarial(self, judge: nn.Module, generated: Tensor, real: Tensor) -> dict[str, Tensor]:
        *real_features, on_real = judge(real)
        on_fake = judge(generated.detach())[-1]
        with frozen(judge):
            *features, score = judge(generated)
        matching = [
            F.l1_loss(f.float(), r.detach().float()) / r.detach().float().abs().mean()
            for f, r in zip(features, real_features, strict=True)
        ]
        return {
            "discriminator": (on_real.float() - 1).square().mean()
            + on_fake.float().square().mean(),
            "real": REAL_WEIGHT * (score.float() - 1).square().mean(),
            "features": FEATURE_WEIGHT * torch.stack(matching).mean(),
        }


def train_vocoder(run: Path, name: str, budget: Budget) -> None:
    """Train on the speech of ``prepare`` in ``run``; write run/name.pt."""
    log_mel = LogMel(run / "constants.npz").to(device())
    train_windows, val = (
        Windows(Speech.load(run / split, device()), WINDOW) for split in ("train", "val")
    )
    with np.load(run / "constants.npz") as file:
        training = VocoderTraining(torch.from_numpy(file["mel_filters"])).to(device())
    batch = BATCH if device().type == "cuda" else CPU_BATCH

    def windows_of(windows: Windows, size: int) -> tuple[Tensor, Tensor, Tensor]:
        starts = windows.draw(size)
        waveform = windows.speech.samples(starts, WINDOW)
        pitch = windows.speech.pitch[windows.rows(starts)]
        edge = EDGE * HOP_LENGTH
        return log_mel(waveform)[:, EDGE:-EDGE], pitch[:, EDGE:-EDGE], waveform[:, edge:-edge]

    torch.manual_seed(1)
    held_out = windows_of(val, VALIDATED)

    def step_losses(_: torch.Generator) -> dict[str, Tensor]:
        mel, pitch, real = windows_of(train_windows, batch)
        decibels = GAIN * (2 * torch.rand(batch, 1, device=real.device) - 1)
        gain = 10 ** (decibels / 20)
        louder = (mel + gain.log()[..., None]).clamp(min=math.log(FLOOR))
        return training.losses(louder, pitch, gain * real, budget.share)

    @torch.no_grad()
    def validate(network: nn.Module) -> dict[str, float]:
        assert isinstance(network, VocoderTraining)
        mel, pitch, real = held_out
        return {"spectral": network.distance(network.vocoder(mel, pitch), real).item()}

    result = fit(
        training,
        step_losses,
        lambda: validate(training)["spectral"],
        run / f"{name}.state",
        None,
        LEARNING_RATE,
        schedule_of=lambda o: FallAtEnd(o, training, budget, validate, run / f"{name}.jsonl"),
        max_norm=MAX_NORM,
    )
    save(run, name, CONFIG, training.vocoder, {"steps": budget.steps_spent, **result})
