"""The visitor's own voice as a target: a text to read, a recording, a voice for this visit only.

The recording is deleted after use. The voice is a few numbers in the memory of the visit, in no
file, and goes with the visit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.blocks import Block
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
)
from earshot.tabs.shared.jobs import stoppable
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.voice_conversion.speaking import NO_OWN, OWN, OwnVoice, VoiceVisit

if TYPE_CHECKING:
    from earshot.pipelines.voice_conversion import AnyVoiceConversion


READY: Final = "This is your voice now, for this visit: it is in no file, and gone when you leave."
FITTED: Final = "Your voice is fitted to what you read. Click it again to hear it."
FORGOTTEN: Final = "Your voice is forgotten."


@dataclass(frozen=True)
class OwnVoicePanel:
    """The panel under the voice cards. visit: the visitor's voice, and what they are to read."""

    sessions: SessionStore[VoiceVisit]
    visit: gr.State
    panel: gr.Column
    text: gr.HTML
    recorder: gr.Audio
    message: gr.HTML
    fit: gr.Button
    stop: gr.Button
    forget: gr.Button

    @classmethod
    def layout(cls) -> "OwnVoicePanel":
        """Lay out the panel, hidden until the last card is chosen."""
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
            message = gr.HTML(elem_id="own-voice")
            with gr.Row():
                fit = gr.Button("Fit it closer, in half a minute", size="sm", visible=False)
                stop = gr.Button("Stop", size="sm", visible=False)
                forget = gr.Button("Forget my voice", size="sm", visible=False)
        return cls(sessions, visit, panel, text, recorder, message, fit, stop, forget)

    def wire(self, pipeline: Callable[[], "AnyVoiceConversion"], cards: gr.HTML) -> None:
        """pipeline: makes a voice of a recording; cards: their value OWN opens the panel."""
        events = _Events(self, pipeline, cards)
        self.recorder.stop_recording(
            reporting(stoppable(events.recorded), self.message),
            [self.recorder, self.visit],
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
        return [self.visit, *shown]


@dataclass(frozen=True)
class _Events:
    """What the panel does; each returns the components that change with their values."""

    to: OwnVoicePanel
    pipeline: Callable[[], "AnyVoiceConversion"]
    cards: gr.HTML

    def chosen(self, card: str, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Open the panel with a text to read, or close it."""
        if card != OWN or (visit and visit.own):
            return {self.to.panel: gr.Column(visible=card == OWN)}
        visit = self.to.sessions.of(visit, request)
        return {self.to.panel: gr.Column(visible=True), **self._text_to_read(visit)}

    def recorded(self, path: str | None, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Make a voice of a recording of the text."""
        visit = self.to.sessions.of(visit, request)
        with delete_after_use(path):
            visit.own = OwnVoice(self.pipeline(), path, visit.reading)
        return {
            self.to.visit: visit,
            self.cards: gr.HTML(made=True),
            self.to.message: say(READY),
            self.to.text: gr.HTML(visible=False),
            self.to.recorder: gr.Audio(None, visible=False),
            self.to.fit: gr.Button(visible=True),
            self.to.forget: gr.Button(visible=True),
        }

    def fitted(
        self,
        visit: VoiceVisit | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Fit the voice more closely to what was read."""
        if not visit or not visit.own:
            raise InputError(NO_OWN)
        visit.own = visit.own.fitted(
            self.pipeline(), lambda share: progress(share, desc="Fitting your voice")
        )
        return {self.to.visit: visit, self.to.message: say(FITTED)}

    def forgotten(self, visit: VoiceVisit | None, request: gr.Request) -> Update:
        """Forget the voice, and ask for another."""
        visit = self.to.sessions.of(visit, request)
        visit.clear()
        return {
            self.cards: gr.HTML(made=False),
            self.to.message: say(FORGOTTEN),
            self.to.recorder: gr.Audio(None, visible=True),
            self.to.fit: gr.Button(visible=False),
            self.to.forget: gr.Button(visible=False),
            **self._text_to_read(visit),
        }

    def _text_to_read(self, visit: VoiceVisit) -> Update:
        from earshot.pipelines.voice_conversion.reading import (
            Reading,  # late, for it loads pocketsphinx
        )

        visit.reading = Reading.draw(SystemRandom())
        return {
            self.to.visit: visit,
            self.to.text: gr.HTML(_page(visit.reading.text), visible=True),
        }


def _page(text: str) -> Markup:
    return Markup(
        '<p class="hint">Press record and read this aloud. It takes about 13 seconds.</p>'
        '<p class="to-read">{}</p>'
    ).format(text)
