"""python -m training.words.states prepare|train|export: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS


def main() -> None:
    """Parse the command line and run one command. ``train`` needs torch and numpy alone."""
    parser = argparse.ArgumentParser(prog="python -m training.words.states", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    prepare = commands.add_parser("prepare", help="the data folder → states in OUT")
    prepare.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    train = commands.add_parser("train", help="states in OUT → weights in OUT")
    train.add_argument(
        "--seconds", type=float, default=290.0, help="of training: enough on a large GPU"
    )
    train.add_argument("--again", action="store_true", help="from the weights in checkpoints/")
    export = commands.add_parser("export", help="weights in OUT → checkpoints/")
    for command in (prepare, train, export):
        command.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.common.corpora import data_root
        from training.words.states.prepare import prepare as pack

        pack(data_root(arguments.data), arguments.out)
    elif arguments.command == "train":
        from training.words.states.train import train as run

        run(arguments.out, arguments.seconds, CHECKPOINTS if arguments.again else None)
    else:
        from training.words.states.export import export as write

        write(arguments.out, CHECKPOINTS)


if __name__ == "__main__":
    main()
