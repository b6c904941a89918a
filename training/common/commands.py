"""The commands that every system has: prepare, train, export and evaluate."""

import argparse
from pathlib import Path


def commands(
    system: str, front_end: bool = False
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser of python -m training.SYSTEM, and that of its command evaluate, to add to.

    front_end: whether it also trains over a frozen speech model (earshot/pipelines/front_end.py).
    """
    parser = argparse.ArgumentParser(prog=f"python -m training.{system}")
    stages = parser.add_subparsers(dest="command", required=True)
    prepare = stages.add_parser("prepare", help="the data folder → arrays in OUT")
    if front_end:
        prepare.add_argument(
            "--front-end",
            metavar="ID:LAYER",
            help="frames of a HuBERT, WavLM or wav2vec 2.0 instead of ours; in an OUT of its own",
        )
    train = stages.add_parser("train", help="arrays in OUT → weights in OUT; resumes")
    train.add_argument("names", nargs="*", help="parts of the recipe; all of it unless named")
    export = stages.add_parser("export", help="weights in OUT → checkpoints/")
    evaluate = stages.add_parser("evaluate", help="the table of all systems")
    for stage in (prepare, export, evaluate):
        stage.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    for stage in (prepare, train, export):
        stage.add_argument("--out", type=Path, required=True)
    evaluate.add_argument("--split", choices=["test", "all"], default="test", help="all: every row")
    evaluate.add_argument("--json", type=Path, help="also write the rows to this file")
    evaluate.add_argument("--quick", action="store_true", help="a sample, for a quick answer")
    evaluate.add_argument(
        "--publish", action="store_true", help="write metrics, cards and the table in docs/"
    )
    return parser, evaluate


def add_judges(evaluate: argparse.ArgumentParser) -> None:
    """The options of training/judges/pretrained/judges.py."""
    evaluate.add_argument("--asr", metavar="ID", help="a Whisper instead of pocketsphinx")
    evaluate.add_argument("--speaker", metavar="ID", help="a WavLM with x-vectors instead of ours")
