"""What one film of a speaking face shows: its speech, what was read, and how it was drawn."""

import json
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tabs.components.timeline.lanes import Spectrogram
from tabs.components.timeline.timeline import File, TimelineSpec
from tabs.components.timeline.video_lanes import FilmStrip, Word, Words
from tabs.lip_to_speech.coach import spelled
from tabs.voice_conversion.view import Sound, wav

if TYPE_CHECKING:
    from media.video.lips import Mouth
    from pipelines.lip_to_speech.result import LipSpeech
    from study.design.draft import Take

NO_SENTENCE: Final = "No sentence could be read"


@dataclass(frozen=True, eq=False)
class LipResult:
    """What is shown. film: the visitor's pictures with the speech, MP4; speech: WAV; landmarks:
    JSON; confidence in the whole sentence, from 0 to 1; drawn: the mel frames as the network drew
    them; pitch in Hz and timbre of the voice; real: the sound that the film had, if asked for."""

    film: bytes
    speech: bytes
    landmarks: bytes
    words: tuple[Word, ...]
    confidence: float
    drawn: Spectrogram
    mouths: FilmStrip
    pitch: float
    timbre: float
    numbers: str
    real: Sound | None = None

    def heading(self) -> str:
        """What was read, and how sure that is, as HTML."""
        sentence = " ".join(word.text for word in self.words) or NO_SENTENCE
        return (
            f'<div class="found"><h3>{escape(sentence)}</h3><p>read from the lips, '
            f"<b>{self.confidence:.0%}</b> sure · spoken at <b>{self.pitch:.0f}</b> Hz</p></div>"
        )

    def line(self) -> str:
        """The line of numbers as HTML, its figures set off."""
        parts = [part.split(" ", 1) for part in self.numbers.split(" · ")]
        return " · ".join(f"<b>{escape(figure)}</b> {escape(rest)}" for figure, rest in parts)

    def sheet(self) -> TimelineSpec:
        """What the timeline shows."""
        words = Words("Words, bright where they are sure", self.words, self.mouths.seconds)
        tracks = [File("Speech from the lips", "lip-to-speech.mp4", self.film)]
        if self.real:
            tracks.append(self.real.file("What was really said", "really-said"))
        return TimelineSpec(
            name="The film, the words and the speech that were read from it, on one time axis",
            lanes=[
                words,
                self.drawn,
                self.mouths,
                *(self.real.lanes("What was really said")[1:] if self.real else ()),
            ],
            tracks=tracks,
            downloads=(
                File("Video", "lip-to-speech.mp4", self.film),
                File("WAV", "lip-to-speech.wav", self.speech),
                File("Landmarks", "landmarks.json", self.landmarks),
            ),
        )


@dataclass(frozen=True, eq=False)
class Watched:
    """A visitor's film once it was read. speech: the last that was made of it; film: its pictures,
    MP4; landmarks: JSON; sound: what was really said, (T,) at the rate of the speech, where the
    film had sound; compared: whether the visitor asked for it."""

    speech: "LipSpeech"
    film: bytes
    landmarks: bytes
    sound: np.ndarray | None
    compared: bool = False

    def respoken(self, speech: "LipSpeech") -> "Watched":
        """The same in another voice."""
        return replace(self, speech=speech)

    def result(self) -> LipResult:
        """What the tab shows of it."""
        from media.video.encode import with_sound  # late, for it loads av

        said, reading = self.speech.speech, self.speech.reading
        seconds = reading.mouth.seconds
        result = LipResult(
            film=with_sound(self.film, said.waveform, said.sample_rate),
            speech=wav(said),
            landmarks=self.landmarks,
            words=tuple(
                Word(spelled(word.text), word.confidence, word.start, word.end)
                for word in reading.caption
            ),
            confidence=reading.confidence,
            drawn=Spectrogram.of(
                "Speech as it was drawn from the lips", self.speech.drawn, seconds
            ),
            mouths=FilmStrip.of("The mouth, as the network sees it", reading.mouth.crops, seconds),
            pitch=self.speech.voice.pitch,
            timbre=self.speech.voice.timbre,
            numbers=numbers(self.speech),
        )
        return self._beside_real(result) if self.compared and self.sound is not None else result

    def _beside_real(self, result: LipResult) -> LipResult:
        from media.audio import features  # late, for it loads librosa
        from media.audio.intelligibility import intelligibility
        from pipelines.speech import Speech

        said, rate = self.speech.speech.waveform, self.speech.speech.sample_rate
        assert self.sound is not None
        sound = self.sound[: len(said)]
        real = Speech(sound, rate, features.log_mel(sound), 0.0)
        stoi, estoi = intelligibility(said, sound)
        line = f"{result.numbers} · {stoi:.2f} STOI · {estoi:.2f} ESTOI"
        return replace(result, real=Sound.of(real), numbers=line)


def landmarks(mouth: "Mouth") -> bytes:
    """Where the lips are in each frame, as JSON: places in pixels of the film, to the right and
    down."""
    from media.video.lips import LIPS, RATE  # late, for it loads scipy

    data = {
        "frames_per_second": RATE,
        "points_of_the_face_mesh": list(LIPS),
        "lips": mouth.outline[:, list(LIPS)].round(1).astype(float).tolist(),
    }
    return json.dumps(data).encode()


def numbers(speech: "LipSpeech") -> str:
    """The line of numbers under a result."""
    mouth, taken = speech.reading.mouth, speech.seconds
    return (
        f"{mouth.seconds:.1f} s of film · {len(mouth.crops)} frames · "
        f"{speech.reading.seconds:.1f} s to read · "
        f"{speech.speech.compute_seconds:.1f} s to speak · "
        f"{taken / mouth.seconds:.2f}× real time"
    )


def read_out(speech: "LipSpeech") -> dict[str, Any]:
    """What was read, for programs."""
    reading = speech.reading
    return {
        "sentence": " ".join(spelled(word.text) for word in reading.caption),
        "confidence": reading.confidence,
        "words": [
            {"word": w.text, "confidence": w.confidence, "start": w.start, "end": w.end}
            for w in reading.caption
        ],
        "voice": {"pitch": speech.voice.pitch, "timbre": speech.voice.timbre},
        "notices": list(reading.notices),
        "seconds": speech.seconds,
    }


def take(watched: Watched | None) -> "Take | None":
    """The speech for a listening test, beside what was really said where the film had sound; None
    before the first film."""
    if watched is None:
        return None
    from media.audio.load import wav_bytes  # late, for they load scipy
    from study.design.draft import Take

    speech, voice = watched.speech, watched.speech.voice
    read = read_out(speech)
    rate = speech.speech.sample_rate
    source = read["sentence"] if watched.sound is None else wav_bytes(watched.sound, rate)
    system = f"lip-to-speech {voice.pitch:.0f} Hz {voice.timbre:.2f}"
    return Take(system, wav(speech.speech), source, read)
