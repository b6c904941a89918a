"""YAML with the line of every value, and all that is wrong in it at once."""

import difflib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "names with values",
}
SCALARS = tuple(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
# libyaml's where PyYAML was built with it, as its wheels are: 20 times as fast.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STAR = 'what begins with * must be in quotes: "*.wav".'
MAX_BYTES = 200_000  # of a file; a test of 5,000 trials takes less
MAX_VALUES = 20_000  # and names
MAX_DEPTH = 20
MAX_PROBLEMS = 50  # that are said at once
MORE = "and more: mend these first."
# A text of webMUSHRA's that is not in quotes and holds ": ", which its parser takes and YAML does
# not: what comes before it, and the text with a comment; each pattern is tried once a line.
LAX_TEXT = re.compile(r"(\s*(?:-\s+)*\w[\w ]*:\s+)([^\s'\"\[{|>&*!%@`#].*)")
COLON = re.compile(r":\s")
COMMENT = re.compile(r"\s#")
WEBMUSHRA = re.compile(r"^pages\s*:", re.MULTILINE)
QUOTES = 'put this text in quotes, for it holds ": ".'
TOO_LARGE = f"a test's file has at most {MAX_BYTES // 1000} kB and {MAX_VALUES} values."
TOO_DEEP = "too many lists lie within each other."


class SpecError(ValueError):
    """An error with all that is wrong in a test's file, a line each: "test.yaml, line 12: what and
    what instead".
    """


@dataclass
class Problems:
    """A collector of what is wrong in a file, so that all of it can be said at once."""

    file: str
    found: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, what: str) -> None:
        """Note what is wrong at the line. Raises SpecError where there is too much of it."""
        self.found[f"{self.file}, line {line}: {what}"] = line
        if len(self.found) >= MAX_PROBLEMS:
            self.found[f"{self.file}, line {line}: {MORE}"] = line
            self.raise_any()

    def raise_any(self) -> None:
        """Raise SpecError if anything was found, in the order of the file."""
        if self.found:
            raise SpecError("\n".join(sorted(self.found, key=lambda each: self.found[each])))


@dataclass(frozen=True)
class Value:
    """A value in the file: content is a scalar, a list of Values or a dict of them by name."""

    content: Any
    line: int
    problems: Problems

    def problem(self, what: str) -> None:
        """Note that something is wrong at this line."""
        self.problems.add(self.line, what)

    def at(self, key: str) -> "Value":
        """Find the value at the key; this one, which lacks it, where it is not there."""
        return self.content[key] if self.has(key) else self

    def only(self, keys: Collection[str]) -> None:
        """Note every key that is none of these."""
        for key in self.content if isinstance(self.content, dict) else ():
            if key not in keys:
                near = difflib.get_close_matches(key, keys, n=1)
                hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(keys)}."
                self.content[key].problem(f'there is no "{key}": {hint}')

    def has(self, key: str) -> bool:
        """Say whether there is such a key, with a value."""
        return (
            isinstance(self.content, dict)
            and key in self.content
            and self.content[key].content is not None
        )

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        """Read the content at the key if it is of this kind: else the default, and the problem is
        noted.

        Without a default the key must be there.
        """
        if self.has(key):
            return self.content[key].be(kind, key, default)
        if default is None:
            self.problem(f'"{key}" is missing: write {key}: and {KINDS[kind]}.')
        return kind() if default is None else default

    def be(self, kind: type, name: str, default: Any = None) -> Any:
        """Read the content if it is of this kind, else the default or the kind's empty value."""
        content = self.content
        if kind is float and type(content) is int:
            content = float(content)
        if type(content) is kind:
            return str(content).strip() if kind is str else content
        shown = "nothing" if content is None else "names" if type(content) is dict else content
        shown = "a list" if type(content) is list else shown
        self.problem(f'"{name}" must be {KINDS[kind]}, and is {shown}.')
        return kind() if default is None else default


def read(path: Path) -> Value:
    """Read the file's content. Raises SpecError if it cannot be read, is too large, or is no
    mapping in YAML.
    """
    problems = Problems(path.name)
    value = Value({}, 1, problems)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SpecError(f"{path.name}: {TOO_LARGE}")
        text = path.read_text(encoding="utf-8-sig")
        if WEBMUSHRA.search(text):
            text = _quoted(text)
        _check_structure(text, problems)
        node = yaml.compose(text, LOADER)
        value = _value(node, problems) if node else Value(None, 1, problems)
    except FileNotFoundError:
        raise SpecError(f"{path.name}: there is no such file in {path.parent}.") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path.name}: this is not a text file in UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        known = STAR if error.context == "while scanning an alias" else None
        if "mapping values are not allowed" in (error.problem or ""):
            known = QUOTES
        problems.add(mark.line + 1 if mark else 1, known or f"this is not YAML: {error.problem}.")
    except yaml.YAMLError as error:
        raise SpecError(f"{path.name}: this is not YAML: {error}") from None
    if not isinstance(value.content, dict):
        value.problem("a test begins with names and values, as in title: My test.")
    problems.raise_any()
    return value


def _check_structure(text: str, problems: Problems) -> None:
    """Raise SpecError for aliases, and for more values or a greater depth than a test can need.

    Reads one event of the parser after the other, so that it stops where the limit is passed:
    PyYAML takes seconds for a few kB of brackets, and 30 s for 1.5 MB of commas.
    """
    depth = 0
    for number, event in enumerate(yaml.parse(text, LOADER)):
        line = event.start_mark.line + 1
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):  # could also name itself, or grow without end
            problems.add(line, STAR)
        if depth > MAX_DEPTH or number > MAX_VALUES:
            problems.add(line, TOO_DEEP if depth > MAX_DEPTH else TOO_LARGE)
            break
    problems.raise_any()


def _quoted(text: str) -> str:
    """Put the lax texts of a file of webMUSHRA's into quotes, line by line."""

    def quoted(line: str) -> str:
        found = LAX_TEXT.fullmatch(line)
        comment = found and COMMENT.search(found[2])
        ends = comment.start() if comment else len(line)
        if not (found and COLON.search(found[2][:ends])):
            return line
        inside = found[2][:ends].strip().replace("'", "''")
        return f"{found[1]}'{inside}'{found[2][ends:]}"

    return "\n".join(map(quoted, text.split("\n")))


def _text(written: str, line: int, problems: Problems) -> str:
    """Check the text for escapes that wrote half a character: databases store such text as
    another.
    """
    if any("\ud800" <= character <= "\udfff" for character in written):
        problems.add(line, "this text holds half a character: write it without escapes.")
    return written


def _value(node: yaml.Node, problems: Problems) -> Value:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        content: Any = {}
        for key, each in node.value:
            at = key.start_mark.line + 1
            name = _text(str(key.value), at, problems)
            if not isinstance(key, yaml.ScalarNode):
                problems.add(at, "a name must be text.")
            if name in content:
                problems.add(at, f'"{name}" is there twice: keep one of them.')
            # A value is where its name is, for it may begin a line below.
            content[name] = Value(_value(each, problems).content, at, problems)
    elif isinstance(node, yaml.SequenceNode):
        content = [_value(each, problems) for each in node.value]
    else:
        content = node.value
        # All else is text: dates, what names a type of Python's, and times such as 12:30, which
        # YAML 1.1 takes for numbers to the base of 60.
        if node.tag in SCALARS and ":" not in content:
            try:
                content = yaml.SafeLoader("").construct_object(node)
                if isinstance(content, float) and not math.isfinite(content):
                    raise ValueError
            except ValueError:
                content = 0
                problems.add(line, "this is no number.")
        else:
            content = _text(content, line, problems)
    return Value(content, line, problems)
