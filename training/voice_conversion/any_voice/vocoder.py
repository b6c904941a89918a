"""Train the neural vocoder on all speakers: spectral losses, then discriminators as well.

The discriminators look at magnitudes of the short-time Fourier transform at several resolutions
(Jang et al. 2021, UnivNet); feature matching as in MelGAN (Kumar et al. 2019).
"""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.loop import device
from training.common.spectral_loss import RESOLUTIONS, SpectralLoss
from training.voice_conversion.any_voice.auxiliary import frozen
from training.voice_conversion.any_voice.data import Corpus
from training.voice_conversion.any_voice.loop import train

WINDOW: Final = 80  # frames
NAMES: Final = ("log_mel", "pitch", "waveform")
BATCH: Final = 8
LEARNING_RATE: Final = 5e-4
ADVERSARIAL_FROM: Final = 1500  # steps
REAL_WEIGHT: Final = 0.5
FEATURE_WEIGHT: Final = 2.0
VALIDATED: Final = 48  # windows
SHARES: Final = {"librispeech_251": 0.4, "studio_prompts": 0.3, "npvcc2016": 0.15, "grid": 0.15}


class ResolutionDiscriminator(nn.Module):
    """Log magnitudes at one resolution → how real each patch of them is."""

    WIDTHS = (1, 16, 16, 24, 32)

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
        """(B, T) → the features of every layer, and last the scores."""
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


class VocoderTraining(nn.Module):
    """The vocoder, and the discriminators that are left behind."""

    def __init__(self, mel_filters: Tensor) -> None:
        super().__init__()
        self.vocoder = Vocoder(VocoderConfig())
        self.distance = SpectralLoss(mel_filters)
        self.discriminators = nn.ModuleList(
            ResolutionDiscriminator(n_fft, hop) for n_fft, hop in RESOLUTIONS
        )

    def losses(self, mel: Tensor, pitch: Tensor, real: Tensor, step: int) -> dict[str, Tensor]:
        """mel: (B, S, 80); pitch: (B, S) in Hz; real: (B, T)."""
        made = self.vocoder(mel, pitch)
        losses = {"spectral": self.distance(made, real)}
        if step < ADVERSARIAL_FROM:
            return losses
        terms = [self._adversarial(d, made, real) for d in self.discriminators]
        sums = {key: torch.stack([term[key] for term in terms]).mean() for key in terms[0]}
        return losses | sums

    def _adversarial(self, judge: nn.Module, made: Tensor, real: Tensor) -> dict[str, Tensor]:
        *real_features, on_real = judge(real)
        on_fake = judge(made.detach())[-1]
        with frozen(judge):
            *features, score = judge(made)
        matching = [
            F.l1_loss(f, r.detach()) / r.detach().abs().mean()
            for f, r in zip(features, real_features, strict=True)
        ]
        return {
            "discriminator": (on_real - 1).square().mean() + on_fake.square().mean(),
            "real": REAL_WEIGHT * (score - 1).square().mean(),
            "features": FEATURE_WEIGHT * torch.stack(matching).mean(),
        }


def train_vocoder(run: Path, name: str, steps: int, seed: int = 0) -> None:
    """Train on the real spectrograms of ``prepare`` in ``run``: run/name.state."""
    torch.manual_seed(seed)
    corpus = Corpus(run / "train", WINDOW, SHARES)
    val = Corpus(run / "val", WINDOW, SHARES)
    with np.load(run / "constants.npz") as file:
        training = VocoderTraining(torch.from_numpy(file["mel_filters"])).to(device())
    held_out = val.draw(VALIDATED, torch.Generator().manual_seed(1))

    def step_losses(step: int, generator: torch.Generator) -> dict[str, Tensor]:
        starts = corpus.draw(BATCH, generator)
        mel, pitch, real = (corpus.read(n, starts).to(device()) for n in NAMES)
        return training.losses(mel, pitch, real, step)

    @torch.no_grad()
    def validate(average: nn.Module) -> dict[str, float]:
        assert isinstance(average, VocoderTraining)
        mel, pitch, real = (val.read(n, held_out).to(device()) for n in NAMES)
        made = average.vocoder(mel, pitch)
        return {"spectral": average.distance(made, real).item()}

    train(training, step_losses, validate, run, name, steps, LEARNING_RATE, seed=seed)
