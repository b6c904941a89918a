"""Speech → content over a recogniser's states, or units of it → the same words in any voice."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.audio.load import Audio, load
from earshot.media.audio.pitch import track_pitch
from earshot.media.audio.speech import Speech, muted
from earshot.media.audio.voice_activity import words
from earshot.media.constants import FRAME_SECONDS, SAMPLE_RATE
from earshot.models.any_voice.content import STRIDE
from earshot.pretrained.any_voice import Networks
from earshot.pretrained.checkpoint import choose_device
from earshot.pretrained.voice import Voice, check_one_voice, pitch_statistics
from earshot.systems.voice_conversion import settings, waveforms
from earshot.systems.voice_conversion.converter import Content, Converter
from earshot.systems.voice_conversion.fitting import fit
from earshot.systems.voice_conversion.intonation import BITS_PER_SECOND, Intonation
from earshot.systems.voice_conversion.reading import Reading
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Units, codebook_colors


class AnyVoiceConversion(Converter):
    """A set of networks for all bottlenecks and voices, shared by all visitors: nothing of theirs
    stays. ``at`` gives the same networks with another bottleneck.

    encode → units, which can be edited → decode in a voice; reference → voice → fit, from a
    recording of somebody.
    """

    VOCODERS: Final = settings.VOCODERS
    INTONATIONS: Final = settings.INTONATIONS
    MIN_SPEECH: Final = 5.0  # seconds, in a recording that a voice is made from
    PIECE: Final = 3 * SAMPLE_RATE  # samples of it in which one voice must be heard

    unit_seconds: Final = STRIDE * FRAME_SECONDS

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
        return cls(Networks.load(folder, choose_device(device)), settings.CONTINUOUS)

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
        # What is not discrete is shown, and edited, as the nearest units of the largest codebook.
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
        silent = waveforms.silent_units(content.source.waveform, len(codes))
        return Units(
            np.where(silent, MUTED, codes),
            self.unit_seconds,
            self.name,
            self.fingerprint,
            None if self.discrete else self.passed(vectors).cpu().numpy(),
            content.intonation,
        )

    def bits_per_second(self, intonation: str) -> tuple[float, float]:
        """Compute the rate of the bottleneck, infinite where it is continuous, and of an intonation
        that is kept.
        """
        kept = BITS_PER_SECOND if intonation == "keep" else 0.0
        return self._bottleneck.bits_per_second(self.name), kept

    def _speak(self, units: Units, target: str | Voice, vocoder: str, intonation: str) -> Speech:
        _check("vocoder", vocoder, self.vocoders)
        _check("intonation", intonation, self.INTONATIONS)
        voice = self.voice_of(target)
        began = time.perf_counter()
        content = self._vectors(units)
        if intonation == "keep" and units.intonation:
            contour = torch.from_numpy(units.intonation.contour(voice.pitch_std)).to(content)
        else:
            contour = self.networks.predict_contour(content, voice)
        mel = self.networks.invert(content, contour, voice, self.name)
        pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
        waveform = self.networks.vocode(mel, pitch, vocoder)
        return waveforms.speech(muted(waveform, units.codes == MUTED), began)

    def reference(self, audio: Audio, reading: Reading | None = None) -> np.ndarray:
        """Cut out the speech in a recording of 10 to 30 s, to make a voice of: float32 (T,) at 16
        kHz.

        reading: what must be read in it. Raises InputError where it is shorter or longer, silent,
        holds too little speech, or is not the reading.
        """
        shortest, longest = settings.REFERENCE_SECONDS
        waveform = waveforms.prepared(load(audio, SAMPLE_RATE, longest, shortest).waveform, 1)
        spoken = words(waveform)
        seconds = sum(end - start for start, end in spoken)
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
        rate = SAMPLE_RATE
        return np.concatenate([waveform[round(a * rate) : round(b * rate)] for a, b in spoken])

    @torch.inference_mode()
    def voice(self, reference: np.ndarray, name: str = "your voice") -> Voice:
        """Make the voice of somebody's reference (T,). Raises InputError where two people speak."""
        pieces = range(0, len(reference) - self.PIECE + 1, self.PIECE)
        mels = [features.log_mel(reference[start : start + self.PIECE]) for start in pieces]
        check_one_voice(np.stack([self.networks.voice(mel) for mel in mels]))
        vector = self.networks.voice(features.log_mel(reference))
        return Voice(name, vector, *pitch_statistics(track_pitch(reference)))

    def voice_from(self, recording: Audio) -> Voice:
        return self.voice(self.reference(recording), settings.OF_RECORDING)

    def fit(
        self, voice: Voice, reference: np.ndarray, on_progress: Callable[[float], object]
    ) -> Voice:
        """Fit the voice more closely to its reference (T,), in a minute at most.

        on_progress: called with the share that is done.
        """
        return fit(self.networks, reference, voice, on_progress)

    def nearest(self, content: Tensor) -> Tensor:
        """Find the units (U,) that show content (U, C)."""
        return self._bottleneck.encode(content, self._units_of)[:, 0]

    def passed(self, content: Tensor) -> Tensor:
        """Pass content (U, C) through the bottleneck: (U, C)."""
        if self.name == settings.CONTINUOUS:
            return content
        return self._bottleneck.decode(self._bottleneck.encode(content, self.name), self.name)

    def content(self, units: Units) -> np.ndarray:
        """Compute the content that units are decoded from: float32 (U, C)."""
        return self._vectors(units).cpu().numpy()

    def _vectors(self, units: Units) -> Tensor:
        """Look up the vectors that the inverter is given: (U, C).

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


def _fingerprint(codebook: Tensor) -> str:
    return hashlib.sha256(codebook.cpu().numpy().tobytes()).hexdigest()[:12]


def _check(what: str, choice: str, choices: Iterable[str]) -> None:
    if choice not in choices:
        raise InputError(f"There is no {what} {choice}. Choose one of {', '.join(choices)}.")
