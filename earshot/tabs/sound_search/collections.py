"""A visitor's own collections of sounds. The page keeps them in the browser, and nowhere else.

The panel's events are select (show one) and delete, each with {"name"}; the store's is apply, with
the {"collections"} that the browser had kept.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.shared.events import HIDDEN, PRIVATE, QUICK_QUEUE, Update, reporting
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.cards import PARTS
from earshot.tabs.sound_search.events import SoundEvents, sound_id
from earshot.tabs.sound_search.filters import Filters, choice
from earshot.tabs.sound_search.kept_collections import (
    MAX_CHARACTERS,
    Collections,
    plain,
    restored,
    toggled,
)
from earshot.tabs.sound_search.library import VisitorLibrary
from earshot.tabs.sound_search.search import Search

FIRST: Final = "Favourites"
HINT: Final = """<p class="hint">“Keep” on a sound puts it into a collection, and takes it out
again. Under Options, a search can be limited to collections. This browser keeps them; we do
not.</p>"""
NO_SUCH: Final = "This collection is gone."
SCRIPT: Final = """
element.addEventListener("click", (event) => {
  const { event: name, name: collection } = event.target.closest("button")?.dataset ?? {};
  if (name) trigger(name, { name: collection });
});
"""
STORE: Final = """
const KEY = "earshot-collections";
// A browser may refuse to keep anything: then they last as long as the visit.
watch("collections", () => {
  try { localStorage.setItem(KEY, JSON.stringify(props.collections)); } catch {}
});
try {
  const kept = JSON.parse(localStorage.getItem(KEY));
  if (kept) trigger("apply", { collections: kept });
} catch {}
"""


def collections_panel() -> gr.HTML:
    """Lay out an empty list; return panel() to fill it."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("collections.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id="own-collections",
    )


def browser_store() -> gr.HTML:
    """Lay out what the browser keeps. It shows nothing, and does not run where it is folded
    away.
    """
    return gr.HTML("", js_on_load=STORE, apply_default_css=False, collections={})


def panel(collections: Collections) -> str:
    """Make the value of the list: a row for each collection."""
    return macro(PARTS, "collections", collections) if collections else ""


class CollectionEvents:
    """The handlers."""

    def __init__(
        self,
        events: SoundEvents,
        filters: Filters,
        collections: gr.State,
        name: gr.Textbox,
        shown: gr.HTML,
        store: gr.HTML,
    ) -> None:
        """Keep the components. name: of the collection that the next sound is kept in; shown: the
        panel.
        """
        self.events, self.filters, self.collections = events, filters, collections
        self.name, self.shown, self.store = name, shown, store

    def keep(self, collections: Collections, name: str, event: gr.EventData) -> Update:
        """Put the sound whose button was pressed into a collection, or take it out."""
        return self.update(toggled(collections, name, sound_id(event)), name)

    def restore(self, name: str, event: gr.EventData) -> Update:
        """Restore the collections that the browser had kept."""
        return self.update(restored(event_data(event).get("collections")), name)

    def delete(self, collections: Collections, name: str, event: gr.EventData) -> Update:
        """Delete a collection; its sounds stay where they are."""
        gone = event_data(event).get("name")
        return self.update({key: ids for key, ids in collections.items() if key != gone}, name)

    def show(
        self,
        past: Search,
        own: VisitorLibrary | None,
        collections: Collections,
        event: gr.EventData,
    ) -> Update:
        """List the sounds of a collection."""
        name = str(event_data(event).get("name"))
        if name not in collections:
            raise InputError(NO_SUCH)
        return self.events.run(past.listed(f"Collection: {name}", collections[name]), own)

    def update(self, collections: Collections, name: str) -> Update:
        """Show the collections; the sounds of that with this name are marked on their cards."""
        result, marks = self.events.result, gr.HTML(kept=list(collections.get(plain(name), ())))
        return {
            result.message: "",
            result.best: marks,
            result.rest: marks,
            self.collections: collections,
            self.shown: panel(collections),
            self.store: gr.HTML(collections=collections),
            self.filters.collections: choice(list(collections)),
        }

    def wire(self, own: gr.State, shown: list[Component]) -> None:
        """Connect the cards and the panel; shown: the components that show a search."""
        result, name = self.events.result, self.name
        changed = [result.message, result.best, result.rest, self.collections, self.shown]
        changed += [self.store, self.filters.collections]
        kept: list[Component] = [self.collections, name]
        events: list[tuple[Callable, Callable[..., Update], list[Component]]] = [
            (result.best.apply, self.keep, kept),
            (result.rest.apply, self.keep, kept),
            (self.store.apply, self.restore, [name]),
            (self.shown.delete, self.delete, kept),
            (name.blur, self.update, kept),
        ]
        for trigger, handler, inputs in events:
            trigger(reporting(handler, result.message), inputs, changed, **HIDDEN)
        self.shown.select(
            reporting(self.show, result.message),
            [result.search, own, self.collections],
            shown,
            concurrency_id=QUICK_QUEUE,
            show_progress="hidden",
            **PRIVATE,
        )


def collections_section() -> tuple[gr.Textbox, gr.HTML]:
    """Lay out the name of the collection to keep sounds in, and the list."""
    gr.HTML(HINT)
    name = gr.Textbox(FIRST, label="Keep sounds in", max_length=MAX_CHARACTERS, max_lines=1)
    return name, collections_panel()
