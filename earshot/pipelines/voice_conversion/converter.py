"""What all models of voice conversion have in common, whatever networks they are."""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection

import numpy as np
import torch

from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE
from earshot.pipelines.speech import Speech
from earshot.pipelines.voice_conversion import settings, waveforms
from earshot.pipelines.voice_conversion.result import Conversion
from earshot.pipelines.voice_conversion.units import Units
from earshot.pipelines.voice_conversion.voice import Voice


class Converter(ABC):
    """Speech → units, which can be edited → speech in another voice.

    fingerprint: of the codebook; colors: of its units; vocoders, intonations: the choices of
    decode, the default first; voices: names that it takes as a target.
    """

    name: str
    codebook_size: int
    unit_seconds: float
    fingerprint: str
    colors: tuple[str, ...]
    vocoders: tuple[str, ...]
    intonations: tuple[str, ...]
    voices: Collection[str]

    def __call__(
        self,
        audio: Audio,
        target: str | Voice = settings.DEFAULT_VOICE,
        vocoder: str | None = None,
        intonation: str | None = None,
    ) -> Conversion:
        """Say the words of ``audio`` in the voice ``target``: a name of ``voices``, or a Voice.

        vocoder, intonation: without them, the first of ``vocoders`` and ``intonations``. Raises
        InputError for audio that cannot be used, and for choices that do not exist.
        """
        began = time.perf_counter()
        vocoder = vocoder or self.vocoders[0]
        intonation = intonation or self.intonations[0]
        source, units, notices = self.encode(audio)
        converted = self.decode(units, target, vocoder, intonation)
        bits = self.bits_per_second(intonation)
        return Conversion(source, units, converted, notices, *bits, time.perf_counter() - began)

    @torch.inference_mode()
    def encode(self, audio: Audio) -> tuple[Speech, Units, tuple[str, ...]]:
        """The speech at the level of the networks' input, its units, and notices about it.

        Raises InputError for audio that cannot be used.
        """
        began = time.perf_counter()
        recording = load(audio, SAMPLE_RATE, settings.MAX_SECONDS)
        waveform = waveforms.prepared(recording.waveform, round(self.unit_seconds * SAMPLE_RATE))
        units = self.units(waveform)
        return waveforms.speech(waveform, began), units, recording.notices

    @abstractmethod
    def units(self, waveform: np.ndarray) -> Units:
        """The units of speech (T,) that is prepared: at the networks' level, of whole units."""

    @abstractmethod
    def decode(self, units: Units, target: str | Voice, vocoder: str, intonation: str) -> Speech:
        """Speak units in a voice.

        Raises InputError for units of another model, units that are not in the codebook, none or
        too many of them, and for choices that do not exist.
        """

    @abstractmethod
    def bits_per_second(self, intonation: str) -> tuple[float, float]:
        """Of what is decoded: of the units, infinite where not limited, and of the intonation."""
