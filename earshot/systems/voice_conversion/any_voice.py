"""Speech → content over a recogniser's states, or units of it → the same words in any voice.

Shapes: T samples, S frames of 10 ms, U = S / 2 steps of 20 ms, C content width, M mel bands.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.audio.load import Audio, load
from earshot.media.audio.pitch import track_pitch
from earshot.media.audio.speech import OWN, REFERENCE, Speech, muted
from earshot.media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from earshot.models.any_voice.content import STRIDE
from earshot.models.any_voice.voices import Voices
from earshot.models.recogniser import STEP
from earshot.pretrained.any_voice import WINDOW, Networks
from earshot.pretrained.checkpoint import choose_device, weights_hash
from earshot.pretrained.correction import measure
from earshot.pretrained.nobody import without_pauses
from earshot.pretrained.voice import Nobody, Voice, check_one_voice, pitch_statistics
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.converter import (
    Content,
    Converter,
    as_speech,
    at_level,
    silent_units,
)
from earshot.systems.voice_conversion.reading import Reading
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import (
    INTONATION_BITS,
    Intonation,
    Units,
    codebook_colors,
)

FIT_STEPS: Final = 60
MAX_FIT_SECONDS: Final = 60.0  # after which it ends, on a machine that is slow
FIT_BATCH: Final = 4  # windows a step
FIT_RATE: Final = 0.03  # of Adam


class AnyVoiceConversion(Converter):
    """A set of networks for all bottlenecks and voices, shared by all visitors: nothing of theirs
    stays. ``at`` gives the same networks with another bottleneck.

    encode → units, which can be edited → decode in a voice; reference → voice → fit, from a
    recording of a person.
    """

    VOCODERS: Final = settings.VOCODERS
    INTONATIONS: Final = settings.INTONATIONS
    MIN_SPEECH: Final = 5.0  # seconds, in a recording that a voice is made from
    PIECE: Final = 3 * SAMPLE_RATE  # samples of it in which there must be one voice
    MIN_OWN: Final = 1.5  # seconds of speech by which a source's own voice is known

    unit_seconds = STRIDE * FRAME_SECONDS

    def __init__(self, networks: Networks, bottleneck: str) -> None:
        self.networks = networks
        largest = networks.bottleneck.config.singles[-1]
        self.encoder = _fingerprint(networks.bottleneck.codebook(largest))
        self.voices: Mapping[str, Voice] = networks.voices
        self.vocoders, self.intonations = self.VOCODERS, self.INTONATIONS
        self._choose(bottleneck)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> "AnyVoiceConversion":
        """Load a checkpoint folder, and what its config names.

        Raises FileNotFoundError when there is none.
        """
        conversion = cls(Networks.load(folder, choose_device(device)), settings.CONTINUOUS)
        conversion.weights = weights_hash(folder)
        return conversion

    def at(self, bottleneck: str) -> "AnyVoiceConversion":
        """Give the same networks another bottleneck. Raises InputError for an unknown one."""
        other = copy(self)
        other._choose(bottleneck)
        return other

    def _choose(self, bottleneck: str) -> None:
        self._bottleneck = self.networks.bottleneck
        _check("bottleneck", bottleneck, self._bottleneck.config.names)
        self.name = bottleneck
        singles = self._bottleneck.config.singles
        self.discrete = bottleneck in singles
        # What is not discrete is displayed and edited as the nearest units of the largest codebook.
        self._units_of = bottleneck if self.discrete else singles[-1]
        self._codebook = self._bottleneck.codebook(self._units_of)
        self.codebook_size = len(self._codebook)
        self.fingerprint = _fingerprint(self._codebook)
        self.colors = codebook_colors(self._codebook.cpu().numpy())

    def encode_waveform(self, waveform: np.ndarray) -> tuple[np.ndarray, Intonation]:
        content = self.networks.encode(waveform)
        return content.cpu().numpy(), Intonation.of(track_pitch(waveform))

    def _units(self, content: Content) -> Units:
        vectors = torch.from_numpy(content.vectors).to(self.networks.device)
        codes = self.nearest(vectors).cpu().numpy()
        silent = silent_units(content.source.waveform, len(codes))
        return Units(
            np.where(silent, MUTED, codes),
            self.unit_seconds,
            self.name,
            self.fingerprint,
            None if self.discrete else self.through_bottleneck(vectors).cpu().numpy(),
            content.intonation,
        )

    def bits_per_second(self, intonation: str) -> tuple[float, float]:
        """Compute the rate of the bottleneck, infinite where it is continuous, and of an intonation
        that is kept.
        """
        intonation_bits = INTONATION_BITS if intonation == "keep" else 0.0
        return self._bottleneck.bits_per_second(self.name), intonation_bits

    def _speak(self, units: Units, target: str | Voice, vocoder: str, intonation: str) -> Speech:
        _check("vocoder", vocoder, self.vocoders)
        _check("intonation", intonation, self.INTONATIONS)
        voice = self.voice_of(target)
        began = time.perf_counter()
        content = self._vectors(units)
        source = units.intonation if intonation == "keep" else None
        contour = self.contour(content, source, voice)
        mel = self.networks.invert(content, contour, voice, self.name)
        pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
        waveform = self.networks.vocode(mel, pitch, vocoder)
        return as_speech(muted(waveform, units.codes == MUTED), began)

    def contour(self, content: Tensor, intonation: Intonation | None, voice: Voice) -> Tensor:
        """Compute voicing and relative log-F0 (S, 2) of content (U, C) in a voice: of an intonation
        that is kept, evened as the voice has it, or else predicted.
        """
        if intonation is None:
            return self.networks.predict_contour(content, voice)
        source = torch.from_numpy(intonation.contour(voice.pitch_std)).to(content)
        if not voice.evened:
            return source
        evened = source.lerp(self.networks.predict_contour(content, voice), voice.evened)
        return torch.stack([source[:, 0], evened[:, 1]], dim=1)

    @torch.inference_mode()
    def own_voice(self, waveform: np.ndarray) -> Voice | None:
        speech = without_pauses(waveform)
        if len(speech) < self.MIN_OWN * SAMPLE_RATE:
            return None
        vector = self.networks.voice(features.log_mel(speech))
        return Voice("your voice", vector, *pitch_statistics(track_pitch(speech)), OWN)

    def nobody(self, target: Nobody, own: Voice | None = None) -> Voice:
        if self.networks.strangers is None:
            raise InputError(f"The checkpoint of {self.name} knows no strangers to draw nobody of.")
        return self.networks.strangers.voice(target, self.voices.values(), own)

    def reference(self, audio: Audio, reading: Reading | None = None) -> np.ndarray:
        """Cut out the speech in a recording of 10 to 30 s, to make a voice of: float32 (T,) at 16
        kHz.

        reading: what must be read in it. Raises InputError where it is shorter or longer, silent,
        holds too little speech, or is not the reading.
        """
        shortest, longest = settings.REFERENCE_SECONDS
        waveform = at_level(load(audio, SAMPLE_RATE, longest, shortest).waveform, 1)
        speech = without_pauses(waveform)
        seconds = len(speech) / SAMPLE_RATE
        if seconds < self.MIN_SPEECH:
            raise InputError(
                f"Only {seconds:.0f} s of the recording are speech.",
                f"Read on until {shortest:.0f} s are full, close to the microphone, where it is "
                "quiet."
                if reading
                else f"Choose {shortest:.0f} to {longest:.0f} s of one person speaking, without "
                "music.",
            )
        if reading:
            reading.check(waveform)
        return speech

    @torch.inference_mode()
    def voice(self, reference: np.ndarray, name: str = "your voice", kind: str = OWN) -> Voice:
        """Make the voice of a person's reference (T,), of a kind of voice. Raises InputError where
        two people speak."""
        pieces = range(0, len(reference) - self.PIECE + 1, self.PIECE)
        mels = [features.log_mel(reference[start : start + self.PIECE]) for start in pieces]
        check_one_voice(np.stack([self.networks.voice(mel) for mel in mels]))
        vector = self.networks.voice(features.log_mel(reference))
        voice = Voice(name, vector, *pitch_statistics(track_pitch(reference)), kind)
        return self._corrected(voice, reference)

    def _corrected(self, voice: Voice, reference: np.ndarray) -> Voice:
        """Measure what the inverter misses of a voice in its reference (T,)."""
        speech = reference[: len(reference) // STEP * STEP]
        content = self.networks.encode(speech)
        pitch = Intonation.of(track_pitch(speech)).contour(voice.pitch_std)
        plain, contour = replace(voice, corrections=()), torch.from_numpy(pitch).to(content)
        inverted = self.networks.invert(content, contour, plain, settings.CONTINUOUS)
        mel = torch.from_numpy(features.log_mel(speech)).to(content)
        return replace(voice, corrections=((1.0, measure(content, mel, inverted)),))

    def voice_from(self, recording: Audio) -> Voice:
        return self.voice(self.reference(recording), settings.OF_RECORDING, REFERENCE)

    def fit(
        self, voice: Voice, reference: np.ndarray, on_progress: Callable[[float], object]
    ) -> Voice:
        """Fit the voice more closely to its reference (T,), in a minute at most.

        on_progress: called with the share that is done.
        """
        fitted = fit_voice(self.networks, reference, voice, on_progress)
        with torch.inference_mode():
            return self._corrected(fitted, reference)

    def nearest(self, content: Tensor) -> Tensor:
        """Find the units (U,) that show content (U, C)."""
        return self._bottleneck.encode(content, self._units_of)[:, 0]

    def through_bottleneck(self, content: Tensor) -> Tensor:
        """Pass content (U, C) through the bottleneck: (U, C)."""
        if self.name == settings.CONTINUOUS:
            return content
        return self._bottleneck.decode(self._bottleneck.encode(content, self.name), self.name)

    def content(self, units: Units) -> np.ndarray:
        """Compute the content that units are decoded from: float32 (U, C)."""
        return self._vectors(units).cpu().numpy()

    def _vectors(self, units: Units) -> Tensor:
        """Look up the vectors that the inverter takes: (U, C).

        Where a unit was edited, its own vector is taken.
        """
        codes = torch.from_numpy(np.maximum(units.codes, 0)).to(self.networks.device)
        single = self._codebook[codes]
        if self.discrete:
            return single
        if units.vectors is None or units.vectors.shape[1] != single.shape[1]:
            raise InputError(f"These units hold no content for {self.name}. Convert again.")
        vectors = torch.from_numpy(units.vectors).to(single)
        if units.edited is None:
            return vectors
        replaced = torch.from_numpy(units.edited & (units.codes != MUTED)).to(codes.device)
        return torch.where(replaced[:, None], single, vectors)

    def voice_of(self, target: str | Voice) -> Voice:
        """Find the shipped voice of a name; a Voice stays as it is. Raises InputError where there
        is none.
        """
        if isinstance(target, Voice):
            return target
        _check("voice", target, self.voices)
        return self.voices[target]


def fit_voice(
    networks: Networks, speech: np.ndarray, voice: Voice, on_progress: Callable[[float], object]
) -> Voice:
    """Fit the voice to its reference speech (T,), of at least 2 s, so that it speaks the content of
    that speech with its mel spectrogram; only its vector changes.

    On validation speakers, 60 steps on 20 s bring the L1 error of mels of their other speech down
    by 5 % on average, in 10 to 30 s on a core. on_progress: called with the share that is done. Can
    be stopped (earshot.core.cancellation) at every step.
    """
    content, contour, mel = _windows(networks, speech, voice)
    vector = torch.from_numpy(voice.vector.copy()).to(networks.device).requires_grad_()
    optimizer = torch.optim.Adam([vector], FIT_RATE)
    generator = torch.Generator().manual_seed(0)
    began = time.monotonic()
    for step in range(FIT_STEPS):
        cancellation.check()
        if time.monotonic() - began > MAX_FIT_SECONDS:
            break
        rows = torch.randint(len(content), (FIT_BATCH,), generator=generator)
        loss = _error(networks, content[rows], contour[rows], mel[rows], vector, voice)
        # Of the vector alone: the networks are shared, and must not gather gradients.
        (vector.grad,) = torch.autograd.grad(loss, [vector])
        optimizer.step()
        on_progress((step + 1) / FIT_STEPS)
    with torch.no_grad():
        fitted = F.layer_norm(vector, vector.shape).cpu().numpy()
    return replace(voice, vector=fitted)


@torch.no_grad()
def _windows(networks: Networks, speech: np.ndarray, voice: Voice) -> tuple[Tensor, Tensor, Tensor]:
    """Cut content (N, U, C), contour (N, S, 2) and normalised mel (N, S, M) of windows of
    speech.
    """
    frames = len(speech) // HOP_LENGTH // 2 * 2
    speech = speech[: frames * HOP_LENGTH]
    content = networks.encode(speech)
    pitch = Intonation.of(track_pitch(speech)).contour(voice.pitch_std)
    contour = torch.from_numpy(pitch).to(networks.device)
    mel = torch.from_numpy(features.log_mel(speech)).to(networks.device)
    starts = range(0, frames - WINDOW + 1, WINDOW // 4)
    return (
        torch.stack([content[s // 2 : (s + WINDOW) // 2] for s in starts]),
        torch.stack([contour[s : s + WINDOW] for s in starts]),
        networks.inverter.normalize(torch.stack([mel[s : s + WINDOW] for s in starts])),
    )


def _error(
    networks: Networks, content: Tensor, contour: Tensor, mel: Tensor, vector: Tensor, voice: Voice
) -> Tensor:
    """Compute the L1 distance of the mel in this voice from that of the reference."""
    batch = len(content)
    mean, std = (torch.full((batch,), x).to(mel) for x in (voice.pitch_mean, voice.pitch_std))
    voices = Voices(F.layer_norm(vector, vector.shape).expand(batch, -1), mean, std)
    continuous = torch.zeros(batch, dtype=torch.long, device=mel.device)
    return F.l1_loss(networks.inverter(content, contour, voices, continuous), mel)


def _fingerprint(codebook: Tensor) -> str:
    return hashlib.sha256(codebook.cpu().numpy().tobytes()).hexdigest()[:12]


def _check(what: str, choice: str, choices: Iterable[str]) -> None:
    if choice not in choices:
        raise InputError(f"There is no {what} {choice}. Choose one of {', '.join(choices)}.")
