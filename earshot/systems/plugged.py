"""Plug-ins as the tabs call them: a recording in, a checked result out, or a sentence that has the
system's name. All checks of what plug-ins return are in these 400 lines.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any, Final

import numpy as np
import soxr

from earshot.core.errors import InputError, PlugInError
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import Audio, load
from earshot.media.audio.speech import REFERENCE, SHIPPED, Origin, Speech
from earshot.media.constants import SAMPLE_RATE, VIDEO_RATE
from earshot.media.samples import SILENT_PEAK
from earshot.media.video import Frame
from earshot.provenance import manifest, mark
from earshot.provenance.mark import marked
from earshot.sound_index.embedding import AudioEmbedding
from earshot.systems.plug_in import PlugIn, limited
from earshot.systems.voice_conversion.live.process import Choice

MAX_SECONDS: Final = 60.0  # of a recording
MAX_RESULT_SECONDS: Final = 180.0
MAX_RATE: Final = 48_000  # Hz, of what a plug-in is given and of what is played
MAX_STRETCH: Final = 2.0  # times longer or shorter than its source, from which a result is odd
SEGMENT_SECONDS: Final = 10  # of a sound that is embedded at once
MAX_NUMBERS: Final = 65_536  # of a vector
MAX_VOICES: Final = 1000
MAX_UNITS: Final = 60_000  # of a recording
MAX_CAPTION: Final = 2_000  # characters
MAX_SAMPLES: Final = 2**27  # of a result, of all channels
MIN_RESULT_SECONDS: Final = 0.02
MIN_STREAM_RATE: Final = 8_000  # Hz
MAX_CHUNK_SECONDS: Final = 5.0  # that some tens of ms of a stream may take
MAX_AHEAD: Final = 1.0  # seconds that a stream may be longer than what was said


@dataclass(frozen=True, eq=False)
class PluggedSpeech:
    """The speech that a plug-in made. voice: that it speaks in; units: that it kept of the source,
    with seconds a unit, where it shows them; notices: sentences about the result.
    """

    speech: Speech
    voice: str
    units: tuple[Sequence[int], float] | None
    notices: tuple[str, ...]


class PluggedConverter:
    """A plug-in of voice conversion. voices: those that it names; any_voice: whether it makes
    voices of recordings, too; by_name: whether it knows recordings by the names of their files.
    """

    def __init__(self, name: str, plug_in: PlugIn) -> None:
        """Load the plug-in, and read what it can do."""
        self.name, self.label = name, plug_in.label
        self.plug_in = self._plug_in = plug_in
        self.voices = _voices(plug_in.label, plug_in.attribute("voices", ()))
        self.any_voice: bool = plug_in.has("voice_from")
        self._has_units, self.by_name = plug_in.has("encode"), plug_in.has("result_for")
        self.speaks_units: bool = self._has_units and plug_in.has("decode")

    def __call__(
        self, audio: Audio, voice: str, sample: Audio = None, name: str = ""
    ) -> PluggedSpeech:
        """Speak the words of a recording in a voice.

        voice: a name; where the system has no such voice, it makes one of the sample, a recording
        of it, if it can, and else speaks in its own first. name: of the recording's file. Raises
        InputError for a recording that cannot be used, PlugInError for a fault of the system.
        """
        source = load(audio, MAX_RATE, MAX_SECONDS)
        began = time.perf_counter()
        target, notices = self._target(voice, sample)
        sound = source.waveform, source.sample_rate
        if self.by_name:
            result = self._plug_in.call("result_for", name, target)
        else:
            # A copy, for it may be written over.
            result = self._plug_in.call("__call__", sound[0].copy(), sound[1], target)
        seconds = time.perf_counter() - began
        speech, faults = checked_speech(self.label, result, source.seconds, seconds)
        ingredient, about_source = manifest.of_input(audio)
        origin = Origin(self.label, voice=_kind_of_voice(target), ingredient=ingredient)
        speech, faults = replace(speech, origin=origin), (*about_source, *faults)
        try:
            units = self._units(*sound)
        except PlugInError as error:
            units, faults = None, (*faults, str(error))
        return PluggedSpeech(speech, _name(target, voice), units, (*notices, *faults))

    def decode(
        self,
        units: Sequence[int],
        unit_seconds: float,
        origin: Origin,
        voice: str,
        sample: Audio = None,
    ) -> PluggedSpeech:
        """Speak units, those of some speech after they were edited, in a voice, as above.

        unit_seconds: of each; origin: of the speech that they were. Raises InputError for none, and
        for more than fit in a recording, PlugInError for a fault of the system.
        """
        seconds = len(units) * unit_seconds
        if not 0 < seconds <= MAX_SECONDS:
            raise InputError(
                f"Units of 0 to {MAX_SECONDS:g} s can be spoken, and not of {seconds:g}."
            )
        began = time.perf_counter()
        target, notices = self._target(voice, sample)
        result = self._plug_in.call("decode", np.array(units, np.int64), target)
        computed = time.perf_counter() - began
        speech, faults = checked_speech(self.label, result, seconds, computed)
        speech = replace(speech, origin=replace(origin, voice=_kind_of_voice(target)))
        return PluggedSpeech(
            speech, _name(target, voice), (units, unit_seconds), (*notices, *faults)
        )

    def _target(self, voice: str, sample: Audio) -> tuple[Any, tuple[str, ...]]:
        if voice in self.voices:
            return voice, ()
        if self.any_voice and sample is not None:
            recording = load(sample, MAX_RATE, MAX_SECONDS)
            sound = recording.waveform, recording.sample_rate
            return self._plug_in.call("voice_from", *sound), ()
        if not self.voices:
            if self.any_voice:
                raise PlugInError(f"{self.label} speaks in the voices of recordings only.")
            return voice, ()
        return self.voices[0], (f"{self.label} has no such voice, and speaks as {self.voices[0]}.",)

    def _units(self, waveform: np.ndarray, sample_rate: int) -> tuple[Sequence[int], float] | None:
        if not self._has_units:
            return None
        units = _array(self._plug_in.call("encode", waveform, sample_rate), as_float=False)
        step = _array(self._plug_in.attribute("unit_seconds", 0.0))
        fault = f"{self.label} encodes no units: integers (U,), and unit_seconds of each."
        if units is None or units.ndim != 1 or units.dtype.kind not in "iu":
            raise PlugInError(fault)
        if not 1 <= units.size <= MAX_UNITS or step is None or step.ndim or not 1e-3 <= step <= 1:
            raise PlugInError(fault)
        return units.tolist(), float(step)


class PluggedStream:
    """A live conversion by a plug-in, for one visitor; its methods are those of a LiveProcess. What
    the plug-in keeps of the stream is a value.
    """

    def __init__(self, converter: PluggedConverter) -> None:
        self._converter, self._plug_in = converter, converter.plug_in
        rate = converter.plug_in.attribute("stream_rate", SAMPLE_RATE)
        if not isinstance(rate, int) or not MIN_STREAM_RATE <= rate <= MAX_RATE:
            raise PlugInError(f"{converter.label} has a stream_rate of {rate!r}.")
        self._stream_rate = rate

    def begin(self, rate: int, choice: Choice) -> None:
        """Begin a stream. rate: of the device, in Hz."""
        from earshot.systems.voice_conversion.live.streams import Resampler  # late: loads torch

        self._rate, self._state = rate, None
        self._down = Resampler(rate, self._stream_rate)
        self._up = Resampler(self._stream_rate, rate)
        self._mark, self._number = mark.begin(self._stream_rate), mark.number_in_marks()
        self._unmarked = np.zeros(0, np.float32)
        self._received = self._played = 0

    def push(self, samples: np.ndarray, choice: Choice) -> tuple[dict[str, Any], np.ndarray]:
        """Convert float32 samples (T,) → those to be played, (T',), and about them what a
        LiveProcess says. Raises PlugInError for a fault of the plug-in.
        """
        began = time.perf_counter()
        label, voices = self._converter.label, self._converter.voices
        target = choice.voice if choice.voice in voices or not voices else voices[0]
        self._received += len(samples)
        chunk = self._down(samples)
        spoken = np.zeros(0, np.float32)
        if len(chunk):
            with limited(MAX_CHUNK_SECONDS):
                value = self._plug_in.call("stream", chunk, self._state, target)
            if not isinstance(value, tuple) or len(value) != 2:
                raise PlugInError(f"{label} returned {_kind(value)}, and no (chunk, state).")
            array, self._state = _array(value[0]), value[1]
            if array is None or array.ndim != 1 or array.dtype.kind != "f":
                raise PlugInError(f"{label} returned {_kind(value[0])}, and no floats (T,).")
            if not np.isfinite(array).all():
                raise PlugInError(
                    f"{label} returned samples that are no numbers (NaN or infinity)."
                )
            spoken = self._up(self._marked(array.astype(np.float32)))
        self._played += len(spoken)
        if self._played > self._received + MAX_AHEAD * self._rate:
            raise PlugInError(f"{label} returned more than it was given.")
        seconds = time.perf_counter() - began
        delay = self._down.delay + self._up.delay
        behind = self._received - self._played + round(delay * self._rate)
        return {"units": [None], "behind": behind, "seconds": seconds}, spoken

    def _marked(self, samples: np.ndarray) -> np.ndarray:
        """Mark the next samples, in whole blocks, unless the operator wants no marks."""
        if self._number is None:
            return samples
        samples = np.append(self._unmarked, samples)
        whole = len(samples) - len(samples) % mark.block_samples(self._stream_rate)
        self._unmarked = samples[whole:]
        result, self._mark = mark.mark_hop(self._mark, samples[:whole], self._number)
        return result


class PluggedEmbedder:
    """A plug-in that embeds words, or sounds. has_text: whether it embeds what is written, too;
    has_vectors: whether it has vectors; one without compares what it encodes.
    """

    def __init__(self, name: str, plug_in: PlugIn) -> None:
        """Load the plug-in, and read what it can do."""
        self.name, self.label = name, plug_in.label
        self._plug_in = plug_in
        self.has_text: bool = plug_in.has("embed_text")
        self.has_vectors: bool = not plug_in.has("distances")
        self._by_name: bool = plug_in.has("result_for")
        self._size = 0  # of its vectors, as the first was

    def embed_audio(
        self, waveform: np.ndarray, sample_rate: int = SAMPLE_RATE, name: str = ""
    ) -> np.ndarray:
        """Embed a sound (T,) as a unit vector (D,). name: of the recording's file."""
        if self._by_name:
            return self.vector(self._plug_in.call("result_for", name, ""))
        return self.vector(self._plug_in.call("embed_audio", waveform, sample_rate))

    def embed_text(self, text: str) -> np.ndarray:
        """Embed a text as a unit vector (D,)."""
        return self.vector(self._plug_in.call("embed_text", text))

    def encode(self, waveform: np.ndarray, name: str = "") -> Any:
        """Encode a word (T,) at 16 kHz, as its vector, or as what ``distances`` takes. name: of the
        recording's file.
        """
        if self.has_vectors:
            return self.embed_audio(waveform, SAMPLE_RATE, name)
        return self._plug_in.call("encode", waveform, SAMPLE_RATE)

    def distances(self, query: Any, words: Sequence[Any]) -> np.ndarray:
        """Measure how far what encode returned for one word is from that of N others: (N,)."""
        value = self._plug_in.call("distances", [query], words)
        array = _array(value)
        if array is None or array.shape != (1, len(words)) or not np.isfinite(array).all():
            raise PlugInError(f"{self.label} returned {_kind(value)}, and no distances (1, N).")
        return array[0].astype(np.float32)

    def vector(self, value: Any) -> np.ndarray:
        """Check what the system returned: a unit vector (D,), of one D for all. Raises PlugInError
        for what is none.
        """
        vector = _array(value)
        if vector is None or vector.ndim != 1 or not 1 <= vector.size <= MAX_NUMBERS:
            raise PlugInError(f"{self.label} returned {_kind(value)}, and no vector (D,).")
        vector = vector.astype(np.float32)
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or not length:
            raise PlugInError(f"{self.label} returned a vector of zeros, NaN or infinity.")
        self._size = self._size or vector.size
        if vector.size != self._size:
            raise PlugInError(
                f"{self.label} returned a vector of {vector.size} numbers, and one of {self._size} "
                "before."
            )
        return vector / length


class PluggedLipReader:
    """A plug-in of lip to speech."""

    def __init__(self, name: str, plug_in: PlugIn) -> None:
        """Load the plug-in, and read what it can do."""
        self.name, self.label = name, plug_in.label
        self._plug_in = plug_in
        self._captions, self._by_name = plug_in.has("caption"), plug_in.has("result_for")

    def of(self, video: Iterable[Frame], name: str = "") -> tuple[PluggedSpeech, str, float]:
        """Speak what is said in the frames of a video. name: of its file."""
        times, images = zip(*video, strict=True)
        seconds = times[-1] - times[0]
        fps = (len(times) - 1) / seconds if seconds > 0 else VIDEO_RATE
        return self(np.stack(images), float(fps), name)

    def __call__(
        self, frames: np.ndarray, fps: float, name: str = ""
    ) -> tuple[PluggedSpeech, str, float]:
        """Speak what is said in images, uint8 (N, H, W, 3), so many a second: the speech, and where
        the system writes it, the caption and how sure that is, from 0 to 1; else "" and 0.
        """
        began = time.perf_counter()
        if self._by_name:
            result = self._plug_in.call("result_for", name, "")
        else:
            result = self._plug_in.call("__call__", frames, fps)
        seconds = time.perf_counter() - began
        speech, faults = checked_speech(self.label, result, len(frames) / fps, seconds)
        text, confidence = "", 0.0
        try:
            if self._captions:
                text, confidence = self._caption(frames, fps)
        except PlugInError as error:
            faults += (str(error),)
        return PluggedSpeech(speech, "", None, faults), text, confidence

    def _caption(self, frames: np.ndarray, fps: float) -> tuple[str, float]:
        value = self._plug_in.call("caption", frames, fps)
        try:
            text, confidence = value
            text, confidence = str(text)[:MAX_CAPTION], float(confidence)
            if not math.isnan(confidence):
                return text, min(max(confidence, 0.0), 1.0)
        except (TypeError, ValueError):  # as for NaN
            pass
        raise PlugInError(f"{self.label} writes no caption: (text, confidence).")


class PluggedSoundEncoder:
    """A plug-in as an encoder of sound search (earshot.sound_index.embedding.SoundEncoder), with
    which the whole tab works. It is not calibrated: every query has a match.
    """

    sample_rate: int = MAX_RATE
    threshold: float = -1.0
    own_threshold: float = -1.0

    def __init__(self, name: str, plug_in: PlugIn) -> None:
        """Load the plug-in, and find by a second of noise, or its first result, how long its
        vectors are."""
        self.name, self._embedder, self._plug_in = name, PluggedEmbedder(name, plug_in), plug_in
        self._has_seconds: bool = plug_in.has("embed_seconds")
        self._recording = ""
        noise = np.random.default_rng(0).normal(0, 0.1, self.sample_rate).astype(np.float32)
        some = next(iter(plug_in.attribute("inputs", ())), "")
        self.dimension = len(self._embedder.embed_audio(noise, self.sample_rate, some))
        self.fingerprint = sha256(f"{name} ".encode() + plug_in.file.read_bytes()).hexdigest()

    def for_recording(self, name: str) -> "PluggedSoundEncoder":
        """Return the encoder for a recording whose file has this name."""
        encoder = copy(self)
        encoder._recording = name
        return encoder

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most SEGMENT_SECONDS, of a second at least: (T,) → (N, T')."""
        count = max(1, -(-len(waveform) // (SEGMENT_SECONDS * self.sample_rate)))
        length = max(-(-len(waveform) // count), self.sample_rate)
        return np.pad(waveform, (0, count * length - len(waveform))).reshape(count, length)

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T'), and their seconds: as the segment, where the system has none."""
        embed, rate = self._embedder.embed_audio, self.sample_rate
        vectors = np.stack([embed(segment, rate, self._recording) for segment in segments])
        seconds = -(-segments.shape[1] // self.sample_rate)
        if self._has_seconds:
            return AudioEmbedding(vectors, np.stack([self._seconds(s, seconds) for s in segments]))
        return AudioEmbedding(vectors, np.repeat(vectors[:, None], seconds, axis=1))

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D). Raises PlugInError where the system has no texts."""
        if not self._embedder.has_text:
            raise PlugInError(f"{self._embedder.label} embeds no texts. Search by a sound.")
        return np.stack([self._embedder.embed_text(text) for text in texts])

    def _seconds(self, segment: np.ndarray, seconds: int) -> np.ndarray:
        rows = _array(self._plug_in.call("embed_seconds", segment, self.sample_rate))
        if rows is None or rows.ndim != 2 or not len(rows):
            raise PlugInError(f"{self._embedder.label} returned no vectors of seconds (S, D).")
        vectors = np.stack([self._embedder.vector(row) for row in rows][:seconds])
        return np.pad(vectors, ((0, seconds - len(vectors)), (0, 0)), mode="edge")


def _sound_search(name: str, plug_in: PlugIn) -> Any:
    from earshot.systems.sound_search import SoundSearch  # late, for it loads torch

    return SoundSearch(PluggedSoundEncoder(name, plug_in))


ADAPTERS: Final[dict[str, Callable[[str, PlugIn], Any]]] = {
    "voice_conversion": PluggedConverter,
    "words": PluggedEmbedder,
    "sound_search": _sound_search,
    "lip_to_speech": PluggedLipReader,
}


def checked_speech(
    label: str, result: Any, seconds: float | None, compute_seconds: float
) -> tuple[Speech, tuple[str, ...]]:
    """Check the sound that a plug-in returned for an input of so many seconds, if that is known:
    the speech, and sentences about what is not as it should be but can be used.

    Raises PlugInError for what is no sound.
    """
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise PlugInError(f"{label} returned {_kind(result)}, and no (waveform, sample_rate).")
    samples, notices = _array(result[0]), []
    if samples is None or samples.ndim not in (1, 2) or samples.dtype.kind not in "iuf":
        raise PlugInError(f"{label} returned {_kind(result[0])}, and no waveform (T,).")
    if not samples.size:
        raise PlugInError(f"{label} returned a waveform of no samples.")
    if samples.size > MAX_SAMPLES:
        raise PlugInError(f"{label} returned {samples.size} samples, which are too many.")
    if not np.isfinite(samples).all():
        raise PlugInError(f"{label} returned samples that are no numbers (NaN or infinity).")
    if samples.dtype.kind != "f":
        notices.append(f"{label} returned integers, which were scaled to [-1, 1].")
    if samples.ndim == 2 and 1 not in samples.shape:
        notices.append(f"{label} returned {min(samples.shape)} channels, which were mixed.")
    peak = float(np.abs(samples).max()) if samples.dtype.kind == "f" else 0.0
    if peak > 1.01:
        notices.append(f"{label} returned samples up to {peak:.1f}, which were scaled down to 1.")
    try:
        rate = int(result[1])
        sound = load((samples, rate), min(rate, MAX_RATE), MAX_RESULT_SECONDS, MIN_RESULT_SECONDS)
    except InputError as error:
        raise PlugInError(f"{label} returned what cannot be played. {error.message}") from None
    except (TypeError, ValueError, OverflowError):
        raise PlugInError(f"{label} returned {_kind(result[1])} for the sample rate.") from None
    if float(np.abs(sound.waveform).max()) < SILENT_PEAK:
        notices.append(f"{label} returned silence.")
    if seconds and not 1 / MAX_STRETCH <= sound.seconds / seconds <= MAX_STRETCH:
        notices.append(f"{label} returned {sound.seconds:.1f} s for {seconds:.1f} s of input.")
    mono = soxr.resample(sound.waveform, sound.sample_rate, SAMPLE_RATE)
    origin = Origin(label)
    speech = Speech(sound.waveform, sound.sample_rate, log_mel(mono), compute_seconds, origin)
    return marked(speech), tuple(notices)


def _kind_of_voice(target: Any) -> str:
    """Name the kind of voice that a target is: one that the system names, or of a recording."""
    return SHIPPED if isinstance(target, str) else REFERENCE


def _name(target: Any, voice: str) -> str:
    return target if isinstance(target, str) else voice


def _voices(label: str, value: Any) -> tuple[str, ...]:
    """Check what a plug-in names as its voices. Raises PlugInError where they are no names."""
    try:
        names = () if value is None else tuple(islice(value, MAX_VOICES))
    except Exception:  # noqa: BLE001  (whatever kind of list it has)
        names = None
    if names is None or isinstance(value, str) or not all(isinstance(name, str) for name in names):
        kind = type(value).__name__
        raise PlugInError(f"{label} has voices that are no list of names, but of the kind {kind}.")
    return names


def _array(value: Any, as_float: bool = True) -> np.ndarray | None:
    """Make an array of what a plug-in returned, a tensor too; None where that cannot be."""
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = (value.float() if as_float else value).numpy()
        array = np.asarray(value)
    except Exception:  # noqa: BLE001  (whatever its class does)
        return None
    return array if array.dtype.kind in "iuf" else None


def _kind(value: Any) -> str:
    """Name what a plug-in returned in place of what it should."""
    array = value if isinstance(value, np.ndarray) else None
    return type(value).__name__ if array is None else f"{array.dtype} {array.shape}"
