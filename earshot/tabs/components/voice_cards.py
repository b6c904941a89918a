"""Cards to choose a voice from, each with a sentence that it says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import gradio as gr

from earshot.media.pictures import ink_on
from earshot.pretrained.voice import NAMES
from earshot.tabs.shared.html import render

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


# The colours are Okabe and Ito's.
LOOKS: Final = {
    "SF1": ("woman, lighter", "#56b4e9"),
    "TF2": ("woman, fuller", "#e69f00"),
    "SM1": ("man, lighter", "#009e73"),
    "TM3": ("man, deeper", "#0072b2"),
    "S1": ("man, clipped and quick", "#d55e00"),
    "Nell": ("woman, clear and trained", "#cc79a7"),
    "Odile": ("woman, warm, a French speaker", "#f0e442"),
    "Vera": ("woman, bright, a Russian speaker", "#999999"),
    "Heart": ("woman, synthetic: nobody's voice", "#8c6d31"),
}
# By what pipelines, programs and files call them.
VOICES: Final = {voice: Card(name, *LOOKS[voice]) for voice, name in NAMES.items()}


def voice_cards(
    voices: Mapping[str, Card],
    chosen: str,
    samples: Path,
    label: str,
    own: tuple[str, Card] | None = None,
) -> gr.HTML:
    """Lay out cards whose value is the chosen voice, and whose event select is a click on one.

    voices: by what the pipelines call them; samples: a folder that the app serves, and that may
    hold VOICE.ogg, a sentence of each; own: the value and the card of a voice that the visitor
    makes, the last one; its property made says whether it is made.
    """
    every = dict(voices) | (dict([own]) if own else {})
    cards = [
        (voice, card, ink_on(card.color), _sample(samples / f"{voice}.ogg"))
        for voice, card in every.items()
    ]
    name = own[0] if own else ""
    return gr.HTML(
        chosen,
        html_template=render("components/voice_cards.html", label=label, cards=cards, own=name),
        js_on_load=SCRIPT,
        apply_default_css=False,
        label=label,
        own=name,
        made=False,
    )


def _sample(path: Path) -> str:
    """Return the address of a sound file, seen from the page, or nothing where there is none. In
    the page itself, all of them would be a third of what it fetches."""
    return f"gradio_api/file={quote(str(path.resolve()))}" if path.exists() else ""
