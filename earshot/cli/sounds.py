"""Search a folder of sounds, from the command line.

python -m earshot sounds search "a dog barks" --without rain
python -m earshot sounds search --like dog.wav --index FOLDER.index
python -m earshot sounds index FOLDER    # makes or updates FOLDER.index
python -m earshot sounds index s3://BUCKET/PREFIX    # makes s3-BUCKET-PREFIX.index
python -m earshot sounds index FOLDER --ray auto    # on a Ray cluster
python -m earshot sounds watch FOLDER    # and keeps it in sync with the folder
python -m earshot sounds fetch    # its encoder of sounds, from the package index
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.cli import files
from earshot.core.console import count, existing_path, explained, typed_path
from earshot.core.paths import ASSETS
from earshot.sound_index import BACKENDS
from earshot.sound_index.address import index_of, name_of
from earshot.sound_index.files import folder_of

if TYPE_CHECKING:
    from earshot.sound_index.cluster import Workers
    from earshot.sound_index.embedding import SoundEncoder
    from earshot.systems.sound_search import SearchResult

LIBRARY: Final = ASSETS / "sounds.index"
COLUMNS: Final = (
    "The best first, by the sound and its words together. Cosine of the sound alone, where it fits "
    "best, file, caption:"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line that the module describes."""
    parser = argparse.ArgumentParser(
        prog="earshot sounds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("search", help="find sounds by a text, a sound, or both")
    command.add_argument("text", nargs="?", default="", help="what you would like to hear")
    command.add_argument(
        "--like", type=existing_path, metavar="FILE", help="a sound that they resemble"
    )
    command.add_argument("--without", default="", metavar="TEXT", help="what they do not contain")
    command.add_argument("--index", type=existing_path, default=LIBRARY, help="default: our sounds")
    _add_backend(command, "as it was made")
    command.add_argument("-n", type=count, default=10, help="how many sounds (default: 10)")
    command.add_argument("--json", action="store_true", help="print a JSON document a sound")
    command.set_defaults(run=_search)
    _add_models(command)
    for name, run, purpose in (
        ("index", _index, "make or update the index of a folder of sounds"),
        ("watch", _watch, "make the index, and update it whenever the folder changes"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("folder", help="or, for index, a part of a bucket: s3://BUCKET/PREFIX")
        command.add_argument("--index", type=typed_path, help="default: FOLDER.index")
        _add_backend(command, "as it was made, a new one in memory")
        command.set_defaults(run=run)
        if run is _index:
            command.add_argument(
                "--ray",
                metavar="ADDRESS",
                help="embed on this Ray cluster, whose machines see the folder under the same name "
                "or may read the bucket (auto: the cluster that this machine belongs to)",
            )
        _add_models(command)
    command = commands.add_parser("fetch", help="download the encoder, which is not installed")
    command.set_defaults(run=_fetch)
    options = parser.parse_args(arguments)
    with explained():
        options.run(options)


def _fetch(options: argparse.Namespace) -> None:
    from earshot.pretrained.sound_search import load_effects_cnn  # late: torch

    load_effects_cnn()


def _add_backend(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "--index-backend",
        choices=BACKENDS,
        help="search the index in memory, or from the disk, where it may be larger than memory "
        f"(default: {default})",
    )


def _add_models(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--sound-model",
        nargs="+",
        metavar="NAME_OR_FOLDER",
        help="checkpoints of ours, together, or a CLAP model (default: ours)",
    )
    files.add_device(command)


def _search(options: argparse.Namespace) -> None:
    from earshot.sound_index.index import SoundIndex  # late: loads torch
    from earshot.systems.sound_search import SoundSearch  # late: loads torch
    from earshot.systems.sound_search.encoder import DEFAULT_MODEL

    search = SoundSearch.from_pretrained(options.sound_model or DEFAULT_MODEL, options.device)
    index = SoundIndex.open(options.index, search.encoder, options.index_backend)
    ours = options.index.resolve() == LIBRARY.resolve()
    threshold = None if ours else search.encoder.own_threshold
    query = (options.text, options.like, options.without)
    result = search(index, *query, limit=options.n, threshold=threshold)
    for notice in result.notices:
        print(notice, file=sys.stderr)
    if not options.json:
        print(COLUMNS, file=sys.stderr)
    for line in (_documents if options.json else _lines)(result):
        print(line)


def _lines(result: "SearchResult") -> list[str]:
    lines = [
        f"{hit.score:.2f}\t{hit.start:4.0f} s\t{files.one_line(name_of(hit.sound.path))}\t"
        f"{hit.sound.first_caption}"
        for hit in result.hits
    ]
    heading = [] if result.matched else ["Nothing matches well. The nearest sounds:"]
    return [*heading, *lines]


def _documents(result: "SearchResult") -> list[str]:
    return [
        files.as_json(
            {
                "file": name_of(hit.sound.path),
                "caption": hit.sound.first_caption,
                "score": hit.score,
                "matches": hit.matches,
                "start": hit.start,
            }
        )
        for hit in result.hits
    ]


def _index(options: argparse.Namespace) -> None:
    from earshot.sound_index.scan import scan  # late: loads torch

    folder, out = _folders(options)
    bar, backend = files.Bar(), options.index_backend
    files.print_report(out, scan(folder, out, _encoder(options), bar, backend, _workers(options)))


def _watch(options: argparse.Namespace) -> None:
    from earshot.sound_index.scan import scan, watch  # late: loads torch

    folder, out = _folders(options)
    print(f"Watching {folder.absolute()}. Ctrl+C ends it.", flush=True)
    update = partial(scan, folder, out, _encoder(options), backend=options.index_backend)
    watch(folder, out, update, partial(files.print_report, out))


def _folders(options: argparse.Namespace) -> tuple[Path, Path]:
    """Read the folder of sounds, and name that of its index."""
    folder = folder_of(options.folder)
    return folder, options.index or index_of(folder)


def _encoder(options: argparse.Namespace) -> "SoundEncoder":
    return _loader(options)()


def _workers(options: argparse.Namespace) -> "Workers | None":
    if options.ray is None:
        return None
    from earshot.sound_index.cluster import Workers

    return Workers(options.ray, _loader(options))


def _loader(options: argparse.Namespace) -> "Callable[[], SoundEncoder]":
    """Return what loads the model, here or on another machine."""
    from earshot.systems.sound_search.encoder import (  # late: loads torch
        DEFAULT_MODEL,
        load_encoder,
    )

    return partial(load_encoder, options.sound_model or DEFAULT_MODEL, options.device)


if __name__ == "__main__":
    main()
