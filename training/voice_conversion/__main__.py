"""python -m training.voice_conversion prepare|train|evaluate: see --help of each."""

import argparse
from pathlib import Path

from training.voice_conversion.recipe import RECIPE


def main() -> None:
    """Parse the command line and run one stage."""
    parser = argparse.ArgumentParser(prog="python -m training.voice_conversion")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare", help="recordings → arrays in OUT")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("train", help="arrays in OUT → weights in OUT")
    command.add_argument("names", nargs="*", default=list(RECIPE), help="all, unless named")
    command.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.corpora import data_root
        from training.voice_conversion.prepare import prepare

        prepare(data_root(arguments.data), arguments.out)
    else:
        for name in arguments.names:
            RECIPE[name](arguments.out, name)


if __name__ == "__main__":
    main()
