"""The parts that tabs have in common: sections with events of their own, inputs, the main button,
what stands in for a model.
"""

import math
from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path
from typing import Any, Final, Literal

import gradio as gr
from gradio.blocks import BlockContext
from gradio.components import Component
from gradio.events import Dependency

from earshot.core.errors import InputError
from earshot.tabs.shared.events import HIDDEN, on_model, reporting

CHIP: Final[dict[str, Any]] = {"size": "sm", "min_width": 0, "scale": 0}

# {checkpoint}, {data}: as in missing_model; {system}: the package of the training.
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/{checkpoint}</code>, and there is none. Train one,
with your {data} in DIR, {then}. The other tabs work meanwhile.</p>
<pre>python -m training.{system} prepare --data DIR --out OUT
python -m training.{system} train --out OUT
python -m training.{system} export --out OUT</pre></header>
"""


class Section:
    """A part of a tab: its components are attributes, which __init__ lays out, and its methods
    handle their events. Each returns {component: value}; its errors are shown in ``message``.
    """

    message: gr.HTML

    def on(
        self,
        triggers: Callable | Sequence[Callable],
        handler: Callable,
        inputs: Component | Sequence[Component] | None,
        outputs: Component | Sequence[Component | BlockContext],
        **how: Any,
    ) -> Dependency:
        """Run a handler on events. how: queued(…), if not at once."""
        run, how = reporting(handler, self.message), how or HIDDEN
        if callable(triggers):  # also an event of a script's own, which gr.on does not know
            return triggers(run, inputs, outputs, **how)
        return gr.on(triggers, run, inputs, outputs, **how)

    def on_model(
        self,
        trigger: Callable,
        handler: Callable,
        inputs: Sequence[Component] | Set[Component],
        outputs: Sequence[Component],
        **how: Any,
    ) -> Dependency:
        """Run a handler as a job, that can be stopped: see events.on_model."""
        how = {"message": self.message, **how}
        return on_model(trigger, handler, inputs, outputs, **how)


def when_opened() -> Callable[..., Dependency]:
    """Return what listens for the first time that the tab or fold, in which it is laid out, is
    opened: only then Gradio makes what is in it, this part without a look included."""
    return gr.HTML(visible="hidden", js_on_load="setTimeout(() => trigger('load'))").load


def chips(labels: Iterable[str], intro: str = "Or try") -> list[gr.Button]:
    """Lay out a row of small buttons, each an example, after a word or two."""
    with gr.Row(elem_classes="chips"):
        gr.HTML(f"<span>{intro}</span>")
        return [gr.Button(label, **CHIP) for label in labels]


def missing_model(
    system: str, checkpoint: str, data: str, then: str = "and start Earshot again"
) -> gr.HTML:
    """Lay out the tab of a system without its checkpoint: how to train it from such data."""
    return gr.HTML(MISSING.format(system=system, checkpoint=checkpoint, data=data, then=then))


def optional_number(label: str, empty: str, **more: Any) -> gr.Textbox:
    """Lay out a field of a number that may be left empty, and says then what that means: Gradio's
    own shows 0 in place of nothing."""
    return gr.Textbox(label=label, placeholder=empty, max_lines=1, **more)


def read_number(field: gr.Textbox, typed: str | float | None, least: float) -> float | None:
    """Read what was typed into such a field: None for nothing. Raises InputError for what is no
    number, or less than the least."""
    text = str(typed if typed is not None else "").strip().replace(",", ".")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number < math.inf:
        raise InputError(f"{field.label}: {least:g} or more, or nothing for {field.placeholder}.")
    return number


def sound_input(
    label: str,
    sources: Sequence[Literal["microphone", "upload"]] = ("microphone", "upload"),
    least: float = 0,
) -> gr.Audio:
    """Lay out a recorder that takes uploads too, unless sources name one of both; its value is a
    file. least: seconds that are needed, which its clock counts. What records, and for how long at
    least, is known to recorder.js by its classes.
    """
    return gr.Audio(
        sources=list(sources),
        type="filepath",
        label=label,
        show_label=False,
        buttons=[],
        waveform_options=gr.WaveformOptions(
            waveform_color="#8A94A0", waveform_progress_color="#0F766E"
        ),
        elem_classes=[
            "sound-input",
            *(["records"] if "microphone" in sources else []),
            *([f"at-least-{least:.0f}"] if least else []),
        ],
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
