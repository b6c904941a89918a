"""“Was this made here?”: a file is dropped, and its signed metadata and the mark in its sound are
looked for; and the same for programs."""

from typing import Any, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.provenance import detection
from earshot.tabs.shared.events import (
    CONVERSION_QUEUE,
    HIDDEN,
    LAST,
    Update,
    answering,
    offer,
    queued,
    stoppable,
)
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.sessions import delete_after_use

INTRO: Final = """<p class="hint">Drop a sound or a video. What Earshot makes is signed, and its
sound carries a mark that one cannot hear, which lasts where metadata is lost. Both can be removed:
what is found proves something, and nothing found does not.</p>"""
NO_FILE: Final = "There is no file yet."


class DetectionSection(Section):
    """The folded part of the page, and the endpoint /detect."""

    def __init__(self) -> None:
        """Lay it out, and connect it."""
        with gr.Accordion("Was this made here?", open=False, elem_id="made-here"):
            gr.HTML(INTRO)
            file = gr.File(label="A sound or a video", height=110)
            self.message = gr.HTML()
            self.result = gr.HTML(elem_classes="made-here")
        results = [self.message, self.result]
        gr.on([file.upload, file.clear], None, None, results, js="() => ['', '']", **HIDDEN)
        how = queued(self.result, CONVERSION_QUEUE)
        self.on(file.upload, stoppable(self.search), file, results, **how, **LAST)
        with gr.Row(visible=False):
            call, report = gr.Button(), gr.JSON(label="report")
        offer(call, detect, file, report, CONVERSION_QUEUE)

    def search(self, path: str | None) -> Update:
        """Search the file, and show what it says."""
        result = _search(path)
        verdict = detection.VERDICTS[result.verdict]
        html = render("shared/detection.html", verdict=verdict, answers=result.answers)
        return {self.message: "", self.result: html}


@answering
def detect(file: str | None) -> dict[str, Any]:
    """Say whether a sound or a video was made here, or by another Earshot.

    Args:
        file: a sound, or a video with sound, of at most 10 minutes.

    Returns:
        report: {"verdict": "here", "elsewhere", "claimed", where only an unsigned note or an
            unknown key says so, or "nothing", which does not prove that it is a recording;
            "sentence": the same in words; "answers": sentences of each layer; "metadata": state of
            what is signed (own, other, stranger, invalid, unreadable, unknown, none), generator,
            signer, when, facts, comment; "mark": present, score, installation, this_installation;
            "seconds"}.
    """
    return _search(file).document()


def _search(path: str | None) -> detection.Detection:
    if not path:
        raise InputError(NO_FILE)
    with delete_after_use(path):
        return detection.detect(path)
