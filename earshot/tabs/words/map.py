"""The words of the library on a map, in layouts and colours of the visitor's choice."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.tabs.components.map import Chart, Coloring, Layout, Point
from earshot.tabs.words.panel import voice_name

if TYPE_CHECKING:
    from earshot.systems.words.library import LibraryWord, WordLibrary

LAYOUTS: Final[Mapping[str, str]] = {"t-SNE": "tsne", "PCA": "pca"}  # name → the library's
SPOKEN, WRITTEN = "spoken", "written"
OTHER: Final = "other words"
HEIGHT: Final = 460  # of the map, which is 1000 wide
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
        height=HEIGHT,
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
    """Say in a sentence how well a layout of the map preserves neighbours."""
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
