"""What the comparison of a few spoken words does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from media.errors import InputError
from tabs.shared.events import answering, inline
from tabs.shared.sessions import SessionStore, delete_after_use, one_word
from tabs.words.panel import Label, Sounds, heat_table, sound_of

if TYPE_CHECKING:
    from pipelines.words import Spoken, Words, Written
    from pipelines.words.library import WordLibrary

RATE: Final = 16_000  # Hz
FEWEST: Final = 2  # words
MOST: Final = 8
OWN: Final = "your word"
MINE: Final = "mine-"  # how the id of a visitor's recording begins
VOICES: Final = 2  # of each word of an example
FARTHEST: Final = 1.2  # DTW distance that is drawn darkest
EXAMPLES: Final = (("tree", "three", "yes"), ("ship", "sheep", "no"), ("bat", "cat", "water"))
OLD_WAY: Final = "The old way: DTW distance on MFCC"


@dataclass(frozen=True)
class Compared:
    """A spoken word to compare: its label, unit vector (D,) and MFCC frames (S, 39)."""

    label: Label
    vector: np.ndarray
    frames: np.ndarray


class Recordings(dict[str, "Compared"]):
    """A visitor's recordings by their id."""


class CompareEvents:
    """Handlers; what a visitor recorded comes in and goes out."""

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.visits = SessionStore(Recordings)

    def first_look(self, picked: list[str], mine: Recordings | None) -> gr.Dropdown:
        """The words to pick from, with the first example picked if nothing is → dropdown."""
        return self._choices(mine, picked or self.example(*EXAMPLES[0]))

    def example(self, *spellings: str) -> list[str]:
        """The ids of some of the library's recordings of these words, one voice after the other."""
        library = self.library()
        spoken = [library.words[row] for row in library.spoken]
        voices = {s: [w.id for w in spoken if w.spelling == s][:VOICES] for s in spellings}
        return [word for words in voices.values() for word in words]

    @inline(outputs=2)
    def record(
        self,
        recording: str | None,
        picked: list[str],
        mine: Recordings | None,
        request: gr.Request,
    ) -> tuple:
        """Picks what was recorded → message, recordings, dropdown."""
        with delete_after_use(recording):
            if len(picked) >= MOST:
                raise InputError(f"There are {MOST} words already. Take one out first.")
            spoken = one_word(self.pipeline(), recording)
            mine = self.visits.of(mine, request)
            # Recordings that are no longer picked go.
            for word in set(mine) - set(picked):
                del mine[word]
            number = 1 + max((int(word.removeprefix(MINE)) for word in mine), default=0)
            mine[f"{MINE}{number}"] = _said(spoken, str(number))
            return "", mine, self._choices(mine, [*picked, f"{MINE}{number}"])

    @inline(outputs=1)
    def write(self, text: str) -> tuple:
        """→ message, written words."""
        return "", self._written(text)

    @inline(outputs=1)
    def compare(
        self, picked: list[str], mine: Recordings | None, written: "Sequence[Written]"
    ) -> tuple:
        """→ message, panel."""
        from pipelines.words.comparison import compare  # late, for it loads librosa

        if len(picked) > MOST:
            raise InputError(f"Pick {FEWEST} words or more, up to {MOST}.")
        library, sounds = self.library(), Sounds()
        rows = {word.id: row for row, word in enumerate(library.words)}
        ours = {word: _read(library, rows[word], sounds) for word in picked if word in rows}
        words = [known[word] for word in picked for known in (ours, mine or {}) if word in known]
        if len(words) < FEWEST:
            raise InputError(f"Pick {FEWEST} words or more, up to {MOST}.")
        columns = {w.spelling: w.vector for w in written} or _spellings(library, list(ours))
        result = compare(*_stacked(words, list(columns.values())))
        labels = [word.label for word in words]
        html = heat_table("Spoken with spoken: cosine", labels, labels, result.heard, 0, 1)
        html += heat_table(OLD_WAY, labels, labels, result.warped, FARTHEST, 0)
        if columns:
            names = [Label(spelling) for spelling in columns]
            html += heat_table("Spoken with written: cosine", labels, names, result.written, 0, 1)
        return "", sounds.value(f'<div class="heats">{html}</div>')

    @answering
    def api_compare(self, recordings: list[str] | None, written: str = "") -> dict[str, Any]:
        """Two to eight recordings of one word each, and written words with commas between them →
        "heard": cosines of recordings with recordings, "written": with the written words, "dtw":
        DTW distances on MFCC; each as a list of rows, in the order that was given."""
        if not FEWEST <= len(recordings or ()) <= MOST:
            raise InputError(f"Give {FEWEST} to {MOST} recordings, each of one word.")
        from pipelines.words.comparison import compare  # late, for it loads librosa

        pipeline = self.pipeline()
        words = [_said(one_word(pipeline, file)) for file in recordings or ()]
        result = compare(*_stacked(words, [word.vector for word in self._written(written)]))
        numbers = {"heard": result.heard, "written": result.written, "dtw": result.warped}
        return {name: values.tolist() for name, values in numbers.items()}

    def _choices(self, mine: Recordings | None, picked: list[str]) -> gr.Dropdown:
        library = self.library()
        spoken = sorted(
            (library.words[row] for row in library.spoken),
            key=lambda word: (word.language != "English", word.language, word.spelling.lower()),
        )
        own = [(str(word.label), name) for name, word in (mine or {}).items()]
        choices = own + [(f"{word.spelling} · {word.voice}", word.id) for word in spoken]
        return gr.Dropdown(choices=choices, value=picked, multiselect=True)

    def _written(self, text: str) -> "tuple[Written, ...]":
        names = [name.strip() for name in text.split(",") if name.strip()]
        if len(names) > MOST:
            raise InputError(f"Type {MOST} written words at most, with commas between them.")
        return tuple(self.pipeline().embed_text(name) for name in names)


def _said(spoken: "Spoken", voice: str = "") -> Compared:
    from media.audio.dtw import mfcc_frames
    from media.audio.load import wav_bytes  # late, for they load scipy and librosa

    word = spoken.waveform[round(spoken.start * RATE) : round(spoken.end * RATE)]
    return Compared(
        Label(OWN, voice, sound_of(wav_bytes(word, RATE))), spoken.vector, mfcc_frames(word)
    )


def _read(library: "WordLibrary", row: int, sounds: Sounds) -> Compared:
    """A word of the library, whose sound goes to the panel's."""
    word = library.words[row]
    if word.path is None:
        raise InputError(f"“{word.spelling}” is only written here. Pick spoken words.")
    vector = np.asarray(library.vectors[row], np.float32)
    return Compared(sounds.label(word), vector, _frames(word.path))


@lru_cache(maxsize=1024)
def _frames(path: Path) -> np.ndarray:
    """What the word in a file of the library is compared by, the old way: (S, 39)."""
    from media.audio import voice_activity  # late, for they load scipy and librosa
    from media.audio.dtw import mfcc_frames
    from media.audio.load import load

    waveform = load(path, RATE).waveform
    if stretches := voice_activity.words(waveform):
        waveform = waveform[round(stretches[0][0] * RATE) : round(stretches[-1][1] * RATE)]
    return mfcc_frames(waveform)


def _spellings(library: "WordLibrary", picked: Sequence[str]) -> dict[str, np.ndarray]:
    """The vectors of those words, written."""
    wanted = {(word.language, word.spelling) for word in library.words if word.id in picked}
    written = [(library.words[row], library.vectors[row]) for row in library.written]
    return {
        word.spelling: np.asarray(vector, np.float32)
        for word, vector in written
        if (word.language, word.spelling) in wanted
    }


def _stacked(
    words: Sequence[Compared], written: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """What pipelines.words.comparison takes; there may be no written words."""
    spoken = np.stack([word.vector for word in words])
    columns = np.stack(written) if written else np.zeros((0, spoken.shape[1]), np.float32)
    return spoken, columns, [word.frames for word in words]
