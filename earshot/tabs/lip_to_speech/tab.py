"""Lip to speech: a video of a speaking face, without its audio → its words and its speech.

The capture coach suggests what to say into the camera, and what would make it easier to read.
"""

import csv
import json
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.text.grammar import GRID
from earshot.media.video import frames
from earshot.tabs.components.comparison import Source, Take
from earshot.tabs.components.lanes import VideoStrip, Word, WordLane
from earshot.tabs.components.side_by_side import SideBySide
from earshot.tabs.components.timeline import timeline
from earshot.tabs.components.voice_cards import VOICES
from earshot.tabs.lip_to_speech.events import (
    FACE,
    SET,
    Chosen,
    LipComponents,
    LipEvents,
    LipVisit,
    declare_endpoints,
)
from earshot.tabs.lip_to_speech.view import VisitorVideo, caption_words, draft_item, spelled
from earshot.tabs.shared.events import (
    HIDDEN,
    LAST,
    Values,
    on_model,
    queued,
    reporting,
)
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import how_it_works, main_button, missing_model, when_opened
from earshot.tabs.shared.services import OWN, Services
from earshot.tabs.shared.sessions import SessionStore

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech import LipToSpeech
    from earshot.systems.registry import Offer

MAX_SECONDS: Final = 5  # of a recording
# In the page: the sentence that the coach asked for in the last recording, as the last input.
TAKE_PROMPT: Final = """(...inputs) =>
  [...inputs.slice(0, -1), document.querySelector(".coach")?.dataset.asked ?? ""]"""
# In the page: the file was deleted. The camera is ready for the next video; an upload stays to be
# seen, from the visitor's own file, where the browser can play it.
AFTER_READING: Final = """() => {
  const box = "#lip-camera:has([aria-label='Upload file'].selected)";
  const upload = document.querySelector(`${box} video`);
  return [
    { __type__: "update", ...(upload?.readyState ? {} : { value: null }) },
    { __type__: "update", interactive: false },
  ];
}"""
START: Final = "Open the camera below, or upload a video of one person who speaks."
MODEL: Final = "lip-to-speech"  # in checkpoints/
HEADS: Final = ASSETS / "heads"
VOCODERS: Final = {"Neural, trained here": "neural", "Griffin-Lim": "griffin-lim"}
CHIPS: Final = {  # heads.csv, in_training → the text before the buttons
    "yes": "Synthetic speakers of the training set, in new sentences",
    "no": "Synthetic speakers it was not trained on",
}
PITCHES: Final = (70, 300)  # Hz
MAX_VIDEO_SECONDS: Final = 30.0
NO_VIDEO: Final = "There is no video yet. Record yourself, or try an example."
NO_TAKES: Final = "Your video with the speech of each system appears here, on one time axis."
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


def coach(camera: str) -> gr.HTML:
    """Lay out the coach of the gr.Video whose elem_id is `camera`. A random sentence is shown for
    each recording.
    """
    slots = [[spelled(word) for word in slot] for slot in GRID]
    return gr.HTML(
        render(
            "lip_to_speech/coach.html",
            slots=json.dumps(slots),
            camera=camera,
            seconds=MAX_SECONDS,
            start=START,
        ),
        css_template=Path(__file__).with_name("coach.css").read_text(),
        js_on_load=Path(__file__).with_name("coach.js").read_text(),
        apply_default_css=False,
        elem_id="lip-coach",
    )


def build(offer: "Offer[LipToSpeech]", services: Services) -> gr.Blocks:
    """Build the tab over the systems that it offers."""
    with gr.Blocks(title="Lip to speech") as tab:
        if offer:
            _layout(offer, services)
        else:
            missing_model("lip_to_speech", MODEL, "videos")
    return tab


def _layout(offer: "Offer[LipToSpeech]", services: Services) -> None:
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
                    services.drafts.button(visit, lambda own: draft_item(own and own.video))
            gr.HTML(VOICE)
            with gr.Row(elem_classes="lip-voice"):
                with gr.Column(min_width=220):
                    voice = gr.Dropdown(_voices(lent), value=FACE, label="Voice")
                    voice_message = gr.HTML()
                wide: dict[str, Any] = {"min_width": 220}  # beside each other where both fit
                pitch = gr.Slider(
                    *PITCHES, value=120, step=1, label="Pitch", info="mean F0 in Hz", **wide
                )
                timbre = gr.Slider(
                    0, 1, value=0.5, step=0.01, label="Timbre", info="from dark to bright", **wide
                )
            LipSideBySide(offer, services, visit, [voice, pitch, timbre, owner, vocoder])
    how_it_works(__file__)

    components = LipComponents(
        message, visit, compare, voice_message, voice, pitch, timbre, heading, lanes, numbers
    )
    events = LipEvents(offer, sessions, components)
    declare_endpoints(events, visit, video, vocoder, pitch, timbre, list(VOICES))
    # Made once, for it is the same for every visit.
    when_opened()(cache(events.first_look), outputs=[pitch, timbre, *components.result()], **HIDDEN)
    video.change(
        lambda path: gr.Button(interactive=bool(path)), inputs=video, outputs=read, **HIDDEN
    )
    audio.input(lambda on: gr.Video(webcam_options=_webcam(on)), audio, video, **HIDDEN)
    chosen = [voice, pitch, timbre, owner]
    main: dict[str, Any] = {"progress_on": lanes, "start": read, "stop": stop, "message": message}
    no_prompt = gr.Textbox("", visible=False)
    triggers = ((read.click, None), (video.stop_recording, TAKE_PROMPT), (video.upload, None))
    for trigger, js in triggers:
        inputs = [visit, video, vocoder, *chosen, no_prompt]
        job = on_model(trigger, events.read, inputs, components.all(), js=js, **main)
        job.then(None, None, [video, read], js=AFTER_READING, **HIDDEN)
    for chip, example, sentence in chips:
        on_model(
            chip.click,
            events.read,
            [visit, example, vocoder, *chosen, sentence],
            components.all(),
            **main,
        )
    again = queued(lanes)
    for slider in (pitch, timbre):  # also by keyboard, which sends no release
        slider.input(
            reporting(events.slide, voice_message),
            [visit, pitch, timbre, vocoder],
            [voice_message, message, visit, voice, *components.result()],
            **again,
            **LAST,
        )
    voice.input(
        reporting(events.choose, voice_message),
        [visit, vocoder, *chosen],
        [voice_message, message, visit, pitch, timbre, *components.result()],
        **again,
        **LAST,
    )
    compare.click(
        reporting(events.compare, message), visit, [message, compare, *components.result()], **again
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


class LipSideBySide(SideBySide):
    """The systems of lip to speech side by side, on the video that was read last.

    visit: holds it; speaking: voice, pitch, timbre, the owner of a voice, and vocoder, as ours are
    to speak.
    """

    def __init__(
        self,
        offer: "Offer[LipToSpeech]",
        services: Services,
        visit: gr.State,
        speaking: Sequence[Component],
    ) -> None:
        """Lay the panel out, and connect it."""
        self.visit, self.speaking = visit, speaking
        super().__init__("lips", offer, services, NO_TAKES)
        self.wire([visit, *speaking])

    def source(self, values: Values) -> Source:
        """Return the video. Raises InputError where none was read."""
        video = self._video(values)
        mouth = video.speech.reading.mouth
        strip = VideoStrip.of("Mouth crops", mouth.crops, mouth.seconds)
        draft = draft_item(video)
        assert draft
        return Source(draft.source, [strip], silent=video.silent)

    def take(self, name: str, values: Values) -> Take:
        """Speak what a system reads in the video."""
        video = self._video(values)
        system = self.offer.any(name)
        if name in self.offer.plugged:
            with tempfile.NamedTemporaryFile(suffix=".mp4") as file:
                file.write(video.silent)
                file.flush()
                images = frames(file.name, MAX_VIDEO_SECONDS)
                spoken, text, confidence = system.of(images, video.name)
            seconds = len(spoken.speech.waveform) / spoken.speech.sample_rate
            words = [Word(text, confidence, 0.0, seconds)] if text else []
            lane = WordLane(f"{system.label} reads", tuple(words), seconds)
            return Take(system.label, spoken.speech, {}, [lane] if text else [], spoken.notices)
        *chosen, vocoder = (values[component] for component in self.speaking)
        reading = video.speech.reading
        speech = system.speak(reading, Chosen(*chosen).of(reading), vocoder)
        lane = WordLane("Ours reads", caption_words(reading), reading.mouth.seconds)
        settings = {"voice": speech.voice.name}
        return Take(self.offer.labels[name], speech.speech, settings, [lane])

    def _video(self, values: Values) -> VisitorVideo:
        visit: LipVisit | None = values[self.visit]
        if visit is None or visit.video is None:
            raise InputError(NO_VIDEO)
        return visit.video
