"""A visitor's query, and how its neighbours are shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from earshot.tabs.components.map.map import QueryMarker, show
from earshot.tabs.shared.icons import icon
from earshot.tabs.words.map import SPOKEN, WRITTEN, Layout, recordings_of, word_chart
from earshot.tabs.words.panel import Label, Sounds

if TYPE_CHECKING:
    from earshot.pipelines.words import Guess, Neighbour, Spoken, Words, Written
    from earshot.pipelines.words.library import LibraryWord, WordLibrary
    from earshot.study.design.draft import DraftItem

LIMIT: Final = 10  # neighbours of each kind
SOURCES: Final = {
    "dictionary": "from the pronouncing dictionary",
    "guess": "not in the dictionary: predicted from the spelling",
    "IPA": "as typed, in IPA",
    "ARPAbet": "as typed, in ARPAbet",
    "pinyin": "as typed, in pinyin",
}
HEAD: Final = """<tr><td></td><th scope="col">cosine</th><th scope="col" title="Phonemes to
replace, insert or delete">edit distance</th><td></td></tr>"""
CONFIDENT: Final = 0.5  # the probability from which one word is named
MIN_PROBABILITY: Final = 0.01  # probability of a word that is listed


@dataclass(frozen=True, eq=False)
class Query:
    """A word with its unit vector (D,): the visitor's own, or one of the library, which has an id.

    phonemes: of the most probable word where it was spoken. guesses: the words it may be. mapped:
    what the map on the page shows, so that it is sent again only when it changes.
    """

    name: str
    vector: np.ndarray
    phonemes: Sequence[str]
    about: str
    id: str = ""
    guesses: Sequence["Guess"] = ()
    mapped: tuple = field(default=())

    @classmethod
    def typed(cls, written: "Written") -> "Query":
        """A word that was typed."""
        spoken = written.pronunciation
        source = SOURCES[spoken.source]
        return cls(f"“{written.spelling}”", written.vector, spoken.phonemes, source)

    @classmethod
    def spoken(cls, spoken: "Spoken", guesses: Sequence["Guess"]) -> "Query":
        """A word that was recorded."""
        best = guesses[0]
        is_likely = best.probability >= CONFIDENT
        name = f"Did you say “{best.spelling}”?" if is_likely else f"Like “{best.spelling}”?"
        return cls(name, spoken.vector, best.phonemes, "", guesses=guesses)

    @classmethod
    def stored(cls, library: "WordLibrary", id: str) -> "Query | None":
        """A word of the library; None where there is none with this id."""
        for row, word in enumerate(library.words):
            if word.id == id:
                vector = library.vectors[row].astype(np.float32)
                about = f"spoken by {word.voice}" if word.voice else "written"
                about = f"{about} · {word.gloss}" if word.gloss else about
                return cls(word.spelling, vector, word.phonemes, about, id)
        return None

    def on_the_map_of(self, past: "Query") -> "Query":
        """The same query while the page shows the map of another."""
        return replace(self, mapped=past.mapped)


def draft_item(query: Query | None, library: "WordLibrary") -> "DraftItem | None":
    """The recorded word of the library that is shown, for a listening test; None for any other."""
    word = next((word for word in library.words if query and word.id == query.id), None)
    if word is None or word.path is None or word.voice is None:
        return None
    from earshot.study.design.draft import DraftItem  # late, for it loads scipy

    settings = {"language": word.language, "phonemes": list(word.phonemes)}
    return DraftItem(word.voice, word.path.read_bytes(), word.spelling, settings)


@dataclass(frozen=True)
class View:
    """The values of the components that show a query's neighbours."""

    query: Query
    found: dict[str, Any]
    chart: gr.HTML
    neighbours: dict[str, Any]
    trustworthiness: str


def view_of(
    query: Query, words: "Words", library: "WordLibrary", layout: Layout, color: str
) -> View:
    """The query's neighbours, on the map and as lists."""
    sides = {view: _nearest(query, words, library, view) for view in (SPOKEN, WRITTEN)}
    near = [neighbour.word for side in sides.values() for neighbour in side]
    x, y = library.place(query.vector, layout)
    marker = QueryMarker(x, y, query.name, [word.id for word in near])
    mapped = (layout, color, *([word.id for word in near] if color == "word" else []))
    chart = word_chart(library, layout, color, near) if mapped != query.mapped else None
    return View(
        query=replace(query, mapped=mapped),
        found=Sounds().value(found(query)),
        chart=show(marker, chart),
        neighbours=neighbours(query, sides, library),
        trustworthiness=trustworthiness(library.trustworthiness[layout]),
    )


def found(query: Query) -> str:
    """The word with its pronunciation, or the words that a recording may be."""
    if query.guesses:
        return f"<h3>{escape(query.name)}</h3>{_guesses(query.guesses)}"
    return f"<h3>{escape(query.name)}</h3><p>{ipa(query.phonemes)} {escape(query.about)}</p>"


def ipa(phonemes: Sequence[str]) -> str:
    """Phonemes between slashes, as dictionaries print them."""
    return f'<span class="ipa" lang="und-fonipa">/{escape("".join(phonemes))}/</span>'


def gloss(word: "LibraryWord") -> str:
    """The usual spelling and the meaning of a word that was typed in pinyin or IPA."""
    return f"<small>{escape(word.gloss)}</small>" if word.gloss else ""


def trustworthiness(value: float) -> str:
    """How well the map preserves neighbours, in a sentence."""
    return (
        f"<p>This two-dimensional map has a trustworthiness of <b>{value:.2f}</b> at k = 10 (at 1, "
        "all neighbours on the map are neighbours in the space); the lists use all dimensions.</p>"
    )


def neighbours(
    query: Query, sides: dict[str, Sequence["Neighbour"]], library: "WordLibrary"
) -> dict[str, Any]:
    """The value of the panel with the nearest words, spoken and written."""
    from earshot.media.text.phonemes import edit_distance

    recordings, sounds = recordings_of(library), Sounds()
    html = ""
    for view, side in sides.items():
        rows = ""
        for neighbour in side:
            word = neighbour.word
            sound = replace(word, path=word.path or recordings.get(word.spelling))
            edits = edit_distance(query.phonemes, word.phonemes)
            rows += _row(word, sounds.label(sound), neighbour.cosine, edits)
        html += (
            f'<section class="near"><table><caption>Nearest {view} words</caption>'
            f"<thead>{HEAD}</thead><tbody>{rows}</tbody></table></section>"
        )
    return sounds.value(f'<div class="nears">{html}</div>')


def bar(cosine: float) -> str:
    """A cosine as a bar with its number."""
    width = max(0.0, min(1.0, cosine))
    number = f"{cosine:.2f}".replace("-", "−")
    return f'<span class="bar"><i style="width:{width:.0%}"></i></span><b>{number}</b>'


def _row(word: "LibraryWord", label: Label, cosine: float, edits: int) -> str:
    question = escape(f"Show the neighbours of “{word.spelling}”")
    return (
        f"<tr><td>{label.button()} {ipa(word.phonemes)} {gloss(word)}</td>"
        f'<td class="near-cosine">{bar(cosine)}</td><td class="near-edits">{edits}</td>'
        f'<td><button type="button" class="near-look" data-action="look" '
        f'data-word="{escape(word.id)}" title="{question}" aria-label="{question}">'
        f"{icon('similar')}</button></td></tr>"
    )


def _guesses(guesses: Sequence["Guess"]) -> str:
    items = "".join(
        f'<li><button type="button" data-action="type" data-word="{escape(guess.spelling)}">'
        f"{escape(guess.spelling)}</button>{ipa(guess.phonemes)}"
        f'<span class="bar"><i style="width:{guess.probability:.0%}"></i></span>'
        f"<b>{guess.probability:.0%}</b></li>"
        for guess in guesses
        if guess.probability >= MIN_PROBABILITY
    )
    other = max(0.0, 1 - sum(guess.probability for guess in guesses))
    rest = (
        f'<li><span>another word</span><span class="bar"><i style="width:{other:.0%}"></i></span>'
        f"<b>{other:.0%}</b></li>"
    )
    return f'<ul class="guesses">{items}{rest}</ul>'


def _nearest(
    query: Query, words: "Words", library: "WordLibrary", view: Any
) -> Sequence["Neighbour"]:
    """The nearest words of a view, without the query itself."""
    nearest = words.nearest(library, query.vector, view, LIMIT + 1)
    return [neighbour for neighbour in nearest if neighbour.word.id != query.id][:LIMIT]
