"""Which sound was wrong: the phonemes of a word or sentence on a Timeline, as a visitor says them
and as a synthetic voice does.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import Audio, load, wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.components.lanes import Lane, Waveform
from earshot.tabs.components.timeline import File, TimelineSpec, nothing, timeline
from earshot.tabs.shared.events import HIDDEN, QUICK_QUEUE, Update, answering, offer, say
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section, chips, sound_input
from earshot.tabs.words.panel import PANELS, recorded_or_uploaded

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.library import WordLibrary
    from earshot.systems.words.pronunciation_check import CheckedPhoneme, PronunciationCheck

HINT: Final = """<p class="hint">Type an English word or sentence, then say it: each of its sounds
is shown as expected, close, or heard as another. Measured on synthetic voices of America, England
and Scotland, on readers of American English and on Mandarin students: it overlooks three wrong
sounds in ten, and calls one right sound in twenty wrong, one in ten of a reader's. It is no
examiner.</p>"""
EMPTY: Final = "What was heard of each sound appears here."
NO_TEXT: Final = "Type the word or sentence that you say."
NO_RECORDING: Final = "Record it, or upload a recording of it."
NO_VOICE: Final = "No synthetic voice here says “{word}”."
ALL_RIGHT: Final = "Every sound was heard as expected."
LEAD_SECONDS: Final = 0.15  # seconds before the first phoneme
MODEL: Final = "A synthetic voice"
# A text, and a recording of one that differs in a sound.
EXAMPLES: Final = (
    ("think", "“think”, said as “sink”", "sink-rms.ogg"),
    ("three", "“three”, said as “tree”", "tree-rms.ogg"),
    ("ship", "“ship”, said as “sheep”", "sheep-awb.ogg"),
)
# What to do for the ten commonest confusions: what is expected, what was heard instead of it, and
# a sentence.
ADVICE: Final = (
    (
        "θ",
        "stf",
        "th as in “think”: the tip of the tongue between the teeth, and blow, without voice.",
    ),
    ("ð", "dzv", "th as in “this”: the tip of the tongue between the teeth, with voice."),
    ("ɹ", "lw", "r: the tip of the tongue curls back and touches nothing; lips a little rounded."),
    (
        "l",
        "ɹw",
        "l: the tip of the tongue rests behind the upper teeth, and sound passes beside it.",
    ),
    ("v", "wbf", "v: the upper teeth on the lower lip, with voice; the lips do not round."),
    ("w", "v", "w: round the lips as for “oo”; the teeth touch nothing."),
    ("z", "s", "z: as s, with voice: a finger on the throat feels it hum."),
    ("ʃ", "s", "sh: draw the tongue back a little from s, and round the lips."),
    ("ɪ", "i", "short i as in “ship”: shorter and looser than the vowel of “sheep”."),
    ("æ", "ɛ", "a as in “bad”: open the jaw wider than for “bed”."),
)


@dataclass(frozen=True)
class PhonemeLane:
    """Phonemes at their times, coloured by what was heard of them."""

    label: str
    phonemes: "Sequence[CheckedPhoneme]"
    seconds: float
    stale: bool = False

    def html(self) -> Markup:
        return macro(PANELS, "phonemes", self.label, list(map(self._cell, self.phonemes)))

    def _cell(self, phoneme: "CheckedPhoneme") -> "tuple[CheckedPhoneme, str]":
        """Write a phoneme and the style of its place."""
        left, width = phoneme.start / self.seconds, (phoneme.end - phoneme.start) / self.seconds
        return phoneme, f"left:{left:.3%};width:{width:.3%}"


class SoundsSection(Section):
    """The accordion, to be made inside a gr.Blocks: a text, a recording of it, and its sounds."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        """Lay it out. pipeline and library return the same object each time."""
        self.pipeline, self.library = pipeline, library
        title = "Which sound was wrong"
        with gr.Accordion(title, open=False), gr.Row(elem_classes="room"):
            with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
                gr.HTML(HINT)
                gr.HTML('<h3 class="step">Type it <span>a word or a sentence</span></h3>')
                text = gr.Textbox("", label="The text", placeholder="lighthouse", max_lines=3)
                gr.HTML('<h3 class="step">Say it <span>up to 25 s</span></h3>')
                recording = sound_input("Your saying of the text")
                self.message = gr.HTML()
                run = gr.Button("Check the sounds", variant="primary")
                stop = gr.Button("Stop", visible=False)
                examples = chips(label for _, label, _ in EXAMPLES)
            with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
                self.sounds = timeline("checked-sounds", EMPTY)
                self.report = gr.HTML(elem_classes="sound-report")
        inputs, outputs = [recording, text], [self.message, self.sounds, self.report]
        triggers: list[Callable] = [run.click, text.submit, *recorded_or_uploaded(recording)]
        for chip, (word, _, name) in zip(examples, EXAMPLES, strict=True):
            path = ASSETS / "words" / name
            fill = chip.click(lambda p=path, w=word: (p.read_bytes(), w), None, inputs, **HIDDEN)
            triggers.append(fill.then)
        for trigger in triggers:
            self.on_model(
                trigger,
                self.show,
                inputs,
                outputs,
                progress_on=self.sounds,
                start=run,
                stop=stop,
                queue=QUICK_QUEUE,
            )
        with gr.Row(visible=False):
            call, answer = gr.Button(), gr.JSON(label="check")
        offer(call, self.check_pronunciation, inputs, answer)

    def show(self, recording: str | None, text: str) -> Update:
        """Show what was heard of each sound, beside a synthetic voice that says the same."""
        try:
            check = self._check(recording, text)
        except InputError as error:
            cleared = {self.sounds: nothing(EMPTY), self.report: ""}
            return {self.message: say(str(error), "error"), **cleared}
        # The first phoneme begins LEAD_SECONDS after the beginning, also of a recording cut short.
        first = check.phonemes[0].start
        mine = np.pad(check.waveform, (round(LEAD_SECONDS * SAMPLE_RATE), 0))
        mine = mine[round(first * SAMPLE_RATE) :]
        phonemes = _earlier(check.phonemes, first - LEAD_SECONDS)
        tracks, lanes = [_track("You", mine)], _lanes("You", "Your sounds", mine, phonemes)
        notices, recordings = list(check.notices), self._recordings(check.words)
        if None in recordings:
            notices.append(NO_VOICE.format(word=check.words[recordings.index(None)]))
        else:
            voice, model = self._voice(filter(None, recordings), phonemes, text)
            both = np.zeros(max(len(mine), len(voice)), np.float32)
            both[: len(mine)] += mine / 2
            both[: len(voice)] += voice / 2
            tracks += [_track(MODEL, voice), _track("Both at once", both)]
            lanes += _lanes(MODEL, "Its sounds", voice, model)
        spec = TimelineSpec(
            name=f"The sounds of “{' '.join(check.words)}”", lanes=lanes, tracks=tracks, plays=True
        )
        return {
            self.message: say(" ".join(notices)),
            self.sounds: spec.value(),
            self.report: report(check.words, phonemes),
        }

    def _check(self, recording: Audio, text: str | None) -> "PronunciationCheck":
        """Check a recording. Raises InputError where there is no text or recording, or either
        cannot be used."""
        from earshot.systems.words.pronunciation_check import check_pronunciation  # late: torch

        if not (text or "").strip():
            raise InputError(NO_TEXT)
        if recording is None:
            raise InputError(NO_RECORDING)
        return check_pronunciation(self.pipeline(), recording, text or "")

    def _recordings(self, words: Sequence[str]) -> list[Path | None]:
        """Find a recording of the library of each word, None where there is none."""
        paths: dict[str, Path] = {}
        for word in self.library().words:
            if word.path and word.language == "English":
                paths.setdefault(word.spelling, word.path)
        return [paths.get("".join(filter(str.isalpha, word.lower()))) for word in words]

    def _voice(
        self, recordings: Iterable[Path], phonemes: "Sequence[CheckedPhoneme]", text: str
    ) -> "tuple[np.ndarray, Sequence[CheckedPhoneme]]":
        """Join recordings, each where the visitor says its word: (T,) at 16 kHz; and find their
        phonemes, none where they are not heard."""
        voice = np.zeros(0, np.float32)
        for number, path in enumerate(recordings):
            waveform = load(path, SAMPLE_RATE).waveform
            start = min((p.start for p in phonemes if p.word == number), default=0.0)
            pause = round(start * SAMPLE_RATE) - len(voice)
            voice = np.concatenate([voice, np.zeros(max(pause, 0), np.float32), waveform])
        try:
            model = self._check((SAMPLE_RATE, voice), text).phonemes
        except InputError:  # the voice is heard all the same
            return voice, ()
        # Recordings of the library begin softly: what is earlier is silence.
        late = min(max(model[0].start - phonemes[0].start, 0), phonemes[0].start)
        return voice[round(late * SAMPLE_RATE) :], _earlier(model, late)

    @answering
    def check_pronunciation(self, audio: str | None, text: str | None = "") -> dict[str, Any]:
        """Check which sounds of an English word or sentence a recording of it has wrong.

        Args:
            audio: A recording of the text, up to 25 s of speech.
            text: An English word or sentence, up to 30 words; or IPA between slashes, or ARPAbet.

        Returns:
            check: {"words": of the text, "phonemes": a list in the order of time, of {"phoneme": in
            IPA, "" where one was added, "actual": what was heard, "" where nothing was, "verdict":
            "expected", "close" or "wrong", "probability": that it is wrong, "start" and "end" in
            seconds, "word": its number}, "notices": sentences about the recording}.
        """
        return self._check(audio, text).document()


def _lanes(
    name: str, sounds: str, waveform: np.ndarray, phonemes: "Sequence[CheckedPhoneme]"
) -> list[Lane]:
    lanes: list[Lane] = [Waveform.of(name, waveform, SAMPLE_RATE)]
    if phonemes:
        lanes.append(PhonemeLane(sounds, phonemes, len(waveform) / SAMPLE_RATE))
    return lanes


def report(words: Sequence[str], phonemes: "Sequence[CheckedPhoneme]") -> Markup:
    """List what was not as expected, with what to do about the commonest confusions."""
    rows = [
        (phoneme, words[phoneme.word], _advice(phoneme.phoneme, phoneme.actual))
        for phoneme in phonemes
        if phoneme.verdict != "expected"
    ]
    return macro(PANELS, "sound_report", rows, ALL_RIGHT)


def _advice(phoneme: str, actual: str) -> str:
    return next((text for p, others, text in ADVICE if p == phoneme and actual in others), "")


def _earlier(phonemes: "Sequence[CheckedPhoneme]", seconds: float) -> "list[CheckedPhoneme]":
    return [replace(p, start=p.start - seconds, end=p.end - seconds) for p in phonemes]


def _track(name: str, waveform: np.ndarray) -> File:
    return File(name, f"{name.lower()}.wav", wav_bytes(waveform, SAMPLE_RATE))
