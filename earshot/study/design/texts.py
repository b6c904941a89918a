"""A test's own texts in further languages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from earshot.study.design.designs import Labels, Scale
from earshot.study.design.scales import read_words
from earshot.study.design.yaml_lines import Value

KEYS: Final = ("title", "instructions", "consent", "question", "words", "agree", "scales")
MAX_BOXES: Final = 10
PLACEHOLDER: Final = "Say here who asks, what for, and whom to write to."
UNWRITTEN: Final = (
    "The consent is still the one to fill in: say who asks, what for, and whom to write to."
)
LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True)
class Texts:
    """The texts of a test in a language; None: what it says in its own. words are the scale's;
    agree: what raters tick before they begin. scales: question and answers of each, where a trial
    has several.
    """

    title: str | None = None
    instructions: str | None = None
    consent: str | None = None
    question: str | None = None
    words: tuple[str, ...] | None = None
    agree: tuple[str, ...] | None = None
    scales: Mapping[str, tuple[str | None, Labels]] = field(default_factory=dict)


def read_language(document: Value) -> str:
    """Read the language of the test, by its code: English where none is written."""
    language = document.take("language", str, "en")
    if not LANGUAGE.fullmatch(language):
        document.at("language").problem(f'"{language}" is no language: write its code, as in de.')
    return language


def read_agree(document: Value) -> tuple[str, ...]:
    """Read what raters tick before they begin."""
    boxes = tuple(each.be(str, "agree") for each in document.take("agree", list, []))
    if len(boxes) > MAX_BOXES:
        document.at("agree").problem(f'"agree" takes {MAX_BOXES} boxes at most.')
    return boxes


def read_texts(
    document: Value, number: int, boxes: int, scales: tuple[Scale, ...] = ()
) -> dict[str, Texts]:
    """Read the texts by language; number: of the scale's words; boxes: to tick; scales: where a
    trial has several."""
    given: dict[str, Value] = document.take("texts", dict, {})
    return {name: _texts(name, value, number, boxes, scales) for name, value in given.items()}


def _texts(name: str, value: Value, number: int, boxes: int, scales: tuple[Scale, ...]) -> Texts:
    if not LANGUAGE.fullmatch(name):
        value.problem(f'"{name}" is no language: write its code, as in de.')
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(KEYS)} here, whichever are to be translated.")
        return Texts()
    value.only(KEYS)
    for key in ("question", "words") if scales else ():
        if value.has(key):
            value.at(key).problem(f'write "{key}" within "scales", below one of them.')
    written = {key: value.take(key, str) for key in KEYS[:-3] if value.has(key)}
    words = None
    if value.has("words"):
        words = tuple(each.be(str, "words") for each in value.take("words", list))
        if len(words) != number:
            value.at("words").problem(f'"words" must be {number}, as many as the scale has.')
    agree = read_agree(value) if value.has("agree") else None
    if agree is not None and len(agree) != boxes:
        value.at("agree").problem(f'"agree" must be {boxes}, as many as the test has.')
    return Texts(**written, words=words, agree=agree, scales=read_words(value, scales))


def unwritten(consents: Iterable[str | None]) -> list[str]:
    """Say that a consent still has to be written, where one of these is as it was drafted."""
    return [UNWRITTEN] if any(PLACEHOLDER in (consent or "") for consent in consents) else []
