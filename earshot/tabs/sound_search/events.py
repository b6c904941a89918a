"""Event handlers of the sound search tab: each returns {component: value}."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.systems.sound_search.query import clean
from earshot.tabs.components.hub_picker import HubModels
from earshot.tabs.shared.events import Update, answering, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.sound_search.catalogue import Catalogue, title
from earshot.tabs.sound_search.chips import chips, edited
from earshot.tabs.sound_search.example import read_finished
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue, VisitorLibrary
from earshot.tabs.sound_search.search import BOTH, DEMO, OWN, RECORDING, Search
from earshot.tabs.sound_search.view import SoundComponents

if TYPE_CHECKING:
    from earshot.systems.sound_search import SoundSearch

Engine = tuple["SoundSearch", DemoLibrary]

NONE_YET: Final = "There are no sounds of yours here. Add some under “Your own sounds”."
GONE: Final = "This sound is no longer in the library. Search again."
EXAMPLE: Final = "an example to begin with"
NO_AREA: Final = "There are no sounds in this area. Draw around some."
PAGE: Final = 9  # sounds: the best next to the map, and the others in two columns
MAX_SHOWN: Final = 99  # sounds of a search
MAX_LISTED: Final = 21  # sounds of a list


class SoundEvents:
    """Handlers. A visitor's last search and own library are arguments and results."""

    def __init__(
        self,
        pipeline: Callable[[], "SoundSearch"],
        demo: DemoLibrary,
        components: SoundComponents,
        hub: "HubModels[Engine] | None" = None,
    ) -> None:
        """Keep the components. hub: models that a visitor can choose, each with the library that it
        embedded.
        """
        self.pipeline = pipeline
        self.demo = demo
        self.components = components
        self.result = components.result
        self.hub = hub

    def first_look(self) -> Update:
        """Show a finished example before the first search."""
        try:
            fingerprint, catalogue = self.demo.catalogue()
        except InputError as error:
            wait = self.result.wait(Search(), None)
            return {**wait, self.result.message: say(str(error), "error")}
        finished = read_finished(catalogue.stored(), fingerprint)
        if finished is None:
            return self.wait(Search(), catalogue)
        text, result = finished
        return {
            **self.result.show(Search(text), result, catalogue, EXAMPLE),
            **self.components.filters.offered(catalogue),
            self.result.message: "",
            self.components.understood: chips(text),
        }

    def wait(self, search: Search, catalogue: Catalogue) -> Update:
        """Show a library before a search in it."""
        return {
            **self.result.wait(search, catalogue),
            **self.components.filters.offered(catalogue),
            self.result.message: "",
            self.components.understood: "",
        }

    def search(
        self,
        values: Mapping[Component, Any],
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Search for a text, and for sounds like a recording or a result, among those that pass
        the filters. values: of all components in ``SoundComponents.asked``."""
        ui = self.components
        recording, scope = values[ui.recording], values[ui.scope]
        like, name = (recording, RECORDING) if recording else values[ui.liked] or (None, "")
        search = replace(
            values[self.result.search],
            text=clean(values[ui.text]),
            like=like,
            like_name=name,
            without=clean(values[ui.without]),
            scope=scope,
            only=ui.filters.chosen(values, values[ui.collections], scope != OWN),
            listing="",
            ids=(),
            shown=PAGE,
        )
        return self.run(search, values[ui.own], progress)

    @answering
    def like(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Make the sound whose button was pressed the example of the next query."""
        liked, places = sound_id(event), [self.demo.catalogue()[1].stored()]
        if own and past.scope != DEMO:
            places.insert(0, own.stored())
        stored = next((place for place in places if liked in place.numbers), None)
        if stored is None:
            raise InputError(GONE)
        name = title(stored.sounds[stored.numbers[liked]])
        return {
            self.components.liked: (liked, name),
            self.components.liked_chip: gr.Button(f"Like “{name}” ✕", visible=True),
            self.components.text: "",
            self.components.recording: None,
        }

    def change_parts(self, past: Search, event: gr.EventData) -> str:
        """Edit the text of the query after a chip of it was pressed."""
        data = event_data(event)
        return edited(past.text, data.get("action"), data.get("number"))

    def unlike(self) -> Update:
        """Remove the example sound from the query."""
        return {
            self.components.liked: None,
            self.components.liked_chip: gr.Button(visible=False),
        }

    def vote(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Rank the results again by a vote."""
        sound = self.library(past, own).index[sound_id(event)]
        vote = 1 if event_data(event).get("action") == "up" else -1
        return self.run(past.voted(sound.id, vote), own)

    def more(self, past: Search, own: VisitorLibrary | None) -> Update:
        """Show more results of the same search."""
        return self.run(replace(past, shown=min(past.shown + PAGE, MAX_SHOWN)), own)

    def area(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """List the sounds of an area of the map."""
        ids = event_data(event).get("ids")
        ids = [str(sound) for sound in ids] if isinstance(ids, list) else []
        if not ids:
            raise InputError(NO_AREA)
        name = f"{len(ids)} sound{'s' if len(ids) > 1 else ''} of the map"
        return self.run(past.listed(name, ids), own)

    def choose_model(
        self,
        name: str,
        past: Search,
        own: VisitorLibrary | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Load a model of the hub, or takes ours again, and embed the library by it."""
        if name and self.hub:
            self.hub.load(name, progress)
        search = Search(scope=past.scope, labels=past.labels, model=name)
        return self.wait(search, self.library(search, own, progress))

    def engine(self, model: str) -> "Engine":
        """Give the model of a search, and Earshot's sounds as it embeds them."""
        return self.hub(model) if model and self.hub else (self.pipeline(), self.demo)

    def library(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> IndexedCatalogue:
        """Give the library to search. Raises InputError if the visitor has none."""
        pipeline, demo = self.engine(search.model)
        if search.scope == DEMO:
            return demo(pipeline, progress)
        if own is None or not own.sounds:
            raise InputError(NONE_YET)
        own.embed_by(pipeline, progress)
        return own.together(demo(pipeline, progress)) if search.scope == BOTH else own

    def run(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> Update:
        """Search, or list chosen sounds, and show the result."""
        from earshot.systems.sound_search import listed  # late, for it loads torch

        if progress:
            progress(0.2, desc="Getting ready")
        pipeline, _ = self.engine(search.model)
        library = self.library(search, own, progress)
        if progress:
            progress(0.8, desc=f"Comparing with {len(library.sounds)} sounds")
        if search.listing:
            result = listed(library.index, search.ids, search.listing, MAX_LISTED)
        else:
            query = (search.text, search.like, search.without, search.votes)
            chosen = {"only": search.only, "threshold": library.threshold}
            result = pipeline(library.index, *query, limit=search.shown, **chosen)
        full = len(result.hits) == search.shown < min(MAX_SHOWN, len(library.sounds))
        return {
            self.result.more: gr.Button(visible=full and not search.listing),
            self.components.understood: "" if search.like else chips(search.text),
            self.result.message: say(" ".join(result.notices)),
            **self.result.show(search, result, library),
        }


def sound_id(event: gr.EventData) -> str:
    """Read the id of the sound that an event of the cards or of the map concerns."""
    data = event_data(event)
    return str(data.get("sound", data.get("id")))
