"""A level meter for the microphone before one records, with a line where the room's noise lies."""

from pathlib import Path
from typing import Final

import gradio as gr

HTML: Final = """
<div class="mic">
<button type="button" class="mic-switch">Check the microphone</button>
<div class="mic-now" hidden>
<div class="mic-level" role="meter" aria-label="Level of the microphone" aria-valuemin="-72"
aria-valuemax="0"><i></i><b title="Noise of the room"></b></div>
<p><span role="status"></span> <small></small></p>
</div>
</div>
"""


def microphone_check() -> gr.HTML:
    """Lay out a button that opens the microphone for a quarter of a minute and shows its level in
    dBFS, and the level of the room's noise; no sound leaves the page."""
    return gr.HTML(
        HTML,
        css_template=Path(__file__).with_name("microphone_check.css").read_text(),
        js_on_load=Path(__file__).with_name("microphone_check.js").read_text(),
        apply_default_css=False,
    )
