"""python -m training.lip_to_speech prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.commands import Arguments, Recipe, System, add_judges, run


class LipToSpeechTraining(System):
    """The commands of lip to speech."""

    name = "lip_to_speech"

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add further checkpoints, and judges of the hub."""
        evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
        evaluate.add_argument(
            "--only", nargs="+", default=(), help="systems; published rows of others stay"
        )
        add_judges(evaluate)

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn videos, recordings and rendered heads into arrays."""
        from training.lip_to_speech.prepare import prepare

        prepare(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe, which is the same for all arrays."""
        from training.lip_to_speech.recipe import RECIPE

        return RECIPE

    def export(self, arguments: Arguments) -> None:
        """Write the shipped checkpoints, and those to compare them with."""
        from training.lip_to_speech.export import export

        export(arguments.out, CHECKPOINTS)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the shipped checkpoint, those to compare it with, and the baselines."""
        from training.common.report import publish_table
        from training.judges.hub import Judges
        from training.lip_to_speech.evaluate import COLUMNS, evaluate, publish
        from training.lip_to_speech.recipe import SHIPPED, VOCODER

        roots = [CHECKPOINTS, *([arguments.compared] if arguments.compared else [])]
        folders = [folder for root in roots for folder in sorted(root.glob(f"{SHIPPED}-*"))]
        rows = evaluate(
            data,
            CHECKPOINTS / VOCODER,
            [*folders, CHECKPOINTS / SHIPPED],
            arguments.split,
            arguments.json,
            arguments.quick,
            Judges.of(arguments),
            arguments.only,
        )
        if arguments.publish:
            rows = publish(rows, CHECKPOINTS)
            publish_table(rows, ROOT / "docs" / "lip_to_speech.md", "lip results", COLUMNS)


if __name__ == "__main__":
    run(LipToSpeechTraining())
