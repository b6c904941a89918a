"""What a visitor's own words do: taught by example, found when they are said."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np

from pipelines.vocabulary import Found, Vocabulary
from tabs.events import inline
from tabs.private import Visits, heard_once

if TYPE_CHECKING:
    from pipelines.word_library import WordLibrary
    from pipelines.words import Spoken, Words

    from pipelines.vocabulary import Found, Vocabulary

RATE: Final = 16_000  # Hz
LONGEST: Final = 30.0  # seconds in which words are looked for
SHORTEST: Final = 0.1  # seconds; a shorter sound is no word
MOST_SHOWN: Final = 5  # words, the nearest
EXAMPLE: Final = ("tree", "water", "apple", "yes")  # the last is said
EMPTY: Final = "<p>No words yet.</p>"


class VocabularyEvents:
    """Handlers; a visitor's words come in and go out. No sound is kept, only vectors."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.visits = Visits(_vocabulary)

    @inline(outputs=2)
    def first_look(self, own: "Vocabulary | None") -> tuple:
        """What is shown before anything was said → message, list, result."""
        if own and own.words:
            return "", taught(own), gr.skip()
        library, words = self.library(), _vocabulary()
        spoken = [library.words[row] for row in library.spoken]
        vectors = {
            (word.spelling, word.voice): np.asarray(library.vectors[row], np.float32)
            for word, row in zip(spoken, library.spoken, strict=True)
        }
        teacher, *_, speaker = (word.voice for word in spoken if word.spelling == EXAMPLE[-1])
        for spelling in EXAMPLE:
            words.add(spelling, vectors[spelling, teacher])
        found = words.find(vectors[EXAMPLE[-1], speaker], self.pipeline().threshold)
        about = f"An example: {len(EXAMPLE)} words of one voice, and “{EXAMPLE[-1]}” in another."
        return "", taught(None), f"<p>{about}</p>{shown(found)}"

    @inline(outputs=3)
    def teach(
        self, recording: str | None, name: str, own: "Vocabulary | None", request: gr.Request
    ) -> tuple:
        """Takes a recording as an example of the word → message, words, list, delete button."""
        with heard_once(recording):
            own = self.visits.of(own, request)
            name = own.check(name if name.strip() else _unused(own.words))
            own.add(name, self.pipeline().embed_audio(recording).vector)
            return "", own, taught(own), gr.Button(visible=True)

    @inline(outputs=1)
    def find(self, recording: str | None, own: "Vocabulary | None") -> tuple:
        """Looks for the words in a recording → message, result."""
        with heard_once(recording):
            words, threshold = own or Vocabulary(), self.pipeline().threshold
            said = [
                (word.start, words.find(word.vector, threshold)) for word in self._said(recording)
            ]
        if len(said) == 1:
            return "", shown(said[0][1])
        return "", "".join(f"<h4>At {start:.1f} s</h4>{shown(found)}" for start, found in said)

    def remove(self, own: "Vocabulary | None", event: gr.EventData) -> tuple:
        """Forgets one word → words, list, delete button."""
        if own:
            own.remove(str(event._data.get("word")))
        return own, taught(own), gr.Button(visible=bool(own and own.words))

    def forget(self, own: "Vocabulary | None") -> tuple:
        """Forgets all words → words, list, delete button."""
        if own:
            own.clear()
        return None, taught(None), gr.Button(visible=False)

    def _said(self, recording: str | None) -> "list[Spoken]":
        """The words of a recording; several where there are pauses between them."""
        from media import voice_activity  # late, for they load scipy and librosa
        from media.audio import load

        pipeline = self.pipeline()
        waveform = load(recording, RATE, max_seconds=LONGEST).waveform
        cuts = [cut for cut in voice_activity.words(waveform) if cut[1] - cut[0] >= SHORTEST]
        if len(cuts) < 2:
            return [pipeline.embed_audio(recording)]
        return [pipeline.embed_audio((RATE, waveform), cut) for cut in cuts]


def taught(own: "Vocabulary | None") -> dict:
    """The list of a visitor's words, as a panel's value."""
    items = "".join(
        f"<li><b>{escape(name)}</b><small>{count} recording{'s' if count > 1 else ''}</small>"
        f'<button type="button" data-action="remove" data-word="{escape(name)}" '
        f'aria-label="Remove {escape(name)}">✕</button></li>'
        for name, count in (own.words if own else {}).items()
    )
    return {"html": f'<ul class="taught">{items}</ul>' if items else EMPTY, "files": []}


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
    from pipelines.vocabulary import Vocabulary  # late, for pipelines load torch

    return Vocabulary()


def _unused(names: Mapping[str, int] | Sequence[str]) -> str:
    """A name for a word that was given none."""
    numbers = range(1, len(names) + 2)
    return next(name for name in (f"word {i}" for i in numbers) if name not in names)
