"""The handlers of a page of sound search, for tests that call them."""

from pathlib import Path

import gradio as gr

from earshot.pipelines.sound_search import SoundSearch
from earshot.tabs.sound_search.events import SoundEvents
from earshot.tabs.sound_search.filters import filter_section
from earshot.tabs.sound_search.library import DemoLibrary
from earshot.tabs.sound_search.view import Components, ResultView


def sound_events(search: SoundSearch, index: Path, view: ResultView) -> SoundEvents:
    """The handlers of a page."""
    with gr.Blocks():
        filters = filter_section()
    text, without = gr.Textbox(), gr.Textbox()
    query = (text, gr.HTML(), gr.Audio(), without, gr.State(), gr.Button(), filters)
    components = Components(view, *query)
    return SoundEvents(lambda: search, DemoLibrary(index), components)
