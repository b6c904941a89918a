"""Networks that are trained with the system and left behind: they say whose speech a mel is, whose
the content is, what a recogniser hears in a mel, and whether a mel is real.

Shapes: B batch, S frames, M mel bands, U steps, D content width, N speakers.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.voices import ReferenceConfig, ReferenceEncoder
from earshot.models.recogniser import BEFORE, STATE, Encoder
from earshot.models.vocoder import Vocoder

COSINE_SCALE = 16.0  # of the logits
HISS = (15.0, 40.0)  # dB of speech to noise, lowest and highest


class SpeakerClassifier(nn.Module):
    """A classifier of speakers: normalised log-mel spectrogram → logits, by cosine."""

    def __init__(self, n_speakers: int) -> None:
        super().__init__()
        self.encoder = ReferenceEncoder(ReferenceConfig())
        self.speakers = CosineHead(ReferenceConfig().voice_width, n_speakers)

    def forward(self, mel: Tensor) -> Tensor:
        """Map a spectrogram (B, S, M) to logits (B, N)."""
        return self.speakers(self.encoder(mel))


class CosineHead(nn.Module):
    """A head that maps vectors to logits: the cosine to a vector of each speaker."""

    def __init__(self, width: int, n_speakers: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_speakers, width))

    def forward(self, vector: Tensor) -> Tensor:
        """Map vectors (B, width) to logits (B, N)."""
        return COSINE_SCALE * F.normalize(vector, dim=-1) @ F.normalize(self.weight, dim=-1).T


class ContentAdversary(nn.Module):
    """A classifier of the speaker by the content; the gradient that it passes back is reversed, so
    that the encoder learns to keep the speaker out of the content (Ganin et al. 2016).
    """

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
        """Map content (B, U, D) to logits (B, N); the gradient is multiplied by minus
        ``strength``.
        """
        turned = content * -strength + (content * (1 + strength)).detach()
        x = self.convolutions(turned.transpose(1, 2))
        spread = (x.var(dim=2, unbiased=False) + 1e-4).sqrt()
        return self.speakers(torch.cat([x.mean(dim=2), spread], dim=1))


class Listener(nn.Module):
    """A recogniser that hears a mel through a vocoder; neither is trained.

    What it hears in a conversion says which words are left: a loss on mels alone counts a missing
    consonant as little as a blurred vowel. A little noise keeps the words from being written into
    what only this recogniser hears.
    """

    def __init__(self, vocoder: Vocoder, encoder: Encoder) -> None:
        super().__init__()
        self.vocoder = vocoder.eval().requires_grad_(False)
        self.encoder = encoder.eval().requires_grad_(False)

    def forward(self, mel: Tensor, pitch: Tensor) -> Tensor:
        """Hear log-mel spectrograms (B, S, M) in nepers at pitches (B, S) in Hz, 0 where unvoiced:
        states (B, N, D), each of mean 0 and variance 1.
        """
        with torch.autocast(mel.device.type, enabled=False):  # phases need single precision
            waveform = self.vocoder(mel.float(), pitch)
        power = waveform.square().mean(dim=1, keepdim=True).sqrt()
        decibels = torch.empty_like(power).uniform_(*HISS)
        return self.speech(waveform + torch.randn_like(waveform) * power * 10 ** (-decibels / 20))

    def speech(self, waveform: Tensor) -> Tensor:
        """Hear waveforms (B, T): states (B, N, D), each of mean 0 and variance 1."""
        states = self.encoder(F.pad(waveform, (BEFORE, BEFORE + STATE)))[-1].float()
        return F.layer_norm(states, states.shape[-1:])


class MelDiscriminator(nn.Module):
    """A discriminator of small and large patches of a normalised log-mel spectrogram: how real each
    is.
    """

    WIDTHS = ((1, 24, 48, 96), (1, 24, 48, 96, 128))

    def __init__(self) -> None:
        super().__init__()
        self.scales = nn.ModuleList(_patches(widths) for widths in self.WIDTHS)

    def forward(self, mel: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Map a spectrogram (B, S, M) to the features of every layer, and the scores of each size
        of patches.
        """
        features, scores = [], []
        for layers in self.scales:
            assert isinstance(layers, nn.ModuleList)
            x = mel[:, None]
            for layer in layers[:-1]:
                x = F.leaky_relu(layer(x), 0.1)
                features.append(x)
            scores.append(layers[-1](x))
        return features, scores


def _patches(widths: tuple[int, ...]) -> nn.ModuleList:
    """Make strided convolutions, and one that scores; each further layer doubles the patches."""
    layers: list[nn.Module] = [
        nn.utils.parametrizations.weight_norm(nn.Conv2d(a, b, (5, 5), 2, padding=2))
        for a, b in zip(widths[:-1], widths[1:], strict=True)
    ]
    return nn.ModuleList([*layers, nn.Conv2d(widths[-1], 1, 3, padding=1)])


@contextmanager
def frozen(network: nn.Module) -> Iterator[nn.Module]:
    """Freeze the network within the context: a gradient passes through it but does not reach its
    weights.
    """
    network.requires_grad_(False)
    try:
        yield network
    finally:
        network.requires_grad_(True)
