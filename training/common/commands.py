"""The commands that every system has: prepare, train, export and evaluate; and the front end that
the arrays of a run were prepared with, which later commands need.
"""

import argparse
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Arguments = argparse.Namespace
Recipe = Mapping[str, Callable[[Path, str], Any]]
FRONT_END: Final = "front-end.txt"  # the name of the front end of a run


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
    """Parse the command line of python -m training.SYSTEM, and run one of its commands: on speech
    without a mark, for networks are measured."""
    os.environ["EARSHOT_NO_MARK"] = "1"  # earshot.provenance.mark needs more than torch and numpy
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
    """Add the options of training/judges/hub.py."""
    evaluate.add_argument("--asr", metavar="ID", help="a Whisper instead of pocketsphinx")
    evaluate.add_argument("--speaker", metavar="ID", help="a WavLM with x-vectors instead of ours")


if TYPE_CHECKING:
    from earshot.pretrained.speech_encoder import SpeechEncoder


def prepared_with(name: str, run: Path) -> "SpeechEncoder":
    """Load the front end "ID:LAYER", and note it in the run, whose arrays it is to make.

    Raises SystemExit where it cannot be loaded, or where the run has arrays of another.
    """
    from earshot.core.errors import InputError
    from earshot.pretrained.speech_encoder import (
        SpeechEncoder,  # late: not where only torch and numpy are installed
    )

    try:
        front_end = SpeechEncoder.from_pretrained(name)
    except (InputError, FileNotFoundError) as error:
        raise SystemExit(str(error)) from error
    if front_end_of(run) not in (None, front_end.name) or (
        front_end_of(run) is None and any(run.glob("*.npz"))
    ):
        raise SystemExit(f"{run} has arrays of another front end: name another --out.")
    run.mkdir(parents=True, exist_ok=True)
    (run / FRONT_END).write_text(f"{front_end.name}\n", encoding="utf-8")
    return front_end


def front_end_of(run: Path) -> str | None:
    """Read "ID:LAYER" of a run; None where the arrays are of MFCC or log-mel bands, as the app's
    are.
    """
    path = run / FRONT_END
    return path.read_text(encoding="utf-8").strip() if path.exists() else None
