"""Find the words of the library that sound like recorded words, a word in hours of recordings, or
which sound of a word was wrong, from the command line.

python -m earshot words tree.wav FOLDER
python -m earshot words tree.wav --view spoken -n 3
python -m earshot words FOLDER --json > vectors.jsonl    # with the vectors
python -m earshot words FOLDER --csv > words.csv    # with the vectors, as a table
python -m earshot words index FOLDER -o INDEX    # of recordings and videos; resumes
python -m earshot words index FOLDER -o INDEX --watch    # and keeps it in sync with the folder
python -m earshot words find lighthouse --index INDEX
python -m earshot words find lighthouse --index INDEX --said query.wav -o places.zip
python -m earshot words check "the lighthouse" mine.wav    # which of its sounds were wrong
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import count, existing_path, explained, text_of, typed_path
from earshot.core.errors import InputError
from earshot.core.files import check_new, write
from earshot.core.paths import ASSETS, CHECKPOINTS

if TYPE_CHECKING:
    from earshot.systems.words import Neighbour, Spoken
    from earshot.systems.words.word_index import Hit

LIBRARY: Final = ASSETS / "words.index"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line that the module describes."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # A recording of this name is ./index, ./find or ./check.
    if arguments and arguments[0] in COMMANDS:
        COMMANDS[arguments[0]](arguments[1:])
    else:
        _neighbours(arguments)


def _neighbours(arguments: Sequence[str]) -> None:
    """Find the neighbours of the recordings that the command line names."""
    parser = files.parser_of("words", "recordings of one word each", __doc__)
    parser.add_argument("-n", type=count, default=5, help="how many neighbours (default: 5)")
    parser.add_argument("--view", choices=["written", "spoken"], default="written")
    _add_model(parser)
    parser.add_argument(
        "--library", type=typed_path, default=LIBRARY, help="made by the model (default: ours)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON document a recording")
    form.add_argument("--csv", action="store_true", help="print a table, a row a recording")
    options = parser.parse_args(arguments)
    with explained():
        jobs = files.jobs_of(options.inputs)
        from earshot.systems.words import Words  # late, for it loads torch
        from earshot.systems.words.library import WordLibrary

        words = Words.from_pretrained(options.model, options.device)
        library = WordLibrary.open(options.library, words.fingerprint)

        def embedded(job: Job) -> tuple["Spoken", Sequence["Neighbour"]]:
            spoken = words.embed_audio(job.path)
            return spoken, words.nearest(library, spoken.vector, options.view, options.n)

        if options.csv:
            from earshot.exports.words import Row, embeddings_csv

            rows: list[Row] = []

            def add(job: Job) -> files.Outcome:
                try:
                    spoken, neighbours = embedded(job)
                    rows.append(Row(job.name, spoken, tuple(neighbours)))
                except InputError as error:
                    rows.append(Row(job.name, None, error=text_of(error)))
                    raise
                return None, spoken.notices

            try:
                files.for_each(jobs, add)
            finally:
                files.print_table(embeddings_csv(rows, options.n))
            return

        def embed(job: Job) -> files.Outcome:
            spoken, neighbours = embedded(job)
            form = _document if options.json else _line
            return form(job.file, spoken, neighbours), spoken.notices

        files.for_each(jobs, embed)


def _line(file: Path, spoken: "Spoken", neighbours: Sequence["Neighbour"]) -> str:
    lines = (f"{neighbour.word.spelling} {neighbour.cosine:.2f}" for neighbour in neighbours)
    return f"{file}\t{', '.join(lines)}"


def _document(file: Path, spoken: "Spoken", neighbours: Sequence["Neighbour"]) -> str:
    return files.as_json(
        {
            "file": str(file),
            "start": spoken.start,
            "end": spoken.end,
            "vector": spoken.vector.tolist(),
            "neighbours": [
                {"word": n.word.spelling, "voice": n.word.voice, "cosine": n.cosine}
                for n in neighbours
            ],
        }
    )


def _index(arguments: Sequence[str]) -> None:
    """Make or update the index of a folder of recordings."""
    parser = _parser_of("index", "make or update the index of a folder of recordings and videos")
    parser.add_argument("folder", type=typed_path)
    parser.add_argument(
        "-o", "--out", type=typed_path, required=True, metavar="INDEX", help="a folder"
    )
    parser.add_argument("--watch", action="store_true", help="update it whenever FOLDER changes")
    files.add_device(parser)
    options = parser.parse_args(arguments)
    with explained():
        from earshot.sound_index.scan import watch  # late, for they load torch
        from earshot.systems.words import Words
        from earshot.systems.words.word_index import update

        folder, out = options.folder, options.out
        words = Words.from_pretrained(options.model, options.device)
        if options.watch:
            print(f"Watching {folder.absolute()}. Ctrl+C ends it.", flush=True)
            report = partial(files.print_report, out)
            watch(folder, out, lambda: update(folder, out, words), report)
        else:
            files.print_report(out, update(folder, out, words, files.Bar()))


def _find(arguments: Sequence[str]) -> None:
    """Find a word in an index."""
    parser = _parser_of("find", "find where a word is said in the recordings of an index")
    parser.add_argument("word", nargs="?", default="", help="as in the Words tab; or --said")
    parser.add_argument(
        "--said", type=existing_path, metavar="FILE", help="a recording of the word"
    )
    parser.add_argument(
        "--index", type=typed_path, required=True, help="made by earshot words index"
    )
    parser.add_argument("-n", type=count, default=50, help="how many places (default: 50)")
    parser.add_argument("--json", action="store_true", help="print a JSON document a place")
    files.add_output(parser, "a CSV; or a zip with TextGrids, Audacity labels and clips", False)
    files.add_device(parser)
    options = parser.parse_args(arguments)
    with explained():
        ending = Path(options.out).suffix.lower() if options.out else ""
        if options.out and ending not in (".csv", ".zip"):
            raise InputError(f"{options.out} does not say what to write: end it in .csv or .zip.")
        if options.out:
            check_new([Path(options.out)], options.overwrite)
        from earshot.systems.words import Words  # late, for they load torch
        from earshot.systems.words.word_index import WordIndex, query_of

        words = Words.from_pretrained(options.model, options.device)
        index = WordIndex.open(options.index, words)
        word, query = query_of(words, options.word, options.said)
        results = index.find(query, options.n)
        if not results.matches:
            print(f"“{word}” was not found. The nearest places:", file=sys.stderr)
        hits = results.chosen
        for hit in hits:
            print((_hit_document if options.json else _hit_line)(hit))
        if options.out:
            from earshot.exports.words import hits_csv, hits_zip

            table = hits_csv(hits, word).encode("utf-8-sig")
            content = table if ending == ".csv" else hits_zip(hits, word, index)
            write(Path(options.out), content)


def _hit_line(hit: "Hit") -> str:
    place = hit.place
    minutes, seconds = divmod(place.start, 60)
    return f"{place.score:.2f}\t{minutes:.0f}:{seconds:04.1f}\t{files.one_line(hit.recording.name)}"


def _hit_document(hit: "Hit") -> str:
    place = hit.place
    return files.as_json(
        {
            "file": hit.recording.name,
            "start": round(place.start, 3),
            "end": round(place.end, 3),
            "score": round(place.score, 4),
            "careful": hit.careful,
        }
    )


def _check(arguments: Sequence[str]) -> None:
    """Check which sounds of a text were wrong, in each recording of it."""
    parser = _parser_of("check", "list the sounds of a text that recordings of it have wrong")
    parser.add_argument("text", help="an English word or sentence")
    parser.add_argument("inputs", nargs="+", type=typed_path, metavar="RECORDING")
    parser.add_argument("--json", action="store_true", help="print a JSON document a recording")
    files.add_device(parser)
    options = parser.parse_args(arguments)
    with explained():
        jobs = files.jobs_of(options.inputs)
        from earshot.systems.words import Words  # late, for they load torch
        from earshot.systems.words.pronunciation_check import check_pronunciation

        words = Words.from_pretrained(options.model, options.device)

        def check(job: Job) -> files.Outcome:
            result = check_pronunciation(words, job.path, options.text)
            if options.json:
                return files.as_json({"file": str(job.file), **result.document()}), result.notices
            lines = [phoneme.sentence for phoneme in result.phonemes if phoneme.sentence]
            return f"{job.file}\t{'; '.join(lines) or 'as expected'}", result.notices

        files.for_each(jobs, check)


def _parser_of(command: str, purpose: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"earshot words {command}", description=purpose)
    _add_model(parser)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default=CHECKPOINTS / "words", help="a folder, or a hub id")


COMMANDS: Final = {"index": _index, "find": _find, "check": _check}


if __name__ == "__main__":
    main()
