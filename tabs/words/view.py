"""What a visitor asked about last, and how its neighbours are shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from tabs.components.map.map import QueryMarker, show
from tabs.shared.icons import icon
from tabs.words.map import SPOKEN, WRITTEN, Layout, recordings_of, word_chart
from tabs.words.panel import Label, Sounds

if TYPE_CHECKING:
    from pipelines.words import Guess, Neighbour, Spoken, Words, Written
    from pipelines.words.library import LibraryWord, WordLibrary
    from study.design.draft import Take

LIMIT: Final = 10  # neighbours of each kind
SOURCES: Final = {
    "dictionary": "said as in the dictionary",
    "guess": "not in the dictionary: our guess at how it is said",
    "IPA": "as you wrote it, in IPA",
    "ARPAbet": "as you wrote it, in ARPAbet",
    "pinyin": "as you wrote it, in pinyin",
}
HEAD: Final = """<tr><td></td><th scope="col">cosine</th><th scope="col" title="Edit
distance: phonemes to change, add or leave out">apart</th><td></td></tr>"""
SURE: Final = 0.5  # the probability from which a guess is not only a guess
FEWEST: Final = 0.01  # of a guess that is shown


@dataclass(frozen=True, eq=False)
class Asked:
    """A word with its unit vector (D,): the visitor's own, or one of the library, which has an id.

    phonemes are those of the best guess where the word was spoken. mapped: what the map shows.
    """

    name: str
    vector: np.ndarray
    phonemes: Sequence[str]
    about: str
    id: str = ""
    guesses: Sequence["Guess"] = ()
    mapped: tuple = field(default=())

    @classmethod
    def typed(cls, written: "Written") -> "Asked":
        said = written.pronunciation
        return cls(f"“{written.spelling}”", written.vector, said.phonemes, SOURCES[said.source])

    @classmethod
    def said(cls, spoken: "Spoken", guesses: Sequence["Guess"]) -> "Asked":
        best = guesses[0]
        sure = best.probability >= SURE
        name = f"Did you say “{best.spelling}”?" if sure else f"Something like “{best.spelling}”?"
        return cls(name, spoken.vector, best.phonemes, "", guesses=guesses)

    @classmethod
    def stored(cls, library: "WordLibrary", id: str) -> "Asked | None":
        """A word of the library; None where it has none of this id."""
        for row, word in enumerate(library.words):
            if word.id == id:
                vector = library.vectors[row].astype(np.float32)
                about = f"spoken by {word.voice}" if word.voice else "written"
                about = f"{about} · {word.gloss}" if word.gloss else about
                return cls(word.spelling, vector, word.phonemes, about, id)
        return None

    def after(self, past: "Asked") -> "Asked":
        """The same on the map that was shown for another word."""
        return replace(self, mapped=past.mapped)


def take(asked: Asked | None, library: "WordLibrary") -> "Take | None":
    """A recorded word of the library, for a listening test on voices; None for any other."""
    word = next((word for word in library.words if asked and word.id == asked.id), None)
    if word is None or word.path is None or word.voice is None:
        return None
    from study.design.draft import Take  # late, for it loads scipy

    settings = {"language": word.language, "phonemes": list(word.phonemes)}
    return Take(word.voice, word.path.read_bytes(), word.spelling, settings)


def shown(
    asked: Asked, words: "Words", library: "WordLibrary", layout: Layout, color: str
) -> tuple[Asked, dict[str, Any], gr.HTML, dict[str, Any], str]:
    """What the result's components show → asked, found, map, neighbours, the map's honesty."""
    sides = {view: _near(asked, words, library, view) for view in (SPOKEN, WRITTEN)}
    near = [neighbour.word for side in sides.values() for neighbour in side]
    x, y = library.place(asked.vector, layout)
    marker = QueryMarker(x, y, asked.name, [word.id for word in near])
    mapped = (layout, color, *([word.id for word in near] if color == "word" else []))
    chart = word_chart(library, layout, color, near) if mapped != asked.mapped else None
    asked = replace(asked, mapped=mapped)
    return (
        asked,
        Sounds().value(found(asked)),
        show(marker, chart),
        neighbours(asked, sides, library),
        honesty(library.trustworthiness[layout]),
    )


def found(asked: Asked) -> str:
    """The word, how it is said, and what else it may have been."""
    if asked.guesses:
        return f"<h3>{escape(asked.name)}</h3>{_guesses(asked.guesses)}"
    return f"<h3>{escape(asked.name)}</h3><p>{said(asked.phonemes)} {escape(asked.about)}</p>"


def said(phonemes: Sequence[str]) -> str:
    """Phonemes as text between slashes, as dictionaries print them."""
    return f'<span class="ipa" lang="und-fonipa">/{escape("".join(phonemes))}/</span>'


def gloss(word: "LibraryWord") -> str:
    """What a word of another language is in its own letters, and what it means."""
    return f"<small>{escape(word.gloss)}</small>" if word.gloss else ""


def honesty(trustworthiness: float) -> str:
    """How far the map can be trusted, in a sentence."""
    return (
        f"<p>This flat map has a trustworthiness of <b>{trustworthiness:.2f}</b> at k = 10 (at 1, "
        "all that lie close together here are alike); the lists compare all dimensions.</p>"
    )


def neighbours(
    asked: Asked, sides: dict[str, Sequence["Neighbour"]], library: "WordLibrary"
) -> dict[str, Any]:
    """The value of the panel with the nearest words, spoken and written."""
    from media.text.phonemes import edit_distance

    recordings, sounds = recordings_of(library), Sounds()
    html = ""
    for view, side in sides.items():
        rows = ""
        for neighbour in side:
            word = neighbour.word
            sound = replace(word, path=word.path or recordings.get(word.spelling))
            edits = edit_distance(asked.phonemes, word.phonemes)
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
    question = escape(f"What is near “{word.spelling}”?")
    return (
        f"<tr><td>{label.button()} {said(word.phonemes)} {gloss(word)}</td>"
        f'<td class="near-cosine">{bar(cosine)}</td><td class="near-edits">{edits}</td>'
        f'<td><button type="button" class="near-look" data-action="look" '
        f'data-word="{escape(word.id)}" title="{question}" aria-label="{question}">'
        f"{icon('similar')}</button></td></tr>"
    )


def _guesses(guesses: Sequence["Guess"]) -> str:
    items = "".join(
        f'<li><button type="button" data-action="type" data-word="{escape(guess.spelling)}">'
        f"{escape(guess.spelling)}</button>{said(guess.phonemes)}"
        f'<span class="bar"><i style="width:{guess.probability:.0%}"></i></span>'
        f"<b>{guess.probability:.0%}</b></li>"
        for guess in guesses
        if guess.probability >= FEWEST
    )
    other = max(0.0, 1 - sum(guess.probability for guess in guesses))
    rest = (
        f'<li><span>another word</span><span class="bar"><i style="width:{other:.0%}"></i></span>'
        f"<b>{other:.0%}</b></li>"
    )
    return f'<ul class="guesses">{items}{rest}</ul>'


def _near(asked: Asked, words: "Words", library: "WordLibrary", view: Any) -> Sequence["Neighbour"]:
    """The nearest words of a view, without the word itself."""
    near = words.nearest(library, asked.vector, view, LIMIT + 1)
    return [neighbour for neighbour in near if neighbour.word.id != asked.id][:LIMIT]
