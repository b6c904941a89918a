"""A visitor's own collections of sounds. The page keeps them in the browser, and nowhere else.

The panel's events are select (show one) and delete, each with {"name"}; the store's is apply, with
the {"collections"} that the browser had kept.
"""

from pathlib import Path
from typing import Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.shared.events import LAST, Update, queued
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.sessions import MAX_AGE
from earshot.tabs.sound_search.events import SoundEvents, sound_id
from earshot.tabs.sound_search.library import VisitorLibrary
from earshot.tabs.sound_search.query import PARTS, Collections, Search, choice

MAX_COLLECTIONS: Final = 50  # collections
MAX_SOUNDS: Final = 1000  # of one
MAX_CHARACTERS: Final = 60  # of a name
NO_NAME: Final = "Give the collection a name first."
TOO_MANY: Final = f"There is room for {MAX_COLLECTIONS} collections. Delete one first."
FULL: Final = f"There is room for {MAX_SOUNDS:,} sounds in a collection. Begin another."
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
  const stored = JSON.parse(localStorage.getItem(KEY));
  if (stored) trigger("apply", { collections: stored });
} catch {}
"""


def restored(value: object) -> Collections:
    """Read what a browser had kept, without what cannot be a collection: it can be anything."""
    if not isinstance(value, dict):
        return {}
    return {
        name[:MAX_CHARACTERS]: tuple(i[:MAX_CHARACTERS] for i in ids if isinstance(i, str))[
            :MAX_SOUNDS
        ]
        for name, ids in list(value.items())[:MAX_COLLECTIONS]
        if isinstance(name, str) and isinstance(ids, list)
    }


def toggled(collections: Collections, name: str, sound_id: str) -> Collections:
    """Put the sound into the collection, or take it out if it was there; an empty one is no more.

    Raises InputError for a collection without a name, and where there is no room.
    """
    name = plain(name)
    if not name:
        raise InputError(NO_NAME)
    ids = collections.get(name, ())
    if sound_id in ids:
        ids = tuple(other for other in ids if other != sound_id)
    elif len(ids) == MAX_SOUNDS:
        raise InputError(FULL)
    else:
        ids = (*ids, sound_id)
    if name not in collections and len(collections) == MAX_COLLECTIONS:
        raise InputError(TOO_MANY)
    return {other: sounds for other, sounds in {**collections, name: ids}.items() if sounds}


def plain(name: str) -> str:
    """Write the name as it is kept."""
    return " ".join(name.split())[:MAX_CHARACTERS]


def panel(collections: Collections) -> str:
    """Make the value of the list: a row for each collection."""
    return macro(PARTS, "collections", collections) if collections else ""


class CollectionSection(Section):
    """The section, whose handlers take the visitor's collections, and return them. name: of the
    collection that the next sound is kept in; store: what the browser keeps, which shows nothing,
    and is to be rendered where it is not folded away, for it would not run there.
    """

    events: SoundEvents

    def __init__(self) -> None:
        """Lay out the name and the list of collections."""
        self.collections = gr.State({}, time_to_live=MAX_AGE)
        gr.HTML(HINT)
        self.name = gr.Textbox(
            FIRST, label="Keep sounds in", max_length=MAX_CHARACTERS, max_lines=1
        )
        self.panel = gr.HTML(
            "",
            css_template=Path(__file__).with_name("collections.css").read_text(),
            js_on_load=SCRIPT,
            apply_default_css=False,
            elem_id="own-collections",
        )
        self.store = gr.HTML(
            "", js_on_load=STORE, apply_default_css=False, collections={}, render=False
        )

    def wire(self, events: SoundEvents) -> None:
        """Connect the cards and the panel."""
        self.events, self.message = events, events.result.message
        result, choice = events.result, events.components.filters.collections
        changed = [result.message, result.best, result.rest, self.collections, self.panel]
        changed += [self.store, choice]
        named: list[Component] = [self.collections, self.name]
        self.on([result.best.apply, result.rest.apply], self.keep, named, changed)
        self.on(self.store.apply, self.restore, [self.name], changed)
        self.on(self.panel.delete, self.delete, named, changed)
        self.on(self.name.blur, self.update, named, changed)
        chosen = [result.search, events.components.own, self.collections]
        self.on(self.panel.select, self.show, chosen, events.components.outputs, **queued(), **LAST)

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
            self.panel: panel(collections),
            self.store: gr.HTML(collections=collections),
            self.events.components.filters.collections: choice(list(collections)),
        }
