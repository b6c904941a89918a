"""The visitor's own voice as a target: a text to read, a recording, a voice for this visit only.

The recording is deleted after use. The voice is a few numbers in the memory of the visit, in no
file, and goes with the visit. Where the app was started with --allow-reference, an uploaded
recording of anybody does in place of the reading.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.blocks import BlockContext
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.core.limits import RateLimit
from earshot.media.audio.speech import REFERENCE
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion import settings
from earshot.tabs.shared.events import (
    CONVERSION_QUEUE,
    HIDDEN,
    LAST,
    SHOW,
    Update,
    queued,
    say,
    stoppable,
)
from earshot.tabs.shared.gradio_internals import address_of_event
from earshot.tabs.shared.parts import Section, sound_input
from earshot.tabs.shared.services import OWN
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.voice_conversion.speaking import NO_OWN

if TYPE_CHECKING:
    import numpy as np

    from earshot.systems.voice_conversion import AnyVoiceConversion, Voice
    from earshot.systems.voice_conversion.reading import Reading


NO_TEXT: Final = "Choose “Your voice” first: it shows a text to read. Then record yourself."
NO_CONSENT: Final = "First tick that the person has agreed. Then upload the recording again."
READY: Final = "This is your voice now, for this visit: it is in no file, and gone when you leave."
FITTED: Final = "The voice is fitted to the recording. Click it again to hear it."
FORGOTTEN: Final = "The voice is forgotten."
LENT: Final = (
    "This voice is one of them now, for this visit: it is in no file, and gone when you leave."
)
ANYBODY_TITLE: Final = "Or somebody else’s voice, with their consent"
CONSENT: Final = "The person in the recording has agreed that I speak in their voice"
ANYBODY: Final = """
<p class="hint">This makes you speak as another person: 10 to 30 s of them alone, without music,
lend you their voice until you leave. Use it only if they have agreed to that. To speak as somebody
who has not deceives people, harms them, and is against the law in many places. Every file that is
made here says in its metadata that it was converted, and the recording is deleted after use.</p>
"""


class OwnVoice:
    """The voice of a visitor, which only a recording of the text that was drawn for them makes.

    voice: what is spoken in; there is no other way to one than through the constructor's check;
    reference: the speech (T,) at 16 kHz that it was made of.
    """

    def __init__(
        self, pipeline: "AnyVoiceConversion", recording: str | None, reading: "Reading | None"
    ) -> None:
        """Make the voice of a recording of the reading.

        Raises InputError without a reading, and for a recording of anything else.
        """
        if reading is None:
            raise InputError(NO_TEXT)
        self.reference = pipeline.reference(recording, reading)  # float32 (T,) at 16 kHz
        self.voice: Voice = pipeline.voice(self.reference)

    def fitted(
        self, pipeline: "AnyVoiceConversion", on_progress: Callable[[float], object]
    ) -> "OwnVoice":
        """Fit the voice more closely to what was read; on_progress: is told the share done."""
        closer = copy(self)
        closer.voice = pipeline.fit(self.voice, self.reference, on_progress)
        return closer


class ReferenceVoice(OwnVoice):
    """The voice of a recording of anybody: only a page that was started with --allow-reference
    makes one."""

    def __init__(self, pipeline: "AnyVoiceConversion", recording: str | None, agreed: bool) -> None:
        """Make the voice of a recording. agreed: whether the visitor says that its speaker did.

        Raises InputError where they did not, and for a recording that holds no one voice.
        """
        if agreed is not True:
            raise InputError(NO_CONSENT)
        self.reference = pipeline.reference(recording)
        self.voice = pipeline.voice(self.reference, settings.OF_RECORDING, REFERENCE)


@dataclass
class VoiceVisit:
    """The data that is kept of a visitor: what they were asked to read, and the voice that came of
    it, or of a recording.
    """

    reading: "Reading | None" = None
    own: OwnVoice | None = None

    def clear(self) -> None:
        """Forget the voice, with the text of its reading; one that was not read stays."""
        if self.own:
            self.reading = self.own = None

    @property
    def voice(self) -> "Voice":
        """Take the visitor's own voice. Raises InputError where it was not made."""
        if self.own is None:
            raise InputError(NO_OWN)
        return self.own.voice

    @property
    def sample(self) -> "tuple[int, np.ndarray] | None":
        """Return the speech that the voice was made of, as it is at 16 kHz; None without one."""
        return (SAMPLE_RATE, self.own.reference) if self.own else None


class OwnVoicePanel(Section):
    """The panel under the voice cards, which opens when their value is OWN. visit: the visitor's
    voice, and what they are to read; anybody: what takes a recording of another, None where
    that is not allowed; pipeline, cards: wire is given.
    """

    pipeline: "Callable[[], AnyVoiceConversion]"
    cards: gr.HTML

    def __init__(self, allow_reference: bool = False) -> None:
        """Lay out the panel, hidden until the last card is chosen.

        allow_reference: whether a recording of anybody may be uploaded.
        """
        self.sessions = SessionStore(VoiceVisit)
        self.texts = RateLimit.of("texts to read")
        self.visit = self.sessions.state()
        with gr.Column(visible=False, elem_classes="own-voice") as self.panel:
            self.text = gr.HTML()
            least, _ = settings.REFERENCE_SECONDS
            self.recorder = sound_input("Your voice, 10 to 30 s", ["microphone"], least)
            self.anybody = _Anybody.layout() if allow_reference else None
            self.message = gr.HTML(elem_id="own-voice")
            with gr.Row():
                self.fit = gr.Button("Fit it closer, in half a minute", size="sm", visible=False)
                self.stop = gr.Button("Stop", size="sm", visible=False)
                self.forget = gr.Button("Forget my voice", size="sm", visible=False)

    def wire(self, pipeline: "Callable[[], AnyVoiceConversion]", cards: gr.HTML) -> None:
        """Connect the panel. pipeline: makes a voice of a recording."""
        self.pipeline, self.cards = pipeline, cards
        changing: list[Component | BlockContext] = [
            self.visit,
            self.panel,
            self.text,
            self.recorder,
            self.message,
        ]
        changing += [self.fit, self.forget, *(self.anybody.changing() if self.anybody else [])]
        makers: list[tuple[Callable, Callable, list[Component]]] = [
            (self.recorder.stop_recording, self.recorded, [self.recorder, self.visit])
        ]
        if self.anybody:
            part = self.anybody
            part.agreed.change(part.opened, part.agreed, part.recording, **HIDDEN)
            lent: list[Component] = [part.recording, part.agreed, self.visit]
            makers.append((part.recording.upload, self.uploaded, lent))
        for trigger, handler, inputs in makers:
            how = queued(self.message, CONVERSION_QUEUE)
            making = self.on(trigger, stoppable(handler), inputs, [cards, *changing], **how, **LAST)
            making.then(js=SHOW % "own-voice", **HIDDEN)  # a recording pushes it down
        cards.change(self.chosen, [cards, self.visit], changing, **HIDDEN)
        self.on_model(
            self.fit.click,
            self.fitted,
            [self.visit],
            [self.visit, self.message],
            progress_on=self.message,
            start=self.fit,
            stop=self.stop,
        )
        self.forget.click(self.forgotten, self.visit, [cards, *changing], **HIDDEN)

    def chosen(self, card: str, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Open the panel with a text to read, or close it."""
        if card != OWN or (visit and visit.own):
            return {self.panel: gr.Column(visible=card == OWN)}
        visit = self.sessions.of(visit, request)
        return {self.panel: gr.Column(visible=True), **self._text_to_read(visit, request)}

    def recorded(self, path: str | None, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Make a voice of a recording of the text."""
        visit = self.sessions.of(visit, request)
        with delete_after_use(path):
            visit.own = OwnVoice(self.pipeline(), path, visit.reading)
        self.texts.give_back(address_of_event(request))  # it was read
        return self._ready(visit, READY)

    def uploaded(
        self, path: str | None, agreed: bool, visit: VoiceVisit | None, request: gr.Request
    ) -> Update:
        """Make a voice of a recording of anybody."""
        visit = self.sessions.of(visit, request)
        with delete_after_use(path):
            visit.own = ReferenceVoice(self.pipeline(), path, agreed)
        return self._ready(visit, LENT)

    def _ready(self, visit: VoiceVisit, message: str) -> Update:
        return {
            self.visit: visit,
            self.cards: gr.HTML(made=True),
            self.message: say(message),
            self.text: gr.HTML(visible=False),
            self.recorder: gr.Audio(None, visible=False),
            self.fit: gr.Button(visible=True),
            self.forget: gr.Button(visible=True),
            **(self.anybody.reset(False) if self.anybody else {}),
        }

    def fitted(
        self,
        visit: VoiceVisit | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Fit the voice more closely to what was read."""
        if not visit or not visit.own:
            raise InputError(NO_OWN)
        before = visit.own
        closer = before.fitted(
            self.pipeline(), lambda share: progress(share, desc="Fitting your voice")
        )
        if visit.own is not before:  # forgotten meanwhile, and perhaps another one made
            return {self.message: gr.skip()}
        visit.own = closer
        return {self.visit: visit, self.message: say(FITTED)}

    def forgotten(self, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Forget the voice, and ask for another."""
        visit = self.sessions.of(visit, request)
        visit.clear()
        return {
            self.cards: gr.HTML(made=False),
            self.recorder: gr.Audio(None, visible=True),
            self.fit: gr.Button(visible=False),
            self.forget: gr.Button(visible=False),
            **(self.anybody.reset(True) if self.anybody else {}),
            self.message: say(FORGOTTEN),
            **self._text_to_read(visit, request),
        }

    def _text_to_read(self, visit: VoiceVisit, request: gr.Request) -> Update:
        """Show the text that the visitor has not read yet, or a new one."""
        # Late, for it loads pocketsphinx.
        from earshot.systems.voice_conversion.reading import Reading

        if visit.reading is None:
            if self.texts.take(address_of_event(request)):
                refusal = say(self.texts.refusal)
                return {self.visit: visit, self.text: gr.HTML(visible=False), self.message: refusal}
            visit.reading = Reading.draw(SystemRandom())
        return {
            self.visit: visit,
            self.text: gr.HTML(_page(visit.reading.text), visible=True),
        }


@dataclass(frozen=True)
class _Anybody:
    """The part that takes a recording of another, once its speaker's consent is stated."""

    part: gr.Accordion
    agreed: gr.Checkbox
    recording: gr.Audio

    @classmethod
    def layout(cls) -> "_Anybody":
        with gr.Accordion(ANYBODY_TITLE, open=False) as part:
            gr.HTML(ANYBODY)
            agreed = gr.Checkbox(False, label=CONSENT)
            recording = gr.Audio(
                sources=["upload"],
                type="filepath",
                label="A recording of the voice, 10 to 30 s",
                show_label=False,
                buttons=[],
                visible=False,
                elem_classes="sound-input",
            )
        return cls(part, agreed, recording)

    @staticmethod
    def opened(agreed: bool) -> gr.Audio:
        """Show where the recording goes, once its speaker has agreed."""
        return gr.Audio(visible=agreed)

    def changing(self) -> list[Component | BlockContext]:
        return [self.part, self.agreed, self.recording]

    def reset(self, visible: bool) -> Update:
        """Empty it, and show or hide it."""
        return {
            self.part: gr.Accordion(visible=visible, open=False),
            self.agreed: False,
            self.recording: gr.Audio(None, visible=False),
        }


def _page(text: str) -> Markup:
    return Markup(
        '<p class="hint">Press record and read all of this aloud: about 13 seconds, and at least '
        "10, for less does not hold a voice.</p>"
        '<p class="to-read">{}</p>'
    ).format(text)
