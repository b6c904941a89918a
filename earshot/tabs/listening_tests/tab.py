"""Listening tests: take the example, make one of your own sounds, open it to raters, or analyse
ratings that were collected with webMUSHRA or the P.808 toolkit.
"""

import os
from pathlib import Path
from typing import Any, Final

import gradio as gr
from starlette.routing import BaseRoute

from earshot.core.errors import InputError
from earshot.study.imports.toolkits import CLIPS, read_ratings
from earshot.study.library import ANYBODY, EXAMPLE, VOTE, Permission, TestLibrary
from earshot.study.report_process import trial_process
from earshot.study.web import server
from earshot.tabs.listening_tests import api, form
from earshot.tabs.listening_tests.events import (
    StudyComponents,
    StudyEvents,
    example,
)
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.events import (
    HIDDEN,
    LONG_QUEUE,
    SHOW,
    Update,
    on_model,
    queued,
    reporting,
    say,
    stoppable,
)
from earshot.tabs.shared.parts import Section, how_it_works, main_button, when_opened
from earshot.tabs.shared.services import DRAFTS_CSS, Drafts, Services
from earshot.tabs.shared.sessions import SessionStore

IMPORT_HINT: Final = """<p class="hint">The CSV that webMUSHRA writes, or the answers or votes of
the P.808 toolkit (ACR, DCR, CCR, P.835). Who the raters are is left behind: they are numbered.</p>
"""
SCALES: Final = [("Overall", "ovrl"), ("Speech signal", "sig"), ("Background noise", "bak")]
NO_FILE: Final = "Choose a CSV file first."
INTRO: Final = """
<header class="intro"><h2>Which one sounds better? Let people listen and say so, from your sounds to
figures that you can publish.</h2>
<p>Designs and scales of ITU-T P.800 and ITU-R BS.1534, every sound rated equally often, statistics
that know that ratings of one person belong together. Raters come by a link; who they are is not
stored.</p></header>
"""
TEST: Final = '<h3 class="step">4 · Test <span>rehearsed, tried, and opened to raters</span></h3>'
CHANGE: Final = """<p class="hint">Until somebody has begun it. Its sounds and questions come back
here; change them, and open it again.</p>"""
HINT: Final = """<p class="hint">A folder for each system, the same file names in each, and
<b>reference</b> for the originals; or sounds that are named <b>system_sentence.wav</b>. Videos
(MP4, WebM) likewise.</p>"""
# On a Space, whose disk is empty after every restart.
NO_DISK: Final = (
    "This Space keeps no files: a test that you open here is gone when it restarts. If it matters, "
    "download it and serve it yourself."
)
NO_DATABASE: Final = " Answers are lost then too, for it has no database."


class ImportSection(Section):
    """The folded part that analyses ratings of other tools. workspace: the visitor's, where the
    report is kept.
    """

    def __init__(self, workspaces: SessionStore[Workspace], workspace: gr.State) -> None:
        """Lay it out."""
        self.workspaces, self.workspace = workspaces, workspace
        with gr.Accordion("Ratings from webMUSHRA or P.808", open=False):
            gr.HTML(IMPORT_HINT)
            file = gr.File(label="Ratings", show_label=False, height=110)
            clips = gr.Textbox(CLIPS, label="How clips of P.808 are called")
            scale = gr.Radio(SCALES, value=SCALES[0][1], label="Scale of P.835")
            analyse = gr.Button("Analyse them", size="sm")
            self.message = gr.HTML()
            self.report = gr.File(label="Report", visible=False, interactive=False)
        self.on(
            analyse.click,
            stoppable(self.analysed),
            [workspace, file, clips, scale],
            [workspace, self.message, self.report],
            **queued(self.message, LONG_QUEUE),
        )

    def analysed(
        self,
        workspace: Workspace | None,
        file: str | None,
        clips: str,
        scale: str,
        request: gr.Request,
    ) -> Update:
        """Analyse the ratings, and show the report as PDF and HTML."""
        # Late, for it takes seconds to import.
        from earshot.study.analysis import analyse
        from earshot.study.analysis.report.page import page
        from earshot.study.analysis.report.pdf import document
        from earshot.study.analysis.report.prose import conclusion

        if not file:
            raise InputError(NO_FILE)
        ratings = read_ratings(Path(file), clips, scale)
        make, workspace = trial_process(), self.workspaces.of(workspace, request)
        results = make(analyse, ratings.test, ratings.table, notes=ratings.notes)
        pdf, html = (
            workspace.reports() / f"{ratings.test.name}.{kind}" for kind in ("pdf", "html")
        )
        pdf.write_bytes(make(document, results))
        html.write_text(make(page, results), encoding="utf-8")
        return {
            self.workspace: workspace,
            self.message: say(" ".join((conclusion(results), *ratings.notes)), "done"),
            self.report: gr.File([str(pdf), str(html)], visible=True),
        }


def opened(folder: Path, database: str | None, permission: Permission = ANYBODY) -> TestLibrary:
    """Open the tests in a folder, with those that are shipped; answers go to the URL of a database,
    else into the folder. permission: which visitors may open tests of their own.
    """
    shipped = (EXAMPLE, VOTE)
    public = {test.name for test in shipped}
    return server.library(folder, *shipped, database=database, public=public, permission=permission)


def routes(tests: TestLibrary) -> list[BaseRoute]:
    """List the routes of raters and organisers, to stand before Gradio's own."""
    return [route for router in server.routers(tests) for route in router.routes]


def build(services: Services) -> gr.Blocks:
    """Build the tab, for a page that has tests and drafts."""
    assert services.tests and services.drafts
    with gr.Blocks(title="Listening tests") as tab:
        _layout(services.tests, services.drafts, services.publishing, services.host)
    return tab


def _layout(tests: TestLibrary, drafts: Drafts, publishing: bool, host: str | None) -> None:
    gr.HTML(INTRO)
    if os.environ.get("SPACE_ID"):
        has_database = tests.store.engine.dialect.name != "sqlite"
        gr.HTML(say(NO_DISK if has_database else NO_DISK + NO_DATABASE))
    workspaces = SessionStore(Workspace.new)
    workspace = workspaces.state()
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            example_links = _panel()
            with gr.Accordion("Change a test that is open", open=False):
                gr.HTML(CHANGE)
                link = gr.Textbox(label="Link to its results", max_lines=1, elem_id="study-link")
                edit = gr.Button("Bring it back", size="sm")
            ImportSection(workspaces, workspace)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result organiser"):
            sounds = gr.HTML()
            files = gr.File(
                file_count="multiple",
                label="Sounds of your systems",
                show_label=False,
                height=132,
                elem_id="study-files",
            )
            gr.HTML(HINT)
            with gr.Accordion("Your draft", open=False):
                drafts.listing.render()
                use = gr.Button("Make a test of these", size="sm")
            fields = form.build(sounds)
            gr.HTML(TEST)
            message = _panel()
            make, stop = main_button("Make a test", ready=False)
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                possible = publishing and tests.permission.possible
                small: dict[str, Any] = {"size": "sm", "scale": 0}
                pack = gr.Button("Download the test", min_width=150, **small)
                samples = gr.Button("Page of samples", min_width=150, **small)
                preview = gr.Button("Preview as a rater", min_width=150, visible=possible, **small)
                publish = gr.Button("Open it to raters", min_width=150, visible=possible, **small)
                key = gr.Textbox(
                    label="Key for opening tests",
                    type="password",
                    visible=publishing and tests.permission.key is not None,
                    min_width=150,
                )
                zip_file = gr.DownloadButton(size="sm", scale=0, min_width=150, visible=False)
            links = _panel(elem_id="study-links")
            with gr.Accordion("Advanced: the test as YAML", open=False):
                yaml = gr.Code(
                    (EXAMPLE / "test.yaml").read_text(),
                    language="yaml",
                    show_label=False,
                    lines=16,
                    max_lines=32,
                    interactive=True,
                    wrap_lines=True,  # or a phone's page is as wide as its longest line
                    elem_id="study-yaml",
                )
                check = gr.Button("Check it", size="sm", min_width=110)
            rehearsal = _panel(elem_id="study-rehearsal")
    how_it_works(__file__)

    parts = StudyComponents(workspace, message, yaml, numbers, links, zip_file, files, fields, link)
    events = StudyEvents(tests, drafts, workspaces, parts, host)
    test = [parts.workspace, yaml]
    report = [message, numbers, links, zip_file]
    inputs = {parts.workspace, yaml, files, *fields.components}
    outputs = [parts.workspace, yaml, *report, *fields.components]
    work: dict[str, Any] = {"show_progress_on": links, "api_visibility": "private"}
    rehearse: dict[str, Any] = {
        "fn": stoppable(events.rehearse),
        "inputs": test,
        "outputs": rehearsal,
        **queued(rehearsal, LONG_QUEUE),
    }

    api.declare()
    when_opened()(lambda: example(tests), None, example_links, **HIDDEN)
    files.change(
        lambda uploads: gr.Button(interactive=bool(uploads)), inputs=files, outputs=make, **HIDDEN
    )
    on_model(
        make.click,
        events.from_upload,
        inputs,
        outputs,
        message=message,
        progress_on=fields.consent,  # the message is empty, and nothing to scroll to
        start=make,
        stop=stop,
    ).then(**rehearse)
    use.click(
        reporting(events.from_draft, message),
        {parts.workspace, drafts.state, *fields.components},
        outputs,
        **work,
    ).then(**rehearse)
    edit.click(reporting(events.edit, message), {*inputs, link}, outputs, **work).then(
        lambda workspace: gr.Button(interactive=workspace is not None),
        inputs=parts.workspace,
        outputs=make,
        **HIDDEN,
    ).then(**rehearse)
    check.click(reporting(events.check, message), test, report, **work).then(**rehearse)
    if publishing:  # a hidden button alone could still be pressed by a program
        for button, handler in ((publish, events.open), (preview, events.preview)):
            run = button.click(reporting(handler, message), [*test, key], report, **work)
            run.then(js=SHOW % links.elem_id, **HIDDEN)
    # Queued, one at a time for all visitors: packing takes disk and time.
    pack.click(reporting(events.download, message), test, [message, zip_file], **work)
    make_page = reporting(stoppable(events.page), message)
    samples.click(make_page, parts.workspace, [message, zip_file], **work)


def _panel(content: str = "", **more: Any) -> gr.HTML:
    return gr.HTML(content, css_template=DRAFTS_CSS.read_text(), apply_default_css=False, **more)
