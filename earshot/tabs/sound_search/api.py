"""Endpoints of sound search for programs: they search the library of the demo."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gradio as gr

from earshot.tabs.shared.events import QUICK_QUEUE, answering
from earshot.tabs.sound_search.library import DemoLibrary

if TYPE_CHECKING:
    from earshot.systems.sound_search import SoundSearch


class SoundAPI:
    """Handlers of the endpoints."""

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
                sound, "caption", "score": cosine similarity with the query, "matches": whether the
                score reaches the threshold of a match, "seconds": the score of each second of the
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
        run: dict[str, Any] = {"concurrency_id": QUICK_QUEUE, "concurrency_limit": 1}
        for handler, inputs in (
            (self.search_sounds, [text, without]),
            (self.similar_sounds, [recording, text, without]),
        ):
            call.click(handler, inputs, answer, api_name=handler.__name__, **run)

    def _answer(self, **query: Any) -> list[dict[str, Any]]:
        pipeline = self.pipeline()
        result = pipeline(self.demo(pipeline).index, **query)
        return [
            {
                "name": hit.sound.name,
                "kind": hit.sound.kind,
                "caption": hit.sound.caption,
                "score": hit.score,
                "matches": hit.score >= result.threshold,
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
