"""The command lines of the pipelines: files and folders in, a line or a file each out."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError

WIDTH: Final = 30  # characters of the progress bar
REDRAW: Final = 0.1  # seconds
CLEAR: Final = "\r\x1b[K"  # what stands on the line of the terminal


def parser_of(task: str, what: str, description: str | None) -> argparse.ArgumentParser:
    """Make the parser of ``python -m earshot.pipelines.TASK INPUT …``.

    what: the inputs, "videos" for example.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m earshot.pipelines.{task}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="INPUT", help=f"{what}, or folders of them"
    )
    add_device(parser)
    return parser


def add_device(parser: argparse.ArgumentParser) -> None:
    """The option that every command has."""
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")


def walk_files(folder: Path) -> Iterator[Path]:
    """The files in a folder and its subfolders, in no order. What is hidden is left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in names if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


def files_below(folder: Path) -> list[Path]:
    """The files in a folder and its subfolders, sorted. What is hidden is left out."""
    return sorted(walk_files(folder))


def files_of(inputs: Sequence[Path]) -> list[Path]:
    """The inputs with each folder replaced by the files in it.

    Raises InputError where a folder is empty.
    """
    found: list[Path] = []
    for path in inputs:
        below = files_below(path) if path.is_dir() else [path]
        if not below:
            raise InputError(f"There is no file in {path}.")
        found += below
    return found


def outputs_of(inputs: Sequence[Path], out: Path, suffix: str) -> dict[Path, Path]:
    """Each file of the inputs → where its result is written.

    That is ``out`` for one file. For folders and for several files ``out`` is a folder, in which
    results are named, and lie in subfolders, as the files do. Raises InputError where two files
    would have one result.
    """
    if len(inputs) == 1 and not inputs[0].is_dir() and not out.is_dir():
        return {inputs[0]: out}
    results = {
        file: (out / (file.relative_to(path) if path.is_dir() else file.name)).with_suffix(suffix)
        for path in inputs
        for file in files_of([path])
    }
    if len(set(results.values())) < len(results):
        raise InputError("Two inputs differ in their ending or folder only: rename one of them.")
    return results


def for_each(files: Sequence[Path], work: Callable[[Path], str]) -> None:
    """Does the work for each file and prints the line that it returns.

    A file that cannot be used is named on standard error, and the others go on; then the exit
    status is 1 in the end.
    """
    bar, failed = Bar() if len(files) > 1 else None, 0
    for number, file in enumerate(files):
        if bar:
            bar(number, len(files), file.name)
        try:
            line, stream = work(file), sys.stdout
        except (InputError, OSError) as error:
            line, stream = f"{file}: {error}", sys.stderr
            failed += 1
        if bar:
            print(CLEAR, end="", file=sys.stderr, flush=True)
        print(line, file=stream, flush=True)
    if failed:
        sys.exit(f"{failed} of {len(files)} files could not be used." if bar else 1)


def as_json(document: dict[str, Any]) -> str:
    """One line of JSON."""
    return json.dumps(document, ensure_ascii=False)


@contextmanager
def explained() -> Iterator[None]:
    """What whoever typed the command can mend is said without a traceback."""
    try:
        yield
    except (InputError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nStopped.")


class Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        self._began, self._drawn = time.monotonic(), 0.0

    def __call__(self, done: int, total: int, name: str) -> None:
        """Draws it: files done, files in all, the name of the next one."""
        now = time.monotonic()
        if now - self._drawn < REDRAW and done < total:
            return
        self._drawn = now
        filled = WIDTH * done // max(total, 1)
        left = (now - self._began) * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        print(
            f"\r[{bar}] {done}/{total}  {left:5.0f} s left  {name[:30]:30}",
            end="\n" if done == total else "",
            file=sys.stderr,
            flush=True,
        )
