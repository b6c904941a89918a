"""Spectrogram discriminators (UnivNet, Jang et al. 2021), used only to train the vocoder."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

RESOLUTIONS = ((1024, 256), (512, 128), (256, 64))  # FFT size and hop, samples
SLOPE = 0.1


class Discriminators(nn.Module):
    """One discriminator a resolution; each gives its feature maps, the last being the verdict."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.parts = nn.ModuleList(Discriminator(channels) for _ in RESOLUTIONS)

    def forward(self, waveform: Tensor) -> list[list[Tensor]]:
        """(B, T) → for each resolution the feature maps (B, channels, S, bins)."""
        return [
            part(magnitude(waveform, n_fft, hop).transpose(1, 2)[:, None])
            for part, (n_fft, hop) in zip(self.parts, RESOLUTIONS, strict=True)
        ]


class Discriminator(nn.Module):
    """Convolutions over time and frequency, the frequency axis halved three times."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            [
                nn.Conv2d(1, channels, (3, 9), (1, 2), (1, 4)),
                nn.Conv2d(channels, channels, (3, 9), (1, 2), (1, 4)),
                nn.Conv2d(channels, channels, (3, 9), (1, 2), (1, 4)),
                nn.Conv2d(channels, channels, 3, padding=1),
            ]
        )
        self.verdict = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x: Tensor) -> list[Tensor]:
        """(B, 1, S, bins) → the feature maps, then the verdict."""
        maps = []
        x = x.clamp(min=1e-5).log()
        for convolution in self.convolutions:
            x = F.leaky_relu(convolution(x), SLOPE)
            maps.append(x)
        return [*maps, self.verdict(x)]


def hinge_loss(real: list[list[Tensor]], made: list[list[Tensor]]) -> Tensor:
    """What the discriminators want: real speech above 1, made speech below -1."""
    return sum(
        (
            F.relu(1 - r[-1]).mean() + F.relu(1 + m[-1]).mean()
            for r, m in zip(real, made, strict=True)
        ),
        start=torch.zeros(()),
    ) / len(real)


def adversarial_loss(real: list[list[Tensor]], made: list[list[Tensor]]) -> Tensor:
    """What the vocoder wants of the verdict, and the distance of the feature maps."""
    loss = torch.zeros(())
    for r, m in zip(real, made, strict=True):
        distance = [F.l1_loss(b, a.detach()) for a, b in zip(r[:-1], m[:-1], strict=True)]
        loss = loss - m[-1].mean() + 2 * torch.stack(distance).mean()
    return loss / len(real)


def magnitude(waveform: Tensor, n_fft: int, hop: int) -> Tensor:
    """Magnitude spectrogram, differentiable at zero: (B, T) → (B, n_fft // 2 + 1, S)."""
    window = torch.hann_window(n_fft, device=waveform.device)
    spectrum = torch.stft(waveform, n_fft, hop, window=window, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square() + 1e-12).sqrt()
