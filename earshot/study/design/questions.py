"""The questions to raters about themselves and the test: before it, after it, or in between."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from earshot.study.design.yaml_lines import Value

When = Literal["before", "after", "between"]

KEYS: Final = ("ask", "when", "every", "choices", "optional")
MAX_QUESTIONS: Final = 30  # questions of a test
MAX_CHOICES: Final = 20
MAX_CHARACTERS: Final = 2000  # characters of a reply
OWN: Final = ""  # for the language of the test


@dataclass(frozen=True)
class Question:
    """A question to raters. ask and choices are by language; no choices: the reply is a text.
    every: after how many trials it is asked, where it is asked in between. optional: whether raters
    may leave it out.
    """

    ask: Mapping[str, str]
    when: When = "before"
    every: int = 0
    choices: Mapping[str, tuple[str, ...]] | None = None
    optional: bool = False

    def said(self, language: str) -> tuple[str, tuple[str, ...]]:
        """Choose the question and its choices in the language, else in the test's."""
        choices = self.choices or {}
        ask = self.ask.get(language) or next(iter(self.ask.values()))
        return ask, choices.get(language) or next(iter(choices.values()), ())

    def fits(self, reply: int | str | None) -> bool:
        """Say whether the reply is one of the choices by its number, or a text where there are
        none; or no reply, to a question that may be left out."""
        if reply is None:
            return self.optional
        choices = self.said(OWN)[1]
        return isinstance(reply, str) if not choices else reply in range(len(choices))


def read_questions(document: Value) -> tuple[Question, ...]:
    """Read the questions of a test, in their order."""
    given: list[Value] = document.take("questions", list, [])
    if len(given) > MAX_QUESTIONS:
        document.at("questions").problem(f"a test has {MAX_QUESTIONS} questions at most.")
    return tuple(_question(value) for value in given[:MAX_QUESTIONS])


def _question(value: Value) -> Question:
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(KEYS)} here.")
        return Question({OWN: ""})
    value.only(KEYS)
    asked = value.at("ask").content if value.has("ask") else None
    if isinstance(asked, dict) and asked:
        ask = {language: each.be(str, "ask") for language, each in asked.items()}
    else:
        ask = {OWN: value.take("ask", str)}
    when = value.take("when", str, "before")
    if when not in get_args(When):
        value.at("when").problem(f'"when" must be {", ".join(get_args(When))}.')
    every = value.take("every", int, 10) if when == "between" else 0
    if when == "between" and every < 1:
        value.at("every").problem('"every" must be 1 or more trials.')
    return Question(ask, when, every, _choices(value), value.take("optional", bool, False))


def _choices(value: Value) -> dict[str, tuple[str, ...]] | None:
    if not value.has("choices"):
        return None
    given = value.at("choices")
    lists = given.content if isinstance(given.content, dict) else {OWN: given}
    choices = {
        language: tuple(_word(each) for each in one.be(list, "choices"))
        for language, one in lists.items()
    }
    numbers = {len(each) for each in choices.values()}
    if len(numbers) != 1 or not 2 <= min(numbers) <= MAX_CHOICES:
        given.problem(f'"choices" must be 2 to {MAX_CHOICES}, as many in every language.')
    return choices


def _word(value: Value) -> str:
    """Read a choice: those that look like numbers are texts too."""
    return str(value.content) if type(value.content) is int else value.be(str, "choices")
