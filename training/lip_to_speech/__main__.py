"""python -m training.lip_to_speech prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from training.commands import commands

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


def main() -> None:
    """Parse the command line and run one stage.

    Each stage imports only what it needs.
    """
    parser, evaluate = commands("lip_to_speech")
    evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.corpora import data_root
        from training.lip_to_speech.prepare import prepare

        prepare(data_root(arguments.data), arguments.out)
    elif arguments.command == "train":
        from training.lip_to_speech.recipe import RECIPE

        for name in arguments.names or RECIPE:
            RECIPE[name](arguments.out, name)
    elif arguments.command == "export":
        from training.lip_to_speech.export import export

        export(arguments.out, CHECKPOINTS)
    elif arguments.command == "evaluate":
        _evaluate(arguments)


def _evaluate(arguments: argparse.Namespace) -> None:
    from training.corpora import data_root
    from training.evaluation.report import publish_table
    from training.lip_to_speech.card import publish
    from training.lip_to_speech.evaluate import evaluate
    from training.lip_to_speech.recipe import SHIPPED, VOCODER
    from training.lip_to_speech.tables import COLUMNS

    roots = [CHECKPOINTS, *([arguments.compared] if arguments.compared else [])]
    folders = [folder for root in roots for folder in sorted(root.glob(f"{SHIPPED}-*"))]
    rows = evaluate(
        data_root(arguments.data),
        CHECKPOINTS / VOCODER,
        [*folders, CHECKPOINTS / SHIPPED],
        arguments.split,
        arguments.json,
        arguments.quick,
    )
    if arguments.publish:
        publish(rows, CHECKPOINTS)
        publish_table(rows, CHECKPOINTS.parent / "README.md", "lip results", COLUMNS)


if __name__ == "__main__":
    main()
