"""The part of a recording that is used as the word, on its waveform with two handles.

Its event is submit, with {"start", "end"} in seconds.
"""

from pathlib import Path
from typing import Final

import gradio as gr
import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.components.lanes import Waveform
from earshot.tabs.shared.html import render
from earshot.tabs.words.panel import sound_of

RATE: Final = SAMPLE_RATE  # of the pipeline's waveforms


def word_cut() -> gr.HTML:
    """Lay out the cut, empty until cut_value() fills it."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("words.css").read_text(),
        js_on_load=Path(__file__).with_name("cut.js").read_text(),
        apply_default_css=False,
        elem_id="word-cut",
    )


def cut_value(recording: np.ndarray, start: float, end: float, used: bool = True) -> str:
    """Show the recording (T,) at 16 kHz, handles at the ends of the cut (s), and buttons to play it
    and to use it. used: whether this cut is the one in use.
    """
    from earshot.media.audio.load import wav_bytes  # late, for it loads scipy

    wave = Waveform.of("your recording", recording, RATE)
    return render(
        "words/cut.html",
        wave=wave.html(),
        seconds=wave.seconds,
        ends=(("start", start), ("end", end)),
        used=used,
        sound=sound_of(wav_bytes(recording, RATE)),
    )
