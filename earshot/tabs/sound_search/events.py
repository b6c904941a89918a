"""The handlers of sound search: of the tab's events, which return {component: value}, the finished
search that it shows first, stored in assets/examples, and the endpoints for programs.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.systems.plug_in import limited
from earshot.systems.sound_search.query import clean, parse
from earshot.tabs.shared.events import Update, answering, offer, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.sound_search.catalogue import Catalogue, title
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue, Systems, VisitorLibrary
from earshot.tabs.sound_search.query import (
    BOTH,
    DEMO,
    OWN,
    RECORDING,
    Search,
    chips_html,
    edited_text,
)
from earshot.tabs.sound_search.view import SoundComponents

if TYPE_CHECKING:
    from earshot.sound_index.library import Library as Stored
    from earshot.systems.sound_search import SearchResult, SoundSearch

FINISHED: Final = ASSETS / "examples" / "finished-search.json"

NONE_YET: Final = "There are no sounds of yours here. Add some under “Your own sounds”."
GONE: Final = "This sound is no longer in the library. Search again."
EXAMPLE: Final = "an example to begin with"
NO_AREA: Final = "There are no sounds in this area. Draw around some."
PAGE_SOUNDS: Final = 9  # sounds: the best next to the map, and the others in two columns
MAX_RESULTS: Final = 99  # sounds of a search
MAX_LISTED: Final = 21  # sounds of a list
MAX_PLUG_IN_SECONDS: Final = 10.0  # of a search by a plug-in, for which others wait


def write_finished(text: str, result: "SearchResult", fingerprint: str) -> None:
    """Write a search of the demo library for `text`, by the model with this fingerprint."""
    hits = [
        {
            "id": hit.sound.id,
            "score": round(hit.score, 4),
            "part_scores": hit.part_scores.round(4).tolist(),
            "starts": hit.starts,
            "matches": hit.matches,
            "words": None if hit.words is None else round(hit.words, 4),
        }
        for hit in result.hits
    ]
    data = {
        "text": text,
        "fingerprint": fingerprint,
        "matched": result.matched,
        "threshold": result.threshold,
        "point": result.point,
        "compute_seconds": result.compute_seconds,
        "hits": hits,
    }
    FINISHED.write_text(json.dumps(data, indent=1) + "\n")


def read_finished(stored: "Stored", fingerprint: str) -> "tuple[str, SearchResult] | None":
    """Read the query and its result, for an index that the model with this fingerprint made; None
    if the search was made with another model or other sounds.
    """
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    is_stored = all(hit["id"] in stored.numbers for hit in data["hits"])
    if data.pop("fingerprint") != fingerprint or not is_stored:
        return None
    from earshot.systems.sound_search import Hit, SearchResult  # late, for it loads torch

    hits = [
        Hit(
            stored.sounds[stored.numbers[hit["id"]]],
            hit["score"],
            np.array(hit["part_scores"], np.float32),
            tuple(hit["starts"]),
            hit["matches"],
            hit["words"],
        )
        for hit in data.pop("hits")
    ]
    text = data.pop("text")
    rest = {"hits": tuple(hits), "scores": np.zeros(0), "notices": (), "compound": parse(text)}
    return text, SearchResult(**data, **rest)


class SoundEvents:
    """The handlers of the tab's events; a visitor's last search and own library are arguments and
    results."""

    def __init__(self, systems: Systems, demo: DemoLibrary, components: SoundComponents) -> None:
        """Keep the components. systems: that a visitor can choose, each with the library that it
        embedded.
        """
        self.systems = systems
        self.demo = demo
        self.components = components
        self.result = components.result
        self._first: tuple[Catalogue, Update] | None = None  # look, and the library that it is of

    def first_look(self) -> Update:
        """Show a finished example before the first search, the same for every visit."""
        try:
            fingerprint, catalogue = self.demo.catalogue()
        except InputError as error:
            wait = self.result.wait(Search(), None)
            return {**wait, self.result.message: say(str(error), "error")}
        if not self._first or self._first[0] is not catalogue:
            self._first = catalogue, self._first_look(fingerprint, catalogue)
        return self._first[1]

    def _first_look(self, fingerprint: str, catalogue: Catalogue) -> Update:
        finished = read_finished(catalogue.stored(), fingerprint)
        if finished is None:
            return self.wait(Search(), catalogue)
        text, result = finished
        return {
            **self.result.show(Search(text), result, catalogue, EXAMPLE),
            **self.components.filters.offered(catalogue),
            self.result.message: "",
            self.components.understood: chips_html(text),
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
        the filters. values: of all components in ``SoundComponents.inputs``."""
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
            only=ui.filters.read(values, values[ui.collections], scope != OWN),
            listing="",
            ids=(),
            count=PAGE_SOUNDS,
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
        return edited_text(past.text, data.get("action"), data.get("number"))

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
        return self.run(replace(past, count=min(past.count + PAGE_SOUNDS, MAX_RESULTS)), own)

    def area(self, past: Search, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """List the sounds of an area of the map."""
        ids = event_data(event).get("ids")
        ids = [str(sound) for sound in ids] if isinstance(ids, list) else []
        if not ids:
            raise InputError(NO_AREA)
        name = f"{len(ids)} sound{'s' if len(ids) > 1 else ''} of the map"
        return self.run(past.listed(name, ids), own)

    def library(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> IndexedCatalogue:
        """Return the library to search. Raises InputError if the visitor has none."""
        pipeline, demo = self.systems(search.model)
        if search.scope == DEMO:
            return demo(pipeline, progress)
        if own is None or not own.sounds:
            raise InputError(NONE_YET)
        own.embed_by(pipeline, progress)
        return own.together(demo(pipeline, progress)) if search.scope == BOTH else own

    def run(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None = None
    ) -> Update:
        """Search, or list chosen sounds, and show the result, on a queue where others wait."""
        with limited(MAX_PLUG_IN_SECONDS):
            return self._run(search, own, progress)

    def _run(
        self, search: Search, own: VisitorLibrary | None, progress: gr.Progress | None
    ) -> Update:
        from earshot.systems.sound_search import list_sounds  # late, for it loads torch

        if progress:
            progress(0.2, desc="Getting ready")
        library = self.library(search, own, progress)
        if progress:
            progress(0.8, desc=f"Comparing with {len(library.sounds)} sounds")
        if search.listing:
            result = list_sounds(library.index, search.ids, search.listing, MAX_LISTED)
        else:
            result = self._ranked(search, library)
        full = len(result.hits) == search.count < min(MAX_RESULTS, len(library.sounds))
        return {
            self.result.more: gr.Button(visible=full and not search.listing),
            self.components.understood: "" if search.like else chips_html(search.text),
            self.result.message: say(" ".join(result.notices)),
            **self.result.show(search, result, library),
        }

    def rank(
        self,
        search: Search,
        own: VisitorLibrary | None,
        model: str,
        count: int,
        progress: gr.Progress | None = None,
    ) -> "SearchResult":
        """Rank the sounds of a search by a system, whichever the search itself was made by."""
        search = replace(search, model=model, count=count)
        return self._ranked(search, self.library(search, own, progress))

    def _ranked(self, search: Search, library: IndexedCatalogue) -> "SearchResult":
        pipeline, _ = self.systems(search.model)
        query = (search.text, search.like, search.without, search.votes)
        chosen = {"only": search.only, "threshold": library.threshold}
        return pipeline(library.index, *query, limit=search.count, **chosen)


def sound_id(event: gr.EventData) -> str:
    """Read the id of the sound that an event of the cards or of the map concerns."""
    data = event_data(event)
    return str(data.get("sound", data.get("id")))


class SoundAPI:
    """The handlers of the endpoints for programs."""

    def __init__(self, pipeline: Callable[[], "SoundSearch"], demo: DemoLibrary) -> None:
        self.pipeline = pipeline
        self.demo = demo

    @answering
    def search_sounds(self, text: str | None, without: str | None = "") -> list[dict[str, Any]]:
        """Find sounds that match a text.

        Args:
            text: a description in English (or German, French, Spanish, Chinese or Arabic, which
                is translated into English word by word), at most 1,000 characters, for example
                "a dog barks". It may name several sounds: "a dog barks, then a door slams".
            without: a description of what the sounds should not contain, or "".

        Returns:
            sounds: a list of the ten best, best first, of {"name": of the file, "kind": class of
                sound, "caption", "score": cosine similarity with the query, "words": the
                cosine of the query and of what is written of the sound, "matches": whether the
                sound is what was asked for by both, "seconds": the score of each second of the
                sound, "start": the second with the highest score, in s, "parts": a list, one for
                each sound that the text names, of {"text", "start", "seconds"}, "notices":
                sentences about the query and its recording, the same with each sound}.
        """
        return self._answer(text=text or "", without=without or "")

    @answering
    def similar_sounds(
        self, audio: str, text: str | None = "", without: str | None = ""
    ) -> list[dict[str, Any]]:
        """Find sounds that are similar to a recording, and match a text if there is one.

        Args:
            audio: a recording of at most 60 s.
            text: a description as for /search_sounds, or "".
            without: a description of what the sounds should not contain, or "".

        Returns:
            sounds: a list of the ten best, best first, as /search_sounds returns it.
        """
        return self._answer(text=text or "", like=audio, without=without or "")

    def declare(self, text: gr.Textbox, recording: gr.Audio, without: gr.Textbox) -> None:
        """Add the endpoints to the page that is being built; inputs have the types of these."""
        with gr.Row(visible=False):
            call, answer = gr.Button(), gr.JSON(label="sounds")
        offer(call, self.search_sounds, [text, without], answer)
        offer(call, self.similar_sounds, [recording, text, without], answer)

    def _answer(self, **query: Any) -> list[dict[str, Any]]:
        pipeline = self.pipeline()
        result = pipeline(self.demo(pipeline).index, **query)
        return [
            {
                "name": hit.sound.name,
                "kind": hit.sound.kind,
                "caption": hit.sound.first_caption,
                "score": hit.score,
                "words": hit.words,
                "matches": hit.matches,
                "seconds": hit.per_second_scores.tolist(),
                "start": hit.start,
                "parts": [
                    {"text": text, "start": start, "seconds": scores}
                    for text, start, scores in zip(
                        result.compound.parts, hit.starts, hit.part_scores.tolist(), strict=True
                    )
                ],
                "notices": list(result.notices),
            }
            for hit in result.hits
        ]
