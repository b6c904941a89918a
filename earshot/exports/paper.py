"""The paper of a page of samples: what page.yaml says of its title, authors, systems and sentences.

Its errors name the line, as those of a test's file do.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from earshot.core.errors import InputError
from earshot.media.text.letters import composed
from earshot.study.design.document import SpecError, Value, read

FILE: Final = "page.yaml"
TITLE: Final = "A comparison of systems"
KEYS: Final = ("title", "authors", "abstract", "bibtex", "links", "systems", "sentences")
AUTHOR_KEYS: Final = ("name", "affiliation", "link")
SCHEMES: Final = ("http", "https", "mailto")
NO_ADDRESS: Final = "must be an address that begins with https://, http:// or mailto:"
MIN_SURNAME: Final = 4  # letters of a name that is looked for in texts; shorter ones are words


@dataclass(frozen=True)
class Author:
    """An author: a name, affiliations, and the address of a page of theirs."""

    name: str
    affiliations: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class Paper:
    """What a page says beyond its sounds.

    links: addresses by their text; systems: labels by the folder of a system, in the order of the
    page; sentences: what is said, by the name of a file, in the order of the page, and empty where
    only the choice was written.
    """

    title: str = TITLE
    authors: tuple[Author, ...] = ()
    abstract: tuple[str, ...] = ()
    bibtex: str = ""
    links: dict[str, str] = field(default_factory=dict)
    systems: dict[str, str] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)

    @property
    def affiliations(self) -> list[str]:
        """List the affiliations of all authors, each once."""
        return [*dict.fromkeys(name for author in self.authors for name in author.affiliations)]

    @property
    def anonymous(self) -> "Paper":
        """Return the paper without what names its authors."""
        return replace(self, authors=(), bibtex="", links={})


def read_paper(path: Path, systems: Collection[str], names: Collection[str]) -> Paper:
    """Read a page.yaml; systems and names are those of the folders, and of the sounds in them.

    Raises InputError with all that is wrong in it, a line each.
    """
    try:
        document = read(path, "page")
        document.only(KEYS)
        authors = tuple(map(_author, document.take("authors", list, [])))
        links = document.take("links", dict, {})
        paper = Paper(
            document.take("title", str, TITLE),
            authors,
            _paragraphs(document.take("abstract", str, "")),
            document.take("bibtex", str, ""),
            {text: _address(value, text) for text, value in links.items()},
            _chosen(document, "systems", systems, "folder of sounds"),
            _chosen(document, "sentences", names, "sound"),
        )
        document.problems.raise_any()
        return paper
    except SpecError as error:
        raise InputError(str(error)) from error


def _author(value: Value) -> Author:
    if isinstance(value.content, str):
        return Author(value.cast(str, "authors"))
    if not value.is_section(AUTHOR_KEYS):
        return Author("")
    own = value.at("affiliation")
    several = isinstance(own.content, list) and value.has("affiliation")
    texts = value.texts("affiliation") if several else (value.take("affiliation", str, ""),)
    link = _address(value.at("link"), "link") if value.has("link") else ""
    return Author(value.take("name", str), tuple(filter(None, texts)), link)


def _address(value: Value, name: str) -> str:
    """Read an address that a visitor may follow: none that runs a script."""
    address = value.cast(str, name)
    try:
        scheme = urlsplit(address).scheme.lower()
    except ValueError:
        scheme = ""
    if scheme not in SCHEMES:
        value.problem(f'"{name}" {NO_ADDRESS}.')
    return address


def _chosen(document: Value, key: str, there: Collection[str], noun: str) -> dict[str, str]:
    """Read names that must be there, in the order of the page, with what each is called: a list of
    names, or names with texts."""
    if not document.has(key):
        return {}
    value, spelling = document.at(key), {composed(name): name for name in there}
    pairs: list[tuple[str, Value, str]] = []
    if isinstance(value.content, dict):
        for name, each in value.content.items():
            text = "" if each.content is None else each.text_or_number(name)
            pairs.append((name, each, text))
    else:
        pairs = [(each.text_or_number(key), each, "") for each in document.take(key, list)]
    texts: dict[str, str] = {}
    for name, each, text in pairs:
        if composed(name) in spelling:
            texts[spelling[composed(name)]] = text
        else:
            each.problem(f'there is no {noun} called "{name}": there are {_some(spelling)}.')
    return texts


def _some(names: Collection[str]) -> str:
    most = sorted(names)[:5]
    return ", ".join(most) + ", …" * (len(names) > len(most)) if most else "none"


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("\n\n") if part.strip())


def names_authors(paper: Paper) -> list[str]:
    """List the names of authors, first or last, and of affiliations that stand in what an anonymous
    page shows."""
    names = {
        word
        for author in paper.authors
        for word in author.name.replace(".", " ").replace(",", " ").split()
        if len(word) >= MIN_SURNAME
    }
    names |= {*paper.affiliations}
    texts = [paper.title, *paper.abstract, *paper.systems.values(), *paper.sentences.values()]
    return sorted(name for name in names if re.search(rf"\b{re.escape(name)}\b", " ".join(texts)))
