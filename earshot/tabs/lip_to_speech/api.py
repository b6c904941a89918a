"""Lip to speech for programs: /lip_to_speech and /respeak, with files and JSON only."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from earshot.core.errors import InputError
from earshot.tabs.components.timeline import wav
from earshot.tabs.lip_to_speech.events import FACE, SET, Chosen, LipEvents, LipVisit
from earshot.tabs.lip_to_speech.view import VisitorVideo, read_out
from earshot.tabs.shared.events import LONG_QUEUE, QUICK_QUEUE, answering
from earshot.tabs.shared.sessions import delete_after_use


@dataclass(frozen=True)
class LipAPI:
    """The endpoints. Errors of the input reach the client as gr.Error, with what to do."""

    events: LipEvents

    @answering
    def read(
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
    def speak(
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


def declare(
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
    call.click(
        endpoints.read,
        [visit, video, vocoder, voice],
        [visit, speech, reading],
        api_name="lip_to_speech",
        concurrency_id=LONG_QUEUE,
        concurrency_limit=1,
    )
    call.click(
        endpoints.speak,
        [visit, pitch, timbre, vocoder, other],
        speech,
        api_name="respeak",
        concurrency_id=QUICK_QUEUE,
    )
