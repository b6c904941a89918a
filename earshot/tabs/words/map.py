"""The words of the library on a map, coloured by a category of the visitor's choice."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from earshot.tabs.components.map.map import Chart, Point

if TYPE_CHECKING:
    from earshot.pipelines.words.library import LibraryWord, WordLibrary

Layout = Literal["pca", "tsne"]

LAYOUTS: Final[Mapping[str, Layout]] = {
    "PCA (linear)": "pca",
    "t-SNE (preserves neighbours)": "tsne",
}
COLORS: Final = ("first sound", "word", "voice", "spoken or written")
SPOKEN, WRITTEN = "spoken", "written"
OTHER: Final = "other words"
MAX_WORDS: Final = 7  # with their own colour
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


def word_chart(
    library: "WordLibrary", layout: Layout, color: str, near: Sequence["LibraryWord"] = ()
) -> Chart:
    """The map of the spoken words, and of the same words written. near: the words that get their
    own colour when coloured by word, nearest first."""
    categories, category = _categories(library, color, near)
    recordings = recordings_of(library)
    points = [
        Point(word.id, x, y, named(word), category(word), word.path or recordings[word.spelling])
        for word, (x, y) in zip(library.words, library.places(layout).tolist(), strict=True)
        if word.spelling in recordings
    ]
    # Points of a category are drawn over the rest.
    points.sort(key=lambda point: point.category != OTHER)
    name = f"Map of {len(points)} words: similar-sounding words are close together"
    return Chart(name, points, categories, rest=OTHER)


def recordings_of(library: "WordLibrary") -> dict[str, Path]:
    """The first recording of each recorded word, by spelling."""
    recordings: dict[str, Path] = {}
    for word in library.words:
        if word.path:
            recordings.setdefault(word.spelling, word.path)
    return recordings


def named(word: "LibraryWord") -> str:
    """The name of a word of the library on the page."""
    return f"{word.spelling}, {word.voice or WRITTEN}"


def first_sound(phonemes: Sequence[str]) -> str:
    """The class of SOUNDS that a word's first phoneme belongs to."""
    first = next(iter(phonemes), " ")
    if first.startswith(AFFRICATES):
        return "ch j"
    return next((kind for kind, letters in SOUNDS.items() if first[:1] in letters), OTHER)


def _categories(
    library: "WordLibrary", color: str, near: Sequence["LibraryWord"]
) -> tuple[Sequence[str], Callable[["LibraryWord"], str]]:
    """The categories of a map, and the function that gives a word's category."""
    if color == "voice":
        voices = sorted({word.voice for word in library.words if word.voice})
        return [*voices, WRITTEN], lambda word: word.voice or WRITTEN
    if color == "spoken or written":
        return (SPOKEN, WRITTEN), lambda word: SPOKEN if word.voice else WRITTEN
    if color == "word":
        spellings = list(dict.fromkeys(word.spelling for word in near))[:MAX_WORDS]
        return spellings, lambda word: word.spelling if word.spelling in spellings else OTHER
    return tuple(SOUNDS), lambda word: first_sound(word.phonemes)
