"""Lip to speech: a video of a speaking face, without its audio → its words and its speech."""

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from earshot.core.paths import ASSETS
from earshot.tabs.components.timeline import timeline
from earshot.tabs.components.voice_cards import VOICES
from earshot.tabs.lip_to_speech import api
from earshot.tabs.lip_to_speech.coach import ASKED, coach, spelled
from earshot.tabs.lip_to_speech.events import FACE, SET, LipComponents, LipEvents, LipVisit
from earshot.tabs.lip_to_speech.view import draft_item
from earshot.tabs.shared.events import (
    HIDDEN,
    PRIVATE,
    QUICK_QUEUE,
    empty_after,
    on_model,
    reporting,
)
from earshot.tabs.shared.parts import how_it_works, main_button, missing_model
from earshot.tabs.shared.services import OWN, Services
from earshot.tabs.shared.sessions import SessionStore

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech import LipToSpeech

MODEL: Final = "lip-to-speech"  # in checkpoints/
HEADS: Final = ASSETS / "heads"
VOCODERS: Final = {"Neural, trained here": "neural", "Griffin-Lim": "griffin-lim"}
CHIPS: Final = {  # heads.csv, in_training → the text before the buttons
    "yes": "Synthetic speakers of the training set, in new sentences",
    "no": "Synthetic speakers it was not trained on",
}
PITCHES: Final = (70, 300)  # Hz
CAMERA: Final = "lip-camera"
PICTURE: Final = {
    "width": {"ideal": 640},
    "height": {"ideal": 480},
    "frameRate": {"ideal": 30},
    "facingMode": "user",
}
INTRO: Final = """
<header class="intro"><h2>Speak to the camera without a sound, and hear what your lips said.</h2>
<p>A lip reader predicts words and speech; a face encoder can suggest a voice. Trained on 51 words
(GRID), mostly of one speaker, recorded from the front in a studio: other speakers are misread
often, and other sentences always.</p></header>
"""
STEP: Final = '<h3 class="step">Your face <span>up to 30 s</span></h3>'
VOICE: Final = """<p class="hint">What a face suggests is hardly better than chance: the face
encoder saw five speakers. In other voices than its own, a few more words are lost.</p>"""
COMPARE: Final = "Compare with the original audio"


def build(
    pipeline: Callable[[], "LipToSpeech"] | None,
    services: Services,
) -> gr.Blocks:
    """Build the tab. pipeline: returns the model, loaded when first asked for; None where there is
    none."""
    with gr.Blocks(title="Lip to speech") as tab:
        if pipeline:
            _layout(tab, pipeline, services)
        else:
            missing_model("lip_to_speech", MODEL, "videos")
    return tab


def _layout(
    tab: gr.Blocks,
    pipeline: Callable[[], "LipToSpeech"],
    services: Services,
) -> None:
    lent = services.voice.visit
    owner = lent or gr.State(None)
    sessions = SessionStore(LipVisit)
    visit = sessions.state()
    gr.HTML(INTRO)
    with gr.Row(elem_classes="room"):
        with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
            gr.HTML(STEP)
            coach(CAMERA)
            video = gr.Video(
                sources=["webcam", "upload"],
                label="A video of your face, up to 30 s",
                show_label=False,
                buttons=[],
                height=320,
                include_audio=True,  # else Gradio encodes every upload again, to remove the audio
                webcam_options=_webcam(audio=False),
                elem_id=CAMERA,
            )
            message = gr.HTML()
            read, stop = main_button("Read my lips", ready=False)
            chips = _example_chips()
            with gr.Accordion("Options", open=False):
                vocoder = gr.Radio(list(VOCODERS.items()), value="neural", label="Vocoder")
                audio = gr.Checkbox(
                    label="Record the audio too",
                    info="only to compare it with the predicted speech, if you ask for it; set it "
                    "before you open the camera",
                )
        with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
            heading = gr.HTML()
            lanes = timeline("lips", "One moment …")
            with gr.Row(elem_classes="under-timeline"):
                numbers = gr.HTML(elem_classes="numbers")
                compare = gr.Button(COMPARE, size="sm", scale=0, visible=False)
                if services.drafts:
                    services.drafts.button(visit, lambda held: draft_item(held and held.video))
            with gr.Row(elem_classes="lip-voice"):
                with gr.Column(min_width=220):
                    voice = gr.Dropdown(_voices(lent), value=FACE, label="Voice")
                    told = gr.HTML()
                    gr.HTML(VOICE)
                pitch = gr.Slider(*PITCHES, value=120, step=1, label="Pitch", info="mean F0 in Hz")
                timbre = gr.Slider(
                    0, 1, value=0.5, step=0.01, label="Timbre", info="from dark to bright"
                )
    how_it_works(__file__)

    shown = LipComponents(
        message, visit, compare, told, voice, pitch, timbre, heading, lanes, numbers
    )
    events = LipEvents(pipeline, sessions, shown)
    api.declare(events, visit, video, vocoder, pitch, timbre, list(VOICES))
    tab.load(events.first_look, outputs=[message, pitch, timbre, *shown.result()], **HIDDEN)
    video.change(
        lambda path: gr.Button(interactive=bool(path)), inputs=video, outputs=read, **HIDDEN
    )
    audio.input(lambda on: gr.Video(webcam_options=_webcam(on)), audio, video, **HIDDEN)
    on_read = reporting(events.read, message)
    chosen = [voice, pitch, timbre, owner]
    main: dict[str, Any] = {"progress_on": lanes, "start": read, "stop": stop}
    nothing_asked = gr.Textbox("", visible=False)
    for trigger, js in ((read.click, None), (video.stop_recording, ASKED)):
        given = [visit, video, vocoder, *chosen, nothing_asked]
        job = on_model(trigger, on_read, given, shown.all(), js=js, **main)
        # The file was deleted: the camera is ready for the next video.
        empty_after(job, video)
    for chip, example, sentence in chips:
        on_model(
            chip.click, on_read, [visit, example, vocoder, *chosen, sentence], shown.all(), **main
        )
    again: dict[str, Any] = {
        "concurrency_id": QUICK_QUEUE,
        "show_progress_on": lanes,
        **PRIVATE,
    }
    # While it speaks, the last choice is kept, and spoken next.
    last: dict[str, Any] = {"trigger_mode": "always_last", **again}
    for slider in (pitch, timbre):  # also by keyboard, which sends no release
        slider.input(
            reporting(events.slide, told),
            [visit, pitch, timbre, vocoder],
            [told, message, visit, voice, *shown.result()],
            **last,
        )
    voice.input(
        reporting(events.choose, told),
        [visit, vocoder, *chosen],
        [told, message, visit, pitch, timbre, *shown.result()],
        **last,
    )
    compare.click(
        reporting(events.compare, message), visit, [message, compare, *shown.result()], **again
    )


def _voices(lent: gr.State | None) -> list[tuple[str, str]]:
    """List what can be chosen, with what it is called; lent: holds the visitor's own voice."""
    own = [("Your own, made in Voice conversion", OWN)] if lent else []
    cards = [(f"{card.name}: {card.about}", name) for name, card in VOICES.items()]
    return [("Guessed from the face", FACE), ("By pitch and timbre", SET), *cards, *own]


def _webcam(audio: bool) -> gr.WebcamOptions:
    """Set a low resolution, which is enough; without audio the visitor is not asked for the
    microphone.
    """
    return gr.WebcamOptions(mirror=True, constraints={"video": PICTURE, "audio": audio})


def _example_chips() -> list[tuple[gr.Button, gr.State, gr.State]]:
    """Lay out a button for each video in assets/heads, named after its speaker and sentence, below
    a line that says whether the speaker was in the training set; with the file and the sentence.
    """
    with open(HEADS / "heads.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    chips = []
    for in_training, text in CHIPS.items():
        with gr.Row(elem_classes="chips"):
            gr.HTML(f"<span>{text}</span>")
            chips += [
                (
                    gr.Button(_name(row), size="sm", min_width=0, scale=0),
                    gr.State(str(HEADS / row["file"])),
                    gr.State(_sentence(row)),
                )
                for row in rows
                if row["in_training"] == in_training
            ]
    return chips


def _name(row: dict[str, str]) -> str:
    return f"{row['speaker'].title()}: {_sentence(row)}"


def _sentence(row: dict[str, str]) -> str:
    return " ".join(map(spelled, row["sentence"].split()))
