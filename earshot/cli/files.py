"""The files and folders of a command line: a line or a file each out."""

import argparse
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.core.console import text_of, typed_name, typed_path
from earshot.core.errors import InputError
from earshot.core.files import check_new, files_below
from earshot.core.paths import as_stored
from earshot.pretrained.voice import NAMES
from earshot.provenance.mark import NO_MARK
from earshot.sound_index.address import name_of

if TYPE_CHECKING:
    from earshot.sound_index.index import Report

BAR_WIDTH: Final = 30  # characters of the progress bar
REDRAW_INTERVAL: Final = 0.1  # seconds
CLEAR: Final = "\r\x1b[K"  # what stands on the line of the terminal
STDIN: Final = Path("-")
ENDINGS: Final = frozenset(
    "3g2 3gp aac ac3 aif aifc aiff amr ape asf au avi caf csv dsf dts eac3 flac flv json m4a "
    "m4b m4v mka mkv mov mp2 mp3 mp4 mpeg mpg mts npy oga ogg ogv opus rf64 snd sph spx tta ts "
    "txt voc w64 wav wave weba webm wma wmv wv".split()
)

NAMED: Final = ", ".join(  # for help: of the shipped voices, what the page calls each
    voice if voice == name else f"{voice} or {name}" for voice, name in NAMES.items()
)

# What a file gives: the line to print, if any, and notices about the file.
Outcome = tuple[str | None, Sequence[str]]


@dataclass(frozen=True)
class Job:
    """A file of the inputs: as it is named, as it is called below the folder of the inputs, where
    it is read, and where its result is written."""

    file: Path
    name: str
    path: Path
    out: Path | None = None


def parser_of(
    command: str, what: str, description: str | None, device: bool = True
) -> argparse.ArgumentParser:
    """Make the parser of ``earshot COMMAND INPUT …``.

    what: the inputs, "videos" for example; device: whether networks run.
    """
    parser = argparse.ArgumentParser(
        prog=f"earshot {command}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs",
        nargs="+",
        type=typed_path,
        metavar="INPUT",
        help=f"{what}, or folders of them; - is standard input",
    )
    if device:
        add_device(parser)
    return parser


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands whose networks run."""
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")


def stem(name: str) -> str:
    """Return a name without its ending; what follows another dot belongs to it ("take 1.5")."""
    path = Path(name)
    return str(path.with_suffix("")) if path.suffix[1:].lower() in ENDINGS else name


def add_output(parser: argparse.ArgumentParser, what: str, required: bool) -> None:
    """Add the options of a command that writes files. what: the results, with their endings."""
    # Text, for a path does not remember the slash that makes it a folder.
    parser.add_argument(
        "-o", "--out", type=typed_name, metavar="OUT", required=required, help=f"{what}; a folder"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace results that are there")


def add_no_mark(parser: argparse.ArgumentParser) -> None:
    """Add the option by which speech carries no mark."""
    parser.add_argument("--no-mark", action=NoMark, nargs=0, help="leave the mark out of the sound")


class NoMark(argparse.Action):
    """The choice of no marks, for this process and those that it starts."""

    def __call__(self, *_: Any) -> None:
        os.environ[NO_MARK] = "1"


def jobs_of(
    inputs: Sequence[Path],
    out: str | None = None,
    endings: Collection[str] = (),
    overwrite: bool = False,
) -> list[Job]:
    """List the files of the inputs, folders replaced by the files in them, and their results.

    That is ``out`` for one file. For folders and for several files ``out`` is a folder, in which
    results are named, and lie in subfolders, as the files do, with the first of the endings.

    Raises InputError, before anything is read or written, where a folder is empty, where the ending
    of ``out`` is none of ``endings``, where two files would have one result, where a result would
    replace an input, and, unless ``overwrite``, where there is one already.
    """
    inputs = [path if path == STDIN else as_stored(path) for path in inputs]
    listed = ((file, name) for path in inputs for file, name in _files_of(path))
    # A file that is named twice is one.
    named_files = [
        *{(os.path.realpath(file), name): (file, name) for file, name in listed}.values()
    ]
    names = [name for _, name in named_files]
    unique = len(set(names)) == len(names)
    results = _results(inputs, named_files, out, endings)
    _check_results(named_files, results, overwrite)
    return [
        Job(file, name if unique else str(file), file, result)
        for (file, name), result in zip(named_files, results, strict=True)
    ]


def _files_of(path: Path) -> list[tuple[Path, str]]:
    """List the files that an input stands for, with their names below it."""
    if path == STDIN:
        return [(path, "stdin")]
    if not path.is_dir():
        return [(path, path.name)]
    below = files_below(path)
    if not below:
        raise InputError(f"There is no file in {path}.")
    return [(file, str(file.relative_to(path))) for file in below]


def _results(
    inputs: Sequence[Path],
    named_files: list[tuple[Path, str]],
    out: str | None,
    endings: Collection[str],
) -> list[Path | None]:
    if out is None:
        return [None for _ in named_files]
    ending = next(iter(endings))
    folder = out.endswith(tuple(filter(None, (os.sep, os.altsep)))) or Path(out).is_dir()
    if len(inputs) == 1 and not inputs[0].is_dir() and not folder:
        suffix = Path(out).suffix
        if suffix.lower() not in endings:
            raise InputError(
                f"{out} does not say what to write: end it in {', '.join(endings)}, "
                "or in / for a folder."
            )
        return [Path(out)]
    return [Path(out) / f"{stem(name)}{ending}" for _, name in named_files]


def _check_results(
    named_files: list[tuple[Path, str]], results: list[Path | None], overwrite: bool
) -> None:
    # As the file system has them, so that links and other spellings are the same file.
    sources = {os.path.realpath(file) for file, _ in named_files}
    numbers = {_number(file) for file, _ in named_files} - {None}
    seen: set[str] = set()
    for result in filter(None, results):
        real = os.path.realpath(result)
        if real in seen:
            raise InputError("Two inputs differ in their ending or folder only: rename one.")
        seen.add(real)
        if real in sources or _number(result) in numbers:
            raise InputError(f"{result} is an input: its result would replace it.")
        if os.path.isdir(result):  # which a name that is too long is not
            raise InputError(f"{result} is a folder: name the result otherwise.")
        check_new([result], overwrite)


def _number(path: Path) -> tuple[int, int] | None:
    """Number a file as the disk does, whatever its names; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def for_each(jobs: Sequence[Job], work: Callable[[Job], Outcome]) -> None:
    """Do the work for each file, print the line that it returns, and its notices on standard error.

    A file that cannot be used is named on standard error, and the others go on; then the exit
    status is 1 in the end.
    """
    bar, failed = Bar() if len(jobs) > 1 else None, 0
    for number, job in enumerate(jobs):
        if bar:
            bar(number, len(jobs), job.file.name)
        line, notices = None, ()
        try:
            with readable(job) as opened:
                line, notices = work(opened)
        except (InputError, OSError) as error:
            notices = (text_of(error),)
            failed += 1
        if bar:
            print(CLEAR, end="", file=sys.stderr, flush=True)
        for notice in notices:
            print(f"{one_line(str(job.file))}: {notice}", file=sys.stderr, flush=True)
        if line is not None:
            print(line, flush=True)
    if failed:
        sys.exit(f"{failed} of {len(jobs)} files could not be used." if bar else 1)


@contextmanager
def readable(job: Job) -> Iterator[Job]:
    """Open a job's file so that it can be read again: what comes through a pipe is stored.

    Raises InputError where there is no such file.
    """
    with ExitStack() as stack:
        if job.file == STDIN:
            stream: Any = sys.stdin.buffer
        elif not job.file.exists():
            raise InputError("There is no such file.")
        elif job.file.is_file():
            # By its own name, for /dev/stdin is another file in the process that decodes it.
            yield replace(job, path=job.file.resolve())
            return
        elif job.file.is_dir():
            raise InputError("This is a folder.")
        else:
            stream = stack.enter_context(job.file.open("rb"))
        file = stack.enter_context(tempfile.NamedTemporaryFile(suffix=job.file.suffix))
        shutil.copyfileobj(stream, file)
        file.flush()
        yield replace(job, path=Path(file.name))


def as_json(document: dict[str, Any]) -> str:
    """Write one line of JSON; names that are no UTF-8 are escaped."""
    text = json.dumps(document, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(document)
    return text


def print_table(text: str) -> None:
    """Print a CSV: into a file with the mark by which spreadsheets know UTF-8; what reads from a
    pipe, and a terminal, have no use for it."""
    with suppress(OSError):  # it is no file at all
        if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            text = f"\ufeff{text}"
    print(text, end="", flush=True)


def print_report(out: Path, report: "Report | str") -> None:
    """Print what the update of an index did, or why it did nothing."""
    if isinstance(report, str):
        print(report, flush=True)
        return
    for path, notice in report.noticed:
        print(f"{one_line(name_of(path))}: {notice}", file=sys.stderr)
    for path, reason in report.skipped:
        print(f"skipped {one_line(name_of(path))}: {reason}")
    print(
        f"{out}: {report.added} added, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.skipped)} skipped",
        flush=True,
    )


def one_line(name: str) -> str:
    """Write the name of a file in a line: it may hold a line break, or orders to a terminal. Bytes
    that are no UTF-8 stay as they are."""
    return "".join(
        c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode()
        for c in name
    )


class Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        self._began, self._drawn = time.monotonic(), 0.0

    def __call__(self, done: int, total: int, name: str) -> None:
        """Draw it: files done, files in all, the name of the next one."""
        now = time.monotonic()
        if now - self._drawn < REDRAW_INTERVAL and done < total:
            return
        self._drawn = now
        filled = BAR_WIDTH * done // max(total, 1)
        left = (now - self._began) * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (BAR_WIDTH - filled)
        print(
            f"\r[{bar}] {done}/{total}  {left:5.0f} s left  {one_line(name)[:30]:30}",
            end="\n" if done == total else "",
            file=sys.stderr,
            flush=True,
        )
