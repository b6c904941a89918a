"""The sounds that a query names, as chips that change its text, which is then English.

The event is edit, with {"action", "number"}: "link" (in order, or together), "swap" (the other
order), "drop" (without one sound), "whole" (one sound after all).
"""

from pathlib import Path
from typing import Final

import gradio as gr

from earshot.systems.sound_search.compound import parse, written
from earshot.systems.sound_search.languages import translate
from earshot.systems.sound_search.negation import split_unwanted
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.cards import PARTS

SCRIPT: Final = """
element.addEventListener("click", (event) => {
  const { action, number } = event.target.closest("button")?.dataset ?? {};
  if (action) trigger("edit", { action, number: Number(number) });
});
"""


def query_chips() -> gr.HTML:
    """Lay out no chips; return chips() to show some."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("chips.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id="query-chips",
    )


def chips(text: str) -> str:
    """Show the sounds that a text names, and how they relate; nothing for one sound."""
    wanted, unwanted = split_unwanted(translate(text).english)
    compound = parse(wanted)
    if not compound.links and not (wanted and unwanted):
        return ""
    return macro(PARTS, "chips", compound.parts, compound.links, unwanted)


def edited(text: str, action: object, number: object) -> str:
    """Edit the text of the query after a chip was pressed; it is unchanged for an unknown
    action.
    """
    wanted, unwanted = split_unwanted(translate(text).english)
    compound, behind = parse(wanted), f", without {unwanted}" if unwanted else ""
    if action == "whole":
        return f'"{text.replace(chr(34), "")}"'
    if not isinstance(number, int):
        return text
    if action == "drop" and 0 <= number < len(compound.parts):
        return written(compound.without(number)) + behind
    if 0 <= number < len(compound.links) and action in ("link", "swap"):
        change = compound.toggled if action == "link" else compound.swapped
        return written(change(number)) + behind
    return text
