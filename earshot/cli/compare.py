"""Convert a folder by several systems, measure the results, and draft a listening test of them.

earshot compare voice_conversion --systems ours,vqvae-64 --inputs FOLDER --targets TF2,a.wav -o OUT
earshot compare lip_to_speech --systems ours --inputs VIDEOS --targets Nell -o OUT
earshot compare words --systems ours --inputs RECORDINGS -o OUT       # called WORD-SPEAKER.wav
earshot compare sound_search --systems ours --inputs SOUNDS -o OUT    # with their captions.csv

Systems are called as in pipelines/; "ours" is the first of the task. Targets are names of voices,
or recordings of 10 to 30 s of speakers who agreed to be spoken as. Where it was ended, the same
command goes on. "earshot page OUT" makes a page of samples of it, and "earshot study check OUT"
reads its listening test.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.cli import files
from earshot.cli.systems import CALLS, ENDINGS
from earshot.core.console import explained, typed_path
from earshot.core.errors import InputError
from earshot.core.files import files_below
from earshot.core.paths import CHECKPOINTS, PIPELINES, as_stored
from earshot.study.design.folder import SOUNDS
from earshot.systems.registry import Offer, load_board

if TYPE_CHECKING:
    from earshot.exports.comparison import Comparison, Item

OURS: Final = "ours"
CAPTIONS: Final = "captions.csv"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the systems that the command line names."""
    parser = argparse.ArgumentParser(
        prog="earshot compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=CALLS)
    parser.add_argument("--systems", required=True, metavar="NAME,…")
    parser.add_argument("--inputs", required=True, nargs="+", type=typed_path, metavar="FOLDER")
    parser.add_argument("--targets", default="", metavar="VOICE,CLIP,…")
    parser.add_argument(
        "-o", "--out", required=True, type=typed_path, metavar="OUT", help="a folder"
    )
    parser.add_argument(
        "--no-judges", action="store_true", help="measure nothing but the time that it takes"
    )
    parser.add_argument(
        "--pipelines", type=typed_path, metavar="FOLDER", help="files of systems of one's own"
    )
    files.add_device(parser)
    options = parser.parse_args(arguments)
    with explained():
        comparison = _comparison(options)
        failures = comparison.run(files.Bar())
        print((options.out / "measures.md").read_text("utf-8"), end="")
        if failures:
            sys.exit(
                f"There are no results of {failures}: {options.out / 'measures.csv'} says why."
            )


def _comparison(options: argparse.Namespace) -> "Comparison":
    """Make the comparison that the command line describes. Raises InputError where it cannot be."""
    from earshot.exports.comparison import Comparison, Item  # late, for they load SciPy
    from earshot.exports.retrieval import Retrieval
    from earshot.pretrained.judges import judges

    own = options.pipelines or os.environ.get("EARSHOT_PIPELINES")
    task = options.task
    offer = _offer(task, options.device, [Path(own)] if own else [])
    systems = {
        name: partial(_loaded, task, offer, each)
        for name, each in _systems(options.systems, offer).items()
    }
    inputs, targets = _inputs(options.inputs, ENDINGS[task]), _listed(options.targets)
    if task in ("words", "sound_search"):
        if targets:
            raise InputError(f"{task} has no targets: leave out --targets.")
        captions = None
        if task == "sound_search":
            captions = _captions(options.inputs, inputs)
        return Retrieval(options.out, task, systems, inputs, [], captions=captions)
    if task == "voice_conversion" and not targets:
        raise InputError("Name voices, or recordings of them, with --targets.")
    items = [Item.of(_target(each)) for each in targets]
    return Comparison(
        options.out,
        task,
        systems,
        inputs,
        items,
        () if options.no_judges else judges(),
        has_pictures=task == "lip_to_speech",
    )


def _captions(folders: Sequence[Path], inputs: "Sequence[Item]") -> dict[str, list[str]]:
    """Read what captions.csv says of the sounds: captions by the name of an input."""
    from earshot.sound_index.scan import captions_of  # late, for it loads NumPy and more

    captions: dict[str, list[str]] = {}
    files_of = {Path(item.value): item.name for item in inputs}
    for folder in folders:
        for file, description in captions_of(folder.resolve(), list(files_of))[0].items():
            captions[files_of[file]] = [description.first_caption]
    if not captions:
        raise InputError("Sounds need captions.csv in their folder: a head file,kind,caption.")
    return captions


def _offer(task: str, device: str, folders: Sequence[Path]) -> Offer[Any]:
    """Offer the systems of a task, ours and those of folders of files."""
    board = load_board(PIPELINES, PIPELINES / "hub", *folders)
    for fault in board.faults:
        print(fault, file=sys.stderr)
    return board.offer(task, CHECKPOINTS, device)


def _systems(text: str, offer: Offer[Any]) -> dict[str, str]:
    """Return the names of the systems in the comparison, and those by which they are offered."""
    names, every = {}, {**offer.labels, **offer.plugged}
    for name in _listed(text):
        default = next(iter(offer.labels), "")
        names[name] = default if name == OURS and OURS not in every else name
        if names[name] not in every:
            raise InputError(f"There is no system {name}, only {', '.join((OURS, *every))}.")
    if not names:
        raise InputError("Name systems with --systems.")
    return names


def _listed(text: str) -> list[str]:
    return [*dict.fromkeys(part.strip() for part in text.split(",") if part.strip())]


def _target(text: str) -> Path | str:
    """Return a recording where there is a file of that name, else the name of a voice."""
    path = as_stored(Path(text))
    if path.is_file():
        return path.resolve()
    if path.suffix.lower() in SOUNDS or len(path.parts) > 1:
        raise InputError(f"There is no recording {text}.")
    return text


def _inputs(paths: Sequence[Path], endings: Sequence[str]) -> "list[Item]":
    """List the files of the inputs; one that lies deeper in a folder is called after its path."""
    from earshot.exports.comparison import Item

    items = []
    for path in map(as_stored, paths):
        if not path.exists():
            raise InputError(f"There is no {path}.")
        for file in files_below(path) if path.is_dir() else [path]:
            if not path.is_dir() or file.suffix.lower() in endings:
                parts = file.relative_to(path).parts if path.is_dir() else (file.name,)
                items.append(Item.of(file.resolve(), files.stem("-".join(parts))))
    if not items:
        raise InputError(f"There is none of {', '.join(endings)} in the inputs.")
    return items


def _loaded(task: str, offer: Offer[Any], name: str) -> Any:
    """Load a system, ours or a plug-in, as it is called here."""
    call, call_plugged = CALLS[task]
    return call_plugged(offer.any(name)) if name in offer.plugged else call(offer(name))


if __name__ == "__main__":
    main()
