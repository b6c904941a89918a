"""Event handlers of the sound search tab: each returns {component: value}."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.components import Component

from media.errors import InputError
from pipelines.sound_search.query import Filter, clean
from tabs.components.hub_picker import HubModels
from tabs.shared.events import answering, say
from tabs.shared.gradio_internals import event_data
from tabs.shared.sessions import SessionStore
from tabs.sound_search.catalogue import title
from tabs.sound_search.chips import chips, edited
from tabs.sound_search.example import read_finished
from tabs.sound_search.families import kinds_of
from tabs.sound_search.library import DemoLibrary, Library, VisitorLibrary
from tabs.sound_search.search import DEMO, OWN, RECORDING, Search
from tabs.sound_search.view import ResultView, Update

if TYPE_CHECKING:
    from pipelines.sound_search import SoundSearch

Engine = tuple["SoundSearch", DemoLibrary]

NONE_YET: Final = "There are no sounds of yours here. Add some under “Your own sounds”."
GONE: Final = "This sound is no longer in the library. Search again."
EXAMPLE: Final = "an example to begin with"
EMPTY: Final = "There are no files in this. Choose files, or a folder with sounds in it."
DELETED: Final = "Your sounds are deleted."
SHOWN: Final = 9  # sounds: the best beside the map, and the others in two columns
MOST_NAMED: Final = 8  # skipped files that a message lists


@dataclass(frozen=True)
class Components:
    """The components of the tab that handlers change."""

    result: ResultView
    text: gr.Textbox
    understood: gr.HTML  # the sounds that the text names
    recording: gr.Audio
    without: gr.Textbox
    liked: gr.State  # (id, name) of a sound to find more like, or None
    liked_chip: gr.Button
    own: gr.State  # the visitor's library, or None
    scope: gr.Radio
    contents: gr.HTML

    @property
    def query_inputs(self) -> tuple[gr.Textbox, gr.Audio, gr.Textbox]:
        return self.text, self.recording, self.without

    @property
    def like(self) -> list[Component]:
        return [self.liked, self.liked_chip]

    @property
    def library(self) -> list[Component]:
        return [self.own, self.scope, self.contents]


class SoundEvents:
    """Handlers. A visitor's last search and own library are arguments and results."""

    def __init__(
        self,
        pipeline: Callable[[], "SoundSearch"],
        demo: DemoLibrary,
        components: Components,
        sessions: SessionStore[VisitorLibrary],
        hub: "HubModels[Engine] | None" = None,
    ) -> None:
        """hub: models that a visitor can choose, each with the library that it embedded."""
        self.pipeline = pipeline
        self.demo = demo
        self.components = components
        self.result = components.result
        self.sessions = sessions
        self.hub = hub

    def first_look(self) -> Update:
        """What the page shows before the first search: a finished example."""
        try:
            fingerprint, catalogue = self.demo.catalogue()
        except InputError as error:
            wait = self.result.wait(Search(), None)
            return {self.result.message: say(str(error), "error"), **wait}
        finished = read_finished(catalogue.stored(), fingerprint)
        if finished is None:
            return {self.result.message: "", **self.result.wait(Search(), catalogue)}
        text, result = finished
        return {
            self.components.understood: chips(text),
            self.result.message: "",
            **self.result.show(Search(text), result, catalogue, EXAMPLE),
        }

    def search(
        self,
        past: Search,
        own: VisitorLibrary | None,
        text: str,
        recording: str | None,
        without: str,
        liked: tuple[str, str] | None,
        scope: str,
        title: str = "",
        families: Sequence[str] = (),
        shortest: float | None = None,
        longest: float | None = None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Searches for a text, and for sounds like a recording or a result, among those that pass
        the filters: words of the title, families, and lengths in s."""
        like, name = (recording, RECORDING) if recording else liked or (None, "")
        search = replace(
            past,
            text=clean(text),
            like=like,
            like_name=name,
            without=clean(without),
            scope=scope,
            only=Filter(
                clean(title),
                shortest or 0.0,
                longest or math.inf,
                kinds_of(families) if families and scope == DEMO else None,
            ),
        )
        return self._run(search, own, progress)

    @answering
    def like(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Makes the sound whose button was pressed the example of the next query."""
        catalogue = own if past.scope == OWN and own else self.demo.catalogue()[1]
        stored, sound_id = catalogue.stored(), _sound_id(event)
        if sound_id not in stored.numbers:
            raise InputError(GONE)
        name = title(stored.sounds[stored.numbers[sound_id]])
        return {
            self.components.liked: (sound_id, name),
            self.components.liked_chip: gr.Button(f"Like “{name}” ✕", visible=True),
            self.components.text: "",
            self.components.recording: None,
        }

    def change_parts(self, past: Search, event: gr.EventData) -> str:
        """The text of the query after a chip of it was pressed."""
        data = event_data(event)
        return edited(past.text, data.get("action"), data.get("number"))

    def unlike(self) -> Update:
        """Removes the example sound from the query."""
        return {
            self.components.liked: None,
            self.components.liked_chip: gr.Button(visible=False),
        }

    def vote(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Re-ranks the results by a vote."""
        sound = self._library(past, own).index[_sound_id(event)]
        vote = 1 if event_data(event).get("action") == "up" else -1
        return self._run(past.voted(sound.id, vote), own)

    def add(
        self,
        files: Sequence[str] | str | None,
        past: Search,
        own: VisitorLibrary | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Update]:
        """Adds uploads, or a recording, to the visitor's library."""
        files = [files] if isinstance(files, str) else files or []
        if not files:
            raise InputError(EMPTY)
        progress(0, desc="Getting ready")
        own = self.sessions.of(own, request)
        own.embed_by(self._engine(past.model)[0], progress)
        search = Search(scope=OWN, labels=past.labels, model=past.model)
        for done, skipped in own.add(files):
            progress((done, len(files)), desc="Embedding your sounds", unit="files")
            yield {
                self.result.message: _skipped(skipped),
                **self.result.wait(search, own),
                self.components.understood: "",
                self.components.own: own,
                self.components.scope: gr.Radio(value=OWN, visible=True),
                self.components.contents: _contents(own),
            }

    def forget(self, own: VisitorLibrary | None) -> Update:
        """Deletes the visitor's library."""
        if own:
            own.clear()
        return {
            self.components.own: None,
            self.components.scope: gr.Radio(value=DEMO, visible=False),
            self.components.contents: DELETED,
        }

    def switch(self, past: Search, own: VisitorLibrary | None, scope: str) -> Update:
        """Switches to the other library."""
        search = Search(scope=scope, labels=past.labels, model=past.model)
        return {
            self.result.message: "",
            **self.result.wait(search, self._library(search, own)),
            self.components.understood: "",
        }

    def choose_model(
        self,
        name: str,
        past: Search,
        own: VisitorLibrary | None,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Loads a model of the hub, or takes ours again, and embeds the library by it."""
        if name and self.hub:
            self.hub.load(name, progress)
        search = Search(scope=past.scope, labels=past.labels, model=name)
        return {
            self.result.message: "",
            **self.result.wait(search, self._library(search, own, progress)),
            self.components.understood: "",
        }

    def _engine(self, model: str) -> "Engine":
        """The model of a search, and Earshot's sounds as it embeds them."""
        return self.hub(model) if model and self.hub else (self.pipeline(), self.demo)

    def _library(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> Library:
        """The library to search. Raises InputError if the visitor has none."""
        pipeline, demo = self._engine(search.model)
        if search.scope != OWN:
            return demo(pipeline, progress)
        if own is None or not own.sounds:
            raise InputError(NONE_YET)
        own.embed_by(pipeline, progress)
        return own

    def _run(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> Update:
        if progress:
            progress(0.2, desc="Getting ready")
        pipeline, _ = self._engine(search.model)
        library = self._library(search, own, progress)
        if progress:
            progress(0.8, desc=f"Comparing with {len(library.sounds)} sounds")
        query = (search.text, search.like, search.without, search.votes)
        result = pipeline(library.index, *query, limit=SHOWN, only=search.only)
        return {
            self.components.understood: "" if search.like else chips(search.text),
            self.result.message: say(" ".join(result.notices)),
            **self.result.show(search, result, library),
        }


def _sound_id(event: gr.EventData) -> str:
    """The id of the sound that an event of the cards or of the map concerns."""
    data = event_data(event)
    return str(data.get("sound", data.get("id")))


def _skipped(skipped: Sequence[tuple[str, str]]) -> str:
    """A message that lists the files that were not added, each with the reason."""
    if not skipped:
        return ""
    named = " ".join(f"{name}: {reason}" for name, reason in skipped[:MOST_NAMED])
    more = f" And {len(skipped) - MOST_NAMED} more." if len(skipped) > MOST_NAMED else ""
    return say(f"Not added: {named}{more}")


def _contents(own: VisitorLibrary) -> str:
    minutes = f"{own.seconds / 60:.1f} minutes" if own.seconds >= 60 else f"{own.seconds:.0f} s"
    count = len(own.sounds)
    return f"<b>{count}</b> sound{'s' if count != 1 else ''} of yours, <b>{minutes}</b>"
