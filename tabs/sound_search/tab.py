"""Sound search: words, or a sound → the sounds of a library that fit, and where in them they do."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.context import Context

from tabs.components.map.map import sound_map
from tabs.shared.drafts import Drafts
from tabs.shared.events import HIDDEN, MODEL_QUEUE, on_model
from tabs.sound_search.cards import sound_cards
from tabs.sound_search.events import SoundEvents
from tabs.sound_search.library import Ours, OwnLibrary
from tabs.sound_search.view import MINE, OURS, Search, take

if TYPE_CHECKING:
    from pipelines.sound_search import SoundSearch

MODELS: Final = ("sound-cnn",)  # in checkpoints/; several are searched together
EXAMPLES: Final = (
    "a fire crackles while a clock ticks",
    "a baby that wants its milk",
    "someone knocks at the door",
    "an alarm that gets you out of bed",
    "an elephant trumpets",
    "birds at dawn",
)
INTRO: Final = """
<header class="intro"><h2>Describe a sound in your own words, and hear the sounds that fit, right
where they do.</h2>
<p>Two small networks, one that hears and one that reads, trained on everyday sounds of some two
hundred kinds. English only. They know kinds of sounds better than places, counts or who is
speaking; the library is synthetic.</p></header>
"""
STEP: Final = '<h3 class="step">What do you want to hear?</h3>'
OWN: Final = """<p class="hint">Search your own recordings: up to 200 files, 2 hours together.
Nobody else sees them, and they are deleted when you leave.</p>"""
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/sound-cnn</code>, and there is none. Train one, with
your sounds in DIR, or start Earshot with <code>--sound-model laion/clap-htsat-unfused</code>. The
other tabs work meanwhile.</p>
<pre>python -m training.sound_search prepare --data DIR --out OUT
python -m training.sound_search train --out OUT
python -m training.sound_search export --out OUT</pre></header>
"""


def build(
    pipeline: Callable[[], "SoundSearch"] | None, index: Path, drafts: Drafts | None = None
) -> gr.Blocks:
    """The tab. pipeline: gives the model, loaded when first asked for; None where there is none.
    index: the folder of our library's index; drafts: of listening tests."""
    gr.set_static_paths([index.with_suffix("")])  # the sounds, which lie beside it
    with gr.Blocks(title="Sound search") as tab:
        if pipeline:
            _room(tab, SoundEvents(pipeline, Ours(index)), drafts)
        else:
            gr.HTML(MISSING)
    return tab


def _room(tab: gr.Blocks, events: SoundEvents, drafts: Drafts | None) -> None:
    gr.HTML(INTRO)
    past = gr.State(Search(), time_to_live=3600)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input room-stays"):
            gr.HTML(STEP)
            text = gr.Textbox(
                "",
                label="What do you want to hear?",
                show_label=False,
                container=False,
                placeholder=EXAMPLES[0],
                max_lines=3,
                elem_classes="query",
            )
            liked_chip = gr.Button(visible=False, size="sm", elem_classes="liked")
            message = gr.HTML()
            with gr.Row(elem_classes="main-button"):
                search = gr.Button("Search", variant="primary", size="lg")
                stop = gr.Button("Stop", size="lg", visible=False)
            chips = _example_chips()
            with gr.Accordion("Search by a sound", open=False):
                recording = gr.Audio(
                    sources=["microphone", "upload"],
                    type="filepath",
                    label="A sound to find more like, up to 60 s",
                    show_label=False,
                    buttons=[],
                    waveform_options=gr.WaveformOptions(
                        waveform_color="#8A94A0", waveform_progress_color="#0F766E"
                    ),
                    elem_classes="sound-input",
                )
            with gr.Accordion("Options", open=False):
                without = gr.Textbox("", label="But not …", placeholder="music")
            with gr.Accordion("Your own sounds", open=False):
                gr.HTML(OWN)
                with gr.Row():
                    several: dict[str, Any] = {"size": "sm", "min_width": 120}
                    files = gr.UploadButton("Add files", file_count="multiple", **several)
                    folder = gr.UploadButton("Add a folder", file_count="directory", **several)
                halt = gr.Button("Stop adding", size="sm", visible=False)
                place = gr.Radio(
                    [("Earshot’s sounds", OURS), ("My sounds", MINE)],
                    value=OURS,
                    label="Search in",
                    visible=False,
                )
                contents = gr.HTML(elem_classes="numbers")
                forget = gr.Button("Delete my sounds", size="sm", visible=False)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            with gr.Row(elem_classes="under-timeline"):
                found = gr.HTML("<p>One moment …</p>", elem_id="found", elem_classes="found")
                if drafts:
                    drafts.button(past, take)
                labels = gr.DownloadButton(visible=False, size="sm", scale=0, min_width=170)
            with gr.Row(elem_classes="best-and-map"):
                best = sound_cards("best-sound")
                chart = sound_map("sound-map")
            rest = sound_cards("other-sounds")
    with gr.Accordion("How it works", open=False):
        gr.HTML(Path(__file__).with_name("how_it_works.html").read_text(), apply_default_css=False)

    liked = gr.State(None, time_to_live=3600)
    own = gr.State(None, time_to_live=3600, delete_callback=_close)
    shown = [message, past, found, best, chart, rest, labels]
    like = [liked, liked_chip]
    query = [past, own, text, recording, liked, without, place]
    main: dict[str, Any] = {"progress_on": found, "start": search, "stop": stop}

    # First, for the names of endpoints are given in this order.
    _api(events, text, recording, without)
    tab.load(events.first_look, outputs=shown, **HIDDEN)
    # Gradio forgets what a Blocks inside another does at the end of a visit.
    (Context.root_block or tab).unload(events.leave)
    triggers: list[Callable] = [search.click, text.submit]
    asked = [text, recording, without]
    for chip, words in chips:
        fresh = chip.click(lambda w=words: (w, None, ""), None, asked, **HIDDEN)
        triggers.append(fresh.then(events.unlike, None, like, **HIDDEN).then)
    for sounds in (best, rest, chart):
        more = sounds.submit(events.like, [past, own], [*like, text, recording], **HIDDEN)
        triggers.append(more.success)
    for trigger in triggers:
        on_model(trigger, events.search, query, shown, **main)
    for cards in (best, rest):
        cards.edit(
            events.vote,
            [past, own],
            shown,
            concurrency_id=MODEL_QUEUE,
            show_progress="hidden",
            api_visibility="private",
        )
    for gone in (liked_chip.click, recording.input, place.change):
        gone(events.unlike, None, like, **HIDDEN)

    held = [own, place, contents]
    for button in (files, folder):
        on_model(
            button.upload,
            events.add,
            [button, past, own],
            [*shown, *held],
            progress_on=found,
            start=button,
            stop=halt,
        )
    own.change(lambda library: gr.Button(visible=bool(library)), own, forget, **HIDDEN)
    deleted = forget.click(events.forget, own, held, **HIDDEN)
    deleted.then(events.first_look, outputs=shown, **HIDDEN)
    place.input(events.switch, [past, own, place], shown, **HIDDEN)


def _close(own: OwnLibrary | None) -> None:
    if own:
        own.close()


def _example_chips() -> list[tuple[gr.Button, str]]:
    with gr.Row(elem_classes="chips"):
        gr.HTML("<span>Or try</span>")
        return [(gr.Button(words, size="sm", min_width=0, scale=0), words) for words in EXAMPLES]


def _api(events: SoundEvents, text: gr.Textbox, recording: gr.Audio, without: gr.Textbox) -> None:
    """The endpoints for programs, which search our library and answer in JSON."""
    with gr.Row(visible=False):
        call, answer = gr.Button(), gr.JSON()
    run: dict[str, Any] = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1}
    call.click(events.api_search, [text, without], answer, api_name="search_sounds", **run)
    call.click(
        events.api_similar, [recording, text, without], answer, api_name="similar_sounds", **run
    )
