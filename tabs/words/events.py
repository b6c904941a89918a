"""What the buttons of the words tab do."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from media.errors import InputError
from tabs.shared.events import answering, inline, say
from tabs.words.cut import RATE, cut_value
from tabs.words.map import SPOKEN, WRITTEN, Layout
from tabs.words.view import LIMIT, Asked, shown

if TYPE_CHECKING:
    from pipelines.words import Spoken, Words
    from pipelines.words.library import WordLibrary

NOTHING: Final = "Say a word into the microphone, or type one."
GONE: Final = "This word is no longer in the library. Choose another."
EXAMPLE: Final = "sheep"  # the word that is shown first
MOST: Final = 100  # neighbours that a program can ask for


class WordEvents:
    """Handlers. The shown outputs are: asked (what the result is about), found (a line), map,
    neighbours, honesty, cut, heard (what is cut), text, recording."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library

    @inline(outputs=9)
    def first_look(self, layout: Layout, color: str) -> tuple:
        """A word of the library, before the visitor's first → message, shown outputs."""
        words = self.library().words
        example = next((word for word in words if word.spelling == EXAMPLE), words[0])
        return self._stored(example.id, None, layout, color)

    @inline(outputs=9)
    def hear(
        self,
        past: Asked | None,
        recording: str | None,
        layout: Layout,
        color: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> tuple:
        """→ message, shown outputs."""
        progress(0.3, desc="Listening")
        from pipelines.words.spoken_word import CutNeededError  # late, for pipelines load torch

        try:
            spoken = self.pipeline().embed_audio(recording)
        except CutNeededError as error:
            cut = cut_value(error.recording, *error.proposed, used=False)
            same = (gr.skip(),) * 5
            return say(str(error), "error"), *same, cut, error.recording, "", gr.skip()
        return *self._spoken(spoken, past, layout, color), "", gr.skip()

    @inline(outputs=9)
    def recut(
        self,
        past: Asked | None,
        heard: np.ndarray | None,
        layout: Layout,
        color: str,
        event: gr.EventData,
    ) -> tuple:
        """Hears another part of the recording → message, shown outputs."""
        if heard is None:
            raise InputError(NOTHING)
        start, end = (float(event._data.get(name, math.nan)) for name in ("start", "end"))
        spoken = self.pipeline().embed_audio((RATE, heard), (start, end))
        return *self._spoken(spoken, past, layout, color), gr.skip(), gr.skip()

    @inline(outputs=9)
    def find(
        self,
        past: Asked | None,
        text: str,
        recording: str | None,
        layout: Layout,
        color: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple:
        """What was typed, or else what was said → message, shown outputs."""
        if text.strip():
            return self._typed(text, past, layout, color)
        if recording is None:
            raise InputError(NOTHING)
        return self.hear(past, recording, layout, color, progress)

    @inline(outputs=9)
    def choose(self, past: Asked | None, layout: Layout, color: str, event: gr.EventData) -> tuple:
        """A point of the map, a neighbour or a guess → message, shown outputs."""
        word = str(event._data.get("word", event._data.get("id")))
        if event._data.get("action") == "type":
            return self._typed(word, past, layout, color)
        return self._stored(word, past, layout, color)

    def redraw(self, past: Asked | None, layout: Layout, color: str) -> tuple:
        """The map in another layout or other colours → asked, found, map, neighbours, honesty."""
        if past is None:
            return (gr.skip(),) * 5
        return shown(past, self.pipeline(), self.library(), layout, color)

    @answering
    def api_embed_audio(self, audio: str) -> dict[str, Any]:
        """A recording of one word as a unit vector, with the cut in seconds."""
        spoken = self.pipeline().embed_audio(audio)
        return {"vector": _plain(spoken.vector), "start": spoken.start, "end": spoken.end}

    @answering
    def api_embed_text(self, text: str) -> dict[str, Any]:
        """A typed word as a unit vector, with the phonemes and where they come from."""
        written = self.pipeline().embed_text(text)
        said = written.pronunciation
        return {
            "vector": _plain(written.vector),
            "phonemes": list(said.phonemes),
            "source": said.source,
        }

    @answering
    def api_nearest(
        self, vector: Sequence[float], view: str = SPOKEN, limit: float = LIMIT
    ) -> list[dict[str, Any]]:
        """The words of the library, spoken or written, that are nearest to a vector."""
        library = self.library()
        if view not in (SPOKEN, WRITTEN):
            raise InputError(f"The view is “{SPOKEN}” or “{WRITTEN}”.")
        query = _vector(vector, library.vectors.shape[1])
        near = self.pipeline().nearest(library, query, view, max(1, min(MOST, int(limit))))
        return [
            {
                "word": neighbour.word.spelling,
                "phonemes": list(neighbour.word.phonemes),
                "language": neighbour.word.language,
                "voice": neighbour.word.voice,
                "cosine": neighbour.cosine,
            }
            for neighbour in near
        ]

    def _typed(self, text: str, past: Asked | None, layout: Layout, color: str) -> tuple:
        """→ message, shown outputs."""
        asked = Asked.typed(self.pipeline().embed_text(text))
        return "", *self._shown(asked, past, layout, color), "", None, text, None

    def _stored(self, id: str, past: Asked | None, layout: Layout, color: str) -> tuple:
        """→ message, shown outputs."""
        asked = Asked.stored(self.library(), id)
        if asked is None:
            raise InputError(GONE)
        return "", *self._shown(asked, past, layout, color), "", None, "", None

    def _spoken(self, spoken: "Spoken", past: Asked | None, layout: Layout, color: str) -> tuple:
        """→ message, shown outputs without text and recording."""
        asked = Asked.said(spoken, self.pipeline().guess(self.library(), spoken))
        cut = cut_value(spoken.waveform, spoken.start, spoken.end)
        return "", *self._shown(asked, past, layout, color), cut, spoken.waveform

    def _shown(self, asked: Asked, past: Asked | None, layout: Layout, color: str) -> tuple:
        """→ asked, found, map, neighbours, honesty."""
        if past:
            asked = asked.after(past)
        return shown(asked, self.pipeline(), self.library(), layout, color)


def _plain(vector: np.ndarray) -> list[float]:
    return [round(float(number), 5) for number in vector]


def _vector(numbers: Sequence[float], dimensions: int) -> np.ndarray:
    """A vector from a program as unit float32 (D,). Raises InputError if it cannot be one."""
    try:
        vector = np.array(numbers, np.float32)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (dimensions,) or not math.isfinite(length) or length == 0:
        raise InputError(f"A vector is a list of {dimensions} numbers that are not all 0.")
    return vector / length
