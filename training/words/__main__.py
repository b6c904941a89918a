"""python -m training.words prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS
from training.common.commands import Arguments, Recipe, System, front_end_of, prepared_with, run


class WordsTraining(System):
    """The commands of word embeddings, and of their spelling network."""

    name = "words"
    front_end = True
    networks = ("states", "log-mel")

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add the parts of the evaluation, further systems, and which of all to measure."""
        evaluate.add_argument(
            "--part",
            choices=["table", "fluent", "calibration", "pronunciation", "languages"],
            default="table",
            help="words cut from fluent speech; the probabilities of the default, the sounds "
            "that were wrong, or what helps unseen languages, which --publish writes; the table "
            "unless given",
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
        """Turn words into arrays: the recogniser's states and spellings, log-mel frames, or the
        frames of a front end."""
        from training.words.frames.prepare import prepare
        from training.words.g2p import prepare_g2p
        from training.words.states.prepare import prepare_states

        if arguments.front_end:
            prepare(data, arguments.out, prepared_with(arguments.front_end, arguments.out))
        elif arguments.network == "log-mel":
            prepare(data, arguments.out)
        else:
            prepare_g2p(arguments.out)
            prepare_states(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe: of the front end of the arrays, else of the network."""
        from training.words.recipe import FRONT_END_RECIPE, LOG_MEL_RECIPE, RECIPE

        if front_end_of(arguments.out):
            return FRONT_END_RECIPE
        return LOG_MEL_RECIPE if arguments.network == "log-mel" else RECIPE

    def export(self, arguments: Arguments) -> None:
        """Write the checkpoints of what was trained; models over a front end are not shipped."""
        from training.common.corpora import data_root
        from training.words.export import export, export_states
        from training.words.g2p import NAME, evaluate_g2p, export_g2p

        export_states(arguments.out, CHECKPOINTS)
        export(data_root(arguments.data), arguments.out, CHECKPOINTS)
        if (arguments.out / f"{NAME}.pt").exists():
            export_g2p(arguments.out, CHECKPOINTS)
            evaluate_g2p(arguments.out, CHECKPOINTS)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the shipped checkpoints and those to compare them with, or another part."""
        from training.common.report import publish_table, publish_text
        from training.words.calibration import calibrate_default
        from training.words.evaluate import details, evaluate, evaluate_fluent, publish
        from training.words.languages import evaluate_languages
        from training.words.pronunciation import evaluate_pronunciation
        from training.words.recipe import MEASURED, OVER_STATES, SHIPPED

        only = arguments.only
        if arguments.part == "calibration":
            calibrate_default(data, arguments.publish)
            return
        if arguments.part == "pronunciation":
            evaluate_pronunciation(data, arguments.publish, arguments.quick)
            return
        if arguments.part == "languages":
            evaluate_languages(data, arguments.publish)
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
