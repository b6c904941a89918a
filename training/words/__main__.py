"""python -m training.words prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS
from training.common.commands import Arguments, Recipe, System, front_end_of, prepared_with, run


class WordsTraining(System):
    """The commands of word embeddings, and of their spelling network."""

    name = "words"
    front_end = True

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add the parts of the evaluation, further systems, and which of all to measure."""
        evaluate.add_argument(
            "--part",
            choices=["table", "fluent", "calibration"],
            default="table",
            help="words cut from fluent speech; the probabilities of the default, which --publish "
            "writes; the table unless given",
        )
        evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
        evaluate.add_argument(
            "--only",
            nargs="+",
            default=(),
            metavar="SYSTEM",
            help="measure these systems; published rows of the others stay",
        )
        evaluate.add_argument(
            "--speech-model",
            nargs="+",
            default=(),
            metavar="ID[:LAYER,…]",
            help="speech encoders of transformers, untrained, as further systems: folders or hub "
            "ids",
        )

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn words into arrays: frames of a front end, or log-mel frames and spellings."""
        from training.words.frames.prepare import prepare
        from training.words.g2p import prepare_g2p

        if arguments.front_end:
            prepare(data, arguments.out, prepared_with(arguments.front_end, arguments.out))
            return
        prepare_g2p(arguments.out)
        prepare(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe of the arrays: over a front end there is no spelling network."""
        from training.words.g2p import NAME, train_g2p
        from training.words.recipe import FRONT_END_RECIPE, RECIPE

        if front_end_of(arguments.out):
            return FRONT_END_RECIPE
        return {NAME: lambda run, name: train_g2p(run), **RECIPE}

    def export(self, arguments: Arguments) -> None:
        """Write the shipped checkpoints; models over a front end are not shipped."""
        from training.common.corpora import data_root
        from training.words.export import export
        from training.words.g2p import evaluate_g2p, export_g2p

        export(data_root(arguments.data), arguments.out, CHECKPOINTS)
        if not front_end_of(arguments.out):
            export_g2p(arguments.out, CHECKPOINTS)
            evaluate_g2p(arguments.out, CHECKPOINTS)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the shipped checkpoints and those to compare them with, or another part."""
        from training.common.report import publish_table, publish_text
        from training.words.calibration import calibrate_default
        from training.words.evaluate import details, evaluate, evaluate_fluent, publish
        from training.words.recipe import MEASURED, OVER_STATES, SHIPPED

        only = arguments.only
        if arguments.part == "calibration":
            calibrate_default(data, arguments.publish)
            return
        if arguments.part == "fluent":
            shipped = [CHECKPOINTS / name for name in only or (*SHIPPED, *OVER_STATES)]
            evaluate_fluent(data, shipped, arguments.json)
            return
        roots = [CHECKPOINTS, *([arguments.compared] if arguments.compared else [])]
        names = [*MEASURED, *OVER_STATES]
        folders = [root / name for name in names for root in roots if (root / name).exists()]
        plot = CHECKPOINTS / "words" / "curves.svg" if arguments.publish and not only else None
        models = arguments.speech_model
        rows = evaluate(
            data, folders, arguments.split, arguments.json, arguments.quick, plot, models, only
        )
        if arguments.publish:
            rows = publish(rows, CHECKPOINTS)
            page = CHECKPOINTS.parent / "docs" / "words.md"
            publish_table(rows, page, "word results")
            publish_text(details(rows), page, "word details")


if __name__ == "__main__":
    run(WordsTraining())
