"""The visitor's own voice as a target: a text to read, a recording, a voice for this visit only.

The recording is deleted after use. The voice is a few numbers in the memory of the visit, in no
file, and goes with the visit. Where the app was started with --allow-reference, an uploaded
recording of anybody does in place of the reading.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.tabs.shared.events import (
    CONVERSION_QUEUE,
    HIDDEN,
    PRIVATE,
    Update,
    on_model,
    reporting,
    say,
    stoppable,
)
from earshot.tabs.shared.services import OWN
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.voice_conversion.speaking import NO_OWN, OwnVoice, ReferenceVoice, VoiceVisit

if TYPE_CHECKING:
    from earshot.systems.voice_conversion import AnyVoiceConversion


READY: Final = "This is your voice now, for this visit: it is in no file, and gone when you leave."
FITTED: Final = "The voice is fitted to the recording. Click it again to hear it."
FORGOTTEN: Final = "The voice is forgotten."
LENT: Final = (
    "This voice is one of them now, for this visit: it is in no file, and gone when you leave."
)
ANYBODY: Final = """
<p class="hint">10 to 30 s of one person speaking, without music, lend you their voice until you
leave. A voice is a person's: to speak as somebody who has not agreed deceives people, harms them,
and is against the law in many places. Every file that is made here says in its metadata that it was
converted, and the recording is deleted after use.</p>
"""


@dataclass(frozen=True)
class OwnVoicePanel:
    """The panel under the voice cards. visit: the visitor's voice, and what they are to read;
    anybody: what takes a recording of somebody else, None where that is not allowed."""

    sessions: SessionStore[VoiceVisit]
    visit: gr.State
    panel: gr.Column
    text: gr.HTML
    recorder: gr.Audio
    message: gr.HTML
    fit: gr.Button
    stop: gr.Button
    forget: gr.Button
    anybody: "_Anybody | None"

    @classmethod
    def layout(cls, allow_reference: bool = False) -> "OwnVoicePanel":
        """Lay out the panel, hidden until the last card is chosen.

        allow_reference: whether a recording of anybody may be uploaded.
        """
        sessions = SessionStore(VoiceVisit)
        visit = sessions.state()
        with gr.Column(visible=False, elem_classes="own-voice") as panel:
            text = gr.HTML()
            recorder = gr.Audio(
                sources=["microphone"],
                type="filepath",
                label="Your voice, 10 to 30 s",
                show_label=False,
                buttons=[],
                elem_classes="sound-input",
            )
            anybody = _Anybody.layout() if allow_reference else None
            message = gr.HTML(elem_id="own-voice")
            with gr.Row():
                fit = gr.Button("Fit it closer, in half a minute", size="sm", visible=False)
                stop = gr.Button("Stop", size="sm", visible=False)
                forget = gr.Button("Forget my voice", size="sm", visible=False)
        return cls(sessions, visit, panel, text, recorder, message, fit, stop, forget, anybody)

    def wire(self, pipeline: Callable[[], "AnyVoiceConversion"], cards: gr.HTML) -> None:
        """Connect the panel. pipeline: makes a voice of a recording; cards: their value OWN opens
        the panel.
        """
        events = _Events(self, pipeline, cards)
        makers: list[tuple[Callable, Callable, list[Component]]] = [
            (self.recorder.stop_recording, events.recorded, [self.recorder, self.visit])
        ]
        if self.anybody:
            part = self.anybody
            part.agreed.change(part.opened, part.agreed, part.recording, **HIDDEN)
            lent = [part.recording, part.agreed, self.visit]
            makers.append((part.recording.upload, events.uploaded, lent))
        for trigger, handler, given in makers:
            trigger(
                reporting(stoppable(handler), self.message),
                given,
                [cards, *self._changing()],
                concurrency_id=CONVERSION_QUEUE,
                concurrency_limit=1,
                show_progress_on=self.message,
                **PRIVATE,
            )
        cards.change(events.chosen, [cards, self.visit], self._changing(), **HIDDEN)
        on_model(
            self.fit.click,
            reporting(events.fitted, self.message),
            [self.visit],
            [self.visit, self.message],
            progress_on=self.message,
            start=self.fit,
            stop=self.stop,
        )
        forgotten = [cards, *self._changing()]
        self.forget.click(events.forgotten, self.visit, forgotten, **HIDDEN)

    def _changing(self) -> list[Block]:
        shown = [self.panel, self.text, self.recorder, self.message, self.fit, self.forget]
        return [self.visit, *shown, *(self.anybody.changing() if self.anybody else [])]


@dataclass(frozen=True)
class _Anybody:
    """The part that takes a recording of somebody else, once its speaker's consent is stated."""

    part: gr.Accordion
    agreed: gr.Checkbox
    recording: gr.Audio

    @classmethod
    def layout(cls) -> "_Anybody":
        with gr.Accordion("Or the voice of a recording", open=False) as part:
            gr.HTML(ANYBODY)
            agreed = gr.Checkbox(False, label="The speaker has agreed to this")
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

    def changing(self) -> list[Block]:
        return [self.part, self.agreed, self.recording]

    def shown(self, visible: bool) -> Update:
        """Empty it, and show or hide it."""
        return {
            self.part: gr.Accordion(visible=visible, open=False),
            self.agreed: False,
            self.recording: gr.Audio(None, visible=False),
        }


@dataclass(frozen=True)
class _Events:
    """Handlers of the panel; each returns the components that change with their values."""

    components: OwnVoicePanel
    pipeline: Callable[[], "AnyVoiceConversion"]
    cards: gr.HTML

    def chosen(self, card: str, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Open the panel with a text to read, or close it."""
        if card != OWN or (visit and visit.own):
            return {self.components.panel: gr.Column(visible=card == OWN)}
        visit = self.components.sessions.of(visit, request)
        return {self.components.panel: gr.Column(visible=True), **self._text_to_read(visit)}

    def recorded(self, path: str | None, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Make a voice of a recording of the text."""
        visit = self.components.sessions.of(visit, request)
        with delete_after_use(path):
            visit.own = OwnVoice(self.pipeline(), path, visit.reading)
        return self._made(visit, READY)

    def uploaded(
        self, path: str | None, agreed: bool, visit: VoiceVisit | None, request: gr.Request
    ) -> Update:
        """Make a voice of a recording of anybody."""
        visit = self.components.sessions.of(visit, request)
        with delete_after_use(path):
            visit.own = ReferenceVoice(self.pipeline(), path, agreed)
        return self._made(visit, LENT)

    def _made(self, visit: VoiceVisit, message: str) -> Update:
        return {
            self.components.visit: visit,
            self.cards: gr.HTML(made=True),
            self.components.message: say(message),
            self.components.text: gr.HTML(visible=False),
            self.components.recorder: gr.Audio(None, visible=False),
            self.components.fit: gr.Button(visible=True),
            self.components.forget: gr.Button(visible=True),
            **(self.components.anybody.shown(False) if self.components.anybody else {}),
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
            return {self.components.message: gr.skip()}
        visit.own = closer
        return {self.components.visit: visit, self.components.message: say(FITTED)}

    def forgotten(self, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Forget the voice, and ask for another."""
        visit = self.components.sessions.of(visit, request)
        visit.clear()
        return {
            self.cards: gr.HTML(made=False),
            self.components.message: say(FORGOTTEN),
            self.components.recorder: gr.Audio(None, visible=True),
            self.components.fit: gr.Button(visible=False),
            self.components.forget: gr.Button(visible=False),
            **(self.components.anybody.shown(True) if self.components.anybody else {}),
            **self._text_to_read(visit),
        }

    def _text_to_read(self, visit: VoiceVisit) -> Update:
        from earshot.systems.voice_conversion.reading import (
            Reading,  # late, for it loads pocketsphinx
        )

        visit.reading = Reading.draw(SystemRandom())
        return {
            self.components.visit: visit,
            self.components.text: gr.HTML(_page(visit.reading.text), visible=True),
        }


def _page(text: str) -> Markup:
    return Markup(
        '<p class="hint">Press record and read this aloud. It takes about 13 seconds.</p>'
        '<p class="to-read">{}</p>'
    ).format(text)
