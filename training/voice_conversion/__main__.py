"""python -m training.voice_conversion prepare|train|evaluate: see --help of each."""

import argparse
from pathlib import Path

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


def main() -> None:
    """Parse the command line and run one stage.

    Each stage imports what it needs: training runs where only torch and numpy are installed.
    """
    arguments = _arguments()
    if arguments.command == "prepare":
        from training.corpora import data_root
        from training.voice_conversion.prepare import prepare

        prepare(data_root(arguments.data), arguments.out)
    elif arguments.command == "train":
        from training.voice_conversion.recipe import RECIPE

        for name in arguments.names or RECIPE:
            RECIPE[name](arguments.out, name)
    elif arguments.command == "export":
        from training.voice_conversion.export import export

        export(arguments.out, CHECKPOINTS)
    else:
        from training.corpora import data_root
        from training.evaluation.report import publish_table
        from training.evaluation.voice_conversion import evaluate
        from training.voice_conversion.card import publish

        folders = sorted(CHECKPOINTS.glob("vqvae-*"))
        data = data_root(arguments.data)
        rows = evaluate(data, folders, arguments.split, arguments.json, arguments.quick)
        if arguments.publish:
            publish(rows, CHECKPOINTS)
            publish_table(rows, CHECKPOINTS.parent / "README.md", "results")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.voice_conversion")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare", help="recordings → arrays in OUT")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("train", help="arrays in OUT → weights in OUT; resumes")
    command.add_argument("names", nargs="*", help="parts of the recipe; all of it unless named")
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("export", help="weights in OUT → checkpoints/")
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("evaluate", help="the table of all checkpoints")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--split", choices=["test", "all"], default="test")
    command.add_argument("--json", type=Path, help="also write the rows to this file")
    command.add_argument("--quick", action="store_true", help="a sample, for a quick answer")
    command.add_argument("--publish", action="store_true", help="write metrics and model cards")
    return parser.parse_args()


if __name__ == "__main__":
    main()
