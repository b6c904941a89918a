"""Cards to choose a voice from, each with a sample that can be played."""

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path

import gradio as gr

from tabs.shared.icons import icon

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


def voice_cards(voices: Mapping[str, str], chosen: str, samples: Path, label: str) -> gr.HTML:
    """Cards whose value is the chosen voice.

    voices: name → description; samples: a folder that may hold NAME.ogg, a sample of each.
    """
    cards = "".join(_card(name, words, samples / f"{name}.ogg") for name, words in voices.items())
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


def _card(name: str, words: str, sample: Path) -> str:
    button = ""
    if sample.exists():
        sound = base64.b64encode(sample.read_bytes()).decode()
        button = (
            f'<button type="button" aria-label="Play a sample of {name}">{icon("play")}'
            f'{icon("pause")}</button><audio preload="none" src="data:audio/ogg;base64,{sound}">'
            "</audio>"
        )
    return (
        f'<div class="voice"><label><input type="radio" name="voice" value="{name}">'
        f"<b>{name}</b><span>{escape(words)}</span></label>{button}</div>"
    )
