"""Find the words of the library that sound like recorded words, from the command line.

python -m earshot words tree.wav FOLDER
python -m earshot words tree.wav --view spoken -n 3
python -m earshot words FOLDER --json > vectors.jsonl    # with the vectors
python -m earshot words FOLDER --csv > words.csv    # with the vectors, as a table
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import count, explained, text_of
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS, CHECKPOINTS

if TYPE_CHECKING:
    from earshot.systems.words import Neighbour, Spoken

LIBRARY: Final = ASSETS / "words.index"


def main(arguments: Sequence[str] | None = None) -> None:
    """Find the neighbours of the recordings that the command line names."""
    parser = files.parser_of("words", "recordings of one word each", __doc__)
    parser.add_argument("-n", type=count, default=5, help="how many neighbours (default: 5)")
    parser.add_argument("--view", choices=["written", "spoken"], default="written")
    parser.add_argument("--model", default=CHECKPOINTS / "words", help="a folder, or a hub id")
    parser.add_argument(
        "--library", type=Path, default=LIBRARY, help="made by the model (default: ours)"
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


if __name__ == "__main__":
    main()
