"""What was understood of a query that names several sounds, as chips that change its text, which
is then English.

The event is edit, with {"action", "number"}: "link" (in order, or together), "swap" (the other
order), "drop" (without one sound), "whole" (one sound after all).
"""

from html import escape
from pathlib import Path
from typing import Final

import gradio as gr

from earshot.pipelines.sound_search.languages import translate
from earshot.pipelines.sound_search.search.compound import Compound, parse, written
from earshot.pipelines.sound_search.search.negation import split_unwanted

LINKS: Final = {"then": "then", "with": "together with"}
OTHER: Final = {"then": "Together, in any order", "with": "In this order"}
SCRIPT: Final = """
element.addEventListener("click", (event) => {
  const { action, number } = event.target.closest("button")?.dataset ?? {};
  if (action) trigger("edit", { action, number: Number(number) });
});
"""


def query_chips() -> gr.HTML:
    """No chips; return chips() to show some."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("chips.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id="query-chips",
    )


def chips(text: str) -> str:
    """The sounds that a text names, and how they relate; empty for one sound."""
    wanted, unwanted = split_unwanted(translate(text).english)
    compound = parse(wanted)
    if not compound.links and not (wanted and unwanted):
        return ""
    shown = [_part(compound, 0)]
    for number, link in enumerate(compound.links):
        shown.append(_button("link", number, LINKS[link], OTHER[link], "chip-link"))
        if link == "then":
            shown.append(_button("swap", number, "⇄", "Exchange these two", "chip-link"))
        shown.append(_part(compound, number + 1))
    if unwanted:
        shown.append(f'<span class="chip-part chip-not">not {escape(unwanted)}</span>')
    whole = _button("whole", 0, "As one sound", "Do not split this query", "chip-link")
    count = len(compound.parts)
    label = f"What was understood: {count} sound{'s' if count > 1 else ''}"
    row = "".join([*shown, whole])
    return f'<div class="query-chips" role="group" aria-label="{label}">{row}</div>'


def edited(text: str, action: object, number: object) -> str:
    """The text of the query after a chip was pressed; unchanged for an unknown action."""
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


def _part(compound: Compound, number: int) -> str:
    part = compound.parts[number]
    drop = _button("drop", number, "✕", f"Leave out: {part}", "chip-drop")
    return f'<span class="chip-part">{escape(part)}{drop}</span>'


def _button(action: str, number: int, label: str, meaning: str, kind: str) -> str:
    return (
        f'<button type="button" class="{kind}" data-action="{action}" data-number="{number}" '
        f'title="{escape(meaning)}" aria-label="{escape(meaning)}">{escape(label)}</button>'
    )
