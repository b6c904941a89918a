"""The raters of a test, as its YAML describes them: the paid panel that they come from and go back
to, what they are asked about themselves, how their sitting goes, and whose ratings are left out.
More than 400 lines, for all of it is one part of the file, read part by part in the same way.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from earshot.study.design.document import Value, at_least, inside, is_line

# How it ends for a rater. Screened out are those who fail the headphone check, the test of their
# room, or too many of the attention checks; full is for those who find no place, and closed where
# the test has ended.
Outcome = Literal[
    "complete",
    "headphones",
    "environment",
    "attention",
    "no_consent",
    "withdrawn",
    "full",
    "closed",
]
When = Literal["before", "after", "between"]
Blocks = Literal["systems"]
HeadphoneTest = Literal["huggins", "antiphase", "either", "both"]

SCREENS: Final = ("headphones", "environment", "attention")
PANEL_KEYS: Final = (
    "link",
    "signed",
    "complete",
    "screened_out",
    "no_consent",
    "withdrawn",
    "full",
)
SIGNED_KEYS: Final = ("name", "keys", "audience")
MAX_KEYS_BYTES: Final = 50_000  # of a file of keys
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
OUR_NAMES: Final = ("rater", "lang")  # in links of ours
CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ADDRESS: Final = re.compile(r"https?://[^\s{}]+(\{[^\s{}]*\}[^\s{}]*)*")
GAP: Final = re.compile(r"\{([^{}]*)\}")
MAX_NAMES: Final = 8
MAX_ADDRESS: Final = 1000  # characters

QUESTION_KEYS: Final = ("ask", "when", "every", "choices", "optional")
DEMOGRAPHICS: Final = Path(__file__).with_name("demographics.json")
MAX_QUESTIONS: Final = 30  # questions of a test
MAX_CHOICES: Final = 20
MAX_CHARACTERS: Final = 2000  # characters of a reply
OWN: Final = ""  # for the language of the test

HEADPHONE_KEYS: Final = ("test", "short")
ROOM_KEYS: Final = ("pairs", "right")
MIN_PAIRS, MAX_PAIRS = 2, 10  # pairs of the test of the room

MAX_FAILED_CHECKS: Final = 0.25  # of attention checks, above which a rater is not to be believed
MAX_TIME: Final = 10_000  # seconds of an answer, and minutes of a sitting
DROPOUTS_KEYS: Final = ("answer", "rater")
MAX_DROPOUTS: Final = 10_000
OFF: Final = False  # what is written for a rule that does not hold


@dataclass(frozen=True)
class Signed:
    """The signature of a panel. name: of what the panel adds to the link, a JSON Web Token that it
    has signed; keys: its public keys, a JSON Web Key Set; audience: for whom it signs, None: for
    anybody.
    """

    name: str
    keys: Mapping[str, Any]
    audience: str | None = None


@dataclass(frozen=True)
class Panel:
    """A paid panel. link: names of what the panel adds to the raters' link, the first of which
    tells raters apart. returns: by outcome, the address a rater goes back to, in which {NAME}
    stands for the value in their link, or a code that they are shown. signed: how the panel proves
    who comes, None where it does not.
    """

    link: tuple[str, ...] = ()
    returns: Mapping[Outcome, str] = field(default_factory=dict)
    signed: Signed | None = None

    def screens(self, outcome: Outcome) -> bool:
        """Whether raters end there, and do not go on."""
        return outcome in SCREENS and outcome in self.returns

    def back(self, outcome: Outcome | None) -> str | None:
        """Return the address or code of an outcome; that of a full test for raters who come too
        late."""
        return self.returns.get("full" if outcome == "closed" else outcome) if outcome else None


def read_panel(document: Value, folder: Path) -> Panel:
    """Read the panel of a test; one that sends nobody anywhere where there is none."""
    value = document.at("panel")
    if not document.has("panel") or not value.is_section(PANEL_KEYS, ", whichever the panel has"):
        return Panel()
    names = value.texts("link")
    for name in names:
        if not NAME.fullmatch(name) or name in OUR_NAMES:
            value.at("link").problem(f'"{name}" cannot be in a link: names are like STUDY_ID.')
    if len(names) > MAX_NAMES or len({*names}) < len(names):
        value.at("link").problem(f'"link" takes {MAX_NAMES} names at most, each once.')
    returns: dict[Outcome, str] = {}
    screened = value.at("screened_out")
    if value.has("screened_out"):
        screened.is_section(SCREENS, ", each with an address or code")
    for outcome in get_args(Outcome):
        place = screened if outcome in SCREENS else value
        if outcome != "closed" and place.has(outcome):
            returns[outcome] = _back(place.at(outcome), outcome, names)
    return Panel(
        names, returns, _signed(value.at("signed"), folder) if value.has("signed") else None
    )


def _back(value: Value, outcome: Outcome, names: tuple[str, ...]) -> str:
    """Read the address or code that is written there."""
    text = value.text_or_number(outcome)
    if unknown := [gap for gap in GAP.findall(text) if gap not in names]:
        value.problem(f'"{{{unknown[0]}}}" is not among the names of "link".')
    if len(text) > MAX_ADDRESS or not (CODE.fullmatch(text) or ADDRESS.fullmatch(text)):
        value.problem(
            f'"{outcome}" must be an address (https://…) or a code of letters and digits.'
        )
    return text


def _signed(value: Value, folder: Path) -> Signed | None:
    """Read how the panel signs; its keys lie in a file of the test's folder."""
    if not value.is_section(SIGNED_KEYS):
        return None
    value.take("keys", str)
    file = inside(folder, value.at("keys"), "keys")
    keys: Any = None
    try:
        if file.stat().st_size <= MAX_KEYS_BYTES:
            keys = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        pass
    if not isinstance(keys, dict) or not isinstance(keys.get("keys"), list):
        value.at("keys").problem(
            '"keys" must be a file next to this one that holds the panel\'s public keys, as in '
            "jwks.json."
        )
        return None
    return Signed(value.take("name", str), keys, value.take("audience", str))


def read_closes(document: Value) -> datetime | None:
    """Read when the test closes, with its time zone; None for never."""
    if not document.has("closes"):
        return None
    text = document.take("closes", str)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        document.at("closes").problem(
            f'"closes" must be a time with its zone, as 2027-01-31T18:00Z, and is {text}.'
        )
        return None
    return time


@dataclass(frozen=True)
class Question:
    """A question to raters, before the test, after it or in between. ask and choices are by
    language; no choices: the reply is a text. every: after how many trials it is asked, where it is
    asked in between. optional: whether raters may leave it out.
    """

    ask: Mapping[str, str]
    when: When = "before"
    every: int = 0
    choices: Mapping[str, tuple[str, ...]] | None = None
    optional: bool = False

    def wording(self, language: str) -> tuple[str, tuple[str, ...]]:
        """Return the question and its choices in the language, else in the test's."""
        choices = self.choices or {}
        ask = self.ask.get(language) or next(iter(self.ask.values()))
        return ask, choices.get(language) or next(iter(choices.values()), ())

    def fits(self, reply: int | str | None) -> bool:
        """Whether the reply is one of the choices by its number, or a text where there are none; or
        no reply, to a question that may be left out."""
        if reply is None:
            return self.optional
        choices = self.wording(OWN)[1]
        return isinstance(reply, str) if not choices else reply in range(len(choices))


def read_questions(document: Value) -> tuple[Question, ...]:
    """Read the questions of a test, in their order."""
    values: list[Value] = document.take("questions", list, [])
    if len(values) > MAX_QUESTIONS:
        document.at("questions").problem(f"a test has {MAX_QUESTIONS} questions at most.")
    return tuple(_question(value) for value in values[:MAX_QUESTIONS])


def _question(value: Value) -> Question:
    if not value.is_section(QUESTION_KEYS):
        return Question({OWN: ""})
    content = value.at("ask").content if value.has("ask") else None
    if isinstance(content, dict) and content:
        ask = {language: each.cast(str, "ask") for language, each in content.items()}
    else:
        ask = {OWN: value.take("ask", str)}
    if value.has("ask") and not all(ask.values()):
        value.at("ask").problem('"ask" must be a text.')
    when = value.choice("when", get_args(When), "before", ", ")
    every = 0
    if when == "between":
        every = value.take("every", int, 10, at_least(1), "1 or more trials")
    return Question(ask, when, every, _choices(value), value.take("optional", bool, False))


def _choices(value: Value) -> dict[str, tuple[str, ...]] | None:
    if not value.has("choices"):
        return None
    section = value.at("choices")
    lists = section.content if isinstance(section.content, dict) else {OWN: section}
    choices = {
        language: tuple(each.text_or_number("choices") for each in one.cast(list, "choices"))
        for language, one in lists.items()
    }
    if not all(is_line(choice) for each in choices.values() for choice in each):
        section.problem('each of "choices" must be a line of text.')
    numbers = {len(each) for each in choices.values()}
    if len(numbers) != 1 or not 2 <= min(numbers) <= MAX_CHOICES:
        section.problem(f'"choices" must be 2 to {MAX_CHOICES}, as many in every language.')
    return choices


@cache
def demographics() -> dict[str, Question]:
    """Return what a paper says of its raters, as questions by their names, in all languages of the
    page; none has to be answered."""
    content: dict[str, Any] = json.loads(DEMOGRAPHICS.read_text(encoding="utf-8"))
    return {
        name: Question(
            ask=each["ask"],
            choices={key: tuple(words) for key, words in each["choices"].items()} or None,
            optional=True,
        )
        for name, each in content.items()
    }


def read_demographics(document: Value) -> tuple[Question, ...]:
    """Read which of them the test asks: all for true, else those that are named."""
    if not document.has("demographics"):
        return ()
    value, standard = document.at("demographics"), demographics()
    if isinstance(value.content, bool):
        return tuple(standard.values()) if value.content else ()
    if not isinstance(value.content, list):
        value.problem(f"write true here, or some of [{', '.join(standard)}].")
        return ()
    questions: dict[str, Question] = {}
    for each in value.content:
        name = each.cast(str, "demographics")
        if name in standard:
            questions[name] = standard[name]
        else:
            each.problem(f'there is no "{name}": there are {", ".join(standard)}.')
    return tuple(questions.values())


@dataclass(frozen=True)
class RoomTest:
    """The test of a rater's room (earshot.study.sounds.checks): of so many pairs, so many must
    be told apart."""

    pairs: int = 4
    right: int = 3


def read_environment(document: Value) -> RoomTest | None:
    """Read the test of the room: none where it is not written, or false; the usual one for true."""
    if not document.has("environment"):
        return None
    value = document.at("environment")
    if isinstance(value.content, bool):
        return RoomTest() if value.content else None
    if not isinstance(value.content, dict):
        value.problem(f"write true here, or {' and '.join(ROOM_KEYS)}.")
        return None
    value.only(ROOM_KEYS)
    pairs = value.take(
        "pairs",
        int,
        RoomTest.pairs,
        lambda number: MIN_PAIRS <= number <= MAX_PAIRS,
        f"{MIN_PAIRS} to {MAX_PAIRS}",
    )
    right = value.take("right", int, RoomTest.right)
    if not 1 <= right <= pairs:
        value.at("right").problem('"right" must be 1 to as many as there are pairs.')
    return RoomTest(pairs, right)


@dataclass(frozen=True)
class HeadphoneCheck:
    """The check of raters' headphones (earshot.study.sounds.checks), where it is not the usual one.
    test: by Huggins' pitch, by tones in antiphase, by either of them (the second attempt is by the
    latter), or by both; short: whether it ends as soon as it is decided.
    """

    test: HeadphoneTest = "huggins"
    short: bool = False


def read_headphones(document: Value) -> HeadphoneCheck | None:
    """Read the check of headphones; None for the usual one."""
    value = document.at("headphones")
    hint = ", or nothing for the usual check; to keep raters who fail it, rules: headphones: false"
    if not document.has("headphones") or not value.is_section(HEADPHONE_KEYS, hint):
        return None
    return HeadphoneCheck(
        value.choice("test", get_args(HeadphoneTest), HeadphoneCheck.test),
        value.take("short", bool, HeadphoneCheck.short),
    )


@dataclass(frozen=True)
class Rules:
    """The rules of exclusion, which a test states before anybody has rated; None switches one off.

    failed_checks: in more than this share of attention checks and gold trials, the answer was
    farther from the expected one than the trial tolerates. too_fast: the median time for an answer
    was under this share of the median rater's, judged from `fewest` raters on. headphones: the
    headphone check was failed (raters who skipped it stay). post_screening: that of BS.1534-3, in
    MUSHRA with an open reference. environment: the test of the room was failed. least_seconds,
    most_seconds: an answer that took less, or more, is left out, and the rater's others stay.
    most_minutes: the rater took longer, from their consent to their last answer, breaks and all.
    dropouts: an answer is left out where the device skipped so often ("answer") while it was
    judged, and a rater whose device did in all ("rater").
    """

    failed_checks: float | None = MAX_FAILED_CHECKS
    too_fast: float | None = 1 / 3
    headphones: bool = True
    post_screening: bool = True
    fewest: int = 5
    environment: bool = True
    least_seconds: float | None = None
    most_seconds: float | None = None
    most_minutes: float | None = None
    dropouts: Mapping[str, int] = field(default_factory=dict)


def read_rules(document: Value) -> Rules:
    """Read the rules of a test; what is not written stays as it is in Rules. A share or a time may
    be false: then there is no such rule."""
    value, names = document.at("rules"), [each.name for each in fields(Rules)]
    if not document.has("rules") or not value.is_section(
        names, ", whichever is not to be as usual"
    ):
        return Rules()
    rules: dict[str, Any] = {}
    for name in ("failed_checks", "too_fast"):
        if value.has(name):
            rules[name] = _share(value.at(name), name)
    for name in ("least_seconds", "most_seconds", "most_minutes"):
        if value.has(name):
            rules[name] = _time(value.at(name), name)
    least, most = rules.get("least_seconds"), rules.get("most_seconds")
    if least is not None and most is not None and least >= most:
        value.at("most_seconds").problem('"most_seconds" must be more than "least_seconds".')
    for name in ("headphones", "post_screening", "environment"):
        rules[name] = value.take(name, bool, True)
    rules["dropouts"] = _dropouts(value) if value.has("dropouts") else {}
    rules["fewest"] = value.take("fewest", int, Rules.fewest, at_least(2), "2 raters or more")
    return Rules(**rules)


def _dropouts(value: Value) -> dict[str, int]:
    """Read how many dropouts are too many, in an answer and of a rater."""
    section = value.at("dropouts")
    if section.content is OFF or not section.is_section(DROPOUTS_KEYS, ", each with a number"):
        return {}
    return {
        name: section.take(
            name, int, 1, lambda number: 1 <= number <= MAX_DROPOUTS, f"1 to {MAX_DROPOUTS}"
        )
        for name in DROPOUTS_KEYS
        if section.has(name)
    }


def _time(value: Value, name: str) -> float | None:
    if value.content is OFF:
        return None
    time = value.cast(float, name)
    if not 0 < time <= MAX_TIME:
        value.problem(f'"{name}" must be more than 0 and {MAX_TIME} at most, or false.')
    return time


def _share(value: Value, name: str) -> float | None:
    if value.content is OFF:
        return None
    share = value.cast(float, name)
    if not 0 <= share < 1:
        value.problem(f'"{name}" must be from 0 to less than 1, or false.')
    return share
