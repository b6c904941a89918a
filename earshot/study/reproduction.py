"""A second look at a published data set, in another installation: the answers are put into a store
of their own, and tables and report are made of them anew, and compared.

A zip from the world is hostile: nothing of it is unpacked to the disk, and what is no data set of
ours is refused in a sentence. More than 400 lines, since reading, restoring and comparing are one
way through the same files.
"""

import csv
import io
import json
import re
import stat
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.core.paths import release
from earshot.study.analysis import publication
from earshot.study.analysis.publication import Circumstances
from earshot.study.design import DESIGNS, Test, Trial, spec
from earshot.study.design.designs import MAX_SYSTEMS, Adjustment
from earshot.study.design.document import MAX_FILE_BYTES as MAX_TEXTS_BYTES
from earshot.study.design.folder import UNREADABLE, BoundedZip
from earshot.study.design.model import MAX_TRIALS, MAX_TRIALS_PER_RATER, UNDRAWN, Staircase
from earshot.study.design.scales import (
    MAX_BOXES,
    MAX_FAULT,
    MAX_FAULTS,
    MAX_SCALES,
    MAX_SENTENCE,
    is_scale,
)
from earshot.study.storage import answers, dataset, tables
from earshot.study.storage.database import MEMORY
from earshot.study.storage.raters import item_of
from earshot.study.storage.store import Store
from earshot.study.storage.tables import ChangeRow, ItemRow, RaterRow, TestRow

MAX_ZIP_BYTES: Final = 200_000_000
MAX_FILE_BYTES: Final = 100_000_000  # of a file, unpacked
MAX_ALL_BYTES: Final = 300_000_000
MAX_ENTRIES: Final = 1000
MAX_RATERS: Final = 20_000
MAX_NAME: Final = 255  # characters of a system or stimulus, as files are called
MAX_LISTED: Final = 40  # differences
MAX_WHY: Final = 600  # characters of why it is refused, and of where something differs
MAX_SHOWN: Final = 160  # characters of a text in one of them
FOLDER: Final = Path("/nowhere")  # of a test whose sounds are not here
LITTER: Final = ("__MACOSX", ".DS_Store", "Thumbs.db")  # which file managers add
NOT_OURS: Final = "{name} is no data set of Earshot's: {why}"
UNKNOWN: Final = "it has {what}, which Earshot {version} does not know: take the version of the zip"
MALFORMED: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError),
    ValueError,
)
FROM_FILES: Final = ("trials", "systems", "sentences")  # which need not be written in a test's YAML
# The names that a line of the export has for columns of the store.
COLUMNS: Final = {"order": "place", "shown": "systems"}
VERSIONS: Final = re.compile(r"\b(Earshot|statsmodels|SciPy) \d[\w.+]*")
# With what turns its meaning over: a sign, and whether it is a limit.
NUMBER: Final = re.compile(r"(?:[<>≤≥] ?)?[−+-]?\d+(?:[.,]\d+)*")
SKIPPED: Final = ("style", "script", "title")  # which print no figures
BLOCKS: Final = ("p", "li", "h1", "h2", "h3", "caption", "th", "td", "summary", "text")
# What of a style may hide, cover or fetch something; and escapes and comments, which may spell it.
CONCEALING: Final = re.compile(
    r"(?<![\w-])(?:display|visibility|position|(?:fill-)?opacity|content|clip|transform|inset"
    r"|text-indent|z-index|mask|filter)\s*:[^;}]*"
    r"|(?<![\w-])(?:color|fill)\s*:\s*(?:none|transparent|white|#fff\w*)"
    r"|(?<![\w-])font(?:-size)?\s*:\s*0[^;}]*|@import|url\(\s*[\"']?(?!#)|\\|/\*"
)
FOREIGN: Final = "{name} has what Earshot does not write: {what}. It may hide or run something."
OTHER_VERSION: Final = (
    "ATTENTION: it is of another version, so that markup, styles and scripts of the report were "
    "not compared one by one: it may look otherwise than its figures. Read the report made here "
    "(--out)."
)
NOT_COMPUTED: Final = (
    "Taken as published, since no answer holds it: how many opened the page, how often results "
    "were looked at before the end, lengths, rates and hashes of sounds, and the note of a test "
    "that was frozen. Not compared: drawings but for their text, README.md, and what is said of "
    "columns."
)


@dataclass(frozen=True)
class Reproduction:
    """The outcome of computing a data set anew. files: all that was made; figures and cells: how
    many numbers of the report, and cells of the tables, were compared; different: a line for each
    that is not the same; worded: sentences whose numbers are the same, and whose words another
    version has changed; others: files of the zip that are none of ours; maker: the version that
    published it.
    """

    name: str
    maker: str
    files: Mapping[str, bytes]
    figures: int
    cells: int
    different: tuple[str, ...]
    worded: tuple[str, ...]
    others: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what was found, for a terminal."""
        yield f"{self.name}, published by Earshot {self.maker}, computed anew by {release()}:"
        compared = f"{self.figures:,} figures of the report and {self.cells:,} cells of the tables"
        if not self.different:
            yield f"{compared} are the same, to the last printed digit."
        else:
            yield f"{compared} were compared, and {len(self.different):,} are not the same:"
            yield from _few(self.different)
        if self.worded:
            others = f"{len(self.worded):,} sentences have the same numbers in other words"
            yield f"{others}, which may say the contrary. Read them:"
            yield from _few(self.worded)
        if self.maker != release():
            yield OTHER_VERSION
        if self.others:
            yield f"Files that are not of Earshot's making, not looked at: {len(self.others):,}"
            yield from _few(self.others)
        yield NOT_COMPUTED


def reproduce(path: Path) -> Reproduction:
    """Compute the data set in the zip anew, and compare it with what was published. Raises
    InputError where the zip is no data set of ours, or was made by a newer version."""
    published = _read(path)
    raw = [name for name in published if re.fullmatch(r"data/raw/[^/]+\.jsonl", name)]
    try:
        if len(raw) != 1:
            raise InputError("one file data/raw/NAME.jsonl must be in it.")
        if publication.CIRCUMSTANCES not in published:
            raise InputError(
                f"{publication.CIRCUMSTANCES} is missing. Was it exported by an older Earshot? "
                "Export it anew."
            )
        circumstances = publication.read_circumstances(published[publication.CIRCUMSTANCES])
        test, store = _restore(published[raw[0]], circumstances)
        computed = dataset.files(test, store, circumstances)
        return _compare(test, circumstances, published, computed)
    except InputError as error:
        why = _printable(str(error))[:MAX_WHY]
        raise InputError(NOT_OURS.format(name=path.name, why=why)) from error
    except (*MALFORMED, RecursionError, SQLAlchemyError) as error:
        why = f"its answers are not as Earshot writes them ({_short(str(error))})."
        raise InputError(NOT_OURS.format(name=path.name, why=why)) from error


def _read(path: Path) -> dict[str, bytes]:
    """Read the files of the data set in the zip, by their paths in it, nothing of which gets to the
    disk."""
    try:
        if path.stat().st_size > MAX_ZIP_BYTES:
            raise InputError(f"{path.name} is larger than {MAX_ZIP_BYTES // 10**6} MB.")
        with BoundedZip(path, "rb") as file, zipfile.ZipFile(file) as archive:
            file.is_listed = True
            entries = [each for each in archive.infolist() if _is_file(path, each)]
            if len(entries) > MAX_ENTRIES or sum(e.file_size for e in entries) > MAX_ALL_BYTES:
                raise InputError(
                    f"{path.name} unpacks to more than {MAX_ENTRIES:,} files or "
                    f"{MAX_ALL_BYTES // 10**6} MB: a data set of Earshot's does not."
                )
            names = [each.filename for each in entries]
            if len({*names}) < len(names):
                raise InputError(f"{path.name} has two files of one name: which one is meant?")
            marks = [name for name in names if PurePosixPath(name).name == dataset.DESCRIPTION]
            if len(marks) != 1:
                why = f"it has {len(marks) or 'no'} {dataset.DESCRIPTION}."
                raise InputError(NOT_OURS.format(name=path.name, why=why))
            root = marks[0].removesuffix(dataset.DESCRIPTION)
            return {
                each.filename.removeprefix(root): _content(archive, each)
                for each in entries
                if each.filename.startswith(root)
            }
    except zipfile.BadZipFile as error:
        raise InputError(f"{path.name} is no zip, or damaged: {error}.") from error
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the file itself, not of what is in it
        raise InputError(f"{path.name} cannot be unpacked: {error}.") from error


def _is_file(path: Path, entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is to be read: no folder, and nothing that a file manager adds. Raises
    InputError for one that lies elsewhere, or is a link."""
    name = PurePosixPath(entry.filename)
    if (
        name.is_absolute()
        or ".." in name.parts
        or "\\" in entry.filename
        or not name.parts
        or ":" in entry.filename
    ):
        raise InputError(
            f"{path.name} has a file outside its own folder ({_short(entry.filename)}): it is "
            "made to do harm, and nothing of it was read."
        )
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(
            f"{path.name} has a link ({_short(entry.filename)}) in place of a file: zip the files "
            "themselves."
        )
    return not entry.is_dir() and not {*name.parts} & {*LITTER}


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Unpack an entry, and no more of it than a data set has, whatever its head says."""
    with archive.open(entry) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise InputError(
            f"{_short(entry.filename)} unpacks to more than {MAX_FILE_BYTES // 10**6} MB."
        )
    return content


def _restore(raw: bytes, circumstances: Circumstances) -> tuple[Test, Store]:
    """Put the answers into a store in memory: the test, and the store."""
    head, *lines = (json.loads(line) for line in raw.decode().splitlines())
    if len(lines) > MAX_RATERS:
        raise InputError(f"it has more than {MAX_RATERS:,} raters.")
    test = publication.with_circumstances(_test(head["test"]), circumstances)
    store = Store(MEMORY)
    with Session(store.engine) as session:
        session.add(
            TestRow(
                name=test.name,
                fingerprint=test.fingerprint,
                key="",
                visits=circumstances.opened or 0,
                looks=[0] * circumstances.looks,
            )
        )
        session.flush()
        for line in lines:
            _add_rater(session, test, line["rater"])
        session.commit()
    return test, store


def _test(described: dict[str, Any]) -> Test:
    """Make the test that export.described has described. Raises InputError where it is none that
    Earshot would open."""
    described = {name: value for name, value in described.items() if name != "conditions"}
    texts = {name: value for name, value in described.items() if name not in FROM_FILES}
    # Twice as much as a test's YAML may hold: the words of scales that it need not write are here.
    if len(json.dumps(texts, ensure_ascii=False)) > 2 * MAX_TEXTS_BYTES:
        raise InputError(f"the texts of its test are longer than {MAX_TEXTS_BYTES // 1000} kB.")
    hints = get_type_hints(Test)
    if unknown := sorted(described.keys() - hints.keys()):
        what = ", ".join(f"“{_short(name)}”" for name in unknown)
        raise InputError(UNKNOWN.format(what=what, version=release()))
    if described["design"] not in DESIGNS:
        what = f"the design “{_short(str(described['design']))}”"
        raise InputError(UNKNOWN.format(what=what, version=release()))
    trials = [_trial(number, each) for number, each in enumerate(described["trials"])]
    design = DESIGNS[described["design"]]
    if isinstance(design, Adjustment) and described.get("gain"):
        gain = _cast(tuple[int, int], described["gain"])
        if not spec.is_gain(gain):
            raise InputError("its gain is none that Earshot would open.")
        design = design.bounded(*gain)
    own = {"design": design, "trials": tuple(trials), "folder": FOLDER}
    values = {name: _cast(hints[name], described[name]) for name in described.keys() - own.keys()}
    test = Test(**values, **own)
    if not (
        spec.NAME.fullmatch(test.name)
        and 1 <= len(trials) <= MAX_TRIALS
        and 1 <= test.trials_per_rater <= (MAX_TRIALS if test.source else MAX_TRIALS_PER_RATER)
        and all(len(name) <= MAX_NAME for each in trials for name in (each.stimulus, *each.sounds))
        and all(len(each) <= MAX_SENTENCE for each in test.sentences.values())
        and len(test.systems) <= MAX_SYSTEMS
        and test.of_kind("trial")
        and len(test.faults) <= MAX_FAULTS
        and all(len(fault) <= MAX_FAULT for fault in test.faults)
        and len(test.agree) <= MAX_BOXES
        and len(test.scales) <= MAX_SCALES
        and len(test.scale) == len(test.words)
        and (test.staircase is None or _is_staircase(test, test.staircase))
    ):
        raise InputError("its test is none that Earshot would open.")
    for scale in test.scales:
        if not is_scale(scale, test.design):
            what = f"the scale “{_short(scale.name)}” as it is there"
            raise InputError(UNKNOWN.format(what=what, version=release()))
    return test


def _is_staircase(test: Test, staircase: Staircase) -> bool:
    """Whether Earshot would open a test with this staircase."""
    known_levels = spec.are_levels(staircase.levels, test.systems)
    within = 1 <= staircase.down <= spec.MAX_DOWN and len(staircase.unit) <= spec.MAX_UNIT
    return test.design.scale.chance and known_levels and within


def _trial(number: int, described: dict[str, Any]) -> Trial:
    """Make the trial of that number; its files are names only."""
    sounds = {name: _file(path) for name, path in described["sounds"].items()}
    reference = described["reference"] and _file(described["reference"])
    trial = _cast(Trial, {**described, "sounds": sounds, "reference": reference or None})
    if trial.id != number or not sounds:
        raise InputError("its trials are not in order, or lack sounds.")
    return trial


def _file(name: str) -> Path:
    """Return the path of a sound below the folder that is nowhere."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise InputError(f"it names a sound outside its folder ({_short(name)}).")
    return FOLDER / path


def _cast(kind: Any, value: Any) -> Any:
    """Return a value of JSON as one of this type. Raises ValueError where it is none."""
    return TypeAdapter(kind).validate_python(value)


def _add_rater(session: Session, test: Test, rater: dict[str, Any]) -> None:
    """Add a rater with their items, and the answers that were replaced."""
    items = rater.pop("items")
    row = _row(RaterRow, rater)
    row.test, row.seen = test.name, datetime.now(UTC).replace(tzinfo=None)
    for reply in row.replies or []:
        number = reply["question"]
        if number < 0 or not test.questions[number].fits(reply["reply"]):
            raise InputError(f"rater {_short(row.id)} has replied what nobody asked.")
    session.add(row)
    session.flush()
    for each in items:
        changes = each.pop("changes")
        item = _row(ItemRow, each)
        item.rater = row.id
        _check_item(test, item)
        session.add(item)
        for change in changes:
            session.add(_row(ChangeRow, {**change, "rater": row.id, "place": item.place}))


def _check_item(test: Test, row: ItemRow) -> None:
    """Raise InputError for an item that is none of the test's, or an answer that does not fit."""
    where = f"trial {row.place} of rater {_short(row.rater)}"
    if row.trial == UNDRAWN and row.answer is None:
        return
    if not 0 <= row.trial < len(test.trials) or {*row.systems} != {*test.trials[row.trial].sounds}:
        raise InputError(f"{where} is none of the test.")
    if row.answer is not None:
        try:
            answers.check(test, item_of(row), row.answer, row.plays or ())
        except InputError as error:
            raise InputError(f"the answer to {where} is none. {error}") from error
        if row.milliseconds is None:
            raise InputError(f"the answer to {where} has no time.")


def _row(table: type[tables.Base], values: Mapping[str, Any]) -> Any:
    """Make a row of a table of the names and values in a line of the export."""
    hints = {
        name: get_args(hint)[0]
        for name, hint in get_type_hints(table).items()
        if name in table.__mapper__.column_attrs
    }
    named = {COLUMNS.get(name, name): value for name, value in values.items()}
    if unknown := sorted(named.keys() - hints.keys()):
        what = f"“{_short(unknown[0])}”"
        raise InputError(UNKNOWN.format(what=what, version=release()))
    return table(**{name: _cast(hints[name], value) for name, value in named.items()})


def _compare(
    test: Test,
    circumstances: Circumstances,
    published: Mapping[str, bytes],
    computed: Mapping[str, bytes],
) -> Reproduction:
    """Compare all that is computed with what was published."""
    same_version = circumstances.earshot == release()
    different, worded, cells, figures = [], [], 0, 0
    for name in computed:
        if name not in published:
            different.append(f"{name} is missing.")
        elif name == publication.REPORT:
            figures, numbers, words = _compare_reports(published[name], computed[name])
            different += numbers + (words if same_version else [])
            worded += [] if same_version else words
            was, now = _read_report(published[name]), _read_report(computed[name])
            different += [
                FOREIGN.format(name=name, what=_short(what))
                for what in sorted(was.pieces - now.pieces)
            ]
            if same_version and not (numbers or words) and was.markup != now.markup:
                different.append(f"{name} has other elements or styles, which may hide some of it.")
        elif name.endswith(".csv") and name != dataset.DICTIONARY:
            cells += _compare_tables(name, published[name], computed[name], different)
        elif name == publication.MODELS and published[name] != computed[name]:
            script = f"{name} is another script than that of Earshot {release()}"
            different.append(f"{script}: do not run it before you have read it.")
        elif name.startswith("data/raw/") and _lines(published[name]) != _lines(computed[name]):
            different.append(f"{name} has more, or less, than its answers.")
    others = sorted(_short(name) for name in published.keys() - computed.keys())
    lists = (tuple(different), tuple(worded), tuple(others))
    return Reproduction(test.name, circumstances.earshot, computed, figures, cells, *lists)


def _lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode().splitlines()]


def _compare_tables(name: str, before: bytes, after: bytes, different: list[str]) -> int:
    """Note each cell of a table that is not the same: how many were compared. Hashes of sounds
    cannot be computed of answers."""
    try:
        both = [list(csv.reader(io.StringIO(_plain(each), newline=""))) for each in (before, after)]
    except csv.Error as error:
        different.append(f"{name} is no table: {error}.")
        return 0
    (head, *before_rows), (now_head, *after_rows) = (table or [[]] for table in both)
    if (len({*head}) < len(head) and head != now_head) or {*map(len, before_rows)} - {len(head)}:
        different.append(f"{name} has two columns of one name, or rows of other lengths.")
    cells = 0
    for number, (was, now) in enumerate(zip_longest(before_rows, after_rows, fillvalue=()), 1):
        one, two = dict(zip(head, was, strict=False)), dict(zip(now_head, now, strict=False))
        for column in dict.fromkeys([*two, *one]):
            if column == "sha256":
                continue
            cells += 1
            if one.get(column) != two.get(column):
                place = f"{name}, row {number}, {_short(column)}"
                different.append(_difference(place, one.get(column), two.get(column)))
    return cells


def _plain(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace")


def _compare_reports(before: bytes, after: bytes) -> tuple[int, list[str], list[str]]:
    """Count the numbers of two reports, and list the places where they are not the same, and those
    where words are not."""
    one, two = _texts(before), _texts(after)
    numbers, words = [], []
    for place in dict.fromkeys([*one, *two]):
        for was, now in zip_longest(one.get(place, []), two.get(place, [])):
            if was == now:
                continue
            same = None not in (was, now) and NUMBER.findall(was) == NUMBER.findall(now)
            (words if same else numbers).append(_difference(f"report, {place}", was, now))
    figures = sum(len(NUMBER.findall(text)) for texts in two.values() for text in texts)
    return figures, numbers, words


def _texts(html: bytes) -> dict[str, list[str]]:
    """Take the texts of a report, by the place where they stand."""
    return _read_report(html).texts


def _read_report(html: bytes) -> "_Texts":
    parser = _Texts()
    parser.feed(html.decode("utf-8", "replace"))
    parser.close()
    return parser


class _Texts(HTMLParser):
    """A reader of the texts of a report: of cells by heading, caption, row and column; of all else
    by heading. Without versions of software, which say who computed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: defaultdict[str, list[str]] = defaultdict(list)
        self._heading = self._caption = self._text = ""
        self.markup: list[object] = []  # elements with their attributes, styles and scripts
        # Of all of it, drawings too: elements, attributes, addresses and styles that may conceal.
        self.pieces: set[str] = set()
        self._skipped = self._drawings = 0
        self._head: list[str] = []
        self._row: list[str] = []
        self._names = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._drawings += tag == "svg"
        if not self._drawings:
            self.markup.append((tag, attrs))
        element = f"<{tag}>{' in a drawing' * (self._drawings > 0)}"
        self.pieces.add(element)
        for name, value in attrs:
            self.pieces.add(f"{name} of {element}")
            if name == "style":
                self._add_style(element, value or "")
            elif name == "aria-label":
                self.texts[f"{self._heading}, description"].append(value or "")
            elif name.rpartition(":")[2] in ("href", "src") and not (value or "").startswith("#"):
                kind = str(value).partition(",")[0]  # of an image that is in the report
                self.pieces.add(f"{name} of {element}: {kind}")
        if tag in SKIPPED:
            self._skipped += 1
        if tag in BLOCKS:
            self._add_rest()
        if tag == "tr":
            self._row, self._names = [], 0
        if tag == "td" and ("class", "name") in attrs:
            self._names += 1

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text += data
        else:
            place = "a drawing" if self._drawings else "the report"
            self._add_style(f"styles of {place}", data)
            if self._drawings:
                self.pieces.add(f"in a drawing: {' '.join(data.split())}")
            else:
                self.markup.append(data)

    def handle_comment(self, data: str) -> None:
        self.pieces.add("a comment")

    def handle_decl(self, decl: str) -> None:
        self.pieces.add(decl)

    def handle_pi(self, data: str) -> None:
        self.pieces.add(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.pieces.add(f"<![{data}]>")

    def _add_style(self, place: str, style: str) -> None:
        for each in CONCEALING.findall(style.lower()):
            self.pieces.add(f"{''.join(each.split())} of {place}")

    def handle_endtag(self, tag: str) -> None:
        text = VERSIONS.sub(r"\1", " ".join(self._text.split()))
        self._drawings = max(self._drawings - (tag == "svg"), 0)
        if tag in SKIPPED:
            self._skipped = max(self._skipped - 1, 0)
        elif tag in ("h1", "h2", "h3"):
            self._heading = text
        elif tag == "caption":
            self._caption = text
        elif tag in ("th", "td"):
            self._row.append(text)
        elif tag == "thead":
            self._head = self._row
        elif tag == "tr" and self._row != self._head:
            self._add_row(self._row)
        elif tag in BLOCKS:
            self.texts[self._heading].append(text)
        if tag in BLOCKS:
            self._text = ""

    def close(self) -> None:
        """Take what stands after the last element, too."""
        super().close()
        self._add_rest()

    def _add_rest(self) -> None:
        """Add text that stands in none of the elements that a report has for it."""
        if text := " ".join(self._text.split()):
            self.texts[self._heading].append(text)
        self._text = ""

    def _add_row(self, row: Sequence[str]) -> None:
        names = max(self._names, 1)
        label = " and ".join(row[:names])
        for column, text in list(zip_longest(self._head, row, fillvalue=""))[names:]:
            place = ", ".join(filter(None, (self._heading, self._caption, label, column)))
            self.texts[place].append(text)


def _difference(place: str, was: str | None, now: str | None) -> str:
    parts = [
        f"{'nothing' if text is None else f'“{_short(text)}”'} {when}"
        for text, when in ((was, "published"), (now, "here"))
    ]
    return f"{_printable(place)[:MAX_WHY]}: {', '.join(parts)}"


def _few(texts: Sequence[str]) -> Iterator[str]:
    yield from (f"- {text}" for text in texts[:MAX_LISTED])
    if len(texts) > MAX_LISTED:
        yield f"- and {len(texts) - MAX_LISTED:,} more"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _short(text: str) -> str:
    """Shorten a text of others' to one line without control characters."""
    line = _printable(text)
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"
