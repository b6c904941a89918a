"""Handlers of the events of the lip to speech tab."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.components.timeline.timeline import nothing
from earshot.tabs.lip_to_speech.example import FINISHED, NOTE, SOURCE, read_finished
from earshot.tabs.lip_to_speech.view import LipResult, VisitorVideo, landmarks
from earshot.tabs.shared.events import Values, say
from earshot.tabs.shared.sessions import SessionStore, delete_after_use

if TYPE_CHECKING:
    from earshot.pipelines.lip_to_speech import LipToSpeech
    from earshot.pipelines.lip_to_speech.result import LipSpeech

FIRST: Final = (
    "Record yourself, upload a video or try an example: your lips, the predicted words and the "
    "speech appear here, on one time axis."
)
NOTHING: Final = "There is nothing to say yet. Record yourself, or try an example."
NO_SOUND: Final = "This video has no audio that the speech could be compared with."


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
    pitch: Component
    timbre: Component
    heading: Component
    timeline: Component
    numbers: Component

    def result(self) -> list[Component]:
        """List the components that show a result."""
        return [self.heading, self.timeline, self.numbers]

    def voice(self) -> list[Component]:
        """List the sliders of the voice."""
        return [self.pitch, self.timbre]

    def all(self) -> list[Component]:
        return [self.message, self.visit, self.compare, *self.voice(), *self.result()]


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
        self.shown = components

    def first_look(self) -> Values:
        """Show the result before the first run: a stored example."""
        result = read_finished()
        if result is None:
            return {self.shown.timeline: nothing(FIRST)}
        voice = {
            self.shown.pitch: round(result.pitch),
            self.shown.timbre: round(result.timbre, 2),
        }
        return {self.shown.message: say(NOTE), **voice, **self._result(result)}

    def read(
        self,
        visit: LipVisit | None,
        video: str | None,
        vocoder: str,
        asked: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Values:
        """Read the lips of a video and speak, in a neutral voice. asked: the sentence that was to
        be said; empty where it is not known."""
        with delete_after_use(video):
            read = self._read(video, vocoder, asked, progress)
        visit = self.sessions.of(visit, request)
        visit.video = read
        return {
            self.shown.message: say(" ".join(read.speech.reading.notices)),
            self.shown.visit: visit,
            self.shown.compare: gr.Button(visible=read.audio is not None),
            **self._voice(read.speech),
            **self._result(read.result()),
        }

    def speak(
        self,
        visit: LipVisit | None,
        pitch: float,
        timbre: float,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Values:
        """Speak the same words in another voice."""
        visit, video = self._stored(visit, vocoder, request, progress)
        visit.video = video.respoken(self.spoken(video, pitch, timbre, vocoder))
        return {
            self.shown.message: "",
            self.shown.visit: visit,
            **self._result(visit.video.result()),
        }

    def suggest(
        self,
        visit: LipVisit | None,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Values:
        """Speak in the voice that the face suggests."""
        visit, video = self._stored(visit, vocoder, request, progress)
        voice = video.speech.reading.voice
        speech = self.spoken(video, voice.pitch, voice.timbre, vocoder)
        visit.video = video.respoken(speech)
        return {
            self.shown.message: "",
            self.shown.visit: visit,
            **self._voice(speech),
            **self._result(visit.video.result()),
        }

    def compare(self, visit: LipVisit | None) -> Values:
        """Show the original audio under the prediction."""
        if visit is None or visit.video is None or visit.video.audio is None:
            raise InputError(NO_SOUND)
        visit.video = replace(visit.video, compared=True)
        return {
            self.shown.message: "",
            self.shown.compare: gr.Button(visible=False),
            **self._result(visit.video.result()),
        }

    def _read(
        self, video: str | None, vocoder: str, asked: str, progress: gr.Progress
    ) -> VisitorVideo:
        from earshot.media.video.encode import SilentVideo  # late, for it loads av

        pipeline, silent = self.pipeline(), SilentVideo()
        progress(0.2, desc="Tracking the face")
        reading = pipeline.encode(video, silent.write)
        progress(0.7, desc="Speaking")
        speech = pipeline.speak(reading, pipeline.neutral, vocoder)
        audio = _audio(video, speech.speech.sample_rate, pipeline.MAX_SECONDS)
        return VisitorVideo(speech, silent.finish(), landmarks(reading.mouth), audio, asked)

    def _stored(
        self, visit: LipVisit | None, vocoder: str, request: gr.Request, progress: gr.Progress
    ) -> tuple[LipVisit, VisitorVideo]:
        """Find the visit and its video; before the first run, read the example that is shown."""
        visit = self.sessions.of(visit, request)
        if visit.video:
            progress(0.5, desc="Speaking")
            return visit, visit.video
        if not FINISHED.exists():
            raise InputError(NOTHING)
        return visit, self._read(str(SOURCE), vocoder, "", progress)

    def spoken(self, video: VisitorVideo, pitch: float, timbre: float, vocoder: str) -> "LipSpeech":
        """Speak the words of a video in a voice."""
        from earshot.pipelines.lip_to_speech.result import Voice  # late, for it loads torch

        return self.pipeline().speak(video.speech.reading, Voice(pitch, timbre), vocoder)

    def _voice(self, speech: "LipSpeech") -> Values:
        """Set the sliders' values."""
        return {
            self.shown.pitch: round(speech.voice.pitch),
            self.shown.timbre: round(speech.voice.timbre, 2),
        }

    def _result(self, result: LipResult) -> Values:
        return {
            self.shown.heading: result.heading(),
            self.shown.timeline: result.timeline().value(),
            self.shown.numbers: result.line(),
        }


def _audio(video: str | None, sample_rate: int, max_seconds: float) -> np.ndarray | None:
    """Load the audio track (T,), stored for those who ask to compare; None where there is none, or
    none that can be used.
    """
    from earshot.media.audio.load import SILENT_PEAK, load  # late, for it loads scipy

    try:
        waveform = load(video, sample_rate, max_seconds).waveform
    except InputError:
        return None
    return waveform if np.abs(waveform).max() > SILENT_PEAK else None
