"""Find the words of the library that sound like recorded words, from the command line.

python -m earshot.pipelines.words tree.wav FOLDER
python -m earshot.pipelines.words tree.wav --view spoken -n 3
python -m earshot.pipelines.words FOLDER --json > vectors.jsonl    # with the vectors
python -m earshot.pipelines.words FOLDER --csv > words.csv    # with the vectors, as a table
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.core.paths import ASSETS
from earshot.pipelines import command_line

if TYPE_CHECKING:
    from earshot.pipelines.words import Neighbour, Spoken

LIBRARY: Final = ASSETS / "words.index"


def main(arguments: Sequence[str] | None = None) -> None:
    """See above."""
    parser = command_line.parser_of("words", "recordings of one word each", __doc__)
    parser.add_argument("-n", type=int, default=5, help="how many neighbours (default: 5)")
    parser.add_argument("--view", choices=["written", "spoken"], default="written")
    parser.add_argument("--model", default="words", help="a folder, or a hub id")
    parser.add_argument(
        "--library", type=Path, default=LIBRARY, help="made by the model (default: ours)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON document a recording")
    form.add_argument("--csv", action="store_true", help="print a table, a row a recording")
    options = parser.parse_args(arguments)
    with command_line.explained():
        files = command_line.files_of(options.inputs)
        from earshot.pipelines.words import Words  # late, for it loads torch
        from earshot.pipelines.words.library import WordLibrary

        words = Words.from_pretrained(options.model, options.device)
        library = WordLibrary.open(options.library, words.fingerprint)

        if options.csv:
            from earshot.pipelines.words.batch import embed_files, embeddings_csv

            rows = embed_files(words, library, files, options.view, options.n)
            print(embeddings_csv(rows, options.n), end="")
            return

        def embed(file: Path) -> str:
            spoken = words.embed_audio(file)
            neighbours = words.nearest(library, spoken.vector, options.view, options.n)
            return (_document if options.json else _line)(file, spoken, neighbours)

        command_line.for_each(files, embed)


def _line(file: Path, spoken: "Spoken", neighbours: Sequence["Neighbour"]) -> str:
    found = (f"{neighbour.word.spelling} {neighbour.cosine:.2f}" for neighbour in neighbours)
    return f"{file}\t{', '.join(found)}"


def _document(file: Path, spoken: "Spoken", neighbours: Sequence["Neighbour"]) -> str:
    return command_line.as_json(
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
