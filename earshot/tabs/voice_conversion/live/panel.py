"""The Live switch of the voice conversion tab, and its display while it is on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from earshot.core.errors import InputError
from earshot.media.audio.speech import LABEL
from earshot.systems.voice_conversion import settings
from earshot.tabs.shared.events import HIDDEN, reporting
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import icon
from earshot.tabs.shared.services import OWN, Tickets
from earshot.tabs.shared.sessions import is_upload
from earshot.tabs.voice_conversion.live.visitor import KINDS, wish_of
from earshot.tabs.voice_conversion.speaking import Speaking, SpeakingInputs

if TYPE_CHECKING:
    from earshot.systems.registry import Offer
    from earshot.systems.voice_conversion.converter import Converter

OURS: Final = "Ours"
FOLDER: Final = Path(__file__).parent
HTML: Final = f"""
<section class="live" data-state="off" aria-label="Live conversion">
<div class="live-bar">
<button type="button" class="live-switch"><i></i><span>Live</span></button>
<p>Hear yourself in the chosen voice while you speak. <b>Wear headphones.</b></p>
</div>
<div class="live-now" hidden>
<div class="live-level" role="img" aria-label="Level of the microphone"><i></i></div>
<canvas class="live-units" role="img" aria-label="Units as they are spoken"></canvas>
<p class="live-line numbers"></p>
</div>
<p class="live-message message notice" role="status" hidden></p>
<div class="live-kept" hidden>
<p>The last 30 seconds. Nobody else has them.
<span class="synthetic-label">{icon("synthetic")}{LABEL}</span></p>
<audio controls></audio>
<div><a class="live-said" download="live.wav">{icon("download")}What you heard</a>
<button type="button" class="live-take">Analyse what you said</button></div>
</div>
<label class="live-output" hidden>Play through <select></select></label>
<label class="live-clean"><input type="checkbox"> Loudspeakers: cancel echo and noise</label>
</section>
"""
# The panel is told by events, which rise to its script, of what is elsewhere on the page: that
# something was changed there, and, when it has asked, what is chosen.
CHANGED: Final = """() => {
  document.querySelector(".live")?.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
  return [];
}"""
TELL: Final = """(wish) => {
  const event = new CustomEvent("wish", { detail: wish, bubbles: true });
  document.querySelector(".live")?.dispatchEvent(event);
  return [];
}"""
NO_FILE: Final = "This recording did not arrive. Press Live and try again."


class LivePanel:
    """The switch of live conversion; wish: what its page is to tell the socket; system: a plug-in
    that speaks in the place of ours, "" for ours."""

    def __init__(self, offer: "Offer[Converter]") -> None:
        """Lay out the switch, which is off. offer: the systems of the tab."""
        self.panel = gr.HTML(
            HTML,
            css_template=(FOLDER / "live.css").read_text(),
            js_on_load=(FOLDER / "live.js").read_text(),
            apply_default_css=False,
            elem_id="live",
        )
        streams = [choice for choice in offer.choices if choice[1] in offer.streams]
        self.system = gr.Dropdown(
            [(OURS, ""), *streams], value="", label="Live by", visible=bool(streams)
        )
        self.wish = gr.JSON(visible="hidden")

    def wire(
        self,
        models: Sequence[str],
        inputs: SpeakingInputs,
        changes: Sequence[Callable],
        tickets: Tickets,
    ) -> None:
        """Connect the switch to the page. models: that are installed; inputs: how the visitor
        wants to be heard; changes: events after which that may be otherwise, while it is on;
        tickets: of the server."""

        def answer(values: dict[Component, Any]) -> dict[str, Any]:
            speaking, system = inputs.read(values), values[self.system]
            if system:
                return wish_of_plug_in(system, speaking)
            return wish_or_error(models, tickets, speaking)

        chosen = {self.system, *inputs.components}
        answered = self.panel.ask(answer, chosen, self.wish, **HIDDEN)
        answered.then(None, self.wish, [], js=TELL, **HIDDEN)
        gr.on([self.system.change, *changes], None, None, [], js=CHANGED, **HIDDEN)

    def keeping(self, recording: gr.Audio, message: gr.HTML) -> Dependency:
        """Bring what was said last into the recording, where the visitor wants to analyse it; what
        comes after that follows what is returned."""

        def keep(event: gr.EventData) -> dict:
            """Take the uploaded recording as the tab's own input."""
            path = event_data(event).get("path")
            if not isinstance(path, str) or not is_upload(path) or not Path(path).exists():
                raise InputError(NO_FILE)
            return {message: "", recording: path}

        outputs = [message, recording]
        return self.panel.keep(reporting(keep, message), outputs=outputs, **HIDDEN)


def wish_of_plug_in(system: Any, speaking: Speaking) -> dict[str, Any]:
    """Write what the page tells the socket, where a plug-in is to speak: it has no own voices of
    visitors, and speaks in its first."""
    ours = speaking.voice in (OWN, settings.NOBODY)
    voice = settings.DEFAULT_VOICE if ours else speaking.voice
    wish = {name: getattr(Speaking(voice, model=str(system)), name, None) for name in KINDS}
    return {"wish": wish, "note": ""}


def wish_or_error(models: Sequence[str], tickets: Tickets, speaking: Speaking) -> dict[str, Any]:
    """Write what the page tells the socket, with a note for the visitor; or the error there is."""
    if settings.CONTINUOUS not in models:
        return {"wish": wish_of(Speaking(speaking.voice), tickets), "note": ""}
    note = ""
    model = speaking.model
    if model and settings.MODELS[model] != settings.ANY_VOICE:
        note = f"{model} is for recordings. Live goes by {settings.CONTINUOUS} content."
        speaking = replace(speaking, model=settings.CONTINUOUS)
    try:
        return {"wish": wish_of(speaking, tickets), "note": note}
    except InputError as error:
        return {"error": str(error)}
