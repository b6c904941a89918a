"""The capture coach: it suggests what to say into the camera, and what would make it easier to
read, and when.
"""

import json
from pathlib import Path
from typing import Final

import gradio as gr

from earshot.media.text.grammar import GRID
from earshot.tabs.shared.html import render

MAX_SECONDS: Final = 5  # of a recording
# In the page: the sentence that the coach asked for in the last recording, as the last input.
ASKED: Final = """(...given) =>
  [...given.slice(0, -1), document.querySelector(".coach")?.dataset.asked ?? ""]"""
START: Final = "Open the camera below, or upload a video of one person who speaks."


def coach(camera: str) -> gr.HTML:
    """Lay out the coach of the gr.Video whose elem_id is `camera`. A random sentence is shown for
    each recording.
    """
    slots = [[spelled(word) for word in slot] for slot in GRID]
    return gr.HTML(
        render(
            "lip_to_speech/coach.html",
            slots=json.dumps(slots),
            camera=camera,
            seconds=MAX_SECONDS,
            start=START,
        ),
        css_template=Path(__file__).with_name("coach.css").read_text(),
        js_on_load=Path(__file__).with_name("coach.js").read_text(),
        apply_default_css=False,
        elem_id="lip-coach",
    )


def spelled(word: str) -> str:
    """Spell a word of the grammar as it is written in a sentence: letters are capitals."""
    return word.upper() if len(word) == 1 else word
