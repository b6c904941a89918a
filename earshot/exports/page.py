"""A page of samples for a paper: a static folder made of the sounds of a comparison.

The folder of a comparison has one folder for each system, in which the same sentence has the same
file name; next to them may be its measures (measures.csv) and what the page says (page.yaml). The
page is one HTML file with sounds and pictures. It asks no server for anything else, works without
scripts, and no name in it is that of a file that it was made of.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import soxr

from earshot.core.errors import InputError
from earshot.core.files import file_hash, write
from earshot.core.templates import environment
from earshot.exports import measures
from earshot.exports.paper import FILE, Paper, names_authors, read_paper
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import load
from earshot.media.audio.speech import LABEL
from earshot.media.constants import SAMPLE_RATE
from earshot.media.encode import encode_audio
from earshot.media.pictures import sound_svg
from earshot.media.text.letters import composed
from earshot.study.design.folder import NO_SYSTEMS, SOUNDS

RECORDINGS: Final = {  # folders of what no system made, which stand first, and their labels
    "source": "Source",
    "target": "Target voice",
    "reference": "Reference",
}
PLAYED_RATE: Final = 48_000  # Hz, which every browser's decoder of Opus has
BIT_RATE: Final = 96_000  # bit/s of a mono sound
FORMATS: Final = (".opus", ".mp3")  # the first that a browser can play is loaded
MAX_SECONDS: Final = 600.0
MAX_SOUNDS: Final = 4000
MANIFEST: Final = "files.json"  # what we wrote: nothing else is ever replaced or deleted
OURS: Final = re.compile(r"index\.html|(sounds|pictures)/\d{1,4}-\d{1,4}\.(mp3|opus|svg)")
INDEX: Final = "index.html"
TEMPLATE: Final = "page.html"
SEPARATOR: Final = "__"  # of the input and the target in the name of a file


@dataclass(frozen=True)
class Cell:
    """A sound of the page: its column's label, and its files by their stem; seconds is how long it
    lasts. Without a stem there is none."""

    label: str
    recording: bool
    stem: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """A sentence of the page: its title, what is said where that is known, and its sounds."""

    title: str
    text: str
    cells: tuple[Cell, ...]

    @property
    def seconds(self) -> float:
        """Return how long the longest of its sounds lasts."""
        return max((cell.seconds for cell in self.cells), default=0.0)


def write_page(
    folder: Path,
    site: Path,
    anonymous: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int, str], object] = lambda *_: None,
    max_sounds: int = MAX_SOUNDS,
) -> list[str]:
    """Write the page of a comparison's folder into the folder ``site``; return what could not be
    used, a sentence each.

    anonymous: without what names the authors, or the files. What other people put into ``site``
    stays; raises InputError where the page would replace it, unless ``overwrite``. progress: is
    given how many sounds are done, how many there are, and the next one's name.
    """
    sounds = _sounds(folder)
    names = sorted({name for files in sounds.values() for name in files})
    paper = Paper()
    if (folder / FILE).exists():
        paper = read_paper(folder / FILE, sounds, names)
    if anonymous:
        if others := names_authors(paper):
            raise InputError(
                f"The page would name {', '.join(others)} in its title, abstract, labels or "
                f"sentences: an anonymous page cannot. Change {FILE}."
            )
        paper = paper.anonymous
    _check_site(folder, site, overwrite)
    labels = _labels(sounds, paper, anonymous)
    chosen = [*paper.sentences] or names
    number = len(chosen) * len(labels)
    if number > max_sounds:
        raise InputError(
            f"This makes {number} sounds, and {max_sounds} are the most on a page. Choose some "
            f"with sentences: in {FILE}."
        )
    table = _summary(folder, paper)
    notices, rows = [], []
    with tempfile.TemporaryDirectory() as temporary:
        new = Path(temporary)
        for place, name in enumerate(chosen, 1):
            cells = []
            for column, (system, label) in enumerate(labels.items(), 1):
                progress(len(rows) * len(labels) + column - 1, number, _text(name))
                file, cell = sounds[system].get(name), Cell(label, system in RECORDINGS)
                try:
                    cell = _with_sound(cell, file, new, f"{place:03}-{column:02}")
                except InputError as error:
                    notices.append(f"{_text(system)}/{_text(name)}: {error.message}")
                cells.append(cell)
            title = _title(name, place, anonymous)
            rows.append(Row(title, paper.sentences.get(name, ""), tuple(cells)))
        progress(number, number, "")
        page = render(paper, rows, table, labels, anonymous)
        write(new / INDEX, page.encode("utf-8", "replace"))
        _publish(new, site, overwrite)
    return notices


def _sounds(folder: Path) -> dict[str, dict[str, Path]]:
    """List the sounds of a comparison: by the folder of their system, and by name."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}: name one that earshot compare wrote.")
    sounds = {}
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = {
            composed(path.stem): path
            for path in sorted(part.iterdir())
            if path.suffix.lower() in SOUNDS and not path.name.startswith(".") and path.is_file()
        }
        others = part.name in NO_SYSTEMS and part.name not in RECORDINGS
        if files and not others and not part.name.startswith("."):
            sounds[part.name] = files
    if not {*sounds} - {*RECORDINGS}:
        raise InputError(
            f"There are no sounds in {folder}: it needs a folder for each system, in which the "
            "same sentence has the same file name."
        )
    return sounds


def _labels(sounds: Iterable[str], paper: Paper, anonymous: bool) -> dict[str, str]:
    """Return the columns of the page: labels by the folder of a system, recordings first."""
    systems = [*paper.systems] or [name for name in sounds if name not in RECORDINGS]
    recordings = [name for name in RECORDINGS if name in sounds and name not in systems]
    labels, number = {}, 0
    for name in (*recordings, *systems):
        number += name not in RECORDINGS
        default = f"System {number}" if anonymous else _text(name)
        labels[name] = paper.systems.get(name) or RECORDINGS.get(name, default)
    return labels


def _title(name: str, number: int, anonymous: bool) -> str:
    """Return the title of a sentence: the name of its files, where that may be read."""
    if anonymous:
        return f"Sentence {number}"
    source, _, target = _text(name).partition(SEPARATOR)
    return f"{source} → {target}" if source and target else _text(name)


def _text(name: str) -> str:
    """Return the name of a file as text, whatever its bytes are."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _with_sound(cell: Cell, file: Path | None, site: Path, stem: str) -> Cell:
    """Write a sound in all FORMATS, and its picture; return its cell with them. Raises InputError
    where it cannot be used."""
    if file is None:
        raise InputError("There is no such sound.")
    recording = load(file, PLAYED_RATE, MAX_SECONDS)
    for ending in FORMATS:
        content = encode_audio(recording.waveform, PLAYED_RATE, ending, "", BIT_RATE)
        write(site / "sounds" / f"{stem}{ending}", content)
    speech = soxr.resample(recording.waveform, PLAYED_RATE, SAMPLE_RATE)
    picture = sound_svg(recording.waveform, log_mel(speech))
    write(site / "pictures" / f"{stem}.svg", picture.encode())
    return replace(cell, stem=stem, seconds=recording.seconds)


def _summary(folder: Path, paper: Paper) -> measures.Summary | None:
    """Average the measures in the folder, where there are any, of the systems on the page."""
    path = folder / measures.FILE
    if not path.exists():
        return None
    rows = measures.read(path)
    if paper.systems:
        rows = [row for row in rows if row.system in paper.systems]
    summary = measures.summarise(rows, [*paper.systems])
    return summary if summary.means or summary.lufs else None


def render(
    paper: Paper,
    rows: list[Row],
    table: measures.Summary | None,
    labels: dict[str, str],
    anonymous: bool,
) -> str:
    """Write the page as HTML; labels: those of its columns, by the folder of a system."""
    template = environment([Path(__file__).parent]).get_template(TEMPLATE)
    return template.render(
        paper=paper,
        rows=rows,
        columns=len(labels),
        recordings={*labels} & {*RECORDINGS},
        table=table,
        failures=table and any(table.failures.values()),
        labels=labels,
        anonymous=anonymous,
        label=LABEL,
    )


def _check_site(folder: Path, site: Path, overwrite: bool) -> None:
    """Check that a page may lie there, before it is made. Raises InputError."""
    if site.exists() and not site.is_dir():
        raise InputError(f"{site} is a file: name a folder for the page.")
    if site.resolve() == folder.resolve():
        raise InputError(f"{site} holds the sounds: name another folder for the page.")
    if not overwrite:
        _check_ours(site, INDEX, {_manifest(site).get(INDEX)})


def _publish(new: Path, site: Path, overwrite: bool) -> None:
    """Put the files of the page into the site, and take out those of ours that it no longer has.

    The page is the same whenever it is made, so that after a kill it is simply made again.
    """
    before = _manifest(site)
    files = [path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file()]
    files.sort(key=lambda name: (name == INDEX, name))  # the page last, when all it shows is there
    hashes = {name: file_hash(new / name) for name in files}
    for name in files:
        if (site / name).is_dir():
            raise InputError(f"{site / name} is a folder: name another folder for the page.")
        if not overwrite:
            _check_ours(site, name, {before.get(name), hashes[name]})
    for name in files:
        write(site / name, (new / name).read_bytes())
    for name in {*before} - {*files}:
        if (
            OURS.fullmatch(name)
            and (site / name).is_file()
            and file_hash(site / name) == before[name]
        ):
            (site / name).unlink()
    write(site / MANIFEST, (json.dumps(hashes, indent=0) + "\n").encode())


def _check_ours(site: Path, name: str, hashes: set[str | None]) -> None:
    """Raise InputError where a file of that name is there, and has none of the hashes."""
    if (site / name).is_file() and file_hash(site / name) not in hashes:
        raise InputError(
            f"{site / name} was not written by this command, or was changed since: name another "
            "folder, or add --overwrite."
        )


def _manifest(site: Path) -> dict[str, Any]:
    """Read the hashes of the files that we wrote into the site; none where none can be read."""
    try:
        hashes = json.loads((site / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}
