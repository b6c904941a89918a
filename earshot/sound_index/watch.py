"""Keep the index of a folder in sync with the folder."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import watchfiles

from earshot.core.errors import InputError
from earshot.sound_index.address import in_bucket
from earshot.sound_index.encoder import SoundEncoder
from earshot.sound_index.index import Report
from earshot.sound_index.scan import BusyError, scan

QUIET: Final = 300  # ms without a change, after which the changes before count as one
LOOK: Final = 500  # ms between two looks at `stop`
UNWATCHED: Final = (
    "A bucket does not tell of its changes. Run this now and then: "
    "python -m earshot sounds index s3://BUCKET/PREFIX"
)


def watch(
    folder: Path,
    out: Path,
    encoder: SoundEncoder,
    on_report: Callable[[Report | str], object],
    stop: threading.Event | None = None,
    backend: str | None = None,
) -> None:
    """Scan a folder into the index ``out``, and again whenever something in it changes.

    on_report: is given each report, or why there is none: a folder that is empty at first may be
    filled later. Ends when ``stop`` is set. backend: see ``scan``. Raises InputError if there is no
    such folder, and for a bucket.
    """
    folder, out = folder.absolute(), out.absolute()
    if in_bucket(folder):
        raise InputError(UNWATCHED)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")

    def concerns(_: watchfiles.Change, name: str) -> bool:
        path = Path(name)
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        return not (hidden or path.is_relative_to(out))

    waiting = False  # whether something changed that is not in the index
    # It yields without changes too: the first time when it watches, so that no change is missed.
    for number, changes in enumerate(
        watchfiles.watch(
            folder,
            watch_filter=concerns,
            step=QUIET,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            stop_event=stop,
        )
    ):
        waiting = waiting or not number or bool(changes)
        if not waiting:
            continue
        try:
            on_report(scan(folder, out, encoder, backend=backend))
        except BusyError:
            continue  # until the other scan is done
        except InputError as error:
            on_report(str(error))
        waiting = False
