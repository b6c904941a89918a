"""Voice conversion: speech → units, which can be edited → the same words in another voice."""

from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr

from media.paths import ASSETS
from pipelines.voice_conversion import settings
from tabs.components.timeline.timeline import timeline
from tabs.components.voice_cards import voice_cards
from tabs.shared.drafts import Drafts
from tabs.shared.events import HIDDEN, QUICK_QUEUE, on_model, reporting
from tabs.voice_conversion import api
from tabs.voice_conversion.events import ConversionEvents, Models, Outputs, take

if TYPE_CHECKING:
    from pipelines.voice_conversion import VoiceConversion

VOICES: Final = {
    "SF1": "woman, lighter",
    "TF2": "woman, fuller",
    "SM1": "man, lighter",
    "TM3": "man, deeper",
    "S1": "man, clipped and quick",
}
MODELS: Final = {
    name: f"{size} units, {rate} a second · at most {log2(size) * rate:.0f} bit/s"
    for name, (size, rate) in settings.MODELS.items()
}
VOCODERS: Final = {"Griffin-Lim, as in the paper": "griffin-lim", "Neural, trained here": "neural"}

INTRO: Final = """
<header class="intro"><h2>Say something, see the units that a network discovered in it, and hear
them in another voice.</h2>
<p>A Transformer VQ-VAE, trained without text on read English, commands and single words, with an
inverter to five voices. Music and noise become babble, and rare names may be unclear.</p>
</header>
"""
SIZES: Final = "The speech above by every model, in the voice that you chose."
STEP: Final = '<h3 class="step">Your speech <span>up to 60 s</span></h3>'
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/vqvae-512</code>, and there is none. Train one, with
your speech in DIR, and start Earshot again. The other tabs work meanwhile.</p>
<pre>python -m training.voice_conversion prepare --data DIR --out OUT
python -m training.voice_conversion train --out OUT
python -m training.voice_conversion export --out OUT</pre></header>
"""


def build(
    pipelines: Callable[[str], "VoiceConversion"],
    models: Sequence[str] = tuple(MODELS),
    drafts: Drafts | None = None,
) -> gr.Blocks:
    """The tab. pipelines gives a model's pipeline by name, loaded when first asked for; models
    are the names that it knows out of MODELS, the default first; drafts: of listening tests."""
    with gr.Blocks(title="Voice conversion") as tab:
        if models:
            _layout(tab, Models(pipelines, models), drafts)
        else:
            gr.HTML(MISSING)
    return tab


def _layout(tab: gr.Blocks, models: Models, drafts: Drafts | None) -> None:
    gr.HTML(INTRO)
    result = gr.State(None, time_to_live=3600)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(STEP)
            audio = gr.Audio(
                sources=["microphone", "upload"],
                type="filepath",
                label="Speech, up to 60 s",
                show_label=False,
                buttons=[],
                waveform_options=gr.WaveformOptions(
                    waveform_color="#8A94A0", waveform_progress_color="#0F766E"
                ),
                elem_classes="sound-input",
            )
            message = gr.HTML()
            voice = voice_cards(
                VOICES, settings.DEFAULT_VOICE, ASSETS / "voices", label="New voice"
            )
            with gr.Row(elem_classes="main-button"):
                convert = gr.Button("Convert", variant="primary", size="lg", interactive=False)
                stop = gr.Button("Stop", size="lg", visible=False)
            chips = _example_chips()
            with gr.Accordion("Options", open=False):
                model = gr.Radio(
                    [(MODELS[name], name) for name in models.names],
                    value=models.names[0],
                    label="Codebook size",
                    info="How many units it can tell apart: more keep more of the words.",
                )
                vocoder = gr.Radio(
                    list(VOCODERS.items()), value=settings.VOCODERS[0], label="Vocoder"
                )
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            lanes = timeline("conversion", "One moment …")
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                if drafts:
                    drafts.button(result, take)
                units_file = gr.UploadButton("Load units", file_types=[".json"], size="sm", scale=0)
            with gr.Accordion("All sizes: what fewer bits cost", open=False):
                with gr.Row(elem_classes="sizes-button"):
                    compare = gr.Button("Run every size", size="sm", scale=0, min_width=160)
                    halt = gr.Button("Stop", size="sm", scale=0, min_width=160, visible=False)
                sizes_message = gr.HTML()
                sizes = timeline("sizes", SIZES)
    with gr.Accordion("How it works", open=False):
        gr.HTML(Path(__file__).with_name("how_it_works.html").read_text(), apply_default_css=False)

    api.declare(models, audio, voice, model, vocoder)
    to = Outputs(message, result, lanes, numbers, sizes_message, sizes)
    events = ConversionEvents(models, to)
    shown = [message, result, lanes, numbers]
    voicing = [voice, vocoder]
    main = {"outputs": shown, "progress_on": lanes, "start": convert, "stop": stop}

    tab.load(events.first_look, outputs=shown, **HIDDEN)
    audio.change(
        lambda path: gr.Button(interactive=bool(path)), inputs=audio, outputs=convert, **HIDDEN
    )
    triggers: list[Callable] = [convert.click]
    for chip, path in chips:
        triggers.append(chip.click(path.read_bytes, outputs=audio, **HIDDEN).then)
    for trigger in triggers:
        handler = reporting(events.convert, message)
        on_model(trigger, handler, [audio, voice, model, vocoder], **main)
    quick = {**main, "queue": QUICK_QUEUE}
    on_model(lanes.submit, reporting(events.speak, message), [result, *voicing], **quick)
    on_model(units_file.upload, reporting(events.load, message), [units_file, *voicing], **quick)
    on_model(
        compare.click,
        reporting(events.compare_sizes, sizes_message),
        [result, *voicing],
        [sizes_message, sizes],
        progress_on=sizes,
        start=compare,
        stop=halt,
    )
    lanes.edit(reporting(events.edit, message), inputs=result, outputs=shown, **HIDDEN)


def _example_chips() -> list[tuple[gr.Button, Path]]:
    """A button for each recording in assets/examples, named after its file."""
    paths = sorted(p for p in (ASSETS / "examples").glob("*.ogg") if "finished" not in p.name)
    if not paths:
        return []
    with gr.Row(elem_classes="chips"):
        gr.HTML("<span>Or try</span>")
        return [
            (gr.Button(path.stem.replace("-", " "), size="sm", min_width=0, scale=0), path)
            for path in paths
        ]
