"""The handlers of lip to speech: of the tab's events, and of the endpoints for programs, which take
files and JSON.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.samples import SILENT_PEAK
from earshot.tabs.components.timeline import nothing, wav
from earshot.tabs.lip_to_speech.view import (
    FINISHED,
    NOTE,
    SOURCE,
    LipResult,
    VisitorVideo,
    landmarks,
    read_finished,
    read_out,
)
from earshot.tabs.shared.events import LONG_QUEUE, Update, answering, offer, say
from earshot.tabs.shared.services import OWN, LentVoice, Owner
from earshot.tabs.shared.sessions import SessionStore, delete_after_use

if TYPE_CHECKING:
    from earshot.pretrained.voice import Voice
    from earshot.systems.lip_to_speech import FaceVoice, LipReading, LipSpeech, LipToSpeech

FIRST: Final = (
    "Record yourself, upload a video or try an example: your lips, the predicted words and the "
    "speech appear here, on one time axis."
)
MEANWHILE: Final = "Another video was read meanwhile. Choose the voice again."
NOTHING_READ: Final = "There is nothing to say yet. Record yourself, or try an example."
NO_SOUND: Final = "This video has no audio that the speech could be compared with."


FACE, SET = "face", "set"  # voices: that which the face suggests, and that of the sliders


@dataclass(frozen=True)
class Chosen:
    """A voice that a visitor chose. voice: FACE, SET, OWN or a name of the pipeline's voices; pitch
    and timbre: of SET; owner: holds the voice of OWN."""

    voice: str
    pitch: float = 0.0
    timbre: float = 0.0
    owner: Owner | None = None

    def of(self, reading: "LipReading") -> "FaceVoice | Voice | str":
        """Take what the pipeline speaks a reading in. Raises InputError where there is no own
        voice."""
        from earshot.systems.lip_to_speech import FaceVoice  # late, for it loads torch

        if self.voice == OWN:
            return LentVoice.of(self.owner)
        if self.voice == SET:
            return FaceVoice(self.pitch, self.timbre)
        return reading.voice if self.voice == FACE else self.voice


@dataclass(eq=False)
class LipVisit:
    """The data that is stored of a visitor's video until they leave or record another."""

    video: VisitorVideo | None = None

    def clear(self) -> None:
        self.video = None


@dataclass(frozen=True)
class LipComponents:
    """The components that handlers write to."""

    message: Component
    visit: Component
    compare: Component
    voice_message: Component  # about the choice of the voice
    voice: Component
    pitch: Component
    timbre: Component
    heading: Component
    timeline: Component
    numbers: Component

    def result(self) -> list[Component]:
        """List the components that show a result."""
        return [self.heading, self.timeline, self.numbers]

    def voices(self) -> list[Component]:
        """List the choice of the voice, and its sliders."""
        return [self.voice, self.pitch, self.timbre]

    def all(self) -> list[Component]:
        first = [self.message, self.visit, self.compare, self.voice_message]
        return [*first, *self.voices(), *self.result()]


class LipEvents:
    """Handlers of events, of which each returns the components that change, with their values."""

    def __init__(
        self,
        pipeline: Callable[[], "LipToSpeech"],
        sessions: SessionStore[LipVisit],
        components: LipComponents,
    ) -> None:
        self.pipeline = pipeline
        self.sessions = sessions
        self.components = components

    def first_look(self) -> Update:
        """Show the result before the first run: a stored example."""
        result = read_finished()
        if result is None:
            return {self.components.timeline: nothing(FIRST)}
        sliders = {
            self.components.pitch: round(result.pitch),
            self.components.timbre: round(result.timbre, 2),
        }
        return {**sliders, **self._result(result), self.components.heading: result.heading(NOTE)}

    def read(
        self,
        visit: LipVisit | None,
        video: str | None,
        vocoder: str,
        voice: str,
        pitch: float,
        timbre: float,
        owner: Owner | None,
        prompt: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Read the lips of a video and speak, in the chosen voice. owner: holds the visitor's own
        voice; prompt: the sentence that was to be said; empty where it is not known."""
        chosen = Chosen(voice, pitch, timbre, owner)
        with delete_after_use(video):
            read = self._read(video, vocoder, chosen, prompt, progress)
        visit = self.sessions.of(visit, request)
        visit.video = read
        return {
            self.components.message: say(" ".join(read.speech.reading.notices)),
            self.components.visit: visit,
            self.components.compare: gr.Button(visible=read.audio is not None),
            self.components.voice_message: "",
            **self._sliders(read, chosen),
            **self._result(read.result()),
        }

    def slide(
        self,
        visit: LipVisit | None,
        pitch: float,
        timbre: float,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Speak the same words in the voice of the sliders."""
        chosen = Chosen(SET, pitch, timbre)
        again = self._again(visit, chosen, vocoder, request, progress)
        return {self.components.voice: SET, **again}

    def choose(
        self,
        visit: LipVisit | None,
        vocoder: str,
        voice: str,
        pitch: float,
        timbre: float,
        owner: Owner | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Speak the same words in another voice."""
        chosen = Chosen(voice, pitch, timbre, owner)
        return self._again(visit, chosen, vocoder, request, progress)

    def _again(
        self,
        visit: LipVisit | None,
        chosen: Chosen,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress,
    ) -> Update:
        visit = self.sessions.of(visit, request)
        if visit.video:
            progress(0.5, desc="Speaking")
            before = visit.video
            again = before.respoken(self.spoken(before, chosen, vocoder))
            if visit.video is not before:  # another was read, or it was forgotten, meanwhile
                raise InputError(MEANWHILE)
            visit.video = again
        elif FINISHED.exists():  # before the first run, the example that is shown
            visit.video = self._read(str(SOURCE), vocoder, chosen, "", progress)
        else:
            raise InputError(NOTHING_READ)
        return {
            self.components.message: "",
            self.components.voice_message: "",
            self.components.visit: visit,
            **self._sliders(visit.video, chosen),
            **self._result(visit.video.result()),
        }

    def compare(self, visit: LipVisit | None) -> Update:
        """Show the original audio under the prediction."""
        if visit is None or visit.video is None or visit.video.audio is None:
            raise InputError(NO_SOUND)
        visit.video = replace(visit.video, compared=True)
        return {
            self.components.message: "",
            self.components.compare: gr.Button(visible=False),
            **self._result(visit.video.result()),
        }

    def _read(
        self,
        video: str | None,
        vocoder: str,
        chosen: Chosen,
        prompt: str,
        progress: gr.Progress,
    ) -> VisitorVideo:
        from earshot.media.encode import SilentVideo  # late, for it loads av

        pipeline, silent = self.pipeline(), SilentVideo()
        progress(0.2, desc="Tracking the face")
        reading = pipeline.encode(video, silent.write)
        progress(0.7, desc="Speaking")
        speech = pipeline.speak(reading, chosen.of(reading), vocoder)
        audio = _audio(video, speech.speech.sample_rate, pipeline.MAX_SECONDS)
        name = Path(video or "").stem
        return VisitorVideo(speech, silent.finish(), landmarks(reading.mouth), audio, prompt, name)

    def spoken(self, video: VisitorVideo, chosen: Chosen, vocoder: str) -> "LipSpeech":
        """Speak the words of a video in a voice."""
        reading = video.speech.reading
        return self.pipeline().speak(reading, chosen.of(reading), vocoder)

    def _sliders(self, video: VisitorVideo, chosen: Chosen) -> Update:
        """Set the sliders to the voice that the face suggested, where that was chosen."""
        if chosen.voice != FACE:
            return {}
        voice = video.speech.reading.voice
        return {
            self.components.pitch: round(voice.pitch),
            self.components.timbre: round(voice.timbre, 2),
        }

    def _result(self, result: LipResult) -> Update:
        return {
            self.components.heading: result.heading(),
            self.components.timeline: result.timeline().value(),
            self.components.numbers: result.line(),
        }


def _audio(video: str | None, sample_rate: int, max_seconds: float) -> np.ndarray | None:
    """Load the audio track (T,), stored for those who ask to compare; None where there is none, or
    none that can be used.
    """
    try:
        waveform = load(video, sample_rate, max_seconds).waveform
    except InputError:
        return None
    return waveform if np.abs(waveform).max() > SILENT_PEAK else None


@dataclass(frozen=True)
class LipAPI:
    """The endpoints. Errors of the input reach the client as gr.Error, with what to do."""

    events: LipEvents

    @answering
    def lip_to_speech(
        self, visit: LipVisit | None, video: str, vocoder: str, voice: str, request: gr.Request
    ) -> tuple:
        """Read the lips of a video and speak, in the voice that the face suggests or another.

        Args:
            video: a video of one speaking face, up to 30 s; its audio is ignored.
            vocoder: "neural" or "griffin-lim".
            voice: "face", that which the face suggests; or a name of voice conversion's: SF1, TF2,
                SM1, TM3, S1, Nell, Odile, Vera or Heart.

        Returns:
            speech: a WAV file, 16 kHz, as long as the video.
            reading: sentence; confidence from 0 to 1; words, each with word, confidence, start and
                end in seconds; voice that the face suggests, with pitch in Hz and timbre from 0 to
                1; notices about the recording; compute_seconds.
        """
        with delete_after_use(video):
            reading = self.events.pipeline().encode(video)
        chosen = Chosen(voice).of(reading)
        speech = self.events.pipeline().speak(reading, chosen, vocoder)
        visit = self.events.sessions.of(visit, request)
        visit.video = VisitorVideo(speech, b"", b"", None)
        return visit, wav(speech.speech), read_out(speech)

    @answering
    def respeak(
        self, visit: LipVisit | None, pitch: float, timbre: float, vocoder: str, voice: str
    ) -> bytes:
        """Speak the video of this client's last call of /lip_to_speech in another voice.

        Args:
            pitch: mean F0, 70 to 300 Hz.
            timbre: from 0, the darkest of the training voices, to 1, the brightest.
            vocoder: "neural" or "griffin-lim".
            voice: "set", that of pitch and timbre; or as in /lip_to_speech, and these do not
                matter.

        Returns:
            speech: a WAV file, 16 kHz.
        """
        if visit is None or visit.video is None:
            raise InputError("There is nothing to say yet. Call /lip_to_speech first.")
        return wav(self.events.spoken(visit.video, Chosen(voice, pitch, timbre), vocoder).speech)


def declare_endpoints(
    events: LipEvents,
    visit: gr.State,
    video: gr.Video,
    vocoder: gr.Radio,
    pitch: gr.Slider,
    timbre: gr.Slider,
    voices: Sequence[str],
) -> None:
    """Declare the endpoints for programs: lip_to_speech, and respeak, which speaks in another
    voice."""
    endpoints = LipAPI(events)
    with gr.Row(visible=False):
        call, speech, reading = gr.Button(), gr.Audio(label="speech"), gr.JSON(label="reading")
        voice = gr.Dropdown([FACE, *voices], value=FACE, label="voice")
        other = gr.Dropdown([SET, FACE, *voices], value=SET, label="voice")
    inputs, outputs = [visit, video, vocoder, voice], [visit, speech, reading]
    offer(call, endpoints.lip_to_speech, inputs, outputs, LONG_QUEUE)
    offer(call, endpoints.respeak, [visit, pitch, timbre, vocoder, other], speech)
