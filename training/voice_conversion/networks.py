"""The networks of conversion to any voice, and the losses of one batch.

Some are trained with the system and left behind: classifiers of whose a mel is, whose the content
is, and whether a mel is real, and a recogniser of the words in a mel.

Shapes: B batch, S frames, U = S / 2 steps, M mel bands, D content width, N speakers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.content import Adapter, AdapterConfig, Bottleneck, BottleneckConfig
from earshot.models.any_voice.inverter import ContourPredictor, Inverter, InverterConfig
from earshot.models.any_voice.voices import ReferenceConfig, ReferenceEncoder, Voices
from earshot.models.recogniser import BEFORE, STATE, Encoder
from earshot.models.vocoder import Vocoder
from training.voice_conversion.speech import relative_contour

COSINE_SCALE: Final = 16.0  # of the logits
HISS: Final = (15.0, 40.0)  # dB of speech to noise, lowest and highest
# How often each bottleneck is chosen: continuous, 64 … 512, the residual ones.
CHOSEN: Final = (0.5, 0.03, 0.04, 0.05, 0.2, 0.09, 0.09)
COMMITMENT: Final = 0.1
SPEAKER_WEIGHT: Final = 0.4  # that a conversion is taken for its target
ADVERSARY: Final = 0.2  # how far the content is kept from telling whose it is
WORDS_WEIGHT: Final = 3.0  # that the listener recognises in a conversion what is in the source
REAL_WEIGHT: Final = 0.1
FEATURE_WEIGHT: Final = 1 / 3
MAX_RATIO: Final = 1.5  # by which a contour is widened or narrowed for another voice
PARTS: Final = ("adapter", "bottleneck", "reference", "inverter", "contour")  # that are shipped


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
    """A recogniser of mels, through a vocoder; neither is trained.

    What it recognises in a conversion shows which words are left: a loss on mels alone counts a
    missing consonant as little as a blurred vowel. A little noise keeps the words from being
    written into what only this recogniser understands.
    """

    def __init__(self, vocoder: Vocoder, encoder: Encoder) -> None:
        super().__init__()
        self.vocoder = vocoder.eval().requires_grad_(False)
        self.encoder = encoder.eval().requires_grad_(False)

    def forward(self, mel: Tensor, pitch: Tensor) -> Tensor:
        """Encode log-mel spectrograms (B, S, M) in nepers at pitches (B, S) in Hz, 0 where
        unvoiced: states (B, N, D), each of mean 0 and variance 1.
        """
        with torch.autocast(mel.device.type, enabled=False):  # phases need single precision
            waveform = self.vocoder(mel.float(), pitch)
        power = waveform.square().mean(dim=1, keepdim=True).sqrt()
        decibels = torch.empty_like(power).uniform_(*HISS)
        return self.speech(waveform + torch.randn_like(waveform) * power * 10 ** (-decibels / 20))

    def speech(self, waveform: Tensor) -> Tensor:
        """Encode waveforms (B, T): states (B, N, D), each of mean 0 and variance 1."""
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


@dataclass(frozen=True)
class Sizes:
    """The configurations of the parts that are shipped."""

    adapter: AdapterConfig = AdapterConfig(layers=3)
    bottleneck: BottleneckConfig = BottleneckConfig(noise=0.1)
    reference: ReferenceConfig = ReferenceConfig()
    inverter: InverterConfig = InverterConfig(
        width=256, inner=1024, layers=4, fine_width=192, fine_inner=576, fine_layers=4
    )


@dataclass(frozen=True)
class Batch:
    """A batch of speech. states (B, U, D), maybe of noisy or faster speech; waveform (B, T) of the
    speech itself; mel (B, S, M) in nepers; reference (B, S, M), other speech of the same speakers;
    pitch (B, S) in Hz; speaker (B,).
    """

    states: Tensor
    waveform: Tensor
    mel: Tensor
    reference: Tensor
    pitch: Tensor
    speaker: Tensor


class System(nn.Module):
    """The parts that are shipped, and the auxiliary networks that train them."""

    pitch_mean: Tensor
    pitch_std: Tensor

    def __init__(self, n_speakers: int, sizes: Sizes = Sizes()) -> None:
        super().__init__()
        self.adapter = Adapter(sizes.adapter)
        self.bottleneck = Bottleneck(sizes.bottleneck)
        self.reference = ReferenceEncoder(sizes.reference)
        self.inverter = Inverter(sizes.inverter)
        self.contour = ContourPredictor(sizes.inverter)
        self.classifier = SpeakerClassifier(n_speakers)
        self.adversary = ContentAdversary(sizes.adapter.content_width, n_speakers)
        self.discriminator = MelDiscriminator()
        self.known_voices = CosineHead(sizes.reference.voice_width, n_speakers)
        self.register_buffer("pitch_mean", torch.zeros(n_speakers))
        self.register_buffer("pitch_std", torch.ones(n_speakers))

    def shipped(self) -> dict[str, Tensor]:
        """Collect the weights of the parts that are shipped, by their names in a checkpoint."""
        return {
            name: weight
            for name, weight in self.state_dict().items()
            if name.split(".")[0] in PARTS
        }

    def voices(self, reference: Tensor, speaker: Tensor) -> Voices:
        """Encode the voices of reference mels (B, S, M) in nepers by known speakers (B,)."""
        vector = self.reference(self.inverter.normalize(reference)).float()
        return Voices(vector, self.pitch_mean[speaker], self.pitch_std[speaker])

    def losses(self, batch: Batch, chosen: Tensor, listener: Listener | None) -> dict[str, Tensor]:
        """Compute the weighted losses of a batch, of which one half speaks with the other's voices.

        chosen: bottlenecks (B,). Until there are mels to recognise there is no listener, and no
        discriminator.
        """
        real = self.inverter.normalize(batch.mel)
        content = self.adapter(batch.states)
        with torch.autocast(content.device.type, enabled=False):
            passed, commitment = self.bottleneck(content.float(), chosen)
        voices = self.voices(batch.reference, batch.speaker)
        contour = relative_contour(batch.pitch, voices.pitch_mean)
        reconstructed = self.inverter(passed, contour, voices, chosen).float()
        half = len(reconstructed) // 2
        sources, targets = slice(0, half), slice(half, 2 * half)
        moved = adapted_contour(contour[sources], voices[sources], voices[targets])
        converted = self.inverter(passed[sources], moved, voices[targets], chosen[sources]).float()
        with frozen(self.classifier):
            taken_for = self.classifier(converted).float()
        losses = {
            "mel": F.l1_loss(reconstructed, real),
            "commitment": COMMITMENT * commitment,
            "adversary": 0.3
            * F.cross_entropy(self.adversary(content, ADVERSARY).float(), batch.speaker),
            "classifier": 0.3 * F.cross_entropy(self.classifier(real).float(), batch.speaker),
            "voice": 0.05
            * F.cross_entropy(self.known_voices(voices.vector).float(), batch.speaker),
            "speaker": SPEAKER_WEIGHT * F.cross_entropy(taken_for, batch.speaker[targets]),
            **self._contour_losses(passed.detach(), contour, voices),
        }
        if listener is None:
            return losses
        # Half a batch is converted and half said in its own voice: both are to be understood.
        spoken = self.inverter.denormalize(torch.cat([converted, reconstructed[targets]]))
        pitch = torch.cat([hertz(moved, voices[targets]), batch.pitch[targets]])
        with torch.no_grad():
            source_states = listener.speech(batch.waveform[: 2 * half])
        losses["words"] = WORDS_WEIGHT * F.mse_loss(listener(spoken, pitch), source_states)
        return losses | self._sharpness(reconstructed, converted, real)

    def _contour_losses(self, passed: Tensor, contour: Tensor, voices: Voices) -> dict[str, Tensor]:
        fixed = Voices(voices.vector.detach(), voices.pitch_mean, voices.pitch_std)
        predicted = self.contour(passed, fixed).float()
        voiced = contour[..., 0]
        off = (predicted[..., 1] - contour[..., 1]).abs() * voiced
        voicing = F.binary_cross_entropy_with_logits(predicted[..., 0], voiced)
        return {"voicing": 0.2 * voicing, "pitch": 2 * off.sum() / voiced.sum().clamp(min=1)}

    def _sharpness(
        self, reconstructed: Tensor, converted: Tensor, real: Tensor
    ) -> dict[str, Tensor]:
        """Compute least-squares adversarial losses (Mao et al. 2017) and feature matching."""
        fake, n = torch.cat([reconstructed, converted]), len(reconstructed)
        real_features, on_real = self.discriminator(real)
        _, on_fake = self.discriminator(fake.detach())
        with frozen(self.discriminator):
            features, scores = self.discriminator(fake)
        matching = [
            F.l1_loss(f[:n].float(), r.detach().float()) / r.detach().float().abs().mean()
            for f, r in zip(features, real_features, strict=True)
        ]
        judged = [
            (r.float() - 1).square().mean() + f.float().square().mean()
            for r, f in zip(on_real, on_fake, strict=True)
        ]
        fooled = [(score.float() - 1).square().mean() for score in scores]
        return {
            "discriminator": torch.stack(judged).mean(),
            "real": REAL_WEIGHT * torch.stack(fooled).mean(),
            "features": FEATURE_WEIGHT * torch.stack(matching).mean(),
        }


def hertz(contour: Tensor, voices: Voices) -> Tensor:
    """Map a contour (B, S, 2) to the pitch of voices in Hz (B, S), 0 where unvoiced."""
    return contour[..., 0] * (contour[..., 1] + voices.pitch_mean[:, None]).exp()


def adapted_contour(contour: Tensor, source: Voices, target: Voices) -> Tensor:
    """Scale a contour (B, S, 2) so that it moves as widely as the target's do."""
    ratio = (target.pitch_std / source.pitch_std).clamp(1 / MAX_RATIO, MAX_RATIO)
    return torch.stack([contour[..., 0], contour[..., 1] * ratio[:, None]], dim=-1)
