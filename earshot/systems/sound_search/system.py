"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match.

python -m earshot sounds index FOLDER builds or updates the index of a folder.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import Audio, load
from earshot.media.samples import SILENT_PEAK
from earshot.sound_index.descriptions import (
    CERTAIN_SCORE,
    MAX_PLAIN_WORDS,
    MAX_SOUNDS,
    Descriptions,
)
from earshot.sound_index.descriptions import THRESHOLD as WORDS_THRESHOLD
from earshot.sound_index.embedding import SoundEncoder, embed, encoder_for
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import Library, Ranking
from earshot.sound_index.nearest import place_on_map
from earshot.sound_index.sound import EVERYTHING, Filter
from earshot.systems.sound_search.encoder import DEFAULT_MODEL, EarshotEncoder, load_encoder
from earshot.systems.sound_search.query import (
    NONE_LEFT,
    Compound,
    check,
    check_length,
    clean,
    correct_spelling,
    parse,
    understand,
)
from earshot.systems.sound_search.ranking import (
    Hit,
    SearchResult,
    find,
    has_amounts,
    in_order,
    part_scores_of,
    place,
)
from earshot.systems.sound_search.translation import translate


class SoundSearch:
    """A search by one encoder, shared by all visitors; libraries, queries and votes are arguments
    of a call.
    """

    MAX_SECONDS: Final = 60.0  # of an example sound
    WITHOUT: Final = 0.7  # weight of the excluded text, relative to the query
    LIKED: Final = 0.5  # weights of relevance feedback, relative to the query (Rocchio 1971)
    DISLIKED: Final = 0.5
    # Of the threshold of a match, for several parts: seconds score lower than segments.
    COMPOUND: Final = 0.6

    def __init__(self, encoder: SoundEncoder) -> None:
        self.encoder = encoder
        self._descriptions: WeakKeyDictionary[Library, Descriptions] = WeakKeyDictionary()
        self._lock = threading.Lock()  # one embeds the texts of a library, and the others wait

    @classmethod
    def from_pretrained(
        cls, model: str | Path | Sequence[str | Path] = DEFAULT_MODEL, device: str = "auto"
    ) -> "SoundSearch":
        """Load our checkpoints (several form an ensemble) or one CLAP model: names of shipped ones,
        folders or hub ids.

        Raises FileNotFoundError where there is no such model, CheckpointError for one of another
        task.
        """
        return cls(load_encoder(model, device))

    def query(self, text: str = "", like: Audio = None) -> np.ndarray:
        """Embed a query: the unit vector (D,) of an English text, a recording or both.

        Raises InputError for a query that is empty, too long, without words or silent.
        """
        return self._query(text, self._example(like)[0], "")[0]

    def _query(
        self, text: str, example: np.ndarray | None, without: str
    ) -> tuple[np.ndarray, float]:
        """Embed a query, whose example is a unit vector (D,), if there is one, minus another text;
        and score the rest itself, which is 1 unless a text is taken away."""
        text, without = clean(text), clean(without)
        if not text and example is None:
            raise InputError(
                "“But not” only takes away. Say also what you would like to hear."
                if without
                else "Type what you would like to hear, “rain on a tin roof” for example."
            )
        words = [part for part in (text, without) if part]
        for part in words:
            check(part)
        vectors = dict(zip(words, self.encoder.embed_text(words), strict=True)) if words else {}
        target = vectors[text] if text else np.zeros(self.encoder.dimension, np.float32)
        if example is not None:
            target = target + example
        target = target / np.linalg.norm(target)
        query = target - self.WITHOUT * vectors[without] if without else target
        query = (query / np.linalg.norm(query)).astype(np.float32)
        return query, float(query @ target)

    def __call__(
        self,
        index: SoundIndex,
        text: str = "",
        like: Audio = None,
        without: str = "",
        votes: Mapping[str, int] | None = None,
        limit: int = 10,
        only: Filter = EVERYTHING,
        threshold: float | None = None,
    ) -> SearchResult:
        """Search ``index``.

        text, without: in English, or a language that is translated into English. text may name
        several sounds, in order or together (see query.py), which are then scored second by second;
        together with an example it is one sound. It may also name what it excludes, "rain without
        thunder", which then adds to without.
        like: a recording, or the id of a sound in the index, which is then left out of the results.
        votes: +1 or -1 for ids of sounds: these come first or last, and the others are re-ranked by
        their similarity to them; scores stay those of the query. only: the sounds that may be
        found. threshold: of a match; the encoder's own if None. Raises InputError for a query that
        cannot be used, for an index that is empty or was made by another model, and where no sound
        passes the filter.
        """
        began = time.perf_counter()
        library = index.library
        if not library.sounds:
            raise InputError("This library is empty. Add sounds to it first.")
        if index.encoder.fingerprint != self.encoder.fingerprint:
            raise InputError("Another model made this library. Add its sounds again.")
        request = self._understand(library, text, without, is_one=like is not None)
        compound = request.compound
        example, notices = self._example(like, index)
        vectors, rests = zip(
            *(self._query(part, example, request.away) for part in compound.captions), strict=True
        )
        queries, among = np.stack(vectors), _passing(library, only)
        nearest = find(library, queries, compound, limit + 1, among)
        words = None if example is not None else request.cosines()
        if words is not None:
            nearest = _with_described(nearest, library, queries, compound, words, limit + 1, among)
        scores = np.full(len(library.sounds), np.nan, np.float32)
        scores[nearest.numbers] = nearest.scores
        share = self.COMPOUND if compound.links else 1.0
        threshold = self.encoder.threshold if threshold is None else threshold
        threshold *= share * float(np.mean(rests))
        matches = request.matches(scores, threshold, words)
        nearest = in_order(library, nearest, queries, compound, words)
        ranked = self._rank(library, nearest, votes or {})
        if isinstance(like, str):
            ranked = ranked[ranked != library.numbers.get(like, -1)]
        hits = tuple(
            _hit(library, number, scores, queries, compound, matches, words)
            for number in ranked[:limit]
        )
        # How often and how long is measured of the hits alone.
        those = [hit.matches for hit in hits] if any(compound.amounts) else matches[ranked]
        point = place_on_map(nearest.scores[None], library.layout[nearest.numbers])[0]
        return SearchResult(
            hits=hits,
            matched=bool(np.any(those)),
            threshold=threshold,
            scores=scores,
            point=(float(point[0]), float(point[1])),
            notices=(*notices, *request.notices),
            compute_seconds=time.perf_counter() - began,
            compound=compound,
        )

    def _understand(self, library: Library, text: str, without: str, is_one: bool) -> "_Request":
        """Understand a query, whose text names one sound, or may name several."""
        for part in (text, without):
            check_length(clean(part))
        query, named, negated = understand(clean(text))
        excluded = translate(clean(without))
        descriptions = self._descriptions_of(library) if named else None
        if descriptions is not None and not (query.language or query.other):
            named, negated = (
                correct_spelling(each, descriptions.vocabulary) for each in (named, negated)
            )
        away = " and ".join(filter(None, (negated, excluded.english)))
        read = f"Read as “{named}”" if negated or named != query.english else ""
        read += (f", but not “{negated}”." if negated else ".") if read else ""
        notices = tuple(filter(None, (query.notice, excluded.notice, read)))
        compound = Compound((named,)) if is_one else parse(named)
        return _Request(named, compound, away, descriptions, notices)

    def _descriptions_of(self, library: Library) -> Descriptions | None:
        """Return what is written of the sounds; None for an encoder without sentences, and a large
        library."""
        if not isinstance(self.encoder, EarshotEncoder) or len(library.sounds) > MAX_SOUNDS:
            return None
        with self._lock:
            if (descriptions := self._descriptions.get(library)) is None:
                descriptions = Descriptions(library.sounds, self.encoder.embed_sentences)
                self._descriptions[library] = descriptions
        return descriptions

    def _rank(self, library: Library, nearest: Ranking, votes: Mapping[str, int]) -> np.ndarray:
        """Rank the positions of the nearest sounds again, by the votes (Rocchio 1971)."""
        vote = np.zeros(len(library.sounds))
        for sound_id, sign in votes.items():
            if sound_id in library.numbers:
                vote[library.numbers[sound_id]] = np.sign(sign)
        towards = np.zeros(self.encoder.dimension, np.float32)
        for voted, weight in ((vote > 0, self.LIKED), (vote < 0, -self.DISLIKED)):
            if voted.any():
                towards += weight * library.means(np.flatnonzero(voted)).mean(axis=0)
        if not vote.any():
            return nearest.numbers
        scores = nearest.scores + library.means(nearest.numbers) @ towards
        return nearest.numbers[np.lexsort((-scores, -vote[nearest.numbers]))]

    def _example(
        self, like: Audio, index: SoundIndex | None = None
    ) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """Embed a recording, or a sound in the index: a unit vector (D,), and notices about it."""
        if like is None:
            return None, ()
        if isinstance(like, str) and index is not None and like in index:
            return index.library.means(np.array([index.library.numbers[like]]))[0], ()
        recording = load(like, self.encoder.sample_rate, self.MAX_SECONDS)
        if np.abs(recording.waveform).max() < SILENT_PEAK:
            raise InputError("The recording is silent.", "Check the microphone, or take another.")
        path = like if isinstance(like, str | Path) else ""
        vectors, _ = embed(encoder_for(self.encoder, path), recording.waveform)
        mean = vectors.mean(axis=0)
        return mean / np.linalg.norm(mean), recording.notices


class _Request(NamedTuple):
    """A query as it was understood. named: the text that it searches for, in English, whose sounds
    are compound's; away: that which is taken away; descriptions: what is written of the sounds,
    where the text is compared with it; notices: remarks for the visitor."""

    named: str
    compound: Compound
    away: str
    descriptions: Descriptions | None
    notices: tuple[str, ...]

    def cosines(self) -> np.ndarray | None:
        """Compare the text with what is written of each sound, if anything is: (n,)."""
        if self.descriptions is None:
            return None
        parts = self.descriptions.sentences(self.compound.captions)
        return np.mean([self.descriptions.cosines(vector) for vector in parts], axis=0)

    def matches(self, scores: np.ndarray, threshold: float, words: np.ndarray | None) -> np.ndarray:
        """Mark the sounds that are what was asked for, and not merely the nearest: (n,). words: the
        cosines of what is written of them, if they count."""
        by_sound = scores >= threshold
        if self.descriptions is None or words is None:
            return by_sound
        captions = self.compound.captions
        shares = np.mean([self.descriptions.shares(text) for text in captions], axis=0)
        by_words = words + shares + scores >= WORDS_THRESHOLD
        if len(self.named.split()) > MAX_PLAIN_WORDS:
            by_words |= scores >= CERTAIN_SCORE
        return np.where(self.descriptions.has_words, by_words, by_words | by_sound)


def _passing(library: Library, only: Filter) -> np.ndarray | None:
    """Mark the sounds that pass the filter: (n,), None where all do. Raises InputError where none
    does."""
    if only == EVERYTHING:
        return None
    passes = library.passing(only)
    if not passes.any():
        raise InputError(NONE_LEFT)
    return passes


def _with_described(
    nearest: Ranking,
    library: Library,
    queries: np.ndarray,
    compound: Compound,
    words: np.ndarray,
    limit: int,
    among: np.ndarray | None,
) -> Ranking:
    """Add to the nearest sounds those of which what is written is nearest, so many of all that may
    be found."""
    best = np.argsort(-words, kind="stable")[:limit]
    missed = np.zeros(len(words), bool)
    missed[np.setdiff1d(best[words[best] > 0], nearest.numbers)] = True
    missed &= True if among is None else among
    if not missed.any():
        return nearest
    more = find(library, queries, compound, 1, missed)
    return Ranking(*map(np.concatenate, zip(nearest, more, strict=True)))


def _hit(
    library: Library,
    number: int,
    scores: np.ndarray,
    queries: np.ndarray,
    compound: Compound,
    matches: np.ndarray,
    words: np.ndarray | None,
) -> Hit:
    part_scores = part_scores_of(library, number, queries)
    seconds = place(part_scores, compound.steps)
    sound = library.sounds[number]
    cosine = float(words[number]) if words is not None and words[number] > -1 else None
    starts, matched = tuple(map(float, seconds)), bool(matches[number])
    hit = Hit(sound, float(scores[number]), part_scores, starts, matched, cosine)
    return replace(hit, matches=matched and has_amounts(hit, compound))
