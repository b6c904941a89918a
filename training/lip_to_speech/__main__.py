"""python -m training.lip_to_speech prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.commands import add_judges, commands


def main() -> None:
    """Parse the command line and run one stage.

    Each stage imports only what it needs.
    """
    parser, evaluate = commands("lip_to_speech")
    evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
    add_judges(evaluate)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.common.corpora import data_root
        from training.lip_to_speech.data.prepare import prepare

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
    from training.common.corpora import data_root
    from training.common.report import publish_table
    from training.judges.pretrained.judges import Judges
    from training.lip_to_speech.evaluate.card import publish
    from training.lip_to_speech.evaluate.evaluate import evaluate
    from training.lip_to_speech.evaluate.tables import COLUMNS
    from training.lip_to_speech.recipe import SHIPPED, VOCODER

    roots = [CHECKPOINTS, *([arguments.compared] if arguments.compared else [])]
    folders = [folder for root in roots for folder in sorted(root.glob(f"{SHIPPED}-*"))]
    rows = evaluate(
        data_root(arguments.data),
        CHECKPOINTS / VOCODER,
        [*folders, CHECKPOINTS / SHIPPED],
        arguments.split,
        arguments.json,
        arguments.quick,
        Judges.of(arguments),
    )
    if arguments.publish:
        publish(rows, CHECKPOINTS)
        publish_table(rows, ROOT / "docs" / "lip_to_speech.md", "lip results", COLUMNS)


if __name__ == "__main__":
    main()
