"""python -m training.sound_search prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS
from training.common.commands import commands


def main() -> None:
    """Parse the command line and run one command.

    Each imports only what it needs: training runs where only torch and numpy are installed.
    """
    arguments = _arguments()
    if arguments.command == "train":
        from training.sound_search.recipe import RECIPE

        for name in arguments.names or RECIPE:
            RECIPE[name](arguments.out, name)
        return
    from training.common.corpora import data_root

    data = data_root(arguments.data)
    if arguments.command == "prepare":
        from training.sound_search.data.prepare import prepare

        prepare(data, arguments.out)
    elif arguments.command == "export":
        from training.sound_search.export import export

        export(data, arguments.out, CHECKPOINTS)
    else:
        _evaluate(data, arguments)


def _evaluate(data: Path, arguments: argparse.Namespace) -> None:
    from earshot.pipelines.sound_search.encoders.models import DEFAULT_MODEL
    from training.common.report import publish_table
    from training.sound_search.evaluate.card import publish
    from training.sound_search.evaluate.evaluate import evaluate
    from training.sound_search.evaluate.material import QUERIES

    page = CHECKPOINTS.parent / "docs" / "sound_search.md"
    if arguments.languages:
        from training.sound_search.evaluate.languages import COLUMNS, evaluate_languages

        options = arguments.fold, arguments.split, arguments.json, arguments.quick
        default = [arguments.checkpoints / folder.name for folder in DEFAULT_MODEL]
        rows = evaluate_languages(data, default, *options)
        if arguments.publish:
            publish_table(rows, page, "language results", COLUMNS)
        return
    folders = sorted(arguments.checkpoints.glob("sound-*"))
    rows = evaluate(
        data,
        folders,
        arguments.queries or QUERIES,
        arguments.fold,
        arguments.split,
        arguments.json,
        arguments.quick,
    )
    if arguments.publish:
        publish(rows, folders, CHECKPOINTS)
        publish_table(rows, page, "sound results")


def _arguments() -> argparse.Namespace:
    parser, evaluate = commands("sound_search")
    evaluate.add_argument("--queries", type=Path, help="lines of JSON; ours unless given")
    evaluate.add_argument("--fold", type=int, help="the clips to rank: 4 unless given")
    evaluate.add_argument("--languages", action="store_true", help="queries in other languages")
    evaluate.add_argument("--checkpoints", type=Path, default=CHECKPOINTS, help="other models")
    return parser.parse_args()


if __name__ == "__main__":
    main()
