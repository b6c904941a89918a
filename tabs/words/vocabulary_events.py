"""What a visitor's own words do: taught by example, found when they are said."""

from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from media.errors import InputError
from tabs.shared.events import inline
from tabs.shared.sessions import SessionStore, delete_after_use, one_word
from tabs.words.panel import Sounds

if TYPE_CHECKING:
    from pipelines.words import Spoken, Words
    from pipelines.words.library import WordLibrary
    from pipelines.words.vocabulary import Found, Vocabulary

# A Vocabulary or None: Gradio reads the annotations as it starts, and pipelines load torch.
Own = Any
RATE: Final = 16_000  # Hz
MOST_SAID: Final = 20  # words in a recording
MOST_SHOWN: Final = 5  # words, the nearest
EXAMPLE: Final = ("tree", "water", "apple", "yes")  # the last is said
MANY: Final = f"Say one word, or up to {MOST_SAID} with pauses between them."
EMPTY: Final = "<p>No words yet.</p>"


class VocabularyEvents:
    """Handlers; a visitor's words come in and go out. No sound is kept, only vectors."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.visits = SessionStore(_vocabulary)

    @inline(outputs=2)
    def first_look(self, own: Own) -> tuple:
        """What is shown before anything was said → message, list, result."""
        if own and own.words:
            return "", taught(own), gr.skip()
        library, words = self.library(), _vocabulary()
        vectors: dict[str, list[np.ndarray]] = {spelling: [] for spelling in EXAMPLE}
        for row in library.spoken:
            if (spelling := library.words[row].spelling) in vectors:
                vectors[spelling].append(np.asarray(library.vectors[row], np.float32))
        for spelling, voices in vectors.items():
            words.add(spelling, voices[0])
        found = words.find(vectors[EXAMPLE[-1]][-1], self.pipeline().threshold)
        about = f"An example: {len(EXAMPLE)} words, and “{EXAMPLE[-1]}” in another voice."
        return "", taught(None), Sounds().value(f"<p>{about}</p>{shown(found)}")

    @inline(outputs=3)
    def teach(self, recording: str | None, name: str, own: Own, request: gr.Request) -> tuple:
        """Takes a recording as an example of the word → message, words, list, delete button."""
        with delete_after_use(recording):
            own = self.visits.of(own, request)
            name = own.check(name if name.strip() else _unused(own.words))
            own.add(name, one_word(self.pipeline(), recording).vector)
            return "", own, taught(own), gr.Button(visible=True)

    @inline(outputs=1)
    def find(self, recording: str | None, own: Own) -> tuple:
        """Looks for the words in a recording → message, result."""
        with delete_after_use(recording):
            words, threshold = own or _vocabulary(), self.pipeline().threshold
            said = [
                (word.start, words.find(word.vector, threshold)) for word in self._said(recording)
            ]
        html = "".join(
            (f"<h4>At {start:.1f} s</h4>" if len(said) > 1 else "") + shown(found)
            for start, found in said
        )
        return "", Sounds().value(html)

    def remove(self, own: Own, event: gr.EventData) -> tuple:
        """Forgets one word → words, list, delete button."""
        if own:
            own.remove(str(event._data.get("word")))
        return own, taught(own), gr.Button(visible=bool(own and own.words))

    def forget(self, own: Own) -> tuple:
        """Forgets all words → words, list, delete button."""
        if own:
            own.clear()
        return None, taught(None), gr.Button(visible=False)

    def _said(self, recording: str | None) -> "list[Spoken]":
        """The words of a recording; several where there are pauses between them."""
        from pipelines.words.spoken_word import CutNeededError  # late, for pipelines load torch

        pipeline = self.pipeline()
        try:
            return [pipeline.embed_audio(recording)]
        except CutNeededError as several:
            if not 1 < len(several.cuts) <= MOST_SAID:
                raise InputError(MANY) from None
            heard = (RATE, several.recording)
            return [pipeline.embed_audio(heard, cut) for cut in several.cuts]


def taught(own: Own) -> dict[str, Any]:
    """The list of a visitor's words, as a panel's value."""
    items = "".join(
        f"<li><b>{escape(name)}</b><small>{count} recording{'s' if count > 1 else ''}</small>"
        f'<button type="button" data-action="remove" data-word="{escape(name)}" '
        f'aria-label="Remove {escape(name)}">✕</button></li>'
        for name, count in (own.words if own else {}).items()
    )
    return Sounds().value(f'<ul class="taught">{items}</ul>' if items else EMPTY)


def shown(found: "Found") -> str:
    """What was found, and a bar for the cosine to each word, against the threshold."""
    nearest, cosine = found.cosines[0]
    line = (
        f"<h3>{escape(found.name)}</h3>"
        if found.name
        else f"<h3>None of them</h3><p>The nearest is {escape(nearest)}, at {cosine:.2f}; from "
        f"{found.threshold:.2f} on it would count.</p>"
    )
    bars = "".join(
        f'<li class="{"said" if name == found.name else ""}"><span>{escape(name)}</span>'
        f'<i style="--share:{max(value, 0):.3f};--threshold:{found.threshold:.3f}"></i>'
        f"<b>{value:.2f}</b></li>"
        for name, value in found.cosines[:MOST_SHOWN]
    )
    return f'<div class="said-word">{line}<ul class="bars">{bars}</ul></div>'


def _vocabulary() -> "Vocabulary":
    from pipelines.words.vocabulary import Vocabulary  # late, for pipelines load torch

    return Vocabulary()


def _unused(names: Mapping[str, int]) -> str:
    """A name for a word that was given none."""
    numbers = range(1, len(names) + 2)
    return next(name for name in (f"word {i}" for i in numbers) if name not in names)
