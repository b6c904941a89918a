"""The sound search tab: its layout, and which event runs which handler."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from earshot.tabs.components.map import sound_map
from earshot.tabs.shared.events import HIDDEN, QUICK_QUEUE, on_model, queued, reporting
from earshot.tabs.shared.parts import (
    chips,
    how_it_works,
    main_button,
    missing_model,
    query_input,
    sound_input,
    when_opened,
)
from earshot.tabs.shared.services import Services
from earshot.tabs.shared.sessions import MAX_AGE, SessionStore
from earshot.tabs.sound_search.collections import CollectionSection
from earshot.tabs.sound_search.compare import CompareSection
from earshot.tabs.sound_search.events import SoundAPI, SoundEvents
from earshot.tabs.sound_search.library import DemoLibrary, Systems, VisitorLibrary
from earshot.tabs.sound_search.own_sounds import OwnSounds
from earshot.tabs.sound_search.query import Search, filter_section, query_chips
from earshot.tabs.sound_search.systems import SystemSection
from earshot.tabs.sound_search.view import ResultView, SoundComponents, draft_item, sound_cards

if TYPE_CHECKING:
    from earshot.systems.registry import Offer
    from earshot.systems.sound_search import SoundSearch

MODELS: Final = ("sound-cnn", "sound-effects")  # in checkpoints/; several form an ensemble
EXAMPLES: Final = (
    "a fire crackles while a clock ticks",
    "a doorbell rings, then somebody walks",
    "a baby that wants its milk",
    "someone knocks at the door",
    "an alarm that gets you out of bed",
    "an elephant trumpets",
    "birds at dawn",
)
INTRO: Final = """
<header class="intro"><h2>Describe a sound in your own words, and hear the sounds that match, right
where they match.</h2>
<p>Two audio networks and a sentence encoder with one embedding space, for everyday sounds of some
two hundred kinds. They know English; German, French, Spanish, Chinese and Arabic are
translated into English word by word. They know kinds of sounds better than places, counts or who
is speaking; the sounds of the library are synthetic.</p></header>
"""
STEP: Final = '<h3 class="step">What do you want to hear?</h3>'
OTHER_MODEL: Final = """or start Earshot with <code>--sound-model
laion/clap-htsat-unfused</code>"""


def build(
    offer: "Offer[SoundSearch]",
    demo: DemoLibrary,
    services: Services,
) -> gr.Blocks:
    """Build the tab over the systems that it offers. demo: the library, whose route the page's
    server needs."""
    with gr.Blocks(title="Sound search") as tab:
        if offer:
            _tab(offer, demo, services)
        else:
            missing_model("sound_search", MODELS[0], "sounds", OTHER_MODEL)
    return tab


def _tab(offer: "Offer[SoundSearch]", demo: DemoLibrary, services: Services) -> None:
    systems = Systems(offer, demo)
    sessions = SessionStore(lambda: VisitorLibrary(offer()))
    parts, ui = _layout(services, systems, demo, sessions)
    events = SoundEvents(systems, demo, ui)
    jobs = _wire(events, ui, parts)
    parts.own.wire(events)
    parts.collections.wire(events)
    parts.systems.wire(events)
    compare = parts.compare
    compare.wire(ui.result.message, (ui.result.best, ui.result.rest), ui.own)
    for job in jobs:
        job.then(compare.leave, compare.pair, [compare.pair, compare.panel], **HIDDEN)
    SoundAPI(offer, demo).declare(*ui.query_inputs)


@dataclass(frozen=True)
class Controls:
    """The components that start and stop a search, and the sections that have handlers of their
    own.
    """

    search: gr.Button
    stop: gr.Button
    examples: Sequence[tuple[gr.Button, str]]
    systems: SystemSection
    own: OwnSounds
    collections: CollectionSection
    compare: CompareSection


def _layout(
    services: Services,
    systems: Systems,
    demo: DemoLibrary,
    sessions: SessionStore[VisitorLibrary],
) -> tuple[Controls, SoundComponents]:
    gr.HTML(INTRO)
    search_state = gr.State(Search(), time_to_live=MAX_AGE)
    liked = gr.State(None, time_to_live=MAX_AGE)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input room-stays"):
            gr.HTML(STEP)
            text = query_input("What do you want to hear?", EXAMPLES[0], max_lines=3)
            understood = query_chips()
            liked_chip = gr.Button(visible=False, size="sm", elem_classes="liked")
            message = gr.HTML()
            search, stop = main_button("Search")
            examples = list(zip(chips(EXAMPLES), EXAMPLES, strict=True))
            with gr.Accordion("Search by a sound", open=False):
                recording = sound_input("An example sound, up to 60 s")
            with gr.Accordion("Options", open=False):
                without = gr.Textbox("", label="But not …", placeholder="music")
                filters = filter_section()
            with gr.Accordion("Your own sounds", open=False):
                own = OwnSounds(sessions.state(), sessions)
            with gr.Accordion("Collections", open=False):
                collections = CollectionSection()
            section = SystemSection(systems, services)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            with gr.Row(elem_classes="under-timeline"):
                summary = gr.HTML("<p>One moment …</p>", elem_id="found", elem_classes="found")
                if services.drafts:
                    services.drafts.button(search_state, draft_item)
                labels = gr.DownloadButton(visible=False, size="sm", scale=0, min_width=170)
                export = gr.DownloadButton(visible=False, size="sm", scale=0, min_width=190)
            compare = CompareSection(demo)
            with gr.Row(elem_classes="best-and-map"):
                best = sound_cards("best-sound")
                chart = sound_map("sound-map")
            rest = sound_cards("other-sounds")
            more = gr.Button("Show more results", visible=False, size="sm", elem_id="more-sounds")
    collections.store.render()
    how_it_works(__file__)
    result = ResultView(message, search_state, summary, best, chart, rest, more, labels, export)
    query = (text, understood, recording, without, liked, liked_chip, filters)
    ui = SoundComponents(result, *query, own.own, own.scope, collections.collections)
    return Controls(search, stop, examples, section, own, collections, compare), ui


def _wire(events: SoundEvents, ui: SoundComponents, parts: Controls) -> list[Dependency]:
    """Connect what searches, and give each run of a search."""
    result, outputs = ui.result, ui.outputs
    searched: list[Component] = [result.search, ui.own]
    main: dict[str, Any] = {
        "message": result.message,
        "progress_on": result.summary,
        "start": parts.search,
        "stop": parts.stop,
        "queue": QUICK_QUEUE,
    }
    when_opened()(events.first_look, outputs=outputs, **HIDDEN)
    triggers: list[Callable] = [parts.search.click, ui.text.submit]
    for button, text in parts.examples:
        fresh = button.click(partial(_query_of, text), None, ui.query_inputs, **HIDDEN)
        triggers.append(fresh.then(events.unlike, None, ui.like, **HIDDEN).then)
    for sounds in (result.best, result.rest, result.chart):
        liked = [*ui.like, ui.text, ui.recording]
        more = sounds.submit(events.like, searched, liked, **HIDDEN)
        triggers.append(more.success)
    changes: list[tuple[Callable, Callable[..., Any]]] = [
        (result.more.click, events.more),
        (result.best.edit, events.vote),
        (result.rest.edit, events.vote),
        (result.chart.edit, events.area),
    ]
    for edit, handler in changes:
        edit(
            reporting(handler, result.message),
            searched,
            outputs,
            **queued(),
        )
    chip = ui.understood.edit(events.change_parts, result.search, ui.text, **HIDDEN)
    triggers.append(chip.then)
    jobs = [on_model(trigger, events.search, ui.inputs, outputs, **main) for trigger in triggers]
    for gone in (ui.liked_chip.click, ui.recording.input, ui.scope.change):
        gone(events.unlike, None, ui.like, **HIDDEN)
    return jobs


def _query_of(text: str) -> tuple[str, None, str]:
    """Fill the inputs of a query that is an example: its text, and nothing else."""
    return text, None, ""
