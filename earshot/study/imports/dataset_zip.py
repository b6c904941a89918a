"""A published data set, read from its zip: its files, and the test with a store of its answers.

A zip from the world is hostile: nothing of it is unpacked to the disk, and what is no data set of
ours is refused in a sentence.
"""

import json
import stat
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter
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
from earshot.study.storage import answers, tables
from earshot.study.storage.database import MEMORY
from earshot.study.storage.dataset import DESCRIPTION
from earshot.study.storage.raters import item_of
from earshot.study.storage.store import Store
from earshot.study.storage.tables import ChangeRow, ItemRow, RaterRow, TestRow

MAX_ZIP_BYTES: Final = 200_000_000
MAX_FILE_BYTES: Final = 100_000_000  # of a file, unpacked
MAX_ALL_BYTES: Final = 300_000_000
MAX_ENTRIES: Final = 1000
MAX_RATERS: Final = 20_000
MAX_NAME: Final = 255  # characters of a system or stimulus, as files are called
MAX_SHOWN: Final = 160  # characters of a text of others' that is shown
FOLDER: Final = Path("/nowhere")  # of a test whose sounds are not here
LITTER: Final = ("__MACOSX", ".DS_Store", "Thumbs.db")  # which file managers add
NOT_OURS: Final = "{name} is no data set of Earshot's: {why}"
UNKNOWN: Final = "it has {what}, which Earshot {version} does not know: take the version of the zip"
FROM_FILES: Final = ("trials", "systems", "sentences")  # which need not be written in a test's YAML
# The names that a line of the export has for columns of the store.
COLUMNS: Final = {"order": "place", "shown": "systems"}


def read_files(path: Path) -> dict[str, bytes]:
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
            marks = [name for name in names if PurePosixPath(name).name == DESCRIPTION]
            if len(marks) != 1:
                why = f"it has {len(marks) or 'no'} {DESCRIPTION}."
                raise InputError(NOT_OURS.format(name=path.name, why=why))
            root = marks[0].removesuffix(DESCRIPTION)
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
            f"{path.name} has a file outside its own folder ({short(entry.filename)}): it is "
            "made to do harm, and nothing of it was read."
        )
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(
            f"{path.name} has a link ({short(entry.filename)}) in place of a file: zip the files "
            "themselves."
        )
    return not entry.is_dir() and not {*name.parts} & {*LITTER}


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Unpack an entry, and no more of it than a data set has, whatever its head says."""
    with archive.open(entry) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise InputError(
            f"{short(entry.filename)} unpacks to more than {MAX_FILE_BYTES // 10**6} MB."
        )
    return content


def restore(raw: bytes, circumstances: Circumstances) -> tuple[Test, Store]:
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
        what = ", ".join(f"“{short(name)}”" for name in unknown)
        raise InputError(UNKNOWN.format(what=what, version=release()))
    if described["design"] not in DESIGNS:
        what = f"the design “{short(str(described['design']))}”"
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
            what = f"the scale “{short(scale.name)}” as it is there"
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
        raise InputError(f"it names a sound outside its folder ({short(name)}).")
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
            raise InputError(f"rater {short(row.id)} has replied what nobody asked.")
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
    where = f"trial {row.place} of rater {short(row.rater)}"
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
        what = f"“{short(unknown[0])}”"
        raise InputError(UNKNOWN.format(what=what, version=release()))
    return table(**{name: _cast(hints[name], value) for name, value in named.items()})


def printable(text: str) -> str:
    """Put a space in the place of each control character."""
    return "".join(c if c.isprintable() else " " for c in text)


def short(text: str) -> str:
    """Shorten a text of others' to one line without control characters."""
    line = printable(text)
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"
