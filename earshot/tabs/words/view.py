"""A visitor's query, and how its neighbours are shown: as lists, and on a map of the library's
words in layouts and colours of the visitor's choice.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from markupsafe import Markup
from rapidfuzz.distance import Levenshtein

from earshot.tabs.components.map import Chart, Coloring, Layout, Point, QueryMarker
from earshot.tabs.shared.confidence import MIN_LIKELY, certainty
from earshot.tabs.shared.html import macro
from earshot.tabs.words.panel import PANELS, Sounds, voice_name

if TYPE_CHECKING:
    from earshot.study.design.draft import DraftItem
    from earshot.systems.words import Guess, Neighbour, Spoken, Words, Written
    from earshot.systems.words.library import LibraryWord, WordLibrary

LAYOUTS: Final[Mapping[str, str]] = {"t-SNE": "tsne", "PCA": "pca"}  # name → the library's
SPOKEN, WRITTEN = "spoken", "written"
OTHER: Final = "other words"
MAP_HEIGHT: Final = 460  # of the map, which is 1000 wide
LOOK: Final = "Show its neighbours"
# Checked first: they begin with the symbol of a plosive.
AFFRICATES: Final = ("tʃ", "dʒ", "tɕ", "ʈʂ", "t͡s")
SOUNDS: Final[Mapping[str, str]] = {
    "vowels": "ɑæəɔaʌɛɝeɪioʊuɤyɨɚɒɜ",
    "p b t d k g": "pbtdkɡgqʔʈ",
    "f s sh th h": "fvθðszʃʒhħxɣʕɕʂ",
    "ch j": "",
    "m n ng": "mnŋ",
    "l r": "lɹrɻ",
    "w y": "wj",
}
MAX_NEAREST: Final = 10  # neighbours of each kind
SOURCES: Final = {
    "dictionary": "from the pronouncing dictionary",
    "name": "as this name is usually said; the dictionary does not have it",
    "guess": "not in the dictionary: predicted from the spelling",
    "IPA": "as typed, in IPA",
    "ARPAbet": "as typed, in ARPAbet",
    "pinyin": "as typed, in pinyin",
    "Chinese": "as these characters are read",
    "Arabic": "as this word is read",
    "Arabic guess": "its short vowels are not written: guessed",
}
DOUBTFUL: Final = "not in the dictionary, and hardly a word: a guess at how it might be said"
VOWEL_LETTERS: Final = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœ")
CLUSTER: Final = re.compile(f"[^{''.join(sorted(VOWEL_LETTERS))}]{{5,}}")
MAX_TYPED: Final = 20
MIN_PROBABILITY: Final = 0.01  # of a word that is listed


def word_chart(library: "WordLibrary") -> Chart:
    """Draw the map of the spoken words, and of the same words written."""
    recordings = recordings_of(library)
    rows = [row for row, word in enumerate(library.words) if word.spelling in recordings]
    words = [library.words[row] for row in rows]
    layouts = [
        Layout(name, library.places(layout)[rows].tolist(), trustworthiness(library, layout))
        for name, layout in LAYOUTS.items()
    ]
    colorings = colorings_of(words)
    points = [
        Point(
            word.id,
            *place,
            named(word),
            category,
            word.path or recordings[word.spelling],
            word.spelling,
        )
        for word, place, category in zip(words, layouts[0].places, colorings[0].of, strict=True)
    ]
    name = f"Map of {len(points)} words: similar-sounding words are close together"
    return Chart(
        name,
        points,
        colorings[0].categories,
        button=LOOK,
        rest=OTHER,
        layouts=layouts,
        colorings=colorings,
        height=MAP_HEIGHT,
    )


def colorings_of(words: Sequence["LibraryWord"]) -> list[Coloring]:
    """List the colourings that the words of the map can have."""
    voices = [voice_name(word) or WRITTEN for word in words]
    ways = [SPOKEN if word.voice else WRITTEN for word in words]
    return [
        Coloring("first sound", [first_sound(w.phonemes) for w in words], tuple(SOUNDS), OTHER),
        Coloring("nearest words", rest=OTHER),
        Coloring("voice", voices, [*sorted({*voices} - {WRITTEN}), WRITTEN]),
        Coloring("spoken or written", ways, (SPOKEN, WRITTEN)),
    ]


def trustworthiness(library: "WordLibrary", layout: str) -> str:
    """Write in a sentence how well a layout of the map preserves neighbours."""
    return (
        "This two-dimensional map has a trustworthiness of "
        f"{library.trustworthiness[layout]:.2f} at k = 10 (at 1, all neighbours on the map "
        "are neighbours in the space); the lists use all dimensions."
    )


def recordings_of(library: "WordLibrary") -> dict[str, Path]:
    """Find the first recording of each recorded word, by spelling."""
    recordings: dict[str, Path] = {}
    for word in library.words:
        if word.path:
            recordings.setdefault(word.spelling, word.path)
    return recordings


def named(word: "LibraryWord") -> str:
    """Name a word of the library as on the page."""
    return f"{word.spelling}, {voice_name(word) or WRITTEN}"


def first_sound(phonemes: Sequence[str]) -> str:
    """Find the class of SOUNDS that a word's first phoneme belongs to."""
    first = next(iter(phonemes), " ")
    if first.startswith(AFFRICATES):
        return "ch j"
    return next((kind for kind, letters in SOUNDS.items() if first[:1] in letters), OTHER)


@dataclass(frozen=True, eq=False)
class Query:
    """A word with its unit vector (D,): the visitor's own, or one of the library, which has an id.

    phonemes: of the most probable word where it was spoken. guesses: the words it may be. own: the
    visitor's own word that was shown before a word of the library was chosen. typed_words: that the
    visitor typed, the last MAX_TYPED.
    """

    name: str
    vector: np.ndarray
    phonemes: Sequence[str]
    about: str
    id: str = ""
    guesses: Sequence["Guess"] = ()
    own: "Query | None" = None
    typed_words: tuple["Written", ...] = ()

    @classmethod
    def typed(cls, written: "Written", past: "Query | None") -> "Query":
        """Make the query of a word that was typed, which joins those that were typed before."""
        spoken = written.pronunciation
        source = SOURCES[spoken.source]
        if spoken.source == "guess" and is_doubtful(written.spelling):
            source = DOUBTFUL
        before = [word for word in typed_before(past) if word.spelling != written.spelling]
        words = (*before, written)[-MAX_TYPED:]
        name = f"“{written.spelling}”"
        return cls(name, written.vector, spoken.phonemes, source, typed_words=words)

    @classmethod
    def spoken(
        cls, spoken: "Spoken", guesses: Sequence["Guess"], past: "Query | None" = None
    ) -> "Query":
        """Make the query of a word that was recorded."""
        best = guesses[0]
        is_likely = best.probability >= MIN_LIKELY
        name = f"Did you say “{best.spelling}”?" if is_likely else f"Like “{best.spelling}”?"
        before = typed_before(past)
        return cls(name, spoken.vector, best.phonemes, "", guesses=guesses, typed_words=before)

    @classmethod
    def stored(cls, library: "WordLibrary", id: str) -> "Query | None":
        """Make the query of a word of the library; None where there is none with this id."""
        for row, word in enumerate(library.words):
            if word.id == id:
                vector = library.vectors[row].astype(np.float32)
                about = f"spoken by {voice_name(word)}, synthetic" if word.voice else "written"
                about = f"{about} · {word.gloss}" if word.gloss else about
                return cls(word.spelling, vector, word.phonemes, about, id)
        return None

    def after(self, past: "Query | None") -> "Query":
        """Make the query of the same word of the library, from which the visitor can go back to
        their own.
        """
        own = past if past and not past.id else past.own if past else None
        return replace(self, own=own, typed_words=typed_before(past))


def typed_before(query: Query | None) -> tuple["Written", ...]:
    """List the words that the visitor has typed, of which any may be said next."""
    return query.typed_words if query else ()


def is_doubtful(spelling: str) -> bool:
    """Whether letters in a row can hardly be said: without a vowel, or five consonants and more."""
    return any(
        not VOWEL_LETTERS & set(part) or CLUSTER.search(part)
        for part in re.findall(r"[^\W\d_]+", spelling.lower())
    )


def draft_item(query: Query | None, library: "WordLibrary") -> "DraftItem | None":
    """Make an item of a listening test of the recorded word of the library that is shown; None for
    any other.
    """
    word = next((word for word in library.words if query and word.id == query.id), None)
    if word is None or word.path is None or word.voice is None:
        return None
    from earshot.study.design.draft import DraftItem  # late, for it loads scipy

    settings = {"language": word.language, "phonemes": list(word.phonemes)}
    return DraftItem(word.voice, word.path.read_bytes(), word.spelling, settings)


@dataclass(frozen=True)
class WordResult:
    """The values of the components that show a query's neighbours."""

    query: Query
    heading: dict[str, Any]
    marker: QueryMarker
    neighbours: dict[str, Any]


def view_of(query: Query, words: "Words", library: "WordLibrary") -> WordResult:
    """Find the query's neighbours, and show them on the map and as lists."""
    sides = {view: _nearest(query, words, library, view) for view in (SPOKEN, WRITTEN)}
    near = [neighbour.word for side in sides.values() for neighbour in side]
    places = [library.place(query.vector, layout) for layout in LAYOUTS.values()]
    return WordResult(
        query=query,
        heading=Sounds().value(heading(query, near_or_not(query, sides[SPOKEN], library))),
        marker=QueryMarker(*places[0], query.name, [word.id for word in near], places),
        neighbours=neighbours(query, sides, library),
    )


def near_or_not(query: Query, spoken: Sequence["Neighbour"], library: "WordLibrary") -> str:
    """Write whether the nearest recording of a recording of the library is of the same word, with
    how often that is so; empty for other queries."""
    share = library.same_word_share
    stored = next((word for word in library.words if word.id == query.id), None)
    if not (stored and stored.voice and spoken) or isnan(share):
        return ""
    if spoken[0].word.phonemes == stored.phonemes:
        return f"The nearest recording is the same word, as for {share:.0%} of those here."
    return f"The nearest recording is another word, as for {1 - share:.0%} of those here."


def heading(query: Query, note: str = "") -> Markup:
    """Show the word with its pronunciation, or the words that a recording may be; note: a sentence
    about it."""
    likely = [guess for guess in query.guesses if guess.probability >= MIN_PROBABILITY]
    other = 1 - sum(guess.probability for guess in query.guesses)
    rest = certainty(other) if other >= MIN_PROBABILITY else ""
    guesses = [(guess, certainty(guess.probability)) for guess in likely]
    return macro(PANELS, "found", query, guesses, rest, note)


def neighbours(
    query: Query, sides: dict[str, Sequence["Neighbour"]], library: "WordLibrary"
) -> dict[str, Any]:
    """Make the value of the panel with the nearest words, spoken and written."""
    recordings, sounds = recordings_of(library), Sounds()
    lists = []
    for view, side in sides.items():
        rows = []
        for neighbour in side:
            word = neighbour.word
            sound = replace(word, path=word.path or recordings.get(word.spelling))
            edits = Levenshtein.distance(query.phonemes, word.phonemes)
            rows.append((word, sounds.label(sound), neighbour.cosine, edits))
        lists.append((view, rows))
    return sounds.value(macro(PANELS, "neighbours", lists))


def _nearest(
    query: Query, words: "Words", library: "WordLibrary", view: Any
) -> Sequence["Neighbour"]:
    """Find the nearest words of a view, without the query itself."""
    nearest = words.nearest(library, query.vector, view, MAX_NEAREST + 1)
    return [neighbour for neighbour in nearest if neighbour.word.id != query.id][:MAX_NEAREST]
