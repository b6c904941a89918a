"""The system: all parts that are trained together, and the losses of one batch.

Shapes: B batch, S frames, U = S / 2 steps, D width of the recogniser's states, M mel bands.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.content import Adapter, AdapterConfig, Bottleneck, BottleneckConfig
from earshot.models.any_voice.inverter import ContourPredictor, Inverter, InverterConfig
from earshot.models.any_voice.voices import ReferenceConfig, ReferenceEncoder, Voices
from training.voice_conversion.any_voice.auxiliary import (
    ContentAdversary,
    CosineHead,
    Listener,
    MelDiscriminator,
    SpeakerClassifier,
    frozen,
)
from training.voice_conversion.contour import relative_contour

# How often each bottleneck is chosen: continuous, 64 … 512, the residual ones.
CHOSEN: Final = (0.5, 0.03, 0.04, 0.05, 0.2, 0.09, 0.09)
COMMITMENT: Final = 0.1
SPEAKER_WEIGHT: Final = 0.4  # that a conversion is taken for its target
ADVERSARY: Final = 0.2  # how far the content is kept from telling whose it is
WORDS_WEIGHT: Final = 3.0  # that the listener hears in a conversion what is in the source
REAL_WEIGHT: Final = 0.1
FEATURE_WEIGHT: Final = 1 / 3
MAX_RATIO: Final = 1.5  # by which a contour is widened or narrowed for another voice
PARTS: Final = ("adapter", "bottleneck", "reference", "inverter", "contour")  # that are shipped


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

        chosen: bottlenecks (B,). Until there are mels to be heard there is no listener, and no
        discriminator.
        """
        real = self.inverter.normalize(batch.mel)
        content = self.adapter(batch.states)
        with torch.autocast(content.device.type, enabled=False):
            passed, commitment = self.bottleneck(content.float(), chosen)
        voices = self.voices(batch.reference, batch.speaker)
        contour = relative_contour(batch.pitch, voices.pitch_mean)
        made = self.inverter(passed, contour, voices, chosen).float()
        half = len(made) // 2
        sources, targets = slice(0, half), slice(half, 2 * half)
        moved = adapted_contour(contour[sources], voices[sources], voices[targets])
        converted = self.inverter(passed[sources], moved, voices[targets], chosen[sources]).float()
        with frozen(self.classifier):
            taken_for = self.classifier(converted).float()
        losses = {
            "mel": F.l1_loss(made, real),
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
        said = self.inverter.denormalize(torch.cat([converted, made[targets]]))
        pitch = torch.cat([hertz(moved, voices[targets]), batch.pitch[targets]])
        with torch.no_grad():
            heard = listener.speech(batch.waveform[: 2 * half])
        losses["words"] = WORDS_WEIGHT * F.mse_loss(listener(said, pitch), heard)
        return losses | self._sharpness(made, converted, real)

    def _contour_losses(self, passed: Tensor, contour: Tensor, voices: Voices) -> dict[str, Tensor]:
        known = Voices(voices.vector.detach(), voices.pitch_mean, voices.pitch_std)
        predicted = self.contour(passed, known).float()
        voiced = contour[..., 0]
        off = (predicted[..., 1] - contour[..., 1]).abs() * voiced
        voicing = F.binary_cross_entropy_with_logits(predicted[..., 0], voiced)
        return {"voicing": 0.2 * voicing, "pitch": 2 * off.sum() / voiced.sum().clamp(min=1)}

    def _sharpness(self, made: Tensor, converted: Tensor, real: Tensor) -> dict[str, Tensor]:
        """Compute least-squares adversarial losses (Mao et al. 2017) and feature matching."""
        fake, n = torch.cat([made, converted]), len(made)
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
