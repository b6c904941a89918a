"""The models that the tabs use: where they are installed, and how they are loaded, once each."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.core.loading import once
from earshot.systems.voice_conversion.settings import MODELS
from earshot.tabs import lip_to_speech, sound_search, words

if TYPE_CHECKING:
    from earshot.pretrained.transcription import Transcriber
    from earshot.systems.lip_to_speech import LipToSpeech
    from earshot.systems.sound_search import SoundSearch
    from earshot.systems.voice_conversion.converter import VoiceConversion
    from earshot.systems.voice_conversion.converters import Converters
    from earshot.systems.words import Words


def converters(folder: Path, device: str) -> Callable[[str], "VoiceConversion"]:
    """Give a model of voice conversion by its name; models may share a checkpoint."""

    def load() -> "Converters":
        from earshot.systems.voice_conversion.converters import (
            Converters,  # late, for it loads torch
        )

        return Converters(folder, device)

    loaded = once(load)
    return once(lambda name: loaded()(name))


def installed_conversion_models(folder: Path) -> list[str]:
    """List the models of voice conversion whose checkpoint is in the folder, the default first."""
    checkpoints = available(folder, [*MODELS.values()])
    return [name for name, checkpoint in MODELS.items() if checkpoint in checkpoints]


def sounds(
    folder: Path, device: str, model: Sequence[str] | None
) -> Callable[[], "SoundSearch"] | None:
    """Give sound search with a model of the user's or our checkpoints in the folder; None where
    there are no such checkpoints."""
    names = sound_search.MODELS
    if not model and len(available(folder, names)) < len(names):
        return None

    def load() -> "SoundSearch":
        from earshot.systems.sound_search import SoundSearch  # late, for it loads torch

        return SoundSearch.from_pretrained(model or [folder / name for name in names], device)

    return once(load)


def word_embeddings(folder: Path, device: str) -> Callable[[], "Words"] | None:
    """Give the networks of the words tab; None where the folder has no such checkpoint."""

    def load() -> "Words":
        from earshot.systems.words import Words  # late, for it loads torch

        return Words.from_pretrained(folder / words.MODEL, device)

    return once(load) if available(folder, [words.MODEL]) else None


def lip_reader(folder: Path, device: str) -> Callable[[], "LipToSpeech"] | None:
    """Give lip to speech; None where the folder has no such checkpoint."""

    def load() -> "LipToSpeech":
        from earshot.systems.lip_to_speech import LipToSpeech  # late, for it loads torch

        return LipToSpeech.from_pretrained(folder / lip_to_speech.MODEL, device)

    return once(load) if available(folder, [lip_to_speech.MODEL]) else None


def transcriber(name: str, device: str) -> Callable[[], "Transcriber"]:
    """Give what writes down the words of speech: the installed recogniser, unless name is a
    Moonshine of the hub, or its folder."""

    def load() -> "Transcriber":
        from earshot.pretrained.transcription import Transcriber  # late, for it loads torch

        return Transcriber.from_pretrained(name, device)

    return once(load)


def available(folder: Path, names: Sequence[str]) -> list[str]:
    """List those of the names whose checkpoint is in the folder."""
    return [name for name in names if (folder / name / "config.json").exists()]
