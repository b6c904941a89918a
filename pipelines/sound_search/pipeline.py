"""Sound search: words, or a sound, → the sounds of a library, ranked, and where in them it is.

python -m pipelines.sound_search index FOLDER makes, or brings up to date, the index of a folder.
"""

import csv
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from media.audio.load import SILENT_PEAK, Audio, load
from media.errors import InputError
from pipelines import map_layout
from pipelines.sound_search.encoder import SoundEncoder
from pipelines.sound_search.index import SoundIndex, embed
from pipelines.sound_search.library import Found, Library, Sound
from pipelines.sound_search.models import DEFAULT_MODEL, load_encoder


@dataclass(frozen=True, eq=False)
class Hit:
    """A sound, its score (that of its best segment), the scores of its seconds (S,), and where
    the best of these starts (s). Scores are cosines."""

    sound: Sound
    score: float
    seconds: np.ndarray
    start: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Everything that the page shows.

    matched: whether the best score reaches ``threshold``; if not, hits are the nearest all the
    same. scores: of all sounds of the index, in its order (n,), NaN for those that a large index
    did not look at. point: the query on the map. seconds: the time it took.
    """

    hits: tuple[Hit, ...]
    matched: bool
    threshold: float
    scores: np.ndarray
    point: tuple[float, float]
    notices: tuple[str, ...]
    seconds: float


class SoundSearch:
    """One encoder, shared by all visitors: their libraries, queries and votes are theirs alone."""

    MAX_CHARACTERS: Final = 1000
    MAX_SECONDS: Final = 60.0  # of a sound to find more like
    WITHOUT: Final = 0.5  # weight of what is not wanted beside what is
    LIKED: Final = 0.5  # weights of the votes beside the query (Rocchio 1971)
    DISLIKED: Final = 0.5

    def __init__(self, encoder: SoundEncoder) -> None:
        self.encoder = encoder

    @classmethod
    def from_pretrained(
        cls, model: str | Path | Sequence[str | Path] = DEFAULT_MODEL, device: str = "auto"
    ) -> "SoundSearch":
        """Load checkpoints of ours (several are an ensemble) or one CLAP model: folders or hub ids.

        Raises OSError where there is no such model.
        """
        return cls(load_encoder(model, device))

    def query(
        self,
        text: str = "",
        like: Audio = None,
        without: str = "",
        index: SoundIndex | None = None,
    ) -> np.ndarray:
        """A unit vector (D,) for words, a sound or both, and against other words.

        like: a recording, or the id of a sound in ``index``. Raises InputError for what says
        nothing, or too much.
        """
        text, without = _clean(text), _clean(without)
        if not text and like is None:
            raise InputError(
                "“But not” only takes away. Say also what you would like to hear."
                if without
                else "Type what you would like to hear, “rain on a tin roof” for example."
            )
        words = [part for part in (text, without) if part]
        for part in words:
            self._check(part)
        wanted = dict(zip(words, self.encoder.embed_text(words), strict=True)) if words else {}
        query = wanted[text] if text else np.zeros(self.encoder.dimension, np.float32)
        if like is not None:
            query = query + self._hear(like, index)
        query = query / np.linalg.norm(query)
        if without:
            query = query - self.WITHOUT * wanted[without]
        return (query / np.linalg.norm(query)).astype(np.float32)

    def __call__(
        self,
        index: SoundIndex,
        text: str = "",
        like: Audio = None,
        without: str = "",
        votes: Mapping[str, int] | None = None,
        limit: int = 10,
    ) -> SearchResult:
        """Search ``index``.

        like: a recording, or the id of a sound in the index, which is then left out. votes: +1 or
        -1 for ids of sounds: the former come first, the latter last, and the others are ranked
        anew by them; scores stay those of the query. Raises InputError for a query that cannot be
        used, and for an index that is empty or of another model.
        """
        began = time.perf_counter()
        library = index.library
        if not library.sounds:
            raise InputError("This library is empty. Add sounds to it first.")
        if index.encoder.fingerprint != self.encoder.fingerprint:
            raise InputError("Another model made this library. Add its sounds again.")
        query = self.query(text, like, without, index)
        found = library.find(query, limit + 1)
        scores = np.full(len(library.sounds), np.nan, np.float32)
        scores[found.numbers] = found.scores
        ranked = self._rank(library, found, votes or {})
        if isinstance(like, str):
            ranked = ranked[ranked != library.numbers.get(like, -1)]
        hits = tuple(_hit(library, number, scores, query) for number in ranked[:limit])
        point = map_layout.place(found.scores[None], library.layout[found.numbers])[0]
        return SearchResult(
            hits=hits,
            matched=bool(np.any(scores[ranked] >= self.encoder.threshold)),
            threshold=self.encoder.threshold,
            scores=scores,
            point=(float(point[0]), float(point[1])),
            notices=_notices(text + without),
            seconds=time.perf_counter() - began,
        )

    def _rank(self, library: Library, found: Found, votes: Mapping[str, int]) -> np.ndarray:
        """Numbers of the sounds found, in the order that the votes give them."""
        vote = np.zeros(len(library.sounds))
        for identity, sign in votes.items():
            if identity in library.numbers:
                vote[library.numbers[identity]] = np.sign(sign)
        towards = np.zeros(self.encoder.dimension, np.float32)
        for voted, weight in ((vote > 0, self.LIKED), (vote < 0, -self.DISLIKED)):
            if voted.any():
                towards += weight * library.means[voted].mean(axis=0)
        if not vote.any():
            return found.numbers
        scores = found.scores + (library.means @ towards)[found.numbers]
        return found.numbers[np.lexsort((-scores, -vote[found.numbers]))]

    def _hear(self, like: Audio, index: SoundIndex | None) -> np.ndarray:
        """A unit vector (D,) of a recording, or of a sound in the index."""
        if isinstance(like, str) and index is not None and like in index:
            return index.library.means[index.library.numbers[like]]
        waveform = load(like, self.encoder.sample_rate, self.MAX_SECONDS).waveform
        if np.abs(waveform).max() < SILENT_PEAK:
            raise InputError("The recording is silent. Check the microphone, or take another.")
        vectors, _ = embed(self.encoder, waveform)
        mean = vectors.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _check(self, text: str) -> None:
        if len(text) > self.MAX_CHARACTERS:
            raise InputError(
                f"This is too long ({len(text)} characters). "
                f"Describe the sound in {self.MAX_CHARACTERS} characters or fewer."
            )
        if not any(character.isalnum() for character in text):
            raise InputError(
                "There are no words in this. Describe the sound, “a dog barks” for example."
            )


def labels_csv(index: SoundIndex, votes: Mapping[str, Mapping[str, int]]) -> str:
    """Votes as graded labels, for evaluation or training: query → id of a sound → +1 or -1.

    A CSV with a header: query, name, kind, caption, content_hash, grade. Sounds that have left the
    index are left out.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["query", "name", "kind", "caption", "content_hash", "grade"])
    for query, grades in votes.items():
        for identity, grade in grades.items():
            if identity in index:
                sound = index[identity]
                words = (sound.name, sound.kind, sound.caption, sound.content_hash)
                table.writerow([query, *words, grade])
    return text.getvalue()


def _hit(library: Library, number: int, scores: np.ndarray, query: np.ndarray) -> Hit:
    entry = library.entries[number]
    seconds = entry.seconds.astype(np.float32) @ query
    return Hit(entry.sound, float(scores[number]), seconds, float(np.argmax(seconds)))


def _clean(text: str) -> str:
    """Without what is not Unicode, which no tokenizer takes, and the white space around."""
    return text.encode("utf-8", "ignore").decode().strip()


def _notices(text: str) -> tuple[str, ...]:
    letters = [character for character in text if character.isalpha()]
    if 2 * sum(character.isascii() for character in letters) >= len(letters):
        return ()
    return ("The model has learned English only: say it in English if you can.",)
