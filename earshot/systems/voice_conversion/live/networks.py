"""The networks that live conversion can speak through, a window of the stream at a time.

Shapes: S frames of 10 ms, U units, C content width, M mel bands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch
from torch import Tensor

from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from earshot.models.any_voice.content import STRIDE
from earshot.models.vocoder import Vocoder
from earshot.models.vqvae import VQVAE, VQVAEConfig
from earshot.pretrained.voice import Nobody, Voice
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.streams import (
    CONTEXT,
    FRAMES_BEHIND,
    RunningMean,
    StreamContent,
)
from earshot.systems.voice_conversion.system import VoiceConversion
from earshot.systems.voice_conversion.units import Intonation
from earshot.systems.voice_conversion.vqvae import VQVAEConversion

# The next samples of the stream (T,), by a timing → the content of the last units so far (U, C).
StreamEncoder = Callable[[np.ndarray, "Timing"], Tensor]

VQVAE_WINDOW: Final = 100  # frames


@dataclass(frozen=True)
class Timing:
    """The timing of a stream, and what is computed for it every hop. hop: frames that are spoken at
    once, whole points of the intonation; ahead: frames after them that the networks see; anew:
    frames that the encoder computes anew; inverted: frames that the inverter sees; cost: processor
    time, in terms of the first. delay: seconds between a sound and its conversion; latency: the
    same, with the wait until a hop is full.
    """

    hop: int = 8
    ahead: int = 2
    anew: int = 60
    inverted: int = 60
    cost: float = 1.0

    @property
    def delay(self) -> float:
        return (self.ahead + FRAMES_BEHIND) * FRAME_SECONDS

    @property
    def latency(self) -> float:
        return self.delay + self.hop * FRAME_SECONDS


# The shortest delay first. A hop costs about the same whatever is computed for it, for the weights
# must be read: long hops cost less. All see 60 ms ahead: a state is of 56 ms of sound, and words
# are lost with less. The last two are late rather than leave sound out.
TIMINGS: Final = (
    Timing(4, 6, 40, 120, 1.0),
    Timing(6, 6, 40, 120, 0.67),
    Timing(8, 6, 40, 120, 0.48),
    Timing(16, 6, 40, 120, 0.25),
    Timing(40, 6, 60, 120, 0.1),
)


class LiveNetworks(Protocol):
    """The interface of networks that are shared by all streams: nothing of theirs stays.

    models: what a Choice may name, the default first; timings: in which they can speak, the best
    first; keeps_intonation: whether invert takes the source's; stride: frames of a unit; silence:
    content of silence (C,).
    """

    @property
    def models(self) -> Sequence[str]: ...
    @property
    def timings(self) -> Sequence[Timing]: ...
    @property
    def keeps_intonation(self) -> bool: ...
    @property
    def stride(self) -> int: ...
    @property
    def vocoder(self) -> Vocoder: ...
    @property
    def silence(self) -> Tensor: ...

    def check(self, choice: Choice) -> None:
        """Raise InputError for a choice that these networks do not have."""
        ...

    def own_voice(self, samples: np.ndarray) -> Voice | None:
        """Encode the voice of samples (T,) of the stream; None where that is not known."""
        ...

    def drawn(self, choice: Choice, own: Voice | None) -> Choice:
        """Draw the voice of a choice that is nobody's; own: the speaker's. Another choice stays."""
        ...

    def stream_encoder(self) -> StreamEncoder:
        """Begin to encode a stream."""
        ...

    def units(self, content: Tensor, choice: Choice) -> np.ndarray:
        """Find the units (U,) that show content (U, C)."""
        ...

    def colors(self, choice: Choice) -> Sequence[str]:
        """List the colours of these units, as "#rrggbb"."""
        ...

    def invert(
        self, content: Tensor, intonation: Intonation | None, choice: Choice, last: int
    ) -> tuple[Tensor, Tensor]:
        """Map content (U, C), and the intonation to keep, to a log-mel spectrogram (S, M) and F0 in
        Hz (S,), 0 where unvoiced: the last frames, as many as are wanted or more.
        """
        ...


class AnyVoiceNetworks:
    """The networks of AnyVoiceConversion: every bottleneck, voice and blend."""

    def __init__(self, converter: AnyVoiceConversion) -> None:
        self.keeps_intonation, self.stride = True, STRIDE
        self.models = [
            name for name, checkpoint in settings.MODELS.items() if checkpoint == settings.ANY_VOICE
        ]
        self._converters: Mapping[str, AnyVoiceConversion] = {
            name: converter.at(name) for name in self.models
        }
        self._networks = converter.networks
        self.vocoder = converter.networks.vocoder
        self.timings = TIMINGS
        with torch.inference_mode():
            silence = converter.networks.encode(np.zeros(SAMPLE_RATE, np.float32))
        self.silence = silence[len(silence) // 2]

    def check(self, choice: Choice) -> None:
        if choice.model is not None and choice.model not in self.models:
            raise InputError(
                f"Live has no model {choice.model}. Choose one of {', '.join(self.models)}."
            )
        if choice.intonation not in settings.INTONATIONS:
            raise InputError(f"The intonation is {' or '.join(settings.INTONATIONS)}.")
        self._voice(self.drawn(choice, None))

    def own_voice(self, samples: np.ndarray) -> Voice | None:
        return self._converters[self.models[0]].own_voice(samples)

    def drawn(self, choice: Choice, own: Voice | None) -> Choice:
        if not isinstance(choice.voice, Nobody):
            return choice
        return replace(choice, voice=self._converter(choice).nobody(choice.voice, own))

    def stream_encoder(self) -> StreamEncoder:
        content = StreamContent(self._networks)
        return lambda samples, timing: content(samples, timing.anew)

    def units(self, content: Tensor, choice: Choice) -> np.ndarray:
        return self._converter(choice).nearest(content).numpy()

    def colors(self, choice: Choice) -> Sequence[str]:
        return self._converter(choice).colors

    def invert(
        self, content: Tensor, intonation: Intonation | None, choice: Choice, last: int
    ) -> tuple[Tensor, Tensor]:
        converter, voice = self._converter(choice), self._voice(choice)
        passed = converter.through_bottleneck(content)
        contour = converter.contour(passed, intonation, voice)
        last = min(last + CONTEXT, len(contour)) // STRIDE * STRIDE
        mel = self._networks.invert(passed, contour, voice, converter.name, last)
        contour = contour[-last:]
        return mel, contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()

    def _converter(self, choice: Choice) -> AnyVoiceConversion:
        return self._converters[choice.model or self.models[0]]

    def _voice(self, choice: Choice) -> Voice:
        converter = self._converter(choice)
        assert not isinstance(choice.voice, Nobody), "it was not drawn"
        voice = converter.voice_of(choice.voice)
        if choice.other is None:
            return voice
        return voice.blend(converter.voice_of(choice.other), choice.share)


class VQVAENetworks:
    """The networks of VQVAEConversion: one codebook, and five voices that predict the
    intonation.
    """

    def __init__(self, converter: VQVAEConversion) -> None:
        network = converter.vqvae
        if not isinstance(network, VQVAE) or network.config.n_features != VQVAEConfig().n_features:
            raise InputError(f"Live cannot speak by {converter.name}: its units are not of MFCC.")
        self._converter = converter
        self.keeps_intonation = False
        self.models = [converter.name]
        self.stride = network.config.stride
        self.vocoder = converter.vocoder
        self.timings = (Timing(),)
        self.silence = converter.vqvae.codebook.vectors[converter.silence]

    def check(self, choice: Choice) -> None:
        if choice.voice not in self._converter.voices or choice.other is not None:
            raise InputError(
                f"Live has no such voice here. Choose one of {', '.join(self._converter.voices)}."
            )
        if choice.model not in (None, *self.models):
            raise InputError(f"Live speaks by {self.models[0]} only.")

    def own_voice(self, samples: np.ndarray) -> Voice | None:
        return None

    def drawn(self, choice: Choice, own: Voice | None) -> Choice:
        return choice

    def stream_encoder(self) -> StreamEncoder:
        network = self._converter.vqvae
        assert isinstance(network, VQVAE)
        window, frames = np.zeros(VQVAE_WINDOW * HOP_LENGTH, np.float32), 0
        mean = RunningMean(network)

        def encode(samples: np.ndarray, timing: Timing) -> Tensor:
            nonlocal window, frames
            window = np.append(window[len(samples) :], samples)
            frames += len(samples) // HOP_LENGTH
            leaving = max(frames + timing.hop - VQVAE_WINDOW, 0)
            frames = min(frames, VQVAE_WINDOW)
            mfcc = torch.from_numpy(features.mfcc(window)[-frames:])
            return network.encoder(mean(mfcc, min(leaving, timing.hop))[None])[0]

        return encode

    def units(self, content: Tensor, choice: Choice) -> np.ndarray:
        return self._nearest(content).numpy()

    def colors(self, choice: Choice) -> Sequence[str]:
        return self._converter.colors

    def invert(
        self, content: Tensor, intonation: Intonation | None, choice: Choice, last: int
    ) -> tuple[Tensor, Tensor]:
        assert isinstance(choice.voice, str)
        vectors = self._converter.vqvae.codebook.vectors[self._nearest(content)]
        return self._converter.invert(vectors, choice.voice)

    def _nearest(self, content: Tensor) -> Tensor:
        return self._converter.vqvae.codebook.nearest(content[None])[0]


def load_networks(checkpoint: Path) -> LiveNetworks:
    """Load the networks of a folder that settings.live_checkpoint returns, on the CPU.

    Raises FileNotFoundError when there are none, CheckpointError when they cannot be used.
    """
    converter = VoiceConversion.from_pretrained(checkpoint, "cpu")
    if isinstance(converter, AnyVoiceConversion):
        return AnyVoiceNetworks(converter)
    assert isinstance(converter, VQVAEConversion)
    return VQVAENetworks(converter)
