"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match.

python -m pipelines.sound_search index FOLDER builds or updates the index of a folder.
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
from pipelines.sound_search.query import clean


@dataclass(frozen=True, eq=False)
class Hit:
    """A sound that was found. Scores are cosine similarities with the query.

    score: of its best segment; per_second_scores: of each of its S seconds (S,); start: of the
    second with the highest score, in s.
    """

    sound: Sound
    score: float
    per_second_scores: np.ndarray
    start: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Everything that the page shows of a search.

    matched: whether the best score reaches ``threshold``; if not, hits are the nearest sounds.
    scores: of all n sounds of the index, in its order (n,), NaN for those that the approximate
    search of a large index did not compare. point: the query's coordinates on the map, in [0, 1].
    notices: remarks on the query for the visitor. compute_seconds: the time that the search took.
    """

    hits: tuple[Hit, ...]
    matched: bool
    threshold: float
    scores: np.ndarray
    point: tuple[float, float]
    notices: tuple[str, ...]
    compute_seconds: float


class SoundSearch:
    """One encoder, shared by all visitors; libraries, queries and votes are arguments of a call."""

    MAX_CHARACTERS: Final = 1000
    MAX_SECONDS: Final = 60.0  # of an example sound
    WITHOUT: Final = 0.5  # weight of the excluded text, relative to the query
    LIKED: Final = 0.5  # weights of relevance feedback, relative to the query (Rocchio 1971)
    DISLIKED: Final = 0.5

    def __init__(self, encoder: SoundEncoder) -> None:
        self.encoder = encoder

    @classmethod
    def from_pretrained(
        cls, model: str | Path | Sequence[str | Path] = DEFAULT_MODEL, device: str = "auto"
    ) -> "SoundSearch":
        """Load our checkpoints (several form an ensemble) or one CLAP model: folders or hub ids.

        Raises OSError if there is no such model.
        """
        return cls(load_encoder(model, device))

    def query(
        self,
        text: str = "",
        like: Audio = None,
        without: str = "",
        index: SoundIndex | None = None,
    ) -> np.ndarray:
        """The unit vector (D,) of a text, an example sound or both, minus another text.

        like: a recording, or the id of a sound in ``index``. Raises InputError for a query that is
        empty, too long, without words or silent.
        """
        text, without = clean(text), clean(without)
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
            query = query + self._embed_example(like, index)
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

        like: a recording, or the id of a sound in the index, which is then left out of the results.
        votes: +1 or -1 for ids of sounds: these come first or last, and the others are re-ranked by
        their similarity to them; scores stay those of the query. Raises InputError for a query that
        cannot be used, and for an index that is empty or was made by another model.
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
            compute_seconds=time.perf_counter() - began,
        )

    def _rank(self, library: Library, found: Found, votes: Mapping[str, int]) -> np.ndarray:
        """Positions of the sounds found, re-ranked by the votes (Rocchio 1971)."""
        vote = np.zeros(len(library.sounds))
        for sound_id, sign in votes.items():
            if sound_id in library.numbers:
                vote[library.numbers[sound_id]] = np.sign(sign)
        towards = np.zeros(self.encoder.dimension, np.float32)
        for voted, weight in ((vote > 0, self.LIKED), (vote < 0, -self.DISLIKED)):
            if voted.any():
                towards += weight * library.means[voted].mean(axis=0)
        if not vote.any():
            return found.numbers
        scores = found.scores + (library.means @ towards)[found.numbers]
        return found.numbers[np.lexsort((-scores, -vote[found.numbers]))]

    def _embed_example(self, like: Audio, index: SoundIndex | None) -> np.ndarray:
        """The unit vector (D,) of a recording, or of a sound in the index."""
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
                f"This is too long ({len(text):,} characters). "
                f"Describe the sound in {self.MAX_CHARACTERS:,} characters or fewer."
            )
        if not any(character.isalnum() for character in text):
            raise InputError(
                "There are no words in this. Describe the sound, “a dog barks” for example."
            )


def labels_csv(index: SoundIndex, votes: Mapping[str, Mapping[str, int]]) -> str:
    """Votes (query → id of a sound → +1 or -1) as graded labels, for evaluation or training.

    A CSV with a header: query, name, kind, caption, content_hash, grade. Sounds that are no longer
    in the index are left out.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["query", "name", "kind", "caption", "content_hash", "grade"])
    for query, grades in votes.items():
        for sound_id, grade in grades.items():
            if sound_id in index:
                sound = index[sound_id]
                words = (sound.name, sound.kind, sound.caption, sound.content_hash)
                table.writerow([query, *words, grade])
    return text.getvalue()


def _hit(library: Library, number: int, scores: np.ndarray, query: np.ndarray) -> Hit:
    entry = library.entries[number]
    per_second = entry.per_second.astype(np.float32) @ query
    return Hit(entry.sound, float(scores[number]), per_second, float(np.argmax(per_second)))


def _notices(text: str) -> tuple[str, ...]:
    letters = [character for character in text if character.isalpha()]
    if 2 * sum(character.isascii() for character in letters) >= len(letters):
        return ()
    return ("The model knows English only: describe the sound in English if you can.",)
