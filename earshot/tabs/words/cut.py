"""The part of a recording that is used as the word, on its waveform with two handles.

Its event is submit, with {"start", "end"} in seconds.
"""

from pathlib import Path
from typing import Final

import gradio as gr
import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.components.timeline.lanes import Waveform
from earshot.tabs.shared.icons import icon
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
    ends = "".join(
        f'<input type="range" class="cut-{name}" min="0" max="{wave.seconds:.3f}" step="0.01" '
        f'value="{place:.2f}" aria-label="{name.capitalize()} of the word, in seconds">'
        for name, place in (("start", start), ("end", end))
    )
    use = f'<button type="button" class="cut-use" data-used="{used}">Use this cut</button>'
    return (
        f'<div class="cut"><div class="cut-wave">{wave.html()}<div class="cut-head"></div>{ends}'
        f'</div><div class="cut-bar"><button type="button" class="word-play" aria-pressed="false">'
        f"{icon('play')}{icon('pause')}<span>Play the cut</span></button>"
        f"<output></output>{use}"
        f'</div><audio src="{sound_of(wav_bytes(recording, RATE))}"></audio></div>'
    )
