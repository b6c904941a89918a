"""A test's own texts in further languages."""

import re
from dataclasses import dataclass
from typing import Final

from earshot.study.design.yaml_lines import Value

KEYS: Final = ("title", "instructions", "consent", "question", "words")
LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True)
class Texts:
    """What the test says in a language; None: what it says in its own. words are the scale's."""

    title: str | None = None
    instructions: str | None = None
    consent: str | None = None
    question: str | None = None
    words: tuple[str, ...] | None = None


def read_texts(document: Value, number: int) -> dict[str, Texts]:
    """By language; number: of the scale's words."""
    given: dict[str, Value] = document.take("texts", dict, {})
    return {name: _texts(name, value, number) for name, value in given.items()}


def _texts(name: str, value: Value, number: int) -> Texts:
    if not LANGUAGE.fullmatch(name):
        value.problem(f'"{name}" is no language: write its code, as in de.')
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(KEYS)} here, whichever are to be translated.")
        return Texts()
    value.only(KEYS)
    written = {key: value.take(key, str) for key in KEYS[:-1] if value.has(key)}
    words = None
    if value.has("words"):
        words = tuple(each.be(str, "words") for each in value.take("words", list))
        if len(words) != number:
            value.at("words").problem(f'"words" must be {number}, as many as the scale has.')
    return Texts(**written, words=words)
