"""A test's YAML: the line of every value, the files that it names, and all that is wrong at once.

Names of files are compared in Unicode's composed form (NFC), for macOS and some archives write the
same name in parts (NFD).
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

from earshot.media.text.letters import composed

KINDS: Final = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "names with values",
}
SCALARS: Final = tuple(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
# libyaml's where PyYAML was built with it, as its wheels are: 20 times as fast.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
REQUIRED: Any = object()  # in place of a default: the key must be there
STAR: Final = 'what begins with * must be in quotes: "*.wav".'
MAX_FILE_BYTES: Final = 200_000  # of a test's YAML; one of 5,000 trials takes less
MAX_VALUES: Final = 20_000  # and names
MAX_DEPTH: Final = 20
MAX_NUMBER: Final = 1e100  # whose square is a number too
MAX_WHOLE: Final = 2**32 - 1  # what a generator takes as its seed
MAX_NAME: Final = 255  # bytes of the name of a file, or of a folder
MAX_PATH: Final = 1_000  # bytes of one with the folders that it is in
MAX_PROBLEMS: Final = 50  # that are reported at once
MORE: Final = "and more: mend these first."
# A text of webMUSHRA's that is not in quotes and holds ": ", which its parser takes and YAML does
# not: what comes before it, and the text with a comment; each pattern is tried once a line.
LAX_TEXT: Final = re.compile(r"(\s*(?:-\s+)*\w[\w ]*:\s+)([^\s'\"\[{|>&*!%@`#].*)")
COLON: Final = re.compile(r":\s")
COMMENT: Final = re.compile(r"\s#")
DECIMAL: Final = re.compile(r"[-+]?\d+")  # to YAML 1.1, with a 0 before it, one to the base of 8
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
WEBMUSHRA: Final = re.compile(r"^pages\s*:", re.MULTILINE)
QUOTES: Final = 'put this text in quotes, for it holds ": ".'
TOO_LARGE: Final = f"a file has at most {MAX_FILE_BYTES // 1000} kB and {MAX_VALUES} values."
TOO_DEEP: Final = "too many lists lie within each other."


class SpecError(ValueError):
    """An error with all that is wrong in a test's file, a line each: "test.yaml, line 12: what and
    what instead".
    """


@dataclass
class Problems:
    """All that is wrong in a file, collected so that it can be reported at once.

    lines: where each problem is, by its sentence.
    """

    file: str
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, problem: str) -> None:
        """Note what is wrong at the line. Raises SpecError where there is too much of it."""
        self.lines[f"{self.file}, line {line}: {problem}"] = line
        if len(self.lines) >= MAX_PROBLEMS:
            self.lines[f"{self.file}, line {line}: {MORE}"] = line
            self.raise_any()

    def raise_any(self) -> None:
        """Raise SpecError if anything is wrong, in the order of the file."""
        if self.lines:
            raise SpecError("\n".join(sorted(self.lines, key=self.lines.__getitem__)))


@dataclass(frozen=True)
class Value:
    """A value in the file: content is a scalar, a list of Values or a dict of them by name.

    written: a scalar as the file has it, for 007 and 1_000 are numbers to YAML, and yes is true.
    """

    content: Any
    line: int
    problems: Problems
    written: str = ""

    def problem(self, problem: str) -> None:
        """Note that something is wrong at this line."""
        self.problems.add(self.line, problem)

    def at(self, key: str) -> "Value":
        """Return the value at the key; this one, which lacks it, where it is not there."""
        return self.content[key] if self.has(key) else self

    def has(self, key: str) -> bool:
        """Whether there is such a key, with a value."""
        return (
            isinstance(self.content, dict)
            and key in self.content
            and self.content[key].content is not None
        )

    def only(self, keys: Iterable[str]) -> None:
        """Note every key that is none of these."""
        keys = tuple(keys)
        for key in self.content if isinstance(self.content, dict) else ():
            if key not in keys:
                near = difflib.get_close_matches(key, keys, n=1)
                hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(keys)}."
                self.content[key].problem(f'there is no "{key}": {hint}')

    def is_section(self, keys: Collection[str], hint: str = "") -> bool:
        """Whether this has names with values, which are checked to be of these keys; if not, it is
        noted what to write, with a hint."""
        if not isinstance(self.content, dict):
            self.problem(f"write {', '.join(keys)} here{hint}.")
            return False
        self.only(keys)
        return True

    def take(
        self,
        key: str,
        kind: type,
        default: Any = REQUIRED,
        fits: Callable[[Any], bool] | None = None,
        must_be: str = "",
    ) -> Any:
        """Return the content at the key if it is of this kind, else the default; what is wrong is
        noted, also of a value that does not fit: that it must be this."""
        if self.has(key):
            content = self.content[key].cast(kind, key, default)
        elif default is REQUIRED:
            self.problem(f'"{key}" is missing: write {key}: and {KINDS[kind]}.')
            return kind()
        else:
            return default
        if fits and (content is None or not fits(content)):
            self.at(key).problem(f'"{key}" must be {must_be}.')
        return content

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts in the list at the key, none where it is not there."""
        return tuple(each.cast(str, key) for each in self.take(key, list, []))

    def lines(self, key: str) -> tuple[str, ...]:
        """Return the texts in the list at the key, which must be different lines of text."""
        texts = self.texts(key)
        if not all(is_line(text) for text in texts):
            self.at(key).problem(f'each of "{key}" must be a line of text.')
        elif len({*texts}) < len(texts):
            self.at(key).problem(f'"{key}" must be different from each other.')
        return texts

    def choice(self, key: str, options: Collection[str], default: Any, last: str = " or ") -> Any:
        """Return the text at the key if it is one of these, else the default; last: what stands
        between them where they are listed."""
        text = self.take(key, str, default, lambda text: text in options, last.join(options))
        return text if text in options else default

    def cast(self, kind: type, name: str, default: Any = REQUIRED) -> Any:
        """Return the content if it is of this kind, else the default or the kind's empty value, and
        note that what is called so is of another."""
        content = self.content
        if kind is float and type(content) is int:
            content = float(content)
        if type(content) is kind:
            if kind is int and content > MAX_WHOLE:
                self.problem(f'"{name}" must be {MAX_WHOLE:,} at most.')
            return str(content).strip() if kind is str else content
        names = {type(None): "nothing", dict: "names", list: "a list"}
        text = names.get(type(content), self.written)
        quotes = f': put it in quotes, as "{text}"' if kind is str and self.written else ""
        self.problem(f'"{name}" must be {KINDS[kind]}, and is {text}{quotes}.')
        return kind() if default is REQUIRED else default

    def text_or_number(self, name: str) -> str:
        """Return a text that may look like a number, as choices and codes may."""
        return self.written if type(self.content) is int else self.cast(str, name)


def is_line(text: str) -> bool:
    """Whether a text is a single line, and not empty."""
    return text.splitlines() == [text]


def at_least(least: float) -> Callable[[float], bool]:
    """Return whether a number is so large or larger, as a function of it."""
    return lambda number: number >= least


def read(path: Path, noun: str = "test") -> Value:
    """Read the content of a file that describes something, such as a test. Raises SpecError if it
    cannot be read, is too large, or is no mapping in YAML.
    """
    problems = Problems(path.name)
    value = Value({}, 1, problems)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
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
        problem = f"this is not YAML: {error.problem}."
        if error.context == "while scanning an alias":
            problem = STAR
        elif "mapping values are not allowed" in problem:
            problem = QUOTES
        problems.add(mark.line + 1 if mark else 1, problem)
    except yaml.YAMLError as error:
        raise SpecError(f"{path.name}: this is not YAML: {error}") from None
    if not isinstance(value.content, dict):
        value.problem(f"a {noun} begins with names and values, as in title: My {noun}.")
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
        match = LAX_TEXT.fullmatch(line)
        comment = match and COMMENT.search(match[2])
        end = comment.start() if comment else len(line)
        if not (match and COLON.search(match[2][:end])):
            return line
        inside = match[2][:end].strip().replace("'", "''")
        return f"{match[1]}'{inside}'{match[2][end:]}"

    return "\n".join(map(quoted, text.split("\n")))


def _whole_text(text: str, line: int, problems: Problems) -> str:
    """Return the text, checked for escapes that wrote half a character, which databases store as
    another, and for control characters, which end a text for some.
    """
    if CONTROL.search(text):
        problems.add(line, "this text holds a control character: write it without.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        problems.add(line, "this text holds half a character: write it without escapes.")
    return text


def _value(node: yaml.Node, problems: Problems) -> Value:
    line, written = node.start_mark.line + 1, ""
    if isinstance(node, yaml.MappingNode):
        content: Any = {}
        for key, each in node.value:
            at = key.start_mark.line + 1
            name = _whole_text(str(key.value), at, problems)
            if not isinstance(key, yaml.ScalarNode):
                problems.add(at, "a name must be text.")
            elif name and not is_line(name):
                problems.add(at, "a name must be a line of text.")
            if name in content:
                problems.add(at, f'"{name}" is there twice: keep one of them.')
            # A value is where its name is, for it may begin a line below.
            content[name] = replace(_value(each, problems), line=at)
    elif isinstance(node, yaml.SequenceNode):
        content = [_value(each, problems) for each in node.value]
    else:
        content = written = node.value
        # All else is text: dates, what names a type of Python's, and times such as 12:30, which
        # YAML 1.1 takes for numbers to the base of 60.
        if node.tag in SCALARS and ":" not in content:
            try:
                decimal = DECIMAL.fullmatch(written)
                content = int(written) if decimal else yaml.SafeLoader("").construct_object(node)
                if isinstance(content, float | int) and not abs(content) <= MAX_NUMBER:
                    raise ValueError  # NaN and infinity too
            except ValueError:
                content = 0
                problems.add(line, "this is no number, or too large.")
        else:
            content = _whole_text(content, line, problems)
    return Value(content, line, problems, written)


def inside(folder: Path, value: Value, name: str) -> Path:
    """Return the path that is written there, if it stays in the folder: else note the problem.

    A test that is sent in lets nobody hear other files of this machine.
    """
    text = value.cast(str, name)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not text:
        value.problem(f'"{text}" must be a path within the folder of this file.')
        return folder
    names = [(text, MAX_PATH), *((part, MAX_NAME) for part in path.parts)]
    if any(len(name.encode("utf-8", "replace")) > most for name, most in names):
        value.problem(f'"{text[:20]}…" is longer than a name can be.')
        return folder
    return on_disk(folder, path)


def on_disk(folder: Path, path: PurePosixPath) -> Path:
    """Return the path below the folder as the disk spells it; unchanged where it is not there."""
    for part in path.parts:
        if not part.isascii() and folder.is_dir() and not (folder / part).exists():
            alike = (
                each.name for each in folder.iterdir() if composed(each.name) == composed(part)
            )
            part = next(alike, part)
        folder /= part
    return folder


class Pattern:
    """A path with one * that stands for the stimulus: stimuli are those of the files that fit.

    The ending of a file may be in capitals or not: x.WAV fits *.wav.
    """

    def __init__(self, folder: Path, value: Value, name: str) -> None:
        path = inside(folder, value, name)
        self.text = str(path)
        self._files: dict[str, Path] = {}
        if path == folder:  # it lies elsewhere, which is noted
            return
        if self.text.count("*") != 1:
            value.problem(f'"{name}" needs one * for the stimulus, as in {name}/*.wav.')
            return
        starred = next(part for part in path.parts if "*" in part)
        above, *below = self.text.split(starred)
        rest = PurePosixPath(below[0].lstrip("/")) if below[0] else None
        for entry in sorted(Path(above).iterdir()) if Path(above).is_dir() else []:
            file = on_disk(entry, rest) if rest else entry
            stimulus = _stimulus(composed(entry.name), composed(starred))
            if stimulus is not None and file.is_file():
                exact = entry.name.endswith(starred.split("*")[1])
                if exact or stimulus not in self._files:
                    self._files[stimulus] = file
        if not self._files:
            value.problem(f"no file fits {value.content}.")

    @property
    def stimuli(self) -> list[str]:
        """Return the stimuli, in the order of their names."""
        return sorted(self._files)

    def path(self, stimulus: str) -> Path:
        """Return the file of the stimulus, whether it is there or not."""
        return self._files.get(stimulus) or Path(self.text.replace("*", stimulus))


def _stimulus(name: str, pattern: str) -> str | None:
    """Return what the * of the pattern stands for in a name; None where the name does not fit."""
    start, end = pattern.split("*")
    base, dot, ending = end.rpartition(".")
    if dot and name.lower().endswith(f".{ending.lower()}"):
        name, end = name[: len(name) - len(ending) - 1], base
    elif dot:
        return None
    fits = name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
    hidden = not start and name.startswith(".")
    return name[len(start) : len(name) - len(end)] if fits and not hidden else None
