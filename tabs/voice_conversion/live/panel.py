"""The Live switch of the voice conversion tab, and what is seen while it is on."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

import gradio as gr

from media.errors import InputError
from pipelines.voice_conversion.settings import DEFAULT_VOICE
from tabs.shared.events import HIDDEN, reporting
from tabs.shared.gradio_internals import event_data
from tabs.shared.icons import icon
from tabs.shared.sessions import is_upload

FOLDER: Final = Path(__file__).parent
HTML: Final = f"""
<section class="live" data-voices="@voices" data-state="off" aria-label="Live conversion">
<div class="live-bar">
<button type="button" class="live-switch"><i></i><span>Live</span></button>
<p>Hear yourself in the chosen voice while you speak. <b>Wear headphones.</b></p>
</div>
<div class="live-now" hidden>
<div class="live-level" role="img" aria-label="Level of the microphone"></div>
<canvas class="live-units" role="img" aria-label="Units as they are spoken"></canvas>
<p class="live-line numbers"></p>
</div>
<p class="live-message message notice" role="status" hidden></p>
<div class="live-kept" hidden>
<p>The last 30 seconds. Nobody else has them.</p>
<audio controls></audio>
<div><a class="live-said" download="live.wav">{icon("download")}What you heard</a>
<button type="button" class="live-take">Take what you said apart</button></div>
</div>
<label class="live-clean"><input type="checkbox"> Loudspeakers: cancel echo and noise</label>
</section>
"""
# The panel is told of the voice by an event, for the cards are elsewhere on the page.
TELL: Final = """(voice) => {
  document.getElementById("live")?.dispatchEvent(new CustomEvent("voice", { detail: voice }));
  return [];
}"""
NO_FILE: Final = "This recording did not arrive. Press Live and try again."


def live_panel(
    voices: Sequence[str], voice: gr.HTML, recording: gr.Audio, message: gr.HTML
) -> gr.HTML:
    """The switch. voices: those that Live has; voice: cards whose value is the one to speak in,
    whatever is chosen meanwhile; recording: takes what was said last, where the visitor wants to
    take it apart."""
    # That of the page first: what it is until another card is chosen.
    ordered = sorted(voices, key=lambda name: name != DEFAULT_VOICE)
    panel = gr.HTML(
        HTML.replace("@voices", escape(json.dumps(ordered))),
        css_template=(FOLDER / "live.css").read_text(),
        js_on_load=(FOLDER / "live.js").read_text(),
        apply_default_css=False,
        elem_id="live",
    )
    voice.change(None, inputs=voice, outputs=[], js=TELL, **HIDDEN)

    def keep(event: gr.EventData) -> dict:
        """The uploaded recording as the tab's own input."""
        path = event_data(event).get("path")
        if not isinstance(path, str) or not is_upload(path) or not Path(path).exists():
            raise InputError(NO_FILE)
        return {message: "", recording: path}

    panel.keep(reporting(keep, message), outputs=[message, recording], **HIDDEN)
    return panel
