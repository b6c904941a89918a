"""What the buttons of the lip to speech tab do."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np

from media.errors import InputError
from tabs.components.timeline.timeline import nothing
from tabs.lip_to_speech.example import FINISHED, SOURCE, read_finished
from tabs.lip_to_speech.view import LipResult, Watched, landmarks, read_out
from tabs.shared.events import answering, inline, say
from tabs.shared.sessions import SessionStore, delete_after_use
from tabs.voice_conversion.view import wav

if TYPE_CHECKING:
    from pipelines.lip_to_speech import LipToSpeech
    from pipelines.lip_to_speech.result import LipSpeech

FIRST: Final = (
    "Film yourself, upload a film or try an example: your lips, the words that were read from them "
    "and the speech appear here, on one time axis."
)
NOTHING: Final = "There is nothing to say yet. Film yourself, or try an example."
NO_SOUND: Final = "This film has no sound that the speech could be compared with."


@dataclass(eq=False)
class LipVisit:
    """What is kept of a visitor's film until they leave or film another."""

    watched: Watched | None = None

    def clear(self) -> None:
        self.watched = None


class LipEvents:
    """Handlers; what a visitor filmed comes in and goes out. The shown outputs are: heading,
    timeline, numbers."""

    def __init__(self, pipeline: Callable[[], "LipToSpeech"]) -> None:
        self.pipeline = pipeline
        self.visits = SessionStore(LipVisit)

    def first_look(self) -> tuple:
        """What the result shows before the first run → pitch, timbre, shown outputs."""
        result = read_finished()
        if result is None:
            return gr.skip(), gr.skip(), "", nothing(FIRST), ""
        return round(result.pitch), round(result.timbre, 2), *_shown(result)

    @inline(outputs=7)
    def read(
        self,
        visit: LipVisit | None,
        video: str | None,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> tuple:
        """→ message, visit, compare button, pitch, timbre, shown outputs."""
        with delete_after_use(video):
            watched = self._watch(video, vocoder, progress)
        visit = self.visits.of(visit, request)
        visit.watched = watched
        compare = gr.Button(visible=watched.sound is not None)
        message = say(" ".join(watched.speech.reading.notices))
        return message, visit, compare, *_voice(watched.speech), *_shown(watched.result())

    @inline(outputs=4)
    def speak(
        self,
        visit: LipVisit | None,
        pitch: float,
        timbre: float,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple:
        """Says the same in another voice → message, visit, shown outputs."""
        visit, watched = self._kept(visit, vocoder, request, progress)
        visit.watched = watched.respoken(self._say(watched, pitch, timbre, vocoder))
        return "", visit, *_shown(visit.watched.result())

    @inline(outputs=6)
    def guess(
        self,
        visit: LipVisit | None,
        vocoder: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple:
        """Says it in the voice that the face suggests → message, visit, pitch, timbre, shown
        outputs."""
        visit, watched = self._kept(visit, vocoder, request, progress)
        voice = watched.speech.reading.voice
        speech = self._say(watched, voice.pitch, voice.timbre, vocoder)
        visit.watched = watched.respoken(speech)
        return "", visit, *_voice(speech), *_shown(visit.watched.result())

    @inline(outputs=4)
    def compare(self, visit: LipVisit | None) -> tuple:
        """Puts what was really said beside it → message, compare button, shown outputs."""
        if visit is None or visit.watched is None or visit.watched.sound is None:
            raise InputError(NO_SOUND)
        visit.watched = replace(visit.watched, compared=True)
        return "", gr.Button(visible=False), *_shown(visit.watched.result())

    @answering
    def api_read(
        self, visit: LipVisit | None, video: str, vocoder: str, request: gr.Request
    ) -> tuple:
        """A film of a speaking face → visit, WAV file, what was read."""
        with delete_after_use(video):
            speech = self.pipeline()(video, vocoder)
        visit = self.visits.of(visit, request)
        visit.watched = Watched(speech, b"", b"", None)
        return visit, wav(speech.speech), read_out(speech)

    @answering
    def api_speak(self, visit: LipVisit | None, pitch: float, timbre: float, vocoder: str) -> bytes:
        """The film of this client's last /lip_to_speech in another voice → WAV file."""
        if visit is None or visit.watched is None:
            raise InputError("There is nothing to say yet. Call /lip_to_speech first.")
        return wav(self._say(visit.watched, pitch, timbre, vocoder).speech)

    def _watch(self, video: str | None, vocoder: str, progress: gr.Progress) -> Watched:
        from media.video import frames
        from media.video.encode import silent_film  # late, for they load av

        pipeline = self.pipeline()
        progress(0.2, desc="Following the lips")
        reading = pipeline.watch(video)
        progress(0.7, desc="Speaking")
        speech = pipeline.speak(reading, reading.voice, vocoder)
        film = silent_film(frames(video, pipeline.MAX_SECONDS))
        sound = _sound(video, speech.speech.sample_rate, pipeline.MAX_SECONDS)
        return Watched(speech, film, landmarks(reading.mouth), sound)

    def _kept(
        self, visit: LipVisit | None, vocoder: str, request: gr.Request, progress: gr.Progress
    ) -> tuple[LipVisit, Watched]:
        """The visit and its film; before the first run, the example that is shown, read now."""
        visit = self.visits.of(visit, request)
        if visit.watched:
            progress(0.5, desc="Speaking")
            return visit, visit.watched
        if not FINISHED.exists():
            raise InputError(NOTHING)
        return visit, self._watch(str(SOURCE), vocoder, progress)

    def _say(self, watched: Watched, pitch: float, timbre: float, vocoder: str) -> "LipSpeech":
        from pipelines.lip_to_speech.result import Voice  # late, for it loads torch

        return self.pipeline().speak(watched.speech.reading, Voice(pitch, timbre), vocoder)


def _shown(result: LipResult) -> tuple:
    return result.heading(), result.sheet().value(), result.line()


def _voice(speech: "LipSpeech") -> tuple[float, float]:
    """Pitch and timbre as the sliders show them."""
    return round(speech.voice.pitch), round(speech.voice.timbre, 2)


def _sound(video: str | None, sample_rate: int, max_seconds: float) -> np.ndarray | None:
    """What was really said (T,), kept for those who ask; None where a film has no sound, or none
    that can be used."""
    from media.audio.load import SILENT_PEAK, load  # late, for it loads scipy

    try:
        waveform = load(video, sample_rate, max_seconds).waveform
    except InputError:
        return None
    return waveform if np.abs(waveform).max() > SILENT_PEAK else None
