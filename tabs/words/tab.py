"""Words: say or type any word, and see and hear where it lands among spoken and written words."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from tabs.components.map.map import sound_map
from tabs.components.timeline.timeline import TEMPLATE
from tabs.shared.drafts import Drafts
from tabs.shared.events import HIDDEN, QUICK_QUEUE, on_model
from tabs.words.compare import compare_section
from tabs.words.cut import word_cut
from tabs.words.events import WordEvents
from tabs.words.library import library_getter
from tabs.words.map import COLORS, LAYOUTS
from tabs.words.panel import SCRIPT, given, word_recorder
from tabs.words.threshold import threshold_section
from tabs.words.view import take
from tabs.words.vocabulary import vocabulary_section

if TYPE_CHECKING:
    from pipelines.words import Words

MODEL: Final = "words"  # in checkpoints/
EXAMPLES: Final = ("speech", "onomatopoeia", "snorkelish", "/ʃɪp/", "bei3 jing1")
EXAMPLE_SOUNDS: Final = ("elephant-awb", "butterfly-rms", "tree-slt", "beijing-slt")
INTRO: Final = """
<header class="intro"><h2>Say any word, or type one, and see which words it sounds like.</h2>
<p>Small networks that hear, and others that read phonemes, put a word in the same place whoever
says it and however it is written. Trained on single words of English, Arabic and Mandarin;
whole sentences, names in other languages and songs land anywhere.</p></header>
"""
STEP: Final = '<h3 class="step">Say a word <span>up to 3 s</span></h3>'
TYPE: Final = '<h3 class="step">Or type one <span>any spelling</span></h3>'
HINT: Final = """<p class="hint">In letters, as IPA between slashes, as ARPAbet (K AE T) or as
pinyin with tones (bei3 jing1).</p>"""
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/words</code>, and there is none. Train one, with your
words in DIR, and start Earshot again. The other tabs work meanwhile.</p>
<pre>python -m training.words prepare --data DIR --out OUT
python -m training.words train --out OUT
python -m training.words export --out OUT</pre></header>
"""


def build(
    pipeline: Callable[[], "Words"] | None, index: Path, drafts: Drafts | None = None
) -> gr.Blocks:
    """The tab. pipeline: gives the model, loaded when first asked for; None where there is none.
    index: the folder of the library's index, which lies beside its sounds; drafts: of listening
    tests."""
    sounds = index.with_suffix("")
    gr.set_static_paths([sounds])
    with gr.Blocks(title="Words") as tab:
        if pipeline:
            events = WordEvents(pipeline, library_getter(pipeline, index))
            _room(tab, events, sounds, drafts)
        else:
            gr.HTML(MISSING)
    return tab


def _room(tab: gr.Blocks, events: WordEvents, sounds: Path, drafts: Drafts | None) -> None:
    gr.HTML(INTRO)
    asked = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input room-stays"):
            gr.HTML(STEP)
            recording = word_recorder("A word, up to 3 s")
            message = gr.HTML()
            cut = word_cut()
            gr.HTML(TYPE)
            text = gr.Textbox(
                "",
                label="Type a word",
                show_label=False,
                container=False,
                placeholder=EXAMPLES[0],
                max_lines=1,
                elem_classes="query",
            )
            gr.HTML(HINT)
            with gr.Row(elem_classes="main-button"):
                find = gr.Button("Find its place", variant="primary", size="lg")
                stop = gr.Button("Stop", size="lg", visible=False)
            written, spoken_chips = _example_chips(sounds)
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            found = _panel("word-found")
            if drafts:
                drafts.button(asked, lambda shown: take(shown, events.library()))
            with gr.Row(elem_classes="map-and-near"):
                with gr.Column(min_width=320):
                    chart = sound_map("word-map")
                    honesty = gr.HTML(elem_classes="numbers")
                    layout = gr.Radio(list(LAYOUTS.items()), value="pca", label="Places")
                    color = gr.Radio(list(COLORS), value=COLORS[0], label="Coloured by")
                near = _panel("word-near")
    for section in (compare_section, threshold_section, vocabulary_section):
        section(events.pipeline, events.library)
    with gr.Accordion("How it works", open=False):
        gr.HTML(Path(__file__).with_name("how_it_works.html").read_text(), apply_default_css=False)

    heard = gr.State(None, time_to_live=3600)
    result = [asked, found, chart, near, honesty]
    shown = [message, *result, cut, heard, text, recording]
    look = [layout, color]
    main: dict[str, Any] = {
        "progress_on": found,
        "start": find,
        "stop": stop,
        "queue": QUICK_QUEUE,
    }

    # First, for the names of endpoints are given in this order.
    _api(events, recording, text)
    tab.load(events.first_look, look, shown, **HIDDEN)
    saying: list[Callable] = given(recording)
    for chip, path in spoken_chips:
        saying.append(chip.click(path.read_bytes, None, recording, **HIDDEN).then)
    for trigger in saying:
        on_model(trigger, events.hear, [asked, recording, *look], shown, **main)
    asking: list[Callable] = [find.click, text.submit]
    for chip, word in written:
        asking.append(chip.click(lambda w=word: w, None, text, **HIDDEN).then)
    for trigger in asking:
        on_model(trigger, events.find, [asked, text, recording, *look], shown, **main)
    # With what the event says, which what comes `then` would not be told.
    direct: dict[str, Any] = {"concurrency_id": QUICK_QUEUE, "api_visibility": "private"}
    cut.submit(events.recut, [asked, heard, *look], shown, show_progress_on=found, **direct)
    for choice in (chart.select, near.edit, found.edit):
        choice(events.choose, [asked, *look], shown, show_progress="hidden", **direct)
    for control in look:
        control.input(events.redraw, [asked, *look], result, **HIDDEN)


def _panel(elem_id: str) -> gr.HTML:
    """A panel about words with nothing in it."""
    return gr.HTML(
        {"html": "<p>One moment …</p>", "files": []},
        html_template=TEMPLATE,
        css_template=Path(__file__).with_name("words.css").read_text(),
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )


def _example_chips(
    sounds: Path,
) -> tuple[list[tuple[gr.Button, str]], list[tuple[gr.Button, Path]]]:
    """Buttons with words to type, and buttons with recordings out of the library."""
    small: dict[str, Any] = {"size": "sm", "min_width": 0, "scale": 0}
    paths = [path for name in EXAMPLE_SOUNDS for path in sounds.glob(f"{name}.*")]
    with gr.Row(elem_classes="chips"):
        gr.HTML("<span>Or try</span>")
        written = [(gr.Button(word, **small), word) for word in EXAMPLES]
    with gr.Row(elem_classes="chips", visible=bool(paths)):
        gr.HTML("<span>Or a voice that says</span>")
        spoken = [(gr.Button(path.stem.split("-")[0], **small), path) for path in paths]
    return written, spoken


def _api(events: WordEvents, recording: gr.Audio, text: gr.Textbox) -> None:
    """The endpoints for programs, which answer in JSON."""
    with gr.Row(visible=False):
        call, answer = gr.Button(), gr.JSON()
        vector = gr.JSON(label="vector")
        view = gr.Textbox("spoken", label="view")
        limit = gr.Number(10, label="limit")
    run: dict[str, Any] = {"concurrency_id": QUICK_QUEUE, "concurrency_limit": 1}
    call.click(events.api_embed_audio, recording, answer, api_name="embed_audio", **run)
    call.click(events.api_embed_text, text, answer, api_name="embed_text", **run)
    call.click(events.api_nearest, [vector, view, limit], answer, api_name="nearest", **run)
