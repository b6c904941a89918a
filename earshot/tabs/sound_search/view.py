"""The view of a search's result."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.tabs.components.map import QueryMarker, show
from earshot.tabs.components.timeline import File
from earshot.tabs.shared.events import Update
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.cards import PARTS, cards_value, panel
from earshot.tabs.sound_search.catalogue import Catalogue
from earshot.tabs.sound_search.filters import Filters
from earshot.tabs.sound_search.library import IndexedCatalogue
from earshot.tabs.sound_search.search import Search

if TYPE_CHECKING:
    from earshot.study.design.draft import DraftItem
    from earshot.systems.sound_search import SearchResult

FIRST: Final = (
    '<p class="no-match">Describe a sound in your own words, or try an example: the best matches '
    "appear here, each with the place where it matches.</p>"
)


@dataclass(frozen=True)
class ResultView:
    """The components that show a search: a message under the input, the visitor's last search, one
    line on the result, cards of the best sound and of the others, a button for more of them, the
    map, and downloads of the votes and of the results."""

    message: gr.HTML
    search: gr.State
    found: gr.HTML
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
        if result.matched or not catalogue.shipped:
            best = cards_value(result, hits[:1], catalogue, search)
            rest = cards_value(result, hits[1:], catalogue, search)
        else:
            best = panel(macro(PARTS, "no_match", search.name, result.threshold))
            fold = f"Show the {len(hits)} nearest sounds anyway"
            rest = cards_value(result, hits, catalogue, search, fold) if hits else panel("")
        best_sound = hits[0].sound if hits else None
        return {
            self.search: replace(search, mapped=mapped, best=best_sound),
            self.found: _summary(search, result, catalogue, note),
            self.best: best,
            self.chart: show(marker, chart),
            self.rest: rest,
            self.labels: _labels(search, catalogue),
            self.export: _export(result, catalogue),
        }

    def wait(self, search: Search, catalogue: Catalogue | None) -> Update:
        """Show the same components before a search: the map alone, if there is one."""
        update: Update = {self.found: "", self.best: panel(FIRST), self.rest: panel("")}
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
    def asked(self) -> set[Component]:
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
    def shown(self) -> list[Component]:
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
        found = int(np.isfinite(result.scores).sum())
        return macro(PARTS, "listing", search.name, len(result.hits), found)
    if not result.matched and not catalogue.shipped:
        below = f"below {result.threshold:.2f}, the score of a match: the nearest come first"
        note = f"{note} · {below}" if note else below
    best = max((hit.score for hit in result.hits), default=None)
    milliseconds = 1000 * result.compute_seconds
    return macro(PARTS, "summary", search.name, best, len(catalogue.sounds), milliseconds, note)


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
