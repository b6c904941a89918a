"""Convert a folder by several systems, measure the results, and draft a listening test of them.

earshot compare voice_conversion --systems ours,vqvae-64 --inputs FOLDER --targets TF2,a.wav -o OUT
earshot compare lip_to_speech --systems ours --inputs VIDEOS --targets Nell -o OUT

Systems are called as in pipelines/; "ours" is the first of the task. Targets are names of voices,
or recordings of 10 to 30 s of speakers who agreed to be spoken as. Where it was ended, the same
command goes on. "earshot page OUT" makes a page of samples of it, and "earshot study check OUT"
reads its listening test.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.cli import files
from earshot.core.console import explained
from earshot.core.errors import InputError
from earshot.core.files import files_below
from earshot.core.paths import CHECKPOINTS, PIPELINES, as_stored
from earshot.study.design.folder import SOUNDS
from earshot.systems.registry import Offer, load_board

if TYPE_CHECKING:
    from earshot.exports.comparison import Convert, Item
    from earshot.systems.plugged import PluggedConverter, PluggedLipReader

OURS: Final = "ours"
LIP_SECONDS: Final = 30.0
VIDEOS: Final = (".mp4", ".webm", ".mov", ".mkv", ".avi", ".m4v", ".mpg")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the systems that the command line names."""
    parser = argparse.ArgumentParser(
        prog="earshot compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=CONVERTS)
    parser.add_argument("--systems", required=True, metavar="NAME,…")
    parser.add_argument("--inputs", required=True, nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--targets", default="", metavar="VOICE,CLIP,…")
    parser.add_argument("-o", "--out", required=True, type=Path, metavar="OUT", help="a folder")
    parser.add_argument(
        "--no-judges", action="store_true", help="measure nothing but the time that it takes"
    )
    parser.add_argument(
        "--pipelines", type=Path, metavar="FOLDER", help="files of systems of one's own"
    )
    files.add_device(parser)
    options = parser.parse_args(arguments)
    with explained():
        from earshot.exports.comparison import Comparison, Item  # late, for it loads SciPy
        from earshot.pretrained.judges import judges

        own = options.pipelines or os.environ.get("EARSHOT_PIPELINES")
        offer = _offer(options.task, options.device, [Path(own)] if own else [])
        make = CONVERTS[options.task]
        targets = [_target(each) for each in _listed(options.targets)]
        if options.task == "voice_conversion" and not targets:
            raise InputError("Name voices, or recordings of them, with --targets.")
        comparison = Comparison(
            options.out,
            options.task,
            {
                name: partial(_loaded, make, offer, each)
                for name, each in _systems(options.systems, offer).items()
            },
            _inputs(options.inputs, SOUNDS if options.task == "voice_conversion" else VIDEOS),
            [Item.of(target) for target in targets],
            () if options.no_judges else judges(),
        )
        failures = comparison.run(files.Bar())
        print((options.out / "measures.md").read_text("utf-8"), end="")
        if failures:
            sys.exit(
                f"There are no results of {failures}: {options.out / 'measures.csv'} says why."
            )


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
        names[name] = default if name == OURS and OURS not in offer.labels else name
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
                items.append(Item.of(file.resolve(), Path("-".join(parts)).stem))
    if not items:
        raise InputError(f"There is none of {', '.join(endings)} in the inputs.")
    return items


def _loaded(make: "Callable[[Any], Convert]", offer: Offer[Any], name: str) -> "Convert":
    make_plugged = PLUGGED[make]
    return make_plugged(offer.any(name)) if name in offer.plugged else make(offer(name))


def _conversion(system: Any) -> "Convert":
    """Convert recordings by a system of voice conversion; the voice of a clip is made once."""
    voices: dict[Path, Any] = {}

    def convert(file: Path, target: Path | str | None) -> tuple[Any, int]:
        if isinstance(target, Path):
            if target not in voices:
                voices[target] = system.voice_from(target)
            speech = system(file, voices[target]).converted
        elif target in system.voices:
            speech = system(file, target).converted
        else:
            raise InputError(f"It has no voice {target}, only {', '.join(system.voices)}.")
        return speech.waveform, speech.sample_rate

    return convert


def _lips(system: Any) -> "Convert":
    """Speak what is read from the lips of videos; without a target in the voice of the face."""

    def convert(file: Path, target: Path | str | None) -> tuple[Any, int]:
        if isinstance(target, Path):
            raise InputError("Lips speak in voices with a name only.")
        speech = system(file, voice=target).speech
        return speech.waveform, speech.sample_rate

    return convert


def _plugged_conversion(system: "PluggedConverter") -> "Convert":
    """Convert recordings by a plug-in, to its own voices or those of clips."""

    def convert(file: Path, target: Path | str | None) -> tuple[Any, int]:
        if isinstance(target, Path) and not system.any_voice:
            raise InputError(f"{system.label} makes no voices of recordings.")
        if isinstance(target, str) and system.voices and target not in system.voices:
            raise InputError(
                f"{system.label} has no voice {target}, only {', '.join(system.voices)}."
            )
        clip = target if isinstance(target, Path) else None
        name = target.stem if isinstance(target, Path) else target or ""
        speech = system(file, name, clip, file.stem).speech
        return speech.waveform, speech.sample_rate

    return convert


def _plugged_lips(system: "PluggedLipReader") -> "Convert":
    """Speak what a plug-in reads from the lips of videos, in the voice that it has."""
    from earshot.media.video import frames  # late, for it loads FFmpeg

    def convert(file: Path, target: Path | str | None) -> tuple[Any, int]:
        speech = system.of(frames(file, LIP_SECONDS))[0].speech
        return speech.waveform, speech.sample_rate

    return convert


CONVERTS: Final = {"voice_conversion": _conversion, "lip_to_speech": _lips}
PLUGGED: Final[dict[Any, Callable[[Any], Any]]] = {
    _conversion: _plugged_conversion,
    _lips: _plugged_lips,
}

if __name__ == "__main__":
    main()
