"""The view of a search's result: a line, a map, and cards, each a sound with its caption, its
score, and a Timeline that shows where it matches.

The cards' events are edit (a vote, "up" or "down"), submit ("more"), apply ("keep") and select
("compare"), each with {"sound": id, "action"}. Their prop kept has the ids of sounds in the
visitor's collection.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.constants import SOUND_SAMPLE_RATE
from earshot.tabs.components import timeline
from earshot.tabs.components.lanes import Heat, Lane, Spectrogram
from earshot.tabs.components.map import QueryMarker, marker, show
from earshot.tabs.components.timeline import TEMPLATE, Action, File, TimelineSpec
from earshot.tabs.shared.events import Update
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.catalogue import Catalogue, title
from earshot.tabs.sound_search.library import IndexedCatalogue
from earshot.tabs.sound_search.query import PARTS, Filters, Search

if TYPE_CHECKING:
    from earshot.study.design.draft import DraftItem
    from earshot.systems.sound_search import Hit, SearchResult
    from earshot.systems.sound_search.query import Compound

NYQUIST: Final = SOUND_SAMPLE_RATE / 2  # Hz: the top of the spectrograms
MIN_LONG_SECONDS: Final = 20.0  # sounds start where they match best
MATCHED: Final = "Where it matched"
LIKE_THE_REST: Final = "Where it is like the rest"
FULL_WORDS: Final = 0.7  # cosine of a query and words that say the same
LEVELS: Final = {1.0: "a match", 0.8: "close", 0.5: "some"}  # of a match, at least
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
    const drawn = timelines.get(card);
    if (drawn?.sound === sound) { drawn.render(); continue; }
    if (drawn) {
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
FIRST: Final = (
    '<p class="no-match">Describe a sound in your own words, or try an example: the best matches '
    "appear here, each with the place where it matches.</p>"
)


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
) -> dict[str, Any]:
    """Make the value of a list with cards for some hits of the result."""
    scores = [float(score) for hit in result.hits for score in hit.part_scores.ravel()]
    scale = (min(scores, default=0.0), max([result.threshold, *scores]))
    cards: list[Markup] = []
    files: list[File] = []
    for hit in hits:
        spec = _timeline(hit, result.compound, catalogue, search, scale)
        meters = () if search.listing else _meters(hit, result)
        rank = result.hits.index(hit) + 1
        cards.append(_card(rank, hit, catalogue, spec.html(len(files)), meters))
        files += spec.files
    html = macro(PARTS, "cards", cards)
    return {"html": html, "files": [file.data() for file in files]}


@dataclass(frozen=True)
class Meter:
    """A bar of a card: how well its sound, or what is written of it, fits the query.

    name: of what; share: filled, from 0 to 1; score: the cosine; level: in words.
    """

    name: str
    share: float
    score: float
    level: str


def _meters(hit: "Hit", result: "SearchResult") -> tuple[Meter, ...]:
    full = result.threshold if result.threshold > 0 else 1.0  # of a model without a threshold
    scores = [("Sound", hit.score, hit.score / full)]
    if hit.words is not None:
        scores.append(("Words", hit.words, hit.words / FULL_WORDS))
    return tuple(
        Meter(name, min(max(share, 0.0), 1.0), score, _level(share))
        for name, score, share in scores
    )


def _level(share: float) -> str:
    """Say in words how much of a match a share of one is."""
    return next((name for least, name in LEVELS.items() if share >= least), "no")


def _card(
    rank: int, hit: "Hit", catalogue: Catalogue, timeline: Markup, meters: Sequence[Meter]
) -> Markup:
    sound = hit.sound
    category = catalogue.category(sound)
    about = f"{category} · {sound.kind.replace('_', ' ')}" if sound.kind else category
    if copies := catalogue.copies(sound):
        about += f" · same file as {copies} other{'s' if copies > 1 else ''}"
    mark = marker(catalogue.categories.index(category))
    name = title(sound)
    return macro(PARTS, "card", rank, sound, name, mark, about, hit.matches, meters, timeline)


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


@dataclass(frozen=True)
class ResultView:
    """The components that show a search: a message under the input, the visitor's last search, one
    line on the result, cards of the best sound and of the others, a button for more of them, the
    map, and downloads of the votes and of the results."""

    message: gr.HTML
    search: gr.State
    summary: gr.HTML
    best: gr.HTML
    chart: gr.HTML
    rest: gr.HTML
    more: gr.Button
    labels: gr.DownloadButton
    export: gr.DownloadButton

    @property
    def components(self) -> list[Component]:
        return [getattr(self, field.name) for field in fields(self)]

    def show(
        self, search: Search, result: "SearchResult", catalogue: Catalogue, note: str = ""
    ) -> Update:
        """Show a result. note: shown next to its numbers."""
        hits = result.hits
        marked = search.ids or [hit.sound.id for hit in hits]
        marker = QueryMarker(*result.point, search.name, marked)
        mapped = _map_id(search, catalogue)
        chart = catalogue.chart() if search.mapped != mapped else None
        best = cards_value(result, hits[:1], catalogue, search)
        rest = cards_value(result, hits[1:], catalogue, search)
        best_sound = hits[0].sound if hits else None
        return {
            self.search: replace(search, mapped=mapped, best=best_sound),
            self.summary: _summary(search, result, catalogue, note),
            self.best: best,
            self.chart: show(marker, chart),
            self.rest: rest,
            self.labels: _labels(search, catalogue),
            self.export: _export(result, catalogue),
        }

    def wait(self, search: Search, catalogue: Catalogue | None) -> Update:
        """Show the same components before a search: the map alone, if there is one."""
        update: Update = {self.summary: "", self.best: panel(FIRST), self.rest: panel("")}
        update |= {
            self.export: gr.DownloadButton(visible=False),
            self.more: gr.Button(visible=False),
        }
        if catalogue is None:
            return {**update, self.search: search}
        return {
            **update,
            self.search: replace(search, mapped=_map_id(search, catalogue)),
            self.chart: show(None, catalogue.chart()),
            self.labels: _labels(search, catalogue),
        }


@dataclass(frozen=True)
class SoundComponents:
    """The components of the tab that handlers read and change."""

    result: ResultView
    text: gr.Textbox
    understood: gr.HTML  # the sounds that the text names
    recording: gr.Audio
    without: gr.Textbox
    liked: gr.State  # (id, name) of a sound to find more like, or None
    liked_chip: gr.Button
    filters: Filters
    own: gr.State  # the visitor's own library, or None
    scope: gr.Radio  # which library is searched
    collections: gr.State

    @property
    def inputs(self) -> set[Component]:
        """Collect the components that a search takes."""
        searched = {self.result.search, self.own, self.scope, self.collections, self.liked}
        return {*searched, *self.query_inputs, *self.filters.components}

    @property
    def query_inputs(self) -> tuple[gr.Textbox, gr.Audio, gr.Textbox]:
        return self.text, self.recording, self.without

    @property
    def like(self) -> list[Component]:
        return [self.liked, self.liked_chip]

    @property
    def outputs(self) -> list[Component]:
        """List the components that show a library and a search in it."""
        return [*self.result.components, self.understood, self.filters.licences, self.filters.tags]


def draft_item(search: Search) -> "DraftItem | None":
    """Make an item of a listening test of the best sound."""
    if search.best is None:
        return None
    try:
        content = search.best.file.read_bytes()
    except (InputError, OSError):  # it is gone
        return None
    from earshot.study.design.draft import DraftItem  # late, for it loads scipy

    settings = {"query": search.query, "file": search.best.name}
    return DraftItem("sound search", content, search.name, settings)


def _map_id(search: Search, catalogue: Catalogue) -> str:
    return f"{search.scope} {hash(catalogue.stored().layout[:: catalogue.step].tobytes())}"


def _summary(search: Search, result: "SearchResult", catalogue: Catalogue, note: str) -> Markup:
    if search.listing:
        count = int(np.isfinite(result.scores).sum())
        return macro(PARTS, "listing", search.name, len(result.hits), count)
    milliseconds = 1000 * result.compute_seconds
    missing = "" if result.matched else _missing(search, result)
    return macro(PARTS, "summary", search.name, missing, len(catalogue.sounds), milliseconds, note)


def _missing(search: Search, result: "SearchResult") -> str:
    """Say that nothing matches, and what comes in its place."""
    links = result.compound.links
    amounts = " and ".join(f"“{amount.name}”" for amount in result.compound.amounts if amount)
    if amounts:
        return f"{amounts}: found in none of the sounds here. The nearest come first."
    if not links:
        return f"Nothing here matches {search.name} well: the nearest come first."
    how = "in this order" if "then" in links else "together"
    return f"No sound here has all of it {how}: the nearest come first."


def _labels(search: Search, catalogue: Catalogue) -> gr.DownloadButton:
    """Offer the download of all votes as graded labels; hidden without votes."""
    count = sum(map(len, search.labels.values()))
    if not count or not isinstance(catalogue, IndexedCatalogue):
        return gr.DownloadButton(visible=False)
    from earshot.exports.sounds import labels_csv  # late, for it loads torch

    table = File(
        "Labels", "labels.csv", labels_csv(catalogue.index, search.labels).encode("utf-8-sig")
    )
    label = f"Export {count} label{'s' if count > 1 else ''} (CSV)"
    return gr.DownloadButton(label, value=table.data()["path"], visible=True)


def _export(result: "SearchResult", catalogue: Catalogue) -> gr.DownloadButton:
    """Offer the download of the results; hidden where there is no index, or nothing was found."""
    if not result.hits or not isinstance(catalogue, IndexedCatalogue):
        return gr.DownloadButton(visible=False)
    from earshot.exports.sounds import results_zip  # late, for it loads torch

    packed = File("Results", "results.zip", results_zip(result, catalogue.index))
    count = len(result.hits)
    label = f"Export {count} result{'s' if count > 1 else ''} (zip)"
    try:
        return gr.DownloadButton(label, value=packed.data()["path"], visible=True)
    except gr.Error:  # there is no room for it: the results are shown all the same
        return gr.DownloadButton(visible=False)
