"""What all converters have in common: a recording → its content → units → speech."""

import textwrap
import time
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import soxr
import torch

from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import Audio, load, loudness, match_loudness
from earshot.media.audio.speech import SHIPPED, Origin, Speech
from earshot.media.constants import FRAMES_PER_SECOND, HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.nobody import even_tempo
from earshot.pretrained.recogniser import Transcriber, Transcript
from earshot.pretrained.speech_segments import has_speech
from earshot.pretrained.voice import Nobody, Voice, voice_named
from earshot.provenance import manifest
from earshot.provenance.mark import marked
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.settings import NO_SPEECH
from earshot.systems.voice_conversion.units import Intonation, Units

LEVEL: Final = -23.0  # LUFS of the networks' input
GATE: Final = -60.0  # dBFS: quieter is silence, and becomes silence
# Of the levels of 10 ms of speech, the 10th percentile is its pauses and the noise in them.
PAUSES, PEAKS = 10, 95  # percentiles
MIN_RISE: Final = 13.0  # dB of PEAKS over PAUSES, below which noise covers the words
MAX_RISE: Final = 22.0  # dB, from which on it covers none, and no recogniser is asked
# Whether a recogniser loses more than a quarter of the words, by its confidence in what remains, by
# the share that it finds again when the speech is slower, and by the rise: a logistic regression of
# benchmarks/noise_notice.py.
COVERED_BIAS, OF_CONFIDENCE, OF_AGREEMENT, OF_RISE = 16.494, -13.206, -5.444, -0.201
SLOWER: Final = 1.06
JUDGED_SECONDS: Final = 16.0  # of a recording
MIN_SECONDS: Final = 1.0  # in which there are pauses
NOISE_NOTICE: Final = (
    "Noise covers the words of this recording, and some or most of them are lost. Go closer to the "
    "microphone, or where it is quieter."
)
UNSURE: Final = (
    "A recogniser, which knows English only, is unsure of many words of this recording, and some "
    "may be lost. Noise or echo covers words: go closer to the microphone, or where it is quieter."
)
UNDERSTOOD: Final = " A recogniser understands: “{}”."
MAX_UNDERSTOOD: Final = 150  # characters of it that are shown
LEFT_OUT: Final = (
    "This recording has signed metadata, which does not go on into a result that is to be nobody's."
)


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a recording, before it passes a bottleneck.

    source: the speech at the level of the networks' input; encoder: the fingerprint of what encoded
    it; vectors: float32 (U, C); intonation: that of the source, None where the model predicts its
    own; loudness: of the recording, in LUFS; notices: about the recording; ingredient: its signed
    metadata, see earshot.media.audio.speech.Origin.
    """

    source: Speech
    encoder: str
    vectors: np.ndarray
    intonation: Intonation | None
    loudness: float
    notices: tuple[str, ...]
    ingredient: bytes = b""


@dataclass(frozen=True, eq=False)
class Conversion:
    """A conversion with everything that a page shows of it.

    source: the input at the level that the networks see; notices: for the visitor, about the
    input; unit_bits, intonation_bits: bit/s of what was decoded, the former
    infinite where it is not limited, the latter 0 where the intonation was predicted;
    compute_seconds: time taken.
    """

    source: Speech
    units: Units
    converted: Speech
    notices: tuple[str, ...]
    unit_bits: float
    intonation_bits: float
    compute_seconds: float

    @property
    def bits_per_second(self) -> float:
        """Add up the rate of units and intonation."""
        return self.unit_bits + self.intonation_bits

    @property
    def compression(self) -> float:
        """Compute how many times less that is than 16-bit PCM; 0 where it is not limited."""
        return settings.PCM_BITS / self.bits_per_second

    @property
    def real_time_factor(self) -> float:
        """Compute the time taken per second of speech."""
        return self.compute_seconds * self.source.sample_rate / len(self.source.waveform)


class Converter(ABC):
    """Speech → units, which can be edited → speech in another voice.

    weights: the SHA-256 of the checkpoint; fingerprint: of the codebook; encoder: of the networks
    that encode, which the models of one checkpoint share; colors: of the units; vocoders,
    intonations: the choices of decode, the default first; voices: names that it takes as a target.
    """

    name: str
    weights: str = ""
    codebook_size: int
    unit_seconds: float
    fingerprint: str
    encoder: str
    colors: tuple[str, ...]
    vocoders: tuple[str, ...]
    intonations: tuple[str, ...]
    voices: Collection[str]

    def __call__(
        self,
        audio: Audio | Content,
        target: str | Voice | Nobody = settings.DEFAULT_VOICE,
        vocoder: str | None = None,
        intonation: str | None = None,
        loudness: str = settings.LOUDNESS[0],
    ) -> Conversion:
        """Speak the words of ``audio`` in the voice ``target``: a name of ``voices``, or its
        other in NAMES; a Voice; or Nobody, who has another tempo as well.

        audio: a recording, or the content of one by this model or another with its encoder.
        vocoder, intonation: without them, the first of ``vocoders`` and ``intonations``. loudness:
        "level", that of the model whatever was recorded, -23 to -28 LUFS, or "source", that of the
        recording. Raises InputError for audio that cannot be used, and for choices that do not
        exist.
        """
        if loudness not in settings.LOUDNESS:
            raise InputError(
                f"There is no loudness {loudness}. Choose one of {', '.join(settings.LOUDNESS)}."
            )
        began = time.perf_counter()
        vocoder = vocoder or self.vocoders[0]
        intonation = intonation or self.intonations[0]
        content = audio if isinstance(audio, Content) else self.encode_content(audio)
        units, notices = self.units(content), content.notices
        if isinstance(target, Nobody):
            waveform, strength = content.source.waveform, target.strength
            most = int(settings.MAX_SECONDS / units.step)
            units = units.at(even_tempo(waveform, content.vectors, strength, most))
            target = self.nobody(target, self.own_voice(waveform))
            if content.ingredient:  # the last notice says that it goes on
                notices = (*notices[:-1], LEFT_OUT)
        converted = self.decode(units, target, vocoder, intonation)
        origin = converted.origin and replace(converted.origin, ingredient=content.ingredient)
        if loudness == "source":
            level = match_loudness(converted.waveform, SAMPLE_RATE, content.loudness)
            converted = as_speech(level, began)
        converted = replace(converted, origin=origin)
        bits = self.bits_per_second(intonation)
        seconds = time.perf_counter() - began
        return Conversion(content.source, units, converted, notices, *bits, seconds)

    @torch.inference_mode()
    def encode_content(self, audio: Audio) -> Content:
        """Encode the content of a recording once, for this model or others of the same networks.

        Raises InputError for audio that cannot be used.
        """
        began = time.perf_counter()
        recording = load(audio, SAMPLE_RATE, settings.MAX_SECONDS)
        waveform = at_level(recording.waveform, round(self.unit_seconds * SAMPLE_RATE))
        vectors, intonation = self.encode_waveform(waveform)
        source = as_speech(waveform, began)
        lufs = loudness(recording.waveform, SAMPLE_RATE)
        # Of a recording below the gate its own notice says that it is silent.
        unclear = notice_of_words(recording.waveform) if waveform.any() else ""
        ingredient, notices = manifest.of_input(audio)
        notices = (*recording.notices, *([unclear] if unclear else []), *notices)
        return Content(source, self.encoder, vectors, intonation, lufs, notices, ingredient)

    def encode(self, audio: Audio) -> tuple[Speech, Units, tuple[str, ...]]:
        """Encode a recording: the speech at the level of the networks' input, its units, and
        notices about it.

        Raises InputError for audio that cannot be used.
        """
        content = self.encode_content(audio)
        return content.source, self.units(content), content.notices

    @abstractmethod
    def encode_waveform(self, waveform: np.ndarray) -> tuple[np.ndarray, Intonation | None]:
        """Encode speech (T,) at the networks' level, of whole units: vectors (U, C), intonation."""

    def units(self, content: Content) -> Units:
        """Find the units of content. Raises InputError for that of another encoder."""
        if content.encoder != self.encoder:
            raise InputError(
                f"This content is of another model. Encode the recording by {self.name}."
            )
        return self._units(content)

    @abstractmethod
    def _units(self, content: Content) -> Units:
        """Find the units of content of this model's own encoder."""

    @torch.inference_mode()
    def decode(
        self,
        units: Units,
        target: str | Voice | Nobody = settings.DEFAULT_VOICE,
        vocoder: str | None = None,
        intonation: str | None = None,
    ) -> Speech:
        """Speak units in a voice, without other choices by the first vocoder and intonation.

        Where units carry no intonation, it is predicted. Raises InputError for units of another
        model, units that are not in the codebook, none or too many of them, and for choices that
        do not exist.
        """
        units.check(self.name, self.fingerprint, self.codebook_size, self.unit_seconds)
        vocoder, intonation = vocoder or self.vocoders[0], intonation or self.intonations[0]
        if isinstance(target, Nobody):
            target = self.nobody(target)
        elif isinstance(target, str):
            target = voice_named(target)
        speech = self._speak(units, target, vocoder, intonation)
        voice = target.kind if isinstance(target, Voice) else SHIPPED
        preserved = ("words", "timing", *(["intonation"] if intonation == "keep" else []))
        if isinstance(target, Voice) and target.evened:
            preserved = ("words",)
        origin = Origin(self.name, self.weights, voice, preserved)
        return marked(replace(speech, origin=origin))

    @abstractmethod
    def _speak(self, units: Units, target: str | Voice, vocoder: str, intonation: str) -> Speech:
        """Speak this model's own units. Raises InputError for choices that do not exist."""

    def own_voice(self, waveform: np.ndarray) -> Voice | None:
        """Encode the voice of a source (T,), at the networks' level; None where it is unknown."""
        return None

    def nobody(self, target: Nobody, own: Voice | None = None) -> Voice:
        """Draw a voice that is nobody's; own: the source's. Raises InputError by a model that has
        none.
        """
        raise InputError(
            f"{self.name} speaks in the voices {', '.join(self.voices)} only. To speak as nobody, "
            f"choose {settings.CONTINUOUS}, or units-512 and the like."
        )

    def voice_from(self, recording: Audio) -> Voice:
        """Make a voice, for use as a target, of 10 to 30 s of a person's speech.

        To speak in a person's voice takes their consent. Raises InputError for a recording that is
        shorter or longer, silent, of music or of several voices, and by a model of fixed voices.
        """
        raise InputError(
            f"{self.name} speaks in the voices {', '.join(self.voices)} only. To speak as somebody "
            f"in a recording, choose {settings.CONTINUOUS}, or units-512 and the like."
        )

    @abstractmethod
    def bits_per_second(self, intonation: str) -> tuple[float, float]:
        """Compute the rate of what is decoded: of the units, infinite where not limited, and of the
        intonation.
        """


def at_level(waveform: np.ndarray, unit_samples: int) -> np.ndarray:
    """Bring a waveform to the level of the networks' input, with silence up to whole units:
    (T,).
    """
    waveform = np.pad(waveform, (0, -len(waveform) % unit_samples))
    if 20 * np.log10(np.abs(waveform).max() + 1e-12) < GATE:
        return np.zeros_like(waveform)
    return match_loudness(waveform, SAMPLE_RATE, LEVEL)


_transcriber = once(partial(Transcriber.from_pretrained, device="cpu"))


def notice_of_words(waveform: np.ndarray) -> str:
    """Write that there is no speech in a recording (T,), or that its words are hard to understand,
    with what a recogniser understands of them; empty where they are clear.

    Music and traffic, and people who talk all around, cover words in ways that no level tells: a
    recogniser that guesses does. Noise is named where the level alone tells of it.
    """
    if not has_speech(waveform):
        return NO_SPEECH
    rise = rise_over_pauses(waveform)
    if rise >= MAX_RISE:
        return ""
    notice = NOISE_NOTICE if rise < MIN_RISE else UNSURE
    try:
        transcript, agreement = twice_recognised(waveform, _transcriber())
    except (FileNotFoundError, CheckpointError):
        return NOISE_NOTICE if rise < MIN_RISE else ""
    if not loses_words(transcript.confidence, agreement, rise):
        return ""
    return notice + (UNDERSTOOD.format(_shortened(transcript.text)) if transcript.text else "")


def twice_recognised(waveform: np.ndarray, transcribe: Transcriber) -> tuple[Transcript, float]:
    """Recognise the beginning of speech (T,) as it is, and slower; the share of words that are in
    both, 0 where there are none."""
    beginning = waveform[: round(JUDGED_SECONDS * SAMPLE_RATE)]
    transcript = transcribe((SAMPLE_RATE, beginning))
    slower = transcribe((SAMPLE_RATE, soxr.resample(beginning, 1.0, SLOWER)))
    both = [remains for words in transcript.compare(slower) for remains in words]
    return transcript, float(np.mean(both)) if both else 0.0


def loses_words(confidence: float, agreement: float, rise: float) -> bool:
    """Whether more than a quarter of the words are lost, by a recogniser's confidence in those that
    it finds, their share that it finds again, and the rise of speech over its pauses, in dB."""
    weighted = OF_CONFIDENCE * confidence + OF_AGREEMENT * agreement + OF_RISE * rise
    return COVERED_BIAS + weighted > 0


def is_covered(waveform: np.ndarray) -> bool:
    """Whether noise covers the words of speech (T,) by its level alone."""
    return rise_over_pauses(waveform) < MIN_RISE


def rise_over_pauses(waveform: np.ndarray) -> float:
    """Measure by how many dB speech (T,) rises above its own pauses; infinite where it is too short
    to have any, and for silence.

    Speech pauses and noise does not, or people in a crowd not all at once: the less speech rises,
    the more noise there is.
    """
    frames = waveform[: len(waveform) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)
    if len(frames) < MIN_SECONDS * FRAMES_PER_SECOND or not waveform.any():
        return float("inf")
    levels = 10 * np.log10(np.square(frames).mean(axis=1) + 1e-10)
    return float(np.percentile(levels, PEAKS) - np.percentile(levels, PAUSES))


def _shortened(text: str) -> str:
    """Leave out what is longer than MAX_UNDERSTOOD, by whole words."""
    return textwrap.shorten(text, MAX_UNDERSTOOD, placeholder=" …")


def silent_units(waveform: np.ndarray, n_units: int) -> np.ndarray:
    """Whether each unit and its neighbours are below the gate: (U,)."""
    power = np.square(waveform.reshape(n_units, -1)).mean(axis=1)
    loudest = np.max([np.roll(power, -1), power, np.roll(power, 1)], axis=0)
    return loudest < 10 ** (GATE / 10)


def as_speech(waveform: np.ndarray, began: float) -> Speech:
    """Wrap a waveform (T,) with its spectrogram; began: time.perf_counter() before the work."""
    return Speech(waveform, SAMPLE_RATE, log_mel(waveform), time.perf_counter() - began)
