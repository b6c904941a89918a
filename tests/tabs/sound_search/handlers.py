"""The handlers of a page of sound search, for tests that call them."""

from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from earshot.systems.registry import Offer
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.sound_search.events import SoundEvents
from earshot.tabs.sound_search.library import DemoLibrary, Systems
from earshot.tabs.sound_search.query import DEMO, Search, filter_section
from earshot.tabs.sound_search.view import ResultView, SoundComponents


def sound_events(search: SoundSearch, index: Path, view: ResultView) -> SoundEvents:
    """The handlers of a page."""
    with gr.Blocks():
        filters = filter_section()
    text, without = gr.Textbox(), gr.Textbox()
    query = (text, gr.HTML(), gr.Audio(), without, gr.State(), gr.Button(), filters)
    scope = gr.Radio()
    components = SoundComponents(view, *query, gr.State(), scope, gr.State())
    demo = DemoLibrary(index)
    offer: Any = Offer(lambda _: search, {"sounds": "Sounds"}, {"other": "Other"})
    return SoundEvents(Systems(offer, demo), demo, components)


def sent(events: SoundEvents, **values: Any) -> dict[Component, Any]:
    """The values that the page sends: these, by the name of their component, and what a fresh page
    holds."""
    ui = events.components
    filters = {name: getattr(ui.filters, name) for name in ui.filters.__dataclass_fields__}
    named = {"among": filters.pop("collections"), **filters, "search": ui.result.search}
    named |= {"own": ui.own, "scope": ui.scope, "collections": ui.collections, "text": ui.text}
    named |= {"recording": ui.recording, "without": ui.without, "liked": ui.liked}
    fresh = {"search": Search(), "scope": DEMO, "collections": {}, "text": "", "without": ""}
    fresh |= {"title": "", "families": [], "licences": [], "tags": [], "among": []}
    every = {component: fresh.get(name) for name, component in named.items()}
    assert every.keys() == ui.inputs
    return every | {named[name]: value for name, value in values.items()}
