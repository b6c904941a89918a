"""Another system beside ours: its ranking for the same query, with what moved; or the whole tab by
it.
"""

from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.components.side_by_side import about_systems
from earshot.tabs.shared.events import SYSTEMS_QUEUE, Update, say
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Services
from earshot.tabs.sound_search.catalogue import title
from earshot.tabs.sound_search.events import SoundEvents
from earshot.tabs.sound_search.library import NO_SYSTEM, OURS, Systems, VisitorLibrary
from earshot.tabs.sound_search.query import Search

if TYPE_CHECKING:
    from earshot.systems.sound_search import SearchResult

MAX_SECONDS: Final = 3600.0  # of embedding the library, of which a download may be a part
NO_QUERY: Final = "Search for something first: the same query is then ranked by both."
HINT: Final = "The same query ranked by another system."
MAX_RANK: Final = 10


class SystemSection(Section):
    """The folded section with the choice of a system, and the rankings by it and by ours."""

    def __init__(self, systems: Systems, services: Services) -> None:
        """Lay it out."""
        self.systems = systems
        plugged = systems.offer.choices
        with gr.Accordion("Side by side", open=False):
            gr.HTML(about_systems(HINT, systems.offer, services.plug_in_faults))
            self.name = gr.Dropdown(
                [(OURS, ""), *plugged], value=plugged[0][1] if plugged else "", label="System"
            )
            self.rank = gr.Button("Rank by both", size="sm")
            self.use = gr.Button("Search by it from now on", size="sm")
            self.stop = gr.Button("Stop", size="sm", visible=False)
            self.message = gr.HTML()
            self.ranks = gr.HTML(elem_id="ranks-of-systems", elem_classes="side-by-side")

    def wire(self, events: SoundEvents) -> None:
        """Connect the section. events: those of the tab, whose last search is ranked again."""
        self.events = events
        inputs: list[Component] = [self.name, events.result.search, events.components.own]
        outputs = events.components.outputs
        how: dict[str, Any] = {"stop": self.stop, "queue": SYSTEMS_QUEUE, "seconds": MAX_SECONDS}
        self.on_model(
            self.rank.click,
            self.compare,
            inputs,
            [self.message, self.ranks],
            progress_on=self.ranks,
            start=self.rank,
            **how,
        )
        self.on_model(
            self.use.click,
            self.search_by,
            inputs,
            [self.message, *outputs],
            progress_on=events.result.summary,
            start=self.use,
            **how,
        )

    def compare(
        self,
        name: str,
        past: Search,
        own: VisitorLibrary | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Rank the last query by ours and by a system, and show what moved."""
        if name not in self.systems.offer.plugged:
            raise InputError(NO_SYSTEM)
        if past.listing or not (past.text or past.like):
            raise InputError(NO_QUERY)
        label = self.systems.label(name)
        ours, theirs = (self.events.rank(past, own, n, MAX_RANK, progress) for n in ("", name))
        rows = [
            {"ours": before, "theirs": after, "moved": moved}
            for (before, _), (after, moved) in zip(
                rank_changes(theirs, ours), rank_changes(ours, theirs), strict=True
            )
        ]
        html = render("sound_search/systems.html", query=past.name, label=label, rows=rows)
        return {self.message: "", self.ranks: html}

    def search_by(
        self,
        name: str,
        past: Search,
        own: VisitorLibrary | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Search by a system from now on, or by ours again; embed the library by it."""
        search = Search(scope=past.scope, labels=past.labels, model=name or "")
        library = self.events.library(search, own, progress)
        message = say(f"{self.systems.label(name)} is ready.", "done")
        return {**self.events.wait(search, library), self.message: message}


def rank_changes(before: "SearchResult", after: "SearchResult") -> list[tuple[str, str]]:
    """List the sounds of a ranking, MAX_RANK of them, each with how it moved from another: "+3",
    "−2", "=", or "new"; "" where there is none."""
    places = {hit.sound.id: place for place, hit in enumerate(before.hits)}
    rows = []
    for place, hit in enumerate(after.hits[:MAX_RANK]):
        change = places.get(hit.sound.id, place) - place
        moved = f"{change:+d}".replace("-", "−") if change else "="
        rows.append((title(hit.sound), moved if hit.sound.id in places else "new"))
    return rows + [("", "")] * (MAX_RANK - len(rows))
