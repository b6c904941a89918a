"""Systems, ours and plug-ins, as a comparison calls them: what converts and encodes files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.pretrained.voice import voice_named
from earshot.study.design.folder import SOUNDS
from earshot.systems.voice_conversion.settings import VOICES

if TYPE_CHECKING:
    from earshot.exports.comparison import Convert
    from earshot.systems.plugged import PluggedConverter, PluggedEmbedder, PluggedLipReader

MAX_SECONDS: Final = 300.0  # of a sound
MAX_VIDEO_SECONDS: Final = 30.0
VIDEOS: Final = (".mp4", ".webm", ".mov", ".mkv", ".avi", ".m4v", ".mpg")


def converter(system: Any) -> "Convert":
    """Convert recordings by a system of voice conversion; the voice of a clip is made once."""
    voices: dict[Path, Any] = {}

    def convert(file: Path, target: Path | str | None) -> tuple[np.ndarray, int]:
        if isinstance(target, Path):
            if target not in voices:
                voices[target] = system.voice_from(target)
            speech = system(file, voices[target]).converted
        elif target and voice_named(target) in system.voices:
            speech = system(file, target).converted
        else:
            raise InputError(f"It has no voice {target}, only {', '.join(system.voices)}.")
        return speech.waveform, speech.sample_rate

    return convert


class PluggedConvert:
    """Converts recordings by a plug-in, to its own voices or those of recordings: of clips, or ours
    of voices with a name. One that has none of ours speaks in its own first. notices: what it said
    of its results.
    """

    def __init__(self, system: "PluggedConverter") -> None:
        self._system = system
        self.notices: dict[str, None] = {}

    def __call__(self, file: Path, target: Path | str | None) -> tuple[np.ndarray, int]:
        system = self._system
        name = target.stem if isinstance(target, Path) else target or ""
        name = name if name in system.voices else voice_named(name)
        sample = target if isinstance(target, Path) else ASSETS / "voices" / f"{name}.ogg"
        if name not in system.voices and system.any_voice and not sample.exists():
            raise InputError(f"It has no voice {name}: name a recording of it.")
        some_of_ours = system.by_name or not set(VOICES).isdisjoint(system.voices)
        if system.voices and name not in system.voices and some_of_ours and not system.any_voice:
            raise InputError(f"It has no voice {name}, only {', '.join(system.voices)}.")
        result = system(file, name, sample if sample.exists() else None, file.stem)
        self.notices |= dict.fromkeys(result.notices)
        return result.speech.waveform, result.speech.sample_rate


def lip_reader(system: Any) -> "Convert":
    """Speak what is read from the lips of videos; without a target in the voice of the face."""

    def convert(file: Path, target: Path | str | None) -> tuple[np.ndarray, int]:
        if isinstance(target, Path):
            raise InputError("Lips speak in voices with a name only.")
        speech = system(file, voice=target).speech
        return speech.waveform, speech.sample_rate

    return convert


def plugged_lip_reader(system: "PluggedLipReader") -> "Convert":
    """Speak what a plug-in reads from the lips of videos, in the voice that it has."""
    from earshot.media.video import frames  # late, for it loads FFmpeg

    def convert(file: Path, target: Path | str | None) -> tuple[np.ndarray, int]:
        speech = system.of(frames(file, MAX_VIDEO_SECONDS), file.stem)[0].speech
        return speech.waveform, speech.sample_rate

    return convert


class WordEncoder:
    """A system of words: the vector of a recording of one."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def encode(self, file: Path) -> np.ndarray:
        return self._system.embed_audio(file).vector

    def embed_text(self, text: str) -> np.ndarray:
        return self._system.embed_text(text).vector

    def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
        return _cosines(queries, items)


class PluggedWordEncoder:
    """A plug-in of words: the vector of a recording of one, or what it compares in its place."""

    def __init__(self, system: "PluggedEmbedder") -> None:
        self._system = system

    def encode(self, file: Path) -> np.ndarray:
        from earshot.systems.words.spoken_word import find_word  # late, for it loads torch

        return self._system.encode(find_word(file, None).waveform, file.stem)

    def embed_text(self, text: str) -> np.ndarray:
        return self._system.embed_text(text)

    def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
        if self._system.has_vectors:
            return _cosines(queries, items)
        return -np.stack([self._system.distances(query, items) for query in queries])


class SoundEncoder:
    """A system of sound search: the vectors of a sound's segments, and that of a sentence."""

    def __init__(self, system: Any) -> None:
        self._encoder = system.encoder

    def encode(self, file: Path) -> np.ndarray:
        from earshot.media.audio.load import load  # late, for it loads SciPy
        from earshot.sound_index.embedding import embed, encoder_for

        waveform = load(file, self._encoder.sample_rate, MAX_SECONDS).waveform
        return embed(encoder_for(self._encoder, file), waveform)[0]

    def embed_text(self, text: str) -> np.ndarray:
        return self._encoder.embed_text([text])[0]

    def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
        return _cosines(queries, items)


def _cosines(queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
    from earshot.exports.retrieval import cosines  # late, as all of a comparison

    return cosines(queries, items)


# By task: how one of ours is called, and a plug-in. Those that search sounds are alike.
CALLS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "voice_conversion": (converter, PluggedConvert),
    "lip_to_speech": (lip_reader, plugged_lip_reader),
    "words": (WordEncoder, PluggedWordEncoder),
    "sound_search": (SoundEncoder, SoundEncoder),
}
ENDINGS: Final = dict.fromkeys(CALLS, SOUNDS) | {"lip_to_speech": VIDEOS}
