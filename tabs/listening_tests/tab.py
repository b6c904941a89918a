"""Listening tests: take the example, make one of your own sounds, open it to raters."""

from pathlib import Path
from typing import Any, Final

import gradio as gr
from starlette.routing import BaseRoute

from study.design import DESIGNS
from study.library import Library
from study.web import server
from tabs.listening_tests.events import EXAMPLE, StudyEvents
from tabs.shared.drafts import CSS as DRAFTS_CSS
from tabs.shared.drafts import Drafts
from tabs.shared.events import HIDDEN, on_model

INTRO: Final = """
<header class="intro"><h2>Which one sounds better? Let people listen and say so, from your sounds to
figures that you can publish.</h2>
<p>Designs and scales of ITU-T P.800 and ITU-R BS.1534, every sound rated equally often, statistics
that know that ratings of one person belong together. Raters come by a link; who they are is not
stored.</p></header>
"""
STEP: Final = '<h3 class="step">Your own test <span>a zip, or single sounds</span></h3>'
HINT: Final = """<p class="hint">A folder for each system, the same file names in each, and
<b>reference</b> for the originals; or sounds that are named <b>system_sentence.wav</b>.</p>"""
EDIT: Final = """<h3 class="step">The test <span>read from its YAML, which you can
change</span></h3>"""
NAMES: Final = {
    "ab": "AB: which of two is better",
    "abx": "ABX: can a difference be heard",
    "acr": "MOS: how good is it, from 1 to 5",
    "ccr": "CMOS: how much better than another",
    "dcr": "DMOS: how much worse than the original",
    "mushra": "MUSHRA: several at once, from 0 to 100",
    "similarity": "Is it the same speaker",
}


def opened(folder: Path, database: str | None) -> Library:
    """The tests in a folder, with the example; answers go to the URL of a database, else into the
    folder."""
    return server.library(folder, EXAMPLE, database=database)


def routes(tests: Library) -> list[BaseRoute]:
    """What raters and organisers ask for, to stand before Gradio's own routes."""
    return [route for router in server.routers(tests) for route in router.routes]


def build(tests: Library, drafts: Drafts) -> gr.Blocks:
    """The tab. tests: those that are open here; drafts: what visitors add in the other tabs."""
    with gr.Blocks(title="Listening tests") as tab:
        _room(tab, StudyEvents(tests, drafts))
    return tab


def _room(tab: gr.Blocks, events: StudyEvents) -> None:
    gr.HTML(INTRO)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            example = _panel()
            gr.HTML(STEP)
            files = gr.File(
                file_count="multiple",
                file_types=[".zip", ".yaml", "audio"],
                label="Sounds of your systems",
                show_label=False,
                height=132,
                elem_id="study-files",
            )
            gr.HTML(HINT)
            design = gr.Dropdown(
                [(NAMES[name], name) for name in sorted(DESIGNS)], value="ab", label="Raters say"
            )
            message = _panel()
            with gr.Row(elem_classes="main-button"):
                make = gr.Button("Make a test", variant="primary", size="lg", interactive=False)
                stop = gr.Button("Stop", size="lg", visible=False)
            with gr.Accordion("Your draft", open=False):
                events.drafts.shown.render()
                use = gr.Button("Make a test of these", size="sm")
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            gr.HTML(EDIT)
            yaml = gr.Code(
                (EXAMPLE / "test.yaml").read_text(),
                language="yaml",
                show_label=False,
                lines=16,
                max_lines=32,
                interactive=True,
                elem_id="study-yaml",
            )
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                check = gr.Button("Check it", size="sm", scale=0, min_width=110)
                save = gr.DownloadButton(
                    "Download the test", size="sm", scale=0, min_width=150, visible=False
                )
                publish = gr.Button("Open it to raters", size="sm", scale=0, min_width=150)
            shown = _panel(elem_id="study-links")
    with gr.Accordion("How it works", open=False):
        gr.HTML(Path(__file__).with_name("how_it_works.html").read_text(), apply_default_css=False)

    bench = events.benches.state()
    result = [message, bench, yaml, numbers, shown]
    main: dict[str, Any] = {"progress_on": yaml, "start": make, "stop": stop}
    work: dict[str, Any] = {"show_progress_on": shown, "api_visibility": "private"}

    _api(events)
    tab.load(events.example, None, example, **HIDDEN)
    files.change(
        lambda given: gr.Button(interactive=bool(given)), inputs=files, outputs=make, **HIDDEN
    )
    made = [
        on_model(make.click, events.bring, [bench, files, design], result, **main),
        use.click(events.take_draft, [bench, events.drafts.state, design], result, **work),
        check.click(events.check, [bench, yaml], [message, numbers, shown], **work),
        publish.click(events.open, [bench, yaml], [message, numbers, shown], **work),
    ]
    for job in made:
        job.then(events.download, [bench, yaml], save, **HIDDEN)


def _panel(content: str = "", **more: Any) -> gr.HTML:
    return gr.HTML(content, css_template=DRAFTS_CSS.read_text(), apply_default_css=False, **more)


def _api(events: StudyEvents) -> None:
    """The endpoint for programs: what is wrong with a test."""
    with gr.Row(visible=False):
        call, file, answer = gr.Button(), gr.File(), gr.JSON()
    call.click(events.api_check, file, answer, api_name="check_listening_test")
