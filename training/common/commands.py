"""The commands that every system has: prepare, train, export and evaluate."""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Arguments = argparse.Namespace
Recipe = Mapping[str, Callable[[Path, str], Any]]


class System(ABC):
    """A system's commands. Each imports what it needs when it is called: ``train`` runs where only
    torch and numpy are installed."""

    name: ClassVar[str]
    front_end: ClassVar[bool] = False  # whether it also trains over a frozen speech model
    # The kinds of network that can be prepared and trained: the default, then the baselines.
    networks: ClassVar[tuple[str, ...]] = ()

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:  # noqa: B027
        """Add the options that evaluate alone has."""

    def add_commands(self, stages: "Subparsers") -> None:  # noqa: B027
        """Add commands that this system alone has, each with a function ``run`` of the arguments
        as a default."""

    @abstractmethod
    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn recordings into arrays for training."""

    @abstractmethod
    def recipe(self, arguments: Arguments) -> Recipe:
        """List the parts of the recipe, given the run's folder and its name: each trains one
        network.
        """

    @abstractmethod
    def export(self, arguments: Arguments) -> None:
        """Turn trained weights into checkpoints."""

    @abstractmethod
    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure all systems and print their table, or measure a part of the evaluation."""


def run(system: System, line: Sequence[str] | None = None) -> None:
    """Parse the command line of python -m training.SYSTEM, and run one of its commands."""
    arguments = parser_of(system).parse_args(line)
    if "run" in arguments:
        arguments.run(arguments)
    elif arguments.command == "train":
        recipe = system.recipe(arguments)
        if unknown := set(arguments.names) - set(recipe):
            raise SystemExit(f"{', '.join(unknown)}: the recipe has {', '.join(recipe)}.")
        for name in arguments.names or recipe:
            recipe[name](arguments.out, name)
    elif arguments.command == "export":
        system.export(arguments)
    else:
        from training.common.corpora import data_root  # late: it needs more than torch and numpy

        command = system.prepare if arguments.command == "prepare" else system.evaluate
        command(data_root(arguments.data), arguments)


def parser_of(system: System) -> argparse.ArgumentParser:
    """Make the parser of a system's command line."""
    parser = argparse.ArgumentParser(prog=f"python -m training.{system.name}")
    stages = parser.add_subparsers(dest="command", required=True)
    prepare = stages.add_parser("prepare", help="the data folder → arrays in OUT")
    if system.front_end:
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
    if system.networks:
        for stage in (prepare, train):
            stage.add_argument(
                "--network",
                choices=system.networks,
                default=system.networks[0],
                help="the kind of network: by default that of the app",
            )
    system.add_options(evaluate)
    system.add_commands(stages)
    return parser


def add_judges(evaluate: argparse.ArgumentParser) -> None:
    """Add the options of training/judges/pretrained/judges.py."""
    evaluate.add_argument("--asr", metavar="ID", help="a Whisper instead of pocketsphinx")
    evaluate.add_argument("--speaker", metavar="ID", help="a WavLM with x-vectors instead of ours")
