"""Everything that is trained together, and what one batch costs it."""

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import MFCC_FLOOR
from earshot.models.any_voice.bottleneck import Bottleneck, BottleneckConfig
from earshot.models.any_voice.content import ContentConfig, ContentEncoder
from earshot.models.any_voice.inverter import ContourPredictor, Inverter, InverterConfig, Voices
from earshot.models.any_voice.reference import ReferenceConfig, ReferenceEncoder
from training.voice_conversion.any_voice.auxiliary import (
    ContentAdversary,
    CosineHead,
    MelDiscriminator,
    SpeakerClassifier,
    frozen,
)
from training.voice_conversion.data.cepstra import Cepstra

# How often each bottleneck is chosen: continuous, 64 … 512, the residual ones.
CHOSEN: Final = (0.5, 0.03, 0.04, 0.05, 0.2, 0.09, 0.09)
CONVERT_EVERY: Final = 2  # steps: conversions cost as much again as the speech itself
ADVERSARY_RAMP: Final = 1000  # steps in which the adversary gains its strength
SPEAKER_WEIGHT: Final = 0.1
AGAIN_WEIGHT: Final = 0.3
ADVERSARY: Final = 0.1
COMMITMENT: Final = 0.1
REAL_WEIGHT: Final = 0.05
FEATURE_WEIGHT: Final = 0.5
MAX_RATIO: Final = 1.5  # by which a contour is widened or narrowed for another voice


@dataclass(frozen=True)
class Schedule:
    """From which step on units, conversions and the discriminator take part in training.

    At first the system learns to tell and to speak what was said, and nothing else: with units and
    conversions from the start it learns both more slowly, and a step takes half as long again. The
    discriminator comes when the mels are nearly right.
    """

    units: int
    conversions: int
    discriminator: float = math.inf


@dataclass(frozen=True)
class Batch:
    """features: augmented cepstra (B, S, 39); mel (B, S, M) in nepers of the same speech, clean;
    reference (B, S, M), other speech of the same speakers; pitch (B, S) in Hz; speaker (B,)."""

    features: Tensor
    mel: Tensor
    reference: Tensor
    pitch: Tensor
    speaker: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same on a device."""
        return Batch(
            self.features.to(device),
            self.mel.to(device),
            self.reference.to(device),
            self.pitch.to(device),
            self.speaker.to(device),
        )


class System(nn.Module):
    """The parts that are shipped, and the auxiliary networks that train them."""

    bands: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __init__(self, cepstra: Cepstra, n_speakers: int) -> None:
        super().__init__()
        self.cepstra = cepstra
        self.content = ContentEncoder(ContentConfig())
        self.bottleneck = Bottleneck(BottleneckConfig())
        self.reference = ReferenceEncoder(ReferenceConfig())
        self.inverter = Inverter(InverterConfig(n_bottlenecks=len(BottleneckConfig().names)))
        self.contour = ContourPredictor(InverterConfig())
        self.classifier = SpeakerClassifier(n_speakers)
        self.adversary = ContentAdversary(ContentConfig().content_width, n_speakers)
        self.discriminator = MelDiscriminator()
        self.known_voices = CosineHead(ReferenceConfig().voice_width, n_speakers)
        self.register_buffer("pitch_mean", torch.zeros(n_speakers))
        self.register_buffer("pitch_std", torch.ones(n_speakers))
        self.register_buffer("bands", torch.zeros(80, 40))  # power of mel bands → of the cepstra's

    def voices(self, reference: Tensor, speaker: Tensor) -> Voices:
        """The voices of reference mels (B, S, M) in nepers by known speakers (B,)."""
        vector = self.reference(self.inverter.normalize(reference))
        return Voices(vector, self.pitch_mean[speaker], self.pitch_std[speaker])

    def encode_mel(self, mel: Tensor) -> Tensor:
        """Content of a log-mel spectrogram (B, S, M) in nepers, by way of its cepstra."""
        log_bands = ((2 * mel).exp() @ self.bands + MFCC_FLOOR).log()
        return self.content(self.content.normalize(self.cepstra(log_bands)))

    def losses(
        self, batch: Batch, chosen: Tensor, step: int, schedule: Schedule
    ) -> dict[str, Tensor]:
        """The weighted losses of a batch, of which one half speaks with the other's voices."""
        real = self.inverter.normalize(batch.mel)
        content = self.content(self.content.normalize(batch.features))
        passed, commitment = self.bottleneck(content, chosen)
        voices = self.voices(batch.reference, batch.speaker)
        contour = relative_contour(batch.pitch, voices)
        made = self.inverter(passed, contour, voices, chosen)
        half = len(made) // 2
        losses = {
            "mel": F.l1_loss(made, real),
            "commitment": COMMITMENT * commitment,
            "adversary": self._unmasked(content, batch.speaker, step - schedule.conversions),
            "classifier": 0.3 * F.cross_entropy(self.classifier(real), batch.speaker),
            "voice": 0.05 * F.cross_entropy(self.known_voices(voices.vector), batch.speaker),
            **self._contour_losses(passed.detach(), contour, voices),
        }
        if step < schedule.conversions or step % CONVERT_EVERY:
            return losses
        sources, targets = slice(0, half), slice(half, None)
        moved = adapted_contour(contour[sources], voices[sources], voices[targets])
        converted = self.inverter(passed[sources], moved, voices[targets], chosen[sources])
        with frozen(self.classifier):
            logits = self.classifier(converted)
        losses["speaker"] = SPEAKER_WEIGHT * F.cross_entropy(logits, batch.speaker[targets])
        # The inverter is to speak so that the encoder understands it. Were the encoder trained by
        # this as well, it would rather encode less, so that less can be lost.
        with frozen(self.content):
            again = self.encode_mel(self.inverter.denormalize(converted))
            # From the source's mel too: its windows of 64 ms blur what cepstra of 25 ms tell, and
            # the conversion must not be asked for that.
            said = self.encode_mel(batch.mel[sources])
        losses["again"] = AGAIN_WEIGHT * F.mse_loss(again, said)
        if step >= schedule.discriminator:
            losses |= self._sharpness(made, converted, real)
        return losses

    def _unmasked(self, content: Tensor, speaker: Tensor, step: int) -> Tensor:
        strength = ADVERSARY * min(1.0, max(0.0, step / ADVERSARY_RAMP))
        return 0.3 * F.cross_entropy(self.adversary(content, strength), speaker)

    def _contour_losses(self, passed: Tensor, contour: Tensor, voices: Voices) -> dict[str, Tensor]:
        known = Voices(voices.vector.detach(), voices.pitch_mean, voices.pitch_std)
        predicted = self.contour(passed, known)
        voiced = contour[..., 0]
        off = (predicted[..., 1] - contour[..., 1]).abs() * voiced
        voicing = F.binary_cross_entropy_with_logits(predicted[..., 0], voiced)
        return {"voicing": 0.2 * voicing, "pitch": 2 * off.sum() / voiced.sum().clamp(min=1)}

    def _sharpness(self, made: Tensor, converted: Tensor, real: Tensor) -> dict[str, Tensor]:
        """Least-squares adversarial losses (Mao et al. 2017) and feature matching."""
        fake = torch.cat([made, converted])
        *_, on_real = real_features = self.discriminator(real)
        *_, on_fake = self.discriminator(fake.detach())
        with frozen(self.discriminator):
            *fake_features, score = self.discriminator(fake)
        n = len(made)
        matching = [
            F.l1_loss(f[:n], r.detach()) / r.detach().abs().mean()
            for f, r in zip(fake_features, real_features[:-1], strict=True)
        ]
        return {
            "discriminator": (on_real - 1).square().mean() + on_fake.square().mean(),
            "real": REAL_WEIGHT * (score - 1).square().mean(),
            "features": FEATURE_WEIGHT * torch.stack(matching).mean() / 3,
        }


def relative_contour(pitch: Tensor, voices: Voices) -> Tensor:
    """Pitch in Hz (B, S), 0 where unvoiced → voicing and relative log-F0 (B, S, 2)."""
    voiced = pitch > 0
    relative = torch.where(voiced, pitch.clamp(min=1).log() - voices.pitch_mean[:, None], 0.0)
    return torch.stack([voiced.float(), relative], dim=-1)


def adapted_contour(contour: Tensor, source: Voices, target: Voices) -> Tensor:
    """A contour (B, S, 2) that moves as widely as the target's do."""
    ratio = (target.pitch_std / source.pitch_std).clamp(1 / MAX_RATIO, MAX_RATIO)
    return torch.stack([contour[..., 0], contour[..., 1] * ratio[:, None]], dim=-1)
