"""Cards to choose a voice from, each with a sample that can be played."""

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path

import gradio as gr

from earshot.tabs.shared.icons import icon

SCRIPT = """
element.addEventListener("change", (event) => { props.value = event.target.value; });
element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
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
watch("value", check);
check();
"""


def voice_cards(
    voices: Mapping[str, str],
    chosen: str,
    samples: Path,
    label: str,
    own: tuple[str, str, str] | None = None,
) -> gr.HTML:
    """Cards whose value is the chosen voice.

    voices: name → description; samples: a folder that may hold NAME.ogg, a sample of each; own:
    value, title and description of a last card, for a voice that the visitor makes.
    """
    cards = "".join(
        _card(name, name, words, samples / f"{name}.ogg") for name, words in voices.items()
    )
    if own:
        value, title, words = own
        cards += _card(value, title, words, None)
    return gr.HTML(
        chosen,
        html_template=(
            f'<fieldset class="voices"><legend>{escape(label)}</legend>'
            f'<div class="voice-grid">{cards}</div></fieldset>'
        ),
        js_on_load=SCRIPT,
        apply_default_css=False,
        label=label,
    )


def _card(value: str, name: str, words: str, sample: Path | None) -> str:
    """sample: None for a voice that is yet to be made."""
    button = ""
    if sample and sample.exists():
        sound = base64.b64encode(sample.read_bytes()).decode()
        button = (
            f'<button type="button" aria-label="Play a sample of {name}">{icon("play")}'
            f'{icon("pause")}</button><audio preload="none" src="data:audio/ogg;base64,{sound}">'
            "</audio>"
        )
    return (
        f'<div class="voice{"" if sample else " to-make"}">'
        f'<label><input type="radio" name="voice" value="{value}">'
        f"<b>{name}</b><span>{escape(words)}</span></label>{button}</div>"
    )
