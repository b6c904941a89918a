"""Lip to speech: a film of a speaking face, without its sound → what the lips said, aloud."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from media.paths import ASSETS
from tabs.components.timeline.timeline import timeline
from tabs.lip_to_speech.coach import coach, spelled
from tabs.lip_to_speech.events import LipEvents
from tabs.lip_to_speech.view import take
from tabs.shared.drafts import Drafts
from tabs.shared.events import EMPTIED, HIDDEN, MODEL_QUEUE, QUICK_QUEUE, on_model

if TYPE_CHECKING:
    from pipelines.lip_to_speech import LipToSpeech

MODEL: Final = "lip-to-speech"  # in checkpoints/
HEADS: Final = ASSETS / "heads"
VOCODERS: Final = {"Neural, trained here": "neural", "Griffin-Lim": "griffin-lim"}
PITCHES: Final = (70, 300)  # Hz
CAMERA: Final = "lip-camera"
PICTURE: Final = {
    "width": {"ideal": 640},
    "height": {"ideal": 480},
    "frameRate": {"ideal": 30},
    "facingMode": "user",
}
INTRO: Final = """
<header class="intro"><h2>Speak without a sound into the camera, and hear what your lips said.</h2>
<p>One network reads the lips, another guesses a voice from the face. Trained on 51 words of one
talker (GRID), filmed from the front in a studio; other sentences come out as babble.</p></header>
"""
STEP: Final = '<h3 class="step">Your face <span>up to 30 s</span></h3>'
VOICE: Final = """<p class="hint"><b>The voice</b> starts where your face suggests: a rough guess,
from two dozen talkers. Move it to where it belongs.</p>"""
MISSING: Final = """
<header class="intro"><h2>This tab has no model yet.</h2>
<p>It needs a checkpoint in <code>checkpoints/lip-to-speech</code>, and there is none. Train one,
with your films in DIR, and start Earshot again. The other tabs work meanwhile.</p>
<pre>python -m training.lip_to_speech prepare --data DIR --out OUT
python -m training.lip_to_speech train --out OUT
python -m training.lip_to_speech export --out OUT</pre></header>
"""


def build(pipeline: Callable[[], "LipToSpeech"] | None, drafts: Drafts | None = None) -> gr.Blocks:
    """The tab. pipeline: gives the model, loaded when first asked for; None where there is none.
    drafts: of listening tests."""
    with gr.Blocks(title="Lip to speech") as tab:
        if pipeline:
            _room(tab, LipEvents(pipeline), drafts)
        else:
            gr.HTML(MISSING)
    return tab


def _room(tab: gr.Blocks, events: LipEvents, drafts: Drafts | None) -> None:
    visit = events.visits.state()
    gr.HTML(INTRO)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(STEP)
            coach(CAMERA)
            video = gr.Video(
                sources=["webcam", "upload"],
                label="A film of your face, up to 30 s",
                show_label=False,
                buttons=[],
                height=320,
                include_audio=True,  # else Gradio codes every upload anew, to take the sound out
                webcam_options=_webcam(sound=False),
                elem_id=CAMERA,
            )
            message = gr.HTML()
            with gr.Row(elem_classes="main-button"):
                read = gr.Button("Read my lips", variant="primary", size="lg", interactive=False)
                stop = gr.Button("Stop", size="lg", visible=False)
            chips = _example_chips()
            with gr.Accordion("Options", open=False):
                vocoder = gr.Radio(
                    list(VOCODERS.items()), value="neural", label="What makes the waveform"
                )
                sound = gr.Checkbox(
                    label="Record the sound too",
                    info="only to compare it with the speech, if you ask for it; before the camera "
                    "is opened",
                )
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            heading = gr.HTML()
            lanes = timeline("lips", "One moment …")
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                compare = gr.Button("What was really said?", size="sm", scale=0, visible=False)
                if drafts:
                    drafts.button(visit, lambda held: take(held and held.watched))
            with gr.Row(elem_classes="lip-voice"):
                with gr.Column(min_width=220):
                    gr.HTML(VOICE)
                    guess = gr.Button("Back to the guess", size="sm", scale=0)
                pitch = gr.Slider(*PITCHES, value=120, step=1, label="Pitch", info="Hz")
                timbre = gr.Slider(
                    0, 1, value=0.5, step=0.01, label="Timbre", info="from dark to bright"
                )
    with gr.Accordion("How it works", open=False):
        gr.HTML(Path(__file__).with_name("how_it_works.html").read_text(), apply_default_css=False)

    voice = [pitch, timbre]
    shown = [heading, lanes, numbers]
    main: dict[str, Any] = {"progress_on": lanes, "start": read, "stop": stop}

    # First, for the names of endpoints are given in this order.
    _api(events, visit, video, vocoder, pitch, timbre)
    tab.load(events.first_look, outputs=[*voice, *shown], **HIDDEN)
    video.change(
        lambda path: gr.Button(interactive=bool(path)), inputs=video, outputs=read, **HIDDEN
    )
    sound.input(lambda on: gr.Video(webcam_options=_webcam(on)), sound, video, **HIDDEN)
    outputs = [message, visit, compare, *voice, *shown]
    for trigger in (read.click, video.stop_recording):
        job = on_model(trigger, events.read, [visit, video, vocoder], outputs, **main)
        # Its file is gone: the camera is ready for the next film.
        job.then(None, outputs=video, js=EMPTIED, **HIDDEN)
    for chip, film in chips:
        on_model(chip.click, events.read, [visit, film, vocoder], outputs, **main)
    again: dict[str, Any] = {
        "concurrency_id": QUICK_QUEUE,
        "show_progress_on": lanes,
        "api_visibility": "private",
    }
    said = [message, visit, *shown]
    for slider in voice:
        # Also by keyboard, where nothing is released; while it speaks, only the last place counts.
        slider.input(
            events.speak, [visit, *voice, vocoder], said, trigger_mode="always_last", **again
        )
    guess.click(events.guess, [visit, vocoder], [message, visit, *voice, *shown], **again)
    compare.click(events.compare, visit, [message, compare, *shown], **again)


def _webcam(sound: bool) -> gr.WebcamOptions:
    """A small picture is enough; without sound the visitor is not asked for the microphone."""
    return gr.WebcamOptions(mirror=True, constraints={"video": PICTURE, "audio": sound})


def _example_chips() -> list[tuple[gr.Button, gr.State]]:
    """A button for each film in assets/heads, named after who speaks and what they say."""
    with open(HEADS / "heads.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with gr.Row(elem_classes="chips"):
        gr.HTML("<span>Or try</span>")
        return [
            (
                gr.Button(_name(row["talker"], row["sentence"]), size="sm", min_width=0, scale=0),
                gr.State(str(HEADS / row["file"])),
            )
            for row in rows
        ]


def _name(talker: str, sentence: str) -> str:
    return f"{talker.title()}: {' '.join(map(spelled, sentence.split()))}"


def _api(
    events: LipEvents,
    visit: gr.State,
    video: gr.Video,
    vocoder: gr.Radio,
    pitch: gr.Slider,
    timbre: gr.Slider,
) -> None:
    """The endpoints for programs: lip_to_speech, and respeak, which says the same again."""
    with gr.Row(visible=False):
        call, sound, caption = gr.Button(), gr.Audio(), gr.JSON()
    run: dict[str, Any] = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1}
    call.click(
        events.api_read,
        [visit, video, vocoder],
        [visit, sound, caption],
        api_name="lip_to_speech",
        **run,
    )
    call.click(
        events.api_speak,
        [visit, pitch, timbre, vocoder],
        sound,
        api_name="respeak",
        concurrency_id=QUICK_QUEUE,
    )
