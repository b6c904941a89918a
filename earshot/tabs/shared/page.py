"""The page around the tabs: what stands above and below them, and its look, which is Gradio's
variables set to paper and ink, and one accent.
"""

import base64
import re
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Final

import gradio as gr
from gradio import themes

from earshot.tabs.shared.events import HIDDEN

HEADER: Final = """
<div class="masthead"><h1><svg viewBox="0 0 32 32" aria-hidden="true"><path
d="M4 13v6M9 9v14M14 4v24M19 10v12M24 7v18M29 13v6"/></svg>Earshot</h1>
<p>Speech systems that you can hear, look inside, and try with your own voice.</p></div>
"""
FOOTER: Final = """
<footer class="colophon">
<p>What you record or upload is used for your answer only. It is never logged or trained on, and
the server deletes it within the hour, but for the sounds of listening tests that you open.</p>
<p>Code: Apache-2.0. Model weights: see the model cards in each system’s tab.
<a href="agents.md" target="_blank">Use Earshot from a program</a></p>
<details class="on-phone" ontoggle="this.open && fetch('phone').then((answer) => answer.text())
.then((text) => { this.lastElementChild.innerHTML = text; })"><summary>Open on a phone</summary>
<div></div></details></footer>
"""
HEAD: Final = "".join(
    f"<script>{Path(__file__).with_name(name).read_text(encoding='utf-8')}</script>"
    for name in ("page.js", "recorder.js")
)
KIOSK: Final = (
    f"<script>{Path(__file__).with_name('kiosk.js').read_text(encoding='utf-8')}</script>"
)
NO_CARDS: Final = "No model is installed yet."
FRONT_MATTER: Final = r"(?:---\n(.*?)\n---\n)?(.*)"
# What a card's front matter says of its model → the task that it is for, the first that fits; a
# card that says nothing is of the first.
TAGS: Final[Mapping[str, Set[str]]] = {
    "voice_conversion": {"voice-conversion", "evaluation"},
    "words": {"acoustic-word-embeddings", "grapheme-to-phoneme"},
    "sound_search": {"audio-retrieval"},
    "lip_to_speech": {"lip-to-speech", "lip-reading"},
}
CSS = Path(__file__).with_name("style.css")

SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")

# (light, dark) of each Gradio variable; the palette itself stands in style.css.
PAPER, CARD, INK, QUIET = "var(--paper)", "var(--card)", "var(--ink)", "var(--quiet)"
LINE, ACCENT, ON_ACCENT = "var(--line)", "var(--accent)", "var(--on-accent)"
VARIABLES = {
    "body_background_fill": PAPER,
    "body_text_color": INK,
    "body_text_color_subdued": QUIET,
    "background_fill_primary": CARD,
    "background_fill_secondary": PAPER,
    "border_color_primary": LINE,
    "border_color_accent": ACCENT,
    "border_color_accent_subdued": ACCENT,
    "color_accent_soft": "var(--accent-soft)",
    "link_text_color": ACCENT,
    "link_text_color_hover": ACCENT,
    "link_text_color_active": ACCENT,
    "link_text_color_visited": ACCENT,
    "block_background_fill": CARD,
    "block_border_color": LINE,
    "block_label_background_fill": CARD,
    "block_label_border_color": LINE,
    "block_label_text_color": QUIET,
    "block_title_text_color": INK,
    "block_info_text_color": QUIET,
    "input_background_fill": CARD,
    "input_background_fill_focus": CARD,
    "input_border_color": LINE,
    "input_border_color_focus": ACCENT,
    "input_placeholder_color": QUIET,
    "button_primary_background_fill": ACCENT,
    "button_primary_background_fill_hover": "var(--accent-strong)",
    "button_primary_border_color": ACCENT,
    "button_primary_border_color_hover": "var(--accent-strong)",
    "button_primary_text_color": ON_ACCENT,
    "button_primary_text_color_hover": ON_ACCENT,
    "button_secondary_background_fill": CARD,
    "button_secondary_background_fill_hover": "var(--hover)",
    "button_secondary_border_color": LINE,
    "button_secondary_border_color_hover": QUIET,
    "button_secondary_text_color": INK,
    "button_secondary_text_color_hover": INK,
    "checkbox_background_color_selected": ACCENT,
    "checkbox_border_color_selected": ACCENT,
    "checkbox_label_background_fill": CARD,
    "checkbox_label_background_fill_hover": "var(--hover)",
    "checkbox_label_background_fill_selected": "var(--accent-soft)",
    "checkbox_label_border_color": LINE,
    "checkbox_label_border_color_selected": ACCENT,
    "checkbox_label_text_color": INK,
    "checkbox_label_text_color_selected": INK,
    "loader_color": ACCENT,
    "slider_color": ACCENT,
    "table_border_color": LINE,
}


def model_cards(folder: Path, task: str) -> str:
    """Join the README of every checkpoint in the folder for a task as one Markdown text: those
    with one of its TAGS, and no other task's."""
    cards = [card for path in sorted(folder.glob("*/README.md")) if (card := _card(path, task))]
    return "\n\n---\n\n".join(cards) or NO_CARDS


def model_cards_section(folder: Path, task: str) -> None:
    """Lay out the cards of a task's models, folded, which are fetched when they are opened."""
    with gr.Accordion("Model cards", open=False) as section:
        cards = gr.Markdown()
    section.expand(lambda: model_cards(folder, task), None, cards, **HIDDEN)


def _card(path: Path, task: str) -> str:
    """Read a card without its front matter, which is for the hub, two headings lower, with its
    pictures in it, and without links into the repository; empty for one of another task."""
    parts = re.match(FRONT_MATTER, path.read_text(), flags=re.DOTALL)
    front, text = parts.groups("") if parts else ("", "")
    tags = set(re.findall(r"[\w-]+", front.partition("tags:")[2].partition("\n")[0]))
    if next((one for one, its in TAGS.items() if tags & its), next(iter(TAGS))) != task:
        return ""

    def drawn(link: re.Match[str]) -> str:
        picture = path.with_name(link[2])
        if not picture.exists():
            return link[1]
        data = base64.b64encode(picture.read_bytes()).decode()
        return f"![{link[1]}](data:image/svg+xml;base64,{data})"

    text = re.sub(r"!\[([^]]*)\]\(([\w.-]+\.svg)\)", drawn, text.strip())
    text = re.sub(r"(?<!!)\[([^]]+)\]\(\.[^)]*\)", r"\1", text)
    return re.sub(r"^#", "###", text, flags=re.MULTILINE)


def theme() -> themes.Base:
    """Set Gradio's plainest theme with system fonts and the palette of style.css."""
    base = themes.Base(
        font=SANS,
        font_mono=MONO,
        radius_size=themes.sizes.radius_md,
        spacing_size=themes.sizes.spacing_md,
    )
    both = VARIABLES | {f"{name}_dark": value for name, value in VARIABLES.items()}
    return base.set(
        **both,
        color_accent=ACCENT,
        block_shadow="none",
        block_shadow_dark="none",
        block_border_width="1px",
        block_border_width_dark="1px",
        block_radius="12px",
        button_border_width="1px",
        button_border_width_dark="1px",
        button_large_text_weight="600",
        button_large_radius="10px",
        button_small_radius="8px",
        block_label_text_size="*text_sm",
    )
