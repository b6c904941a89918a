"""The view of a video: its words, its speech, and the predicted spectrogram; and the finished one
that is shown before a visitor's first, in assets/examples.
"""

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from markupsafe import Markup

from earshot.core.paths import ASSETS
from earshot.media.constants import VIDEO_RATE
from earshot.provenance.manifest import encode_video
from earshot.tabs.components.lanes import Spectrogram, VideoStrip, Word, WordLane
from earshot.tabs.components.timeline import File, SoundLanes, TimelineSpec, wav
from earshot.tabs.shared.confidence import NAMES, certainty
from earshot.tabs.shared.html import figures_in_bold

if TYPE_CHECKING:
    from earshot.media.video.lips import MouthClip
    from earshot.study.design.draft import DraftItem
    from earshot.systems.lip_to_speech import LipReading, LipSpeech

NO_SENTENCE: Final = "No sentence could be read"
ORIGINAL: Final = "Original audio"
SOURCE: Final = ASSETS / "heads" / "noor.mp4"
NOTE: Final = "This example is Noor, a synthetic speaker from the training set."
FINISHED: Final = ASSETS / "examples" / "finished-lips.json"
FILES: Final = {
    "video": "finished-lips.mp4",
    "speech": "finished-lips.wav",
    "landmarks": "finished-lips-landmarks.json",
}


@dataclass(frozen=True, eq=False)
class LipResult:
    """The result that is shown. video: the visitor's frames with the predicted speech, MP4; speech:
    WAV; landmarks: JSON; confidence in the whole sentence, from 0 to 1; predicted: the mel frames
    of the network; pitch of the voice in Hz; timbre that the face suggests; prompt: the sentence
    that was to be said, where it is known; original: the video's own audio, if asked for.
    """

    video: bytes
    speech: bytes
    landmarks: bytes
    words: tuple[Word, ...]
    confidence: float
    predicted: Spectrogram
    mouths: VideoStrip
    pitch: float
    timbre: float
    numbers: str
    prompt: str = ""
    original: SoundLanes | None = None

    def heading(self, note: str = "") -> Markup:
        """Write the predicted sentence with how sure its words are, and what is right of it, as
        HTML; note: of whom it is."""
        sentence = " ".join(word.text for word in self.words) or NO_SENTENCE
        parts = [
            *([self._verdict()] if self.prompt else []),
            *([self._certainties()] if self.words else []),
            Markup("spoken at <b>{:.0f}</b> Hz").format(self.pitch),
        ]
        box = Markup('<div class="found"><h3>{}</h3><p>{}</p>{}</div>')
        about = Markup("<p>{}</p>").format(note) if note else ""
        return box.format(sentence, Markup(" · ").join(parts), about)

    def _certainties(self) -> Markup:
        """Count how many words are sure, likely and a guess, as the lane calls each, as HTML."""
        counts = Counter(certainty(word.confidence) for word in self.words)
        each = [Markup("<b>{}</b> {}").format(counts[name], name) for name in NAMES if counts[name]]
        return Markup("read from the lips: ") + Markup(", ").join(each)

    def _verdict(self) -> Markup:
        """Count how many words of the sentence asked for were read, as HTML."""
        words = self.prompt.split()
        read = [word.text for word in self.words]
        right = sum(a == b for a, b in zip(words, read, strict=False))
        return Markup("<b>{} of {}</b> words of “{}”").format(right, len(words), self.prompt)

    def line(self) -> Markup:
        """Write the line of numbers as HTML, its figures set off."""
        return figures_in_bold(self.numbers)

    def timeline(self) -> TimelineSpec:
        """Make the lanes, the video and the downloads of the timeline."""
        words = WordLane("Predicted words, by confidence", self.words, self.mouths.seconds)
        tracks = [File("Speech from the lips", "lip-to-speech.mp4", self.video, True)]
        if self.original:
            tracks.append(self.original.file(ORIGINAL, "original"))
        return TimelineSpec(
            name="The video, its predicted words and its predicted speech, on one time axis",
            lanes=[
                words,
                self.predicted,
                self.mouths,
                *(self.original.lanes(ORIGINAL)[1:] if self.original else ()),
            ],
            tracks=tracks,
            downloads=(
                File("Video", "lip-to-speech.mp4", self.video),
                File("WAV", "lip-to-speech.wav", self.speech),
                File("Landmarks", "landmarks.json", self.landmarks),
            ),
        )


@dataclass(frozen=True, eq=False)
class VisitorVideo:
    """A visitor's video after reading. speech: the last that was made of it; silent: its frames,
    MP4; landmarks: JSON; audio: its own audio track (T,) at the rate of the speech, if it has one;
    prompt: the sentence that was to be said, where it is known; name: of its file, without the
    ending; compared: whether the visitor asked for the audio."""

    speech: "LipSpeech"
    silent: bytes
    landmarks: bytes
    audio: np.ndarray | None
    prompt: str = ""
    name: str = ""
    compared: bool = False

    def respoken(self, speech: "LipSpeech") -> "VisitorVideo":
        """Put other speech to the same video."""
        return replace(self, speech=speech)

    def result(self) -> LipResult:
        """Make the result that the tab shows of the video."""
        speech, reading = self.speech.speech, self.speech.reading
        seconds = reading.mouth.seconds
        result = LipResult(
            video=encode_video(self.silent, speech),
            speech=wav(speech),
            landmarks=self.landmarks,
            words=caption_words(reading),
            confidence=reading.confidence,
            predicted=Spectrogram.of("Predicted spectrogram", self.speech.predicted_mel, seconds),
            mouths=VideoStrip.of("Mouth crops, the network's input", reading.mouth.crops, seconds),
            pitch=self.speech.pitch,
            timbre=reading.voice.timbre,
            numbers=numbers(self.speech),
            prompt=self.prompt,
        )
        return self._with_original(result) if self.compared and self.audio is not None else result

    def _with_original(self, result: LipResult) -> LipResult:
        from earshot.media.audio import features  # late, for it loads librosa
        from earshot.media.audio.intelligibility import intelligibility
        from earshot.media.audio.speech import Speech

        predicted, rate = self.speech.speech.waveform, self.speech.speech.sample_rate
        assert self.audio is not None
        audio = self.audio[: len(predicted)]
        original = Speech(audio, rate, features.log_mel(audio), 0.0)
        stoi, estoi = intelligibility(predicted, audio)
        line = f"{result.numbers} · {stoi:.2f} STOI · {estoi:.2f} ESTOI"
        return replace(result, original=SoundLanes.of(original), numbers=line)


def caption_words(reading: "LipReading") -> tuple[Word, ...]:
    """List the words that were read, as a lane shows them."""
    return tuple(
        Word(spelled(word.text), word.confidence, word.start, word.end) for word in reading.caption
    )


def landmarks(mouth: "MouthClip") -> bytes:
    """Write the lips' landmarks in each frame as JSON: positions in pixels of the video, to the
    right and down.
    """
    from earshot.media.video.lips import LIPS  # late, for it loads scipy

    data = {
        "frames_per_second": VIDEO_RATE,
        "points_of_the_face_mesh": list(LIPS),
        "lips": mouth.outline[:, list(LIPS)].round(1).astype(float).tolist(),
    }
    return json.dumps(data).encode()


def numbers(speech: "LipSpeech") -> str:
    """Write the line of numbers under a result."""
    mouth, seconds = speech.reading.mouth, speech.compute_seconds
    return (
        f"{mouth.seconds:.1f} s of video · {len(mouth.crops)} frames · "
        f"{speech.reading.compute_seconds:.1f} s to read · "
        f"{speech.speech.compute_seconds:.1f} s to speak · "
        f"{seconds / mouth.seconds:.2f}× real time"
    )


def read_out(speech: "LipSpeech") -> dict[str, Any]:
    """Write the reading for programs: see LipAPI."""
    reading = speech.reading
    return {
        "sentence": " ".join(spelled(word.text) for word in reading.caption),
        "confidence": reading.confidence,
        "words": [
            {"word": w.text, "confidence": w.confidence, "start": w.start, "end": w.end}
            for w in reading.caption
        ],
        "voice": asdict(reading.voice),
        "notices": list(reading.notices),
        "compute_seconds": speech.compute_seconds,
    }


def draft_item(video: VisitorVideo | None) -> "DraftItem | None":
    """Make an item of a listening test of the video with the speech, and with the original audio
    where it has any; None before the first video.
    """
    if video is None:
        return None
    from earshot.media.encode import add_audio  # late, for it loads av
    from earshot.study.design.draft import DraftItem

    speech, read = video.speech, read_out(video.speech)
    source = read["sentence"]
    if video.audio is not None:
        source = add_audio(video.silent, video.audio, speech.speech.sample_rate, comment="")
    system = f"lip-to-speech {speech.voice.name}"
    return DraftItem(system, encode_video(video.silent, speech.speech), source, read, video=True)


def spelled(word: str) -> str:
    """Spell a word of the grammar as it is written in a sentence: letters are capitals."""
    return word.upper() if len(word) == 1 else word


def write_finished(result: LipResult) -> None:
    """Write what the tab shows before its first run: the result of SOURCE, without its audio."""
    elsewhere = ("original", *FILES)
    data = {name: value for name, value in asdict(result).items() if name not in elsewhere}
    for name, file in FILES.items():
        (FINISHED.parent / file).write_bytes(getattr(result, name))
    FINISHED.write_text(json.dumps(data) + "\n")


def read_finished() -> LipResult | None:
    """Read the result that the tab shows before its first run; None where nothing is stored."""
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    mouths = data.pop("mouths")
    files = {name: (FINISHED.parent / file).read_bytes() for name, file in FILES.items()}
    return LipResult(
        words=tuple(Word(*word) for word in data.pop("words")),
        predicted=Spectrogram(**data.pop("predicted")),
        mouths=VideoStrip(**mouths | {"pictures": tuple(mouths["pictures"])}),
        **data | files,
    )
