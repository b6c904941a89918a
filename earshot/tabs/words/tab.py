"""The words tab: the neighbours of any spoken or typed word among spoken and written words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from earshot.core.loading import once
from earshot.tabs.components.map import sound_map
from earshot.tabs.components.timeline import TEMPLATE
from earshot.tabs.shared.events import HIDDEN, QUICK_QUEUE, on_model, queued, reporting
from earshot.tabs.shared.parts import (
    chips,
    how_it_works,
    main_button,
    missing_model,
    query_input,
    sound_input,
)
from earshot.tabs.shared.services import Services
from earshot.tabs.words.baseline import BaselineSection
from earshot.tabs.words.compare import CompareSection
from earshot.tabs.words.events import WordAPI, WordComponents, WordEvents
from earshot.tabs.words.find import FindSection
from earshot.tabs.words.panel import SCRIPT, recorded_or_uploaded, word_cut
from earshot.tabs.words.threshold import ThresholdSection
from earshot.tabs.words.view import draft_item
from earshot.tabs.words.vocabulary import VocabularySection

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.library import WordLibrary

Chips = tuple[Sequence[tuple[gr.Button, str]], Sequence[tuple[gr.Button, Path]]]

MODEL: Final = "words"  # in checkpoints/
EXAMPLES: Final = ("speech", "onomatopoeia", "snorkelish", "/ʃɪp/", "北京", "سلام")
EXAMPLE_SOUNDS: Final = ("elephant-awb", "butterfly-rms", "tree-slt", "beijing-slt")
INTRO: Final = """
<header class="intro"><h2>Say any word, or type one, and see which words it sounds like.</h2>
<p>One network encodes the sound of a word, another its phonemes, into the same vector space,
whoever the speaker is. Trained on single words of English, Arabic and Mandarin; for sentences,
other languages and songs the neighbours mean nothing.</p></header>
"""
STEP: Final = '<h3 class="step">Say a word <span>up to 3 s</span></h3>'
TYPE: Final = '<h3 class="step">Or type one <span>any spelling</span></h3>'
HINT: Final = """<p class="hint">In English, Chinese or Arabic; or as IPA between slashes, as
ARPAbet (K AE T), as pinyin with tones (bei3 jing1).</p>"""


def build(
    pipeline: Callable[[], "Words"] | None,
    index: Path,
    services: Services,
) -> gr.Blocks:
    """Build the tab.

    pipeline: returns the model, loaded on first use; None where there is no checkpoint. index: the
    folder of the library's index, next to that of its sounds.
    """
    sounds = index.with_suffix("")
    gr.set_static_paths([sounds])
    with gr.Blocks(title="Words") as tab:
        if pipeline:
            library = library_getter(pipeline, index)
            _layout(tab, pipeline, library, sounds, services)
        else:
            missing_model("words", MODEL, "words")
    return tab


def library_getter(pipeline: Callable[[], "Words"], index: Path) -> Callable[[], "WordLibrary"]:
    """Make a function that returns the library in the folder ``index``, opened at its first call.

    It raises InputError where the library is missing or damaged, or was made by another model.
    """

    def load() -> "WordLibrary":
        from earshot.systems.words.library import WordLibrary  # late, for it loads torch

        return WordLibrary.open(index, pipeline().fingerprint)

    return once(load)


def _layout(
    tab: gr.Blocks,
    pipeline: Callable[[], "Words"],
    library: Callable[[], "WordLibrary"],
    sounds: Path,
    services: Services,
) -> None:
    gr.HTML(INTRO)
    query = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="room"):
        with gr.Column(min_width=280, elem_classes="room-input"):
            gr.HTML(STEP)
            recording = sound_input("A word, up to 3 s")
            spoken_chips = _recorded_chips(sounds)
            cut = word_cut()
        with gr.Column(min_width=280, elem_classes="room-input"):
            gr.HTML(TYPE)
            with gr.Row(elem_classes="type-a-word"):
                text = query_input("Type a word", EXAMPLES[0], max_lines=1)
                find, stop = main_button("Find its place")
            written = list(zip(chips(EXAMPLES), EXAMPLES, strict=True))
            gr.HTML(HINT)
        with gr.Column(min_width=280, elem_classes="room-result"):
            message = gr.HTML()
            heading = _panel("word-found")
            if services.drafts:
                services.drafts.button(query, lambda word: draft_item(word, library()))
    chart = sound_map("word-map")
    neighbours = _panel("word-near")
    FindSection(pipeline)
    for section in (CompareSection, ThresholdSection, VocabularySection):
        section(pipeline, library)
    BaselineSection(library, services)
    how_it_works(__file__)

    page = WordComponents(
        message=message,
        query=query,
        heading=heading,
        chart=chart,
        neighbours=neighbours,
        cut=cut,
        recorded=gr.State(None, time_to_live=3600),
        text=text,
        recording=recording,
    )
    events = WordEvents(pipeline, library, page)
    WordAPI(pipeline, library).declare(recording, text)
    _connect(tab, events, find, stop, (written, spoken_chips))


def _connect(
    tab: gr.Blocks,
    events: WordEvents,
    find: gr.Button,
    stop: gr.Button,
    examples: Chips,
) -> None:
    """Connect the components to their handlers."""
    page = events.components

    def reported(handler: Callable) -> Callable:
        return reporting(handler, page.message)

    written, spoken = examples
    main: dict[str, Any] = {
        "progress_on": page.heading,
        "start": find,
        "stop": stop,
        "queue": QUICK_QUEUE,
    }
    tab.load(reported(events.first_look), None, [page.message, *page.result], **HIDDEN)
    recordings: list[Callable] = recorded_or_uploaded(page.recording)
    for chip, path in spoken:
        recordings.append(chip.click(path.read_bytes, None, page.recording, **HIDDEN).then)
    for trigger in recordings:
        on_model(trigger, reported(events.record), [page.recording], page.all, **main)
    queries: list[Callable] = [find.click, page.text.submit]
    for chip, word in written:
        queries.append(chip.click(lambda w=word: w, None, page.text, **HIDDEN).then)
    for trigger in queries:
        on_model(trigger, reported(events.search), [page.text, page.recording], page.all, **main)
    # Not through on_model: its handler runs after another event, and is not told the event's data.
    page.cut.submit(reported(events.recut), page.recorded, page.all, **queued(page.heading))
    for choice in (page.chart.submit, page.neighbours.edit, page.heading.edit):
        choice(reported(events.choose), page.query, page.all, **queued())


def _panel(elem_id: str) -> gr.HTML:
    """Make a panel of words, empty at first."""
    return gr.HTML(
        {"html": "<p>One moment …</p>", "files": []},
        html_template=TEMPLATE,
        css_template=Path(__file__).with_name("words.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )


def _recorded_chips(sounds: Path) -> list[tuple[gr.Button, Path]]:
    """Return buttons with recordings from the library."""
    paths = [path for name in EXAMPLE_SOUNDS for path in sounds.glob(f"{name}.*")]
    buttons = (
        chips((path.stem.split("-")[0] for path in paths), "Or a recording of") if paths else []
    )
    return list(zip(buttons, paths, strict=True))
