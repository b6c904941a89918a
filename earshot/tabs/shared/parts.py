"""The parts that tabs have in common: inputs, the main button, what stands in for a model."""

from pathlib import Path
from typing import Final

import gradio as gr

# {checkpoint}, {data}: as in missing_model; {system}: the package of the training.
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/{checkpoint}</code>, and there is none. Train one,
with your {data} in DIR, {then}. The other tabs work meanwhile.</p>
<pre>python -m training.{system} prepare --data DIR --out OUT
python -m training.{system} train --out OUT
python -m training.{system} export --out OUT</pre></header>
"""


def missing_model(
    system: str, checkpoint: str, data: str, then: str = "and start Earshot again"
) -> gr.HTML:
    """Lay out the tab of a system without its checkpoint: how to train it from such data."""
    return gr.HTML(MISSING.format(system=system, checkpoint=checkpoint, data=data, then=then))


def sound_input(label: str) -> gr.Audio:
    """Lay out a recorder that takes uploads too; its value is a file."""
    return gr.Audio(
        sources=["microphone", "upload"],
        type="filepath",
        label=label,
        show_label=False,
        buttons=[],
        waveform_options=gr.WaveformOptions(
            waveform_color="#8A94A0", waveform_progress_color="#0F766E"
        ),
        elem_classes="sound-input",
    )


def query_input(label: str, placeholder: str, max_lines: int) -> gr.Textbox:
    """Lay out a text field under a heading that says what it is for; label is read to those who
    cannot see it.
    """
    return gr.Textbox(
        "",
        label=label,
        show_label=False,
        container=False,
        placeholder=placeholder,
        max_lines=max_lines,
        elem_classes="query",
    )


def main_button(label: str, ready: bool = True) -> tuple[gr.Button, gr.Button]:
    """Lay out the one main button of a tab, and the Stop that takes its place; ready: to be
    pressed."""
    with gr.Row(elem_classes="main-button"):
        button = gr.Button(label, variant="primary", size="lg", interactive=ready)
        return button, gr.Button("Stop", size="lg", visible=False)


def how_it_works(tab: str) -> None:
    """Lay out the folded explanation next to a tab's module, whose __file__ this is."""
    with gr.Accordion("How it works", open=False):
        html = Path(tab).with_name("how_it_works.html").read_text(encoding="utf-8")
        gr.HTML(html, apply_default_css=False)
