"""The words tab's endpoints for programs, which answer in JSON."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from earshot.core.errors import InputError
from earshot.tabs.components.timeline import File
from earshot.tabs.shared.events import LONG_QUEUE, QUICK_QUEUE, answering
from earshot.tabs.words.map import SPOKEN, WRITTEN
from earshot.tabs.words.view import LIMIT

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.library import WordLibrary

MAX_NEIGHBOURS: Final = 100
MAX_FILES: Final = 200


class WordAPI:
    """The handlers of the endpoints."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library

    def declare(self, recording: gr.Audio, text: gr.Textbox) -> None:
        """Declare the endpoints inside a gr.Blocks, with the tab's inputs as parameters."""
        with gr.Row(visible=False):
            call = gr.Button()
            embedding, neighbours = gr.JSON(label="embedding"), gr.JSON(label="neighbours")
            vector = gr.JSON(label="vector")
            view = gr.Textbox("spoken", label="view")
            limit = gr.Number(10, label="limit")
            files = gr.File(file_count="multiple", type="filepath", label="recordings")
            table = gr.File(label="table")
        run: dict[str, Any] = {"concurrency_id": QUICK_QUEUE, "concurrency_limit": 1}
        call.click(self.embed_audio, recording, embedding, api_name="embed_audio", **run)
        call.click(self.embed_text, text, embedding, api_name="embed_text", **run)
        call.click(
            self.embed_words,
            files,
            table,
            api_name="embed_words",
            concurrency_id=LONG_QUEUE,
            concurrency_limit=1,
        )
        call.click(self.nearest, [vector, view, limit], neighbours, api_name="nearest", **run)

    @answering
    def embed_audio(self, audio: str) -> dict[str, Any]:
        """Embed a recording of one word or short phrase.

        Args:
            audio: An audio file, up to 60 s, with one word of at most 3 s in it.

        Returns:
            embedding: {"vector": the unit vector, a list of D numbers, "start" and "end": the
            detected word in seconds, "notices": sentences about the recording}.
        """
        spoken = self.pipeline().embed_audio(audio)
        return {
            "vector": _rounded(spoken.vector),
            "start": spoken.start,
            "end": spoken.end,
            "notices": list(spoken.notices),
        }

    @answering
    def embed_text(self, text: str | None) -> dict[str, Any]:
        """Embed a written word or short phrase.

        Args:
            text: English spelling, Chinese, Arabic, IPA between slashes, ARPAbet or pinyin with
                tone numbers.

        Returns:
            embedding: {"vector": the unit vector, a list of D numbers, "phonemes": in IPA,
            "source": "dictionary", "guess" (predicted by a network), "IPA", "ARPAbet", "pinyin",
            "Chinese", "Arabic" or "Arabic guess" (without written vowels)}.
        """
        written = self.pipeline().embed_text(text or "")
        pronunciation = written.pronunciation
        return {
            "vector": _rounded(written.vector),
            "phonemes": list(pronunciation.phonemes),
            "source": pronunciation.source,
        }

    @answering
    def embed_words(self, recordings: list[str] | None) -> str:
        """Embed many recordings of one word each.

        Args:
            recordings: At most 200 audio files, with one word of at most 3 s in each.

        Returns:
            table: A CSV, a row a file: where its word starts and ends in seconds, the five nearest
            written words with their cosines, why it could not be used, notices, and its vector.
        """
        from earshot.exports.words import (  # late, for it loads torch
            embed_files,
            embeddings_csv,
        )

        if not recordings:
            raise InputError("There are no recordings. Send some files with a word in each.")
        if len(recordings) > MAX_FILES:
            raise InputError(f"These are {len(recordings)} files. Send {MAX_FILES} at most.")
        rows = embed_files(self.pipeline(), self.library(), recordings)
        return File("words", "words.csv", embeddings_csv(rows).encode("utf-8-sig")).data()["path"]

    @answering
    def nearest(
        self, vector: Sequence[float], view: str = SPOKEN, limit: float | None = LIMIT
    ) -> list[dict[str, Any]]:
        """Find the words of the library with the highest cosine to a vector.

        Args:
            vector: A vector from embed_audio or embed_text.
            view: "spoken" or "written" words.
            limit: How many, from 1 to 100.

        Returns:
            neighbours: A list, best first, of {"word": its spelling, "phonemes": in IPA,
            "language", "voice": null for written words, "cosine": from -1 to 1}.
        """
        library = self.library()
        if view not in (SPOKEN, WRITTEN):
            raise InputError(f"The view is “{SPOKEN}” or “{WRITTEN}”.")
        query = _unit_vector(vector, library.vectors.shape[1])
        found = self.pipeline().nearest(library, query, view, _count(limit))
        return [
            {
                "word": neighbour.word.spelling,
                "phonemes": list(neighbour.word.phonemes),
                "language": neighbour.word.language,
                "voice": neighbour.word.voice,
                "cosine": neighbour.cosine,
            }
            for neighbour in found
        ]


def _rounded(vector: np.ndarray) -> list[float]:
    return [round(float(number), 5) for number in vector]


def _count(limit: object) -> int:
    """Read how many neighbours a program asks for, from 1 to MAX_NEIGHBOURS.

    Raises InputError for what is no number, which Gradio lets through.
    """
    try:
        return int(min(max(limit, 1), MAX_NEIGHBOURS))  # type: ignore[type-var]
    except (TypeError, ValueError) as error:
        raise InputError(f"The limit is a number from 1 to {MAX_NEIGHBOURS}.") from error


def _unit_vector(numbers: Sequence[float], dimensions: int) -> np.ndarray:
    """Scale a vector from a program to unit length, float32 (D,). Raises InputError if it cannot be
    one.
    """
    try:
        vector = np.array(numbers, np.float32)
    except (TypeError, ValueError, OverflowError):  # an integer beyond all floats
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (dimensions,) or not math.isfinite(length) or length == 0:
        raise InputError(f"A vector is a list of {dimensions} numbers that are not all 0.")
    return vector / length
