"""Ratings that were collected with webMUSHRA or the P.808 toolkit, analysed as ours are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.study import imports
from earshot.study.imports.p808 import CLIPS
from earshot.study.report_process import trial_process
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.events import LONG_QUEUE, PRIVATE, reporting, say, stoppable
from earshot.tabs.shared.sessions import SessionStore

HINT: Final = """<p class="hint">The CSV that webMUSHRA writes, or the answers or votes of the P.808
toolkit (ACR, DCR, CCR, P.835). Who the raters are is left behind: they are numbered.</p>"""
SCALES: Final = [("Overall", "ovrl"), ("Speech signal", "sig"), ("Background noise", "bak")]
NO_FILE: Final = "Choose a CSV file first."


def build(workspaces: SessionStore[Workspace], workspace: gr.State) -> None:
    """Lay out the part of the tab. workspace: the visitor's, where the report is kept."""
    with gr.Accordion("Ratings from webMUSHRA or P.808", open=False):
        gr.HTML(HINT)
        file = gr.File(file_types=[".csv"], label="Ratings", show_label=False, height=110)
        clips = gr.Textbox(CLIPS, label="How clips of P.808 are called")
        scale = gr.Radio(SCALES, value=SCALES[0][1], label="Scale of P.835")
        analyse = gr.Button("Analyse them", size="sm")
        message, report = gr.HTML(), gr.File(label="Report", visible=False, interactive=False)
        analyse.click(
            stoppable(reporting(_analysed(workspaces, workspace, message, report), message)),
            [workspace, file, clips, scale],
            [workspace, message, report],
            concurrency_id=LONG_QUEUE,
            show_progress_on=message,
            **PRIVATE,
        )


def _analysed(
    workspaces: SessionStore[Workspace], state: gr.State, message: gr.HTML, report: gr.File
) -> Callable[..., dict[Any, Any]]:
    def analysed(
        held: Workspace | None, file: str | None, clips: str, scale: str, request: gr.Request
    ) -> dict[Any, Any]:
        """Read the ratings, say what they say, and show the report as PDF and HTML."""
        # Late, for it takes seconds to import.
        from earshot.study.analysis import analyse
        from earshot.study.analysis.report.page import page
        from earshot.study.analysis.report.pdf import document
        from earshot.study.analysis.report.prose import concluded

        if not file:
            raise InputError(NO_FILE)
        found = imports.read(Path(file), clips, scale)
        make, workspace = trial_process(), workspaces.of(held, request)
        results = make(analyse, found.test, found.table, notes=found.notes)
        pdf, html = (workspace.reports() / f"{found.test.name}.{kind}" for kind in ("pdf", "html"))
        pdf.write_bytes(make(document, results))
        html.write_text(make(page, results), encoding="utf-8")
        return {
            state: workspace,
            message: say(" ".join((concluded(results), *found.notes))),
            report: gr.File([str(pdf), str(html)], visible=True),
        }

    return analysed
