"""The way in which a visitor wants to hear speech: the voice, the model, what makes waveform and
intonation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.voice import STRENGTH, Nobody
from earshot.provenance.notice import AUTOMATIC
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.live.process import Choice
from earshot.tabs.components.voice_cards import VOICES, Card
from earshot.tabs.shared.services import OWN, Owner

if TYPE_CHECKING:
    from earshot.media.audio.load import Audio
    from earshot.systems.voice_conversion import Voice
    from earshot.systems.voice_conversion.converter import Converter

OWN_CARD: Final = Card("Your voice", "read a few lines", "#ffffff")
ANY_CARD: Final = Card("Any voice", "yours, or one lent to you", "#ffffff")
NOBODY_CARD: Final = Card("Nobody", "drawn anew for each visit", "#dddddd")
ALONE: Final = "none"
NO_OWN: Final = "Read the lines under the voices first: that makes your voice one of them."


@dataclass(frozen=True)
class Speaking:
    """The way in which units are to be spoken, as a visitor chose, recorded or live.

    voice, other: names of voices, or OWN, or the former NOBODY; share: of the other, 0 to 1;
    model: None for the default; visit: holds the visitor's own voice; notice: that is spoken before
    it in downloads, see earshot.provenance.notice; strength, seed: of NOBODY.
    """

    voice: str
    other: str = ALONE
    share: float = 0.0
    model: str | None = None
    vocoder: str = settings.VOCODERS[0]
    intonation: str = settings.INTONATIONS[0]
    visit: Owner | None = None
    notice: str = AUTOMATIC
    strength: float = STRENGTH
    seed: int = field(default_factory=lambda: Nobody().seed)

    def __post_init__(self) -> None:
        """Raise InputError for what a program may send in place of names."""
        names = self.voice, self.other, self.vocoder, self.intonation, self.notice
        if not all(isinstance(name, str) for name in names):
            raise InputError("A voice, a vocoder and an intonation are given by their names.")
        Nobody(self.strength, self.seed)

    @property
    def blended(self) -> bool:
        """Whether another voice is blended in."""
        return self.other != ALONE and self.share != 0 and self.voice != settings.NOBODY

    @property
    def voices(self) -> tuple[str, ...]:
        """Name the voices that are heard."""
        return (self.voice, self.other) if self.blended else (self.voice,)

    @property
    def label(self) -> str:
        """Name the voice as people call it."""
        own = self.visit.voice.name if self.visit and self.visit.own else "your voice"
        cards = {OWN: own, settings.NOBODY: NOBODY_CARD.name.lower()}
        cards |= {voice: card.name for voice, card in VOICES.items()}
        return self._of([cards.get(voice, voice) for voice in self.voices])

    @property
    def target(self) -> str:
        """Name the voice as programs call it, and systems of listening tests are named."""
        return self._of(self.voices)

    def _of(self, names: Sequence[str]) -> str:
        if not self.blended:
            return names[0]
        return f"{names[0]} {1 - self.share:.0%} + {names[1]} {self.share:.0%}"

    @property
    def sample(self) -> "Audio":
        """Return speech of the voice, for systems that make a voice of it; None where there is
        none."""
        if self.voice == OWN:
            return self.visit.sample if self.visit else None
        path = ASSETS / "voices" / f"{self.voice}.ogg"
        return path if self.voice in VOICES and path.exists() else None

    def suits(self, pipeline: "Converter") -> bool:
        """Whether the pipeline has the voice that was chosen."""
        plain = not self.blended and self.voice in pipeline.voices
        return plain or isinstance(pipeline.voices, Mapping)

    def arguments(self, pipeline: "Converter", source: "Audio" = None) -> tuple[Any, str, str]:
        """Choose the target, vocoder and intonation that a pipeline is given. source: the recording
        of units that are to be spoken by nobody.

        A model that cannot keep the intonation predicts it. Raises InputError for a voice that is
        not there, and for a blend by a model that has none.
        """
        can = self.intonation in pipeline.intonations
        intonation = self.intonation if can else pipeline.intonations[0]
        target = self._target(pipeline)
        if isinstance(target, Nobody) and source is not None:
            from earshot.media.audio.load import load  # late, for it loads SciPy

            waveform = load(source, SAMPLE_RATE).waveform
            target = pipeline.nobody(target, pipeline.own_voice(waveform))
        return target, self.vocoder, intonation

    def live(self) -> Choice:
        """Choose what a live conversion is given. Raises InputError where their own voice is not
        there.
        """
        voice, *other = (self._own() if name == OWN else name for name in self.voices)
        if voice == settings.NOBODY:
            voice = Nobody(self.strength, self.seed)
        return Choice(voice, next(iter(other), None), self.share, self.model, self.intonation)

    def _target(self, pipeline: "Converter") -> "str | Voice | Nobody":
        if self.voice == settings.NOBODY:
            return Nobody(self.strength, self.seed)
        if not self.blended:
            return self._own() if self.voice == OWN else self.voice
        one, other = (self._voice(pipeline, name) for name in self.voices)
        return one.blend(other, self.share)

    def _voice(self, pipeline: "Converter", name: str) -> "Voice":
        if name == OWN:
            return self._own()
        if not isinstance(pipeline.voices, Mapping):
            raise InputError(f"{pipeline.name} cannot blend voices. Choose another model.")
        if name not in pipeline.voices:
            raise InputError(
                f"There is no voice {name}. Choose one of {', '.join(settings.VOICES)}."
            )
        return pipeline.voices[name]

    def _own(self) -> "Voice":
        if self.visit is None:
            raise InputError(NO_OWN)
        return self.visit.voice


@dataclass(frozen=True)
class SpeakingInputs:
    """The components in which a visitor chooses, named as the fields of Speaking are."""

    voice: gr.HTML
    other: gr.Dropdown
    share: gr.Slider
    model: gr.Dropdown
    vocoder: gr.Dropdown
    intonation: gr.Dropdown
    visit: gr.State
    notice: gr.Dropdown
    strength: gr.Slider
    seed: gr.State

    @property
    def components(self) -> set[Component]:
        """Collect the inputs of an event whose handler reads them."""
        return {getattr(self, field.name) for field in fields(self)}

    def read(self, values: Mapping[Component, Any]) -> Speaking:
        """Read the choice from the values that an event was given, by component; what has no value
        yet is as it is by default."""
        chosen = {f.name: values[getattr(self, f.name)] for f in fields(self)}
        return Speaking(**{name: value for name, value in chosen.items() if value is not None})
