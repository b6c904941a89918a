"""captions.csv: what is known of the sounds of a folder."""

import csv
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.pipelines.sound_search.library.sound import Description
from earshot.pipelines.sound_search.sources.files import fetched

CAPTIONS: Final = "captions.csv"


def captions_of(folder: Path) -> dict[str, Description]:
    """Read what captions.csv says of the files in a folder, or in a part of a bucket."""
    try:
        with fetched(folder / CAPTIONS) as table:
            return read_captions(table)
    except FileNotFoundError:
        return {}


def read_captions(table: Path) -> dict[str, Description]:
    """Read a captions.csv, if there is one: file name → its description, with its first caption.

    Raises InputError for a table without the columns, and for one that is no text in UTF-8.
    """
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            return {row["file"]: _description(row) for row in csv.DictReader(file)}
    except FileNotFoundError:
        return {}
    except KeyError as error:
        raise InputError(
            f"{CAPTIONS} has no column {error}: it needs file, kind, caption."
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{CAPTIONS} cannot be read: save it as CSV in UTF-8.") from error


def _description(row: dict[str, str | None]) -> Description:
    tags = (tag.strip() for tag in (row.get("tags") or "").split("|"))
    return Description(
        kind=row["kind"] or "",
        caption=(row["caption"] or "").split(" | ")[0],
        licence=(row.get("licence") or "").strip(),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
    )
