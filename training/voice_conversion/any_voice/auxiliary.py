"""Networks that are trained beside the system and left behind: they say whose speech a mel is,
whose the content is, and whether a mel is real.

Shapes: B batch, S frames, M mel bands, U steps, D content width, N speakers.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.reference import ReferenceConfig, ReferenceEncoder

COSINE_SCALE = 16.0  # of the logits


class SpeakerClassifier(nn.Module):
    """Normalised log-mel spectrogram → logits of speakers, by cosine."""

    def __init__(self, n_speakers: int) -> None:
        super().__init__()
        self.encoder = ReferenceEncoder(ReferenceConfig())
        self.speakers = CosineHead(ReferenceConfig().voice_width, n_speakers)

    def forward(self, mel: Tensor) -> Tensor:
        """(B, S, M) → (B, N)."""
        return self.speakers(self.encoder(mel))


class CosineHead(nn.Module):
    """Vectors → logits: the cosine to a vector of each speaker."""

    def __init__(self, width: int, n_speakers: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_speakers, width))

    def forward(self, vector: Tensor) -> Tensor:
        """(B, width) → (B, N)."""
        return COSINE_SCALE * F.normalize(vector, dim=-1) @ F.normalize(self.weight, dim=-1).T


class ContentAdversary(nn.Module):
    """Says whose the content is; the gradient that it passes back is turned round, so that the
    encoder learns to keep it from telling (Ganin et al. 2016)."""

    WIDTH = 128

    def __init__(self, content_width: int, n_speakers: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv1d(content_width, self.WIDTH, 5, padding=2),
            nn.GELU(),
            nn.Conv1d(self.WIDTH, self.WIDTH, 5, stride=2, padding=2),
            nn.GELU(),
        )
        self.speakers = CosineHead(2 * self.WIDTH, n_speakers)

    def forward(self, content: Tensor, strength: float) -> Tensor:
        """content (B, U, D) → logits (B, N); the gradient is multiplied by minus ``strength``."""
        turned = content * -strength + (content * (1 + strength)).detach()
        x = self.convolutions(turned.transpose(1, 2))
        spread = (x.var(dim=2, unbiased=False) + 1e-4).sqrt()
        return self.speakers(torch.cat([x.mean(dim=2), spread], dim=1))


class MelDiscriminator(nn.Module):
    """Patches of a normalised log-mel spectrogram → how real each is."""

    WIDTHS = (1, 24, 48, 96)

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(nn.Conv2d(a, b, (5, 5), 2, padding=2))
            for a, b in zip(self.WIDTHS[:-1], self.WIDTHS[1:], strict=True)
        )
        self.output = nn.Conv2d(self.WIDTHS[-1], 1, 3, padding=1)

    def forward(self, mel: Tensor) -> list[Tensor]:
        """(B, S, M) → the features of every layer, and last the scores."""
        features, x = [], mel[:, None]
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            features.append(x)
        return [*features, self.output(x)]


@contextmanager
def frozen(network: nn.Module) -> Iterator[nn.Module]:
    """Within, a gradient passes through the network but does not reach its weights."""
    network.requires_grad_(False)
    try:
        yield network
    finally:
        network.requires_grad_(True)
