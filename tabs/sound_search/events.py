"""What the buttons of the sound search tab do."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import gradio as gr

from media.errors import InputError
from tabs.shared.events import answering, inline, say
from tabs.sound_search.catalogue import title
from tabs.sound_search.example import read_finished
from tabs.sound_search.library import Library, Ours, OwnLibrary
from tabs.sound_search.view import MINE, OURS, RECORDING, Search, shown, waiting

if TYPE_CHECKING:
    from pipelines.sound_search import SoundSearch

NONE_YET: Final = "There are no sounds of yours here. Add some under “Your own sounds”."
EXAMPLE: Final = "an example to begin with"
DELETED: Final = "Your sounds are deleted."
SHOWN: Final = 9  # sounds: the best beside the map, and the others in two columns
MOST_NAMED: Final = 8  # files that were skipped


class SoundEvents:
    """Handlers; what a visitor asked for and added comes in and goes out. The shown outputs are:
    search, found (a line), best (cards), map, rest (cards), labels (a download)."""

    def __init__(self, pipeline: Callable[[], "SoundSearch"], ours: Ours) -> None:
        self.pipeline = pipeline
        self.ours = ours
        # Only to find the library of a visitor who leaves: their gr.State owns it.
        self._own: WeakValueDictionary[str, OwnLibrary] = WeakValueDictionary()

    def first_look(self) -> tuple:
        """What is shown before the first search → message, shown outputs."""
        try:
            fingerprint, shelf = self.ours.shelf()
        except InputError as error:
            return say(str(error), "error"), *waiting(Search(), None)
        finished = read_finished(shelf.stored(), fingerprint)
        if finished is None:
            return "", *waiting(Search(), shelf)
        return "", *shown(Search(finished[0]), finished[1], shelf, EXAMPLE)

    @inline(outputs=6)
    def search(
        self,
        past: Search,
        own: OwnLibrary | None,
        text: str,
        recording: str | None,
        liked: tuple[str, str] | None,
        without: str,
        place: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> tuple:
        """→ message, shown outputs."""
        like, name = (recording, RECORDING) if recording else liked or (None, "")
        query = {"text": text, "like": like, "like_name": name, "without": without}
        return self._run(replace(past, **query, place=place), own, progress)

    @answering
    def like(self, past: Search, own: OwnLibrary | None, event: gr.EventData) -> tuple:
        """Takes the sound whose button was pressed as what to find more of → liked, its chip,
        text, recording."""
        shelf = own if past.place == MINE and own else self.ours.shelf()[1]
        stored, sound = shelf.stored(), _sound(event)
        if sound not in stored.numbers:
            raise InputError("This sound is no longer in the library. Search again.")
        name = title(stored.sounds[stored.numbers[sound]])
        return (sound, name), gr.Button(f"Like “{name}” ✕", visible=True), "", None

    def unlike(self) -> tuple:
        """→ liked, its chip."""
        return None, gr.Button(visible=False)

    @inline(outputs=6)
    def vote(self, past: Search, own: OwnLibrary | None, event: gr.EventData) -> tuple:
        """Ranks the rest anew → message, shown outputs."""
        sound = self._library(past.place, own).index[_sound(event)]
        vote = 1 if event._data.get("action") == "up" else -1
        return self._run(past.voted(sound.id, vote), own)

    @inline(outputs=9)
    def add(
        self,
        files: Sequence[str],
        past: Search,
        own: OwnLibrary | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[tuple]:
        """Uploads go into the visitor's library → message, shown outputs, library, place, what
        is in it."""
        progress(0, desc="Getting ready")
        own = own or OwnLibrary(self.pipeline())
        self._own[str(request.session_hash)] = own
        search = Search(place=MINE, labels=past.labels)
        for done, skipped in own.add(files):
            progress((done, len(files)), desc="Listening to your sounds", unit="files")
            place = gr.Radio(value=MINE, visible=True)
            yield _skipped(skipped), *waiting(search, own), own, place, _contents(own)

    def forget(self, own: OwnLibrary | None) -> tuple:
        """Deletes the visitor's library → library, place, what is in it."""
        if own:
            own.close()
        return None, gr.Radio(value=OURS, visible=False), DELETED

    def leave(self, request: gr.Request) -> None:
        """Deletes the library of a visitor who closes the page."""
        if own := self._own.pop(str(request.session_hash), None):
            own.close()

    @inline(outputs=6)
    def switch(self, past: Search, own: OwnLibrary | None, place: str) -> tuple:
        """To the other library → message, shown outputs."""
        search = Search(place=place, labels=past.labels)
        return "", *waiting(search, self._library(place, own))

    @answering
    def api_search(self, text: str, without: str = "") -> list[dict[str, Any]]:
        """The sounds of our library that fit the words best."""
        return self._answer(text=text, without=without)

    @answering
    def api_similar(self, audio: str, text: str = "", without: str = "") -> list[dict[str, Any]]:
        """The sounds of our library that are most like a recording."""
        return self._answer(text=text, like=audio, without=without)

    def _answer(self, **query: Any) -> list[dict[str, Any]]:
        pipeline = self.pipeline()
        result = pipeline(self.ours(pipeline).index, **query)
        return [
            {
                "name": hit.sound.name,
                "kind": hit.sound.kind,
                "caption": hit.sound.caption,
                "score": hit.score,
                "matches": hit.score >= result.threshold,
                "seconds": hit.seconds.tolist(),
                "start": hit.start,
            }
            for hit in result.hits
        ]

    def _library(
        self, place: str, own: OwnLibrary | None, progress: gr.Progress | None = None
    ) -> Library:
        """The library that the visitor searches. Raises InputError where it is empty."""
        if place != MINE:
            return self.ours(self.pipeline(), progress)
        if own is None or not own.sounds:
            raise InputError(NONE_YET)
        return own

    def _run(
        self, search: Search, own: OwnLibrary | None, progress: gr.Progress | None = None
    ) -> tuple:
        """→ message, shown outputs."""
        if progress:
            progress(0.2, desc="Getting ready")
        pipeline = self.pipeline()
        library = self._library(search.place, own, progress)
        if progress:
            progress(0.8, desc=f"Comparing with {len(library.sounds)} sounds")
        query = (search.text, search.like, search.without, search.votes)
        result = pipeline(library.index, *query, limit=SHOWN)
        return say(" ".join(result.notices)), *shown(search, result, library)


def _sound(event: gr.EventData) -> str:
    """The id of the sound that an event of the cards or of the map concerns."""
    return str(event._data.get("sound", event._data.get("id")))


def _skipped(skipped: Sequence[tuple[str, str]]) -> str:
    """The message that names the files that were not added, each with the reason."""
    if not skipped:
        return ""
    named = " ".join(f"{name}: {reason}" for name, reason in skipped[:MOST_NAMED])
    more = f" And {len(skipped) - MOST_NAMED} more." if len(skipped) > MOST_NAMED else ""
    return say(f"Not added: {named}{more}")


def _contents(own: OwnLibrary) -> str:
    minutes = f"{own.seconds / 60:.1f} minutes" if own.seconds >= 60 else f"{own.seconds:.0f} s"
    count = len(own.sounds)
    return f"<b>{count}</b> sound{'s' if count != 1 else ''} of yours, <b>{minutes}</b>"
