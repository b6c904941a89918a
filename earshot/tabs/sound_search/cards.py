"""Results as cards: each a sound with its caption, its score, and a Timeline that shows where it
matches. The cards' events are edit (a vote, "up" or "down"), submit ("more"), apply ("keep") and
select ("compare"), each with {"sound": id, "action"}. The prop kept has the ids of sounds that are
in the visitor's collection."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.constants import SOUND_SAMPLE_RATE
from earshot.tabs.components import timeline
from earshot.tabs.components.lanes import Heat, Lane, Spectrogram
from earshot.tabs.components.map import marker
from earshot.tabs.components.timeline import TEMPLATE, Action, File, TimelineSpec
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.catalogue import Catalogue, title
from earshot.tabs.sound_search.search import Search

if TYPE_CHECKING:
    from earshot.systems.sound_search import Hit, SearchResult
    from earshot.systems.sound_search.compound import Compound

PARTS: Final = "sound_search/search.html"
NYQUIST: Final = SOUND_SAMPLE_RATE / 2  # Hz: the top of the spectrograms
MIN_LONG_SECONDS: Final = 20.0  # sounds start where they match best
MATCHED: Final = "Where it matched"
LIKE_THE_REST: Final = "Where it is like the rest"
GONE: Final = "This sound's file cannot be reached."

# One Timeline for each card. When results change, Gradio keeps the elements and changes their
# content, so a card that shows another sound now is replaced: the old sound must not play on.
SCRIPT: Final = """
const timelines = new WeakMap();
const EVENTS = { keep: "apply", compare: "select" };
const showKept = () => {
  for (const button of element.querySelectorAll('.card [data-action="keep"]'))
    button.setAttribute("aria-pressed", props.kept.includes(button.closest(".card").dataset.sound));
};
const render = () => {
  for (let card of element.querySelectorAll(".card")) {
    const { sound } = card.dataset;
    const known = timelines.get(card);
    if (known?.sound === sound) { known.render(); continue; }
    if (known) {
      const fresh = card.cloneNode(true);
      card.replaceWith(fresh);
      card = fresh;
    }
    const tell = (event, detail) => trigger(EVENTS[detail.action] ?? event, { ...detail, sound });
    timeline(card, tell, (_, update) => timelines.set(card, { sound, render: update }));
  }
  showKept();
};
watch("value", render);
watch("kept", showKept);
render();
"""


def sound_cards(elem_id: str) -> gr.HTML:
    """Lay out an empty list of cards; return cards_value() or panel() to fill it."""
    script = timeline.SCRIPT.read_text()
    styles = [timeline.CSS.read_text(), Path(__file__).with_name("cards.css").read_text()]
    return gr.HTML(
        panel(""),
        html_template=TEMPLATE,
        css_template="\n".join(styles),
        js_on_load=f"const timeline = (element, trigger, watch) => {{\n{script}\n}};{SCRIPT}",
        apply_default_css=False,
        elem_id=elem_id,
        kept=[],
    )


def panel(html: str) -> dict[str, Any]:
    """Make the value of a list that shows other content instead of cards."""
    return {"html": html, "files": []}


def cards_value(
    result: "SearchResult",
    hits: Sequence["Hit"],
    catalogue: Catalogue,
    search: Search,
    fold: str = "",
) -> dict[str, Any]:
    """Make the value of a list with cards for some hits of the result; `fold`: the title of a
    closed section around them, if any.
    """
    scores = [float(score) for hit in result.hits for score in hit.part_scores.ravel()]
    scale = (min(scores, default=0.0), max([result.threshold, *scores]))
    cards: list[Markup] = []
    files: list[File] = []
    for hit in hits:
        spec = _timeline(hit, result.compound, catalogue, search, scale)
        rank, matches = result.hits.index(hit) + 1, hit.score >= result.threshold
        cards.append(_card(rank, hit, catalogue, spec.html(len(files)), matches))
        files += spec.files
    html = macro(PARTS, "cards", cards, fold)
    return {"html": html, "files": [file.data() for file in files]}


def _card(rank: int, hit: "Hit", catalogue: Catalogue, timeline: Markup, matches: bool) -> Markup:
    sound = hit.sound
    category = catalogue.category(sound)
    about = f"{category}, {sound.kind.replace('_', ' ')}" if sound.kind else category
    if copies := catalogue.copies(sound):
        about += f" · same file as {copies} other{'s' if copies > 1 else ''}"
    mark = marker(catalogue.categories.index(category))
    name = title(sound)
    return macro(PARTS, "card", rank, sound, name, mark, about, hit.score, matches, timeline)


def _timeline(
    hit: "Hit",
    compound: "Compound",
    catalogue: Catalogue,
    search: Search,
    scale: tuple[float, float],
) -> TimelineSpec:
    sound = hit.sound
    names = compound.parts if compound.links else (LIKE_THE_REST if search.listing else MATCHED,)
    vote = search.votes.get(sound.id, 0)
    votes = [
        Action("up", "Fits", needs_cells=False, icon="up", pressed=vote > 0),
        Action("down", "Doesn’t", needs_cells=False, icon="down", pressed=vote < 0),
    ]
    lanes: list[Lane] = [
        Heat(name, tuple(scores), sound.seconds, *scale)
        for name, scores in zip(names, hit.part_scores.tolist(), strict=True)
    ]
    tracks, hint = [], ""
    try:
        tracks = [File("Play", sound.name, catalogue.served(sound))]
        if picture := catalogue.picture(sound):
            lanes.insert(0, Spectrogram("", picture, sound.seconds, nyquist=NYQUIST))
    except InputError:
        tracks, hint = [], GONE
    return TimelineSpec(
        name=f"{title(sound)}: its spectrogram, and where it matched",
        lanes=lanes,
        tracks=tracks,
        actions=[
            *([] if search.listing else votes),
            Action("keep", "Keep", needs_cells=False, icon="keep", pressed=False),
            Action("compare", "A/B", needs_cells=False),
            Action("more", "More like this", "submit", needs_cells=False, icon="similar"),
        ],
        hint=hint,
        start=hit.start if sound.seconds > MIN_LONG_SECONDS else 0.0,
        plays=True,
    )
