"""Cards to choose a voice from, each with a sentence that it says."""

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from earshot.tabs.shared.icons import icon
from earshot.tabs.shared.images import ink_on

# A click on a card is told even where it is chosen already: a voice clicked is a voice heard. That
# of a voice which is yet to be made only opens what makes it.
SCRIPT = """
element.addEventListener("click", ({ target }) => {
  if (target.matches("input")) {
    props.value = target.value;
    const live = document.querySelector('.live:not([data-state="off"])'); // it is heard there
    const ready = !live && (target.value !== props.own || props.made);
    if (ready) trigger("select", { value: target.value });
    return;
  }
  const button = target.closest("button");
  const sample = button?.parentElement.querySelector("audio");
  if (sample) sample.paused ? sample.play() : sample.pause();
});
const show = (event) => {
  const card = event.target.parentElement;
  card.querySelector("button").classList.toggle("tl-on", !event.target.paused);
  if (event.type === "pause") event.target.currentTime = 0;
};
element.addEventListener("play", show, true);
element.addEventListener("pause", show, true);
const check = () => {
  for (const radio of element.querySelectorAll("input")) {
    radio.checked = radio.value === props.value;
  }
};
watch(["value", "made"], check);
check();
"""


class Card(NamedTuple):
    """A voice on the page: a name to call it by, what it sounds like, its colour (#rrggbb)."""

    name: str
    about: str
    color: str


def voice_cards(
    voices: Mapping[str, Card],
    chosen: str,
    samples: Path,
    label: str,
    own: tuple[str, Card] | None = None,
) -> gr.HTML:
    """Lay out cards whose value is the chosen voice, and whose event select is a click on one.

    voices: by what the pipelines call them; samples: a folder that may hold VOICE.ogg, a sentence
    of each; own: the value and the card of a voice that the visitor makes, the last one; its
    property made says whether it is made.
    """
    cards = "".join(_card(voice, card, samples / f"{voice}.ogg") for voice, card in voices.items())
    if own:
        cards += _card(*own, None)
    return gr.HTML(
        chosen,
        html_template=(
            f'<fieldset class="voices"><legend>{escape(label)}</legend>'
            f'<div class="voice-grid">{cards}</div></fieldset>'
        ),
        js_on_load=SCRIPT,
        apply_default_css=False,
        label=label,
        own=own[0] if own else "",
        made=False,
    )


def _card(voice: str, card: Card, sample: Path | None) -> str:
    """sample: None for a voice that is yet to be made."""
    button = ""
    if sample and sample.exists():
        sound = base64.b64encode(sample.read_bytes()).decode()
        button = (
            f'<button type="button" aria-label="Play a sentence of {card.name}">{icon("play")}'
            f'{icon("pause")}</button><audio preload="none" src="data:audio/ogg;base64,{sound}">'
            "</audio>"
        )
    face = f"background:{card.color};color:{ink_on(card.color)}"
    return (
        f'<div class="voice{"" if sample else " to-make"}">'
        f'<label><input type="radio" name="voice" value="{voice}">'
        f'<i style="{face}" aria-hidden="true">{card.name[0]}</i>'
        f"<b>{card.name}</b><span>{escape(card.about)}</span></label>{button}</div>"
    )
