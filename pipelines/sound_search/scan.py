"""Builds or updates the index of a folder of sounds, from the command line."""

import argparse
import csv
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from media.errors import InputError
from pipelines.sound_search.encoder import SoundEncoder
from pipelines.sound_search.index import Progress, Report, SoundIndex
from pipelines.sound_search.models import DEFAULT_MODEL, load_encoder
from pipelines.sound_search.store import MANIFEST

CAPTIONS: Final = "captions.csv"
WIDTH: Final = 30  # characters of the progress bar
REDRAW: Final = 0.1  # seconds


def scan(
    folder: Path, out: Path, encoder: SoundEncoder, progress: Progress | None = None
) -> Report:
    """Update the index ``out`` to the files in ``folder`` and its subfolders.

    Hidden files are ignored. captions.csv (columns file, kind, caption; several captions separated
    by " | ") describes the others. Each embedding is saved at once, so that a scan that was killed
    resumes. Raises InputError if there is no such folder, or ``out`` is damaged or was made by
    another model.
    """
    folder, out = folder.absolute(), out.absolute()
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not path.is_relative_to(out)
        and path.name != CAPTIONS
    ]
    known = (out / MANIFEST).exists()
    index = SoundIndex.open(out, encoder) if known else SoundIndex.empty(encoder)
    cache = out / f"partial-{encoder.fingerprint[:16]}"
    report = index.add(files, read_captions(folder), progress, cache)
    present = set(files)
    gone = {s.id for s in index.sounds if s.path.is_relative_to(folder) and s.path not in present}
    index.remove(gone)
    index.save(out)
    shutil.rmtree(cache, ignore_errors=True)
    return Report(report.added, report.unchanged, len(gone), report.skipped)


def read_captions(folder: Path) -> dict[str, tuple[str, str]]:
    """File name → kind and first caption, from the folder's captions.csv if there is one."""
    path = folder / CAPTIONS
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["file"]: (row["kind"], row["caption"].split(" | ")[0])
            for row in csv.DictReader(file)
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """``index FOLDER`` on the command line."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.sound_search")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("index", help="make or update the index of a folder of sounds")
    command.add_argument("folder", type=Path)
    command.add_argument("--index", type=Path, help="folder of the index (default: FOLDER.index)")
    command.add_argument(
        "--sound-model",
        nargs="+",
        default=DEFAULT_MODEL,
        metavar="NAME_OR_FOLDER",
        help="our checkpoints, or a CLAP model",
    )
    command.add_argument("--device", default="auto", help="auto, cpu or cuda")
    options = parser.parse_args(arguments)
    out = options.index or options.folder.absolute().with_name(f"{options.folder.name}.index")
    try:
        encoder = load_encoder(options.sound_model, options.device)
        report = scan(options.folder, out, encoder, _Bar())
    except (InputError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to resume.")
    for name, reason in report.skipped:
        print(f"skipped {name}: {reason}")
    print(
        f"{out}: {report.added} added, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.skipped)} skipped"
    )


class _Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        self._began, self._drawn = time.monotonic(), 0.0

    def __call__(self, done: int, total: int, name: str) -> None:
        now = time.monotonic()
        if now - self._drawn < REDRAW and done < total:
            return
        self._drawn = now
        filled = WIDTH * done // max(total, 1)
        left = (now - self._began) * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        end = "\n" if done == total else ""
        print(
            f"\r[{bar}] {done}/{total}  {left:5.0f} s left  {name[:30]:30}",
            end=end,
            file=sys.stderr,
            flush=True,
        )
