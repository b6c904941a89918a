"""python -m training.sound_search prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from earshot.core.paths import CHECKPOINTS
from training.common.commands import Arguments, Recipe, System, run


class SoundSearchTraining(System):
    """The commands of sound search."""

    name = "sound_search"

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add the parts of the evaluation, and other queries, clips and checkpoints."""
        evaluate.add_argument(
            "--part",
            choices=["table", "languages", "own-folders", "unseen", "games"],
            default="table",
            help="queries in other languages; threshold and errors of folders of anything; kinds "
            "that the models were not trained on; recordings of two games; the table unless given",
        )
        evaluate.add_argument("--queries", type=Path, help="lines of JSON; ours unless given")
        evaluate.add_argument("--fold", type=int, help="the clips to rank: 4 unless given")
        evaluate.add_argument("--checkpoints", type=Path, default=CHECKPOINTS, help="other models")

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn sounds and captions into arrays."""
        from training.sound_search.prepare import prepare

        prepare(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe, which is the same for all arrays."""
        from training.sound_search.recipe import RECIPE

        return RECIPE

    def export(self, arguments: Arguments) -> None:
        """Write the shipped checkpoints."""
        from training.common.corpora import data_root
        from training.sound_search.export import export

        export(data_root(arguments.data), arguments.out, CHECKPOINTS)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the checkpoints on queries, or one of the other parts."""
        from earshot.systems.sound_search.encoder import DEFAULT_MODEL
        from training.common.report import publish_table
        from training.sound_search import own_folders, unseen
        from training.sound_search.evaluate import (
            LANGUAGE_COLUMNS,
            evaluate,
            evaluate_languages,
            publish,
        )
        from training.sound_search.test_set import GAMES_FOLD, QUERIES, lay_out

        page = CHECKPOINTS.parent / "docs" / "sound_search.md"
        folders = sorted(arguments.checkpoints.glob("sound-*"))
        default = [arguments.checkpoints / folder.name for folder in DEFAULT_MODEL]
        queries, fold = arguments.queries or QUERIES, arguments.fold
        options = arguments.split, arguments.json, arguments.quick
        if arguments.part == "languages":
            rows = evaluate_languages(data, default, fold, *options)
            if arguments.publish:
                publish_table(rows, page, "language results", LANGUAGE_COLUMNS)
        elif arguments.part == "unseen":
            rows = unseen.evaluate_unseen(data, folders, arguments.json)
            if arguments.publish:
                publish_table(rows, page, "unseen results", unseen.COLUMNS)
        elif arguments.part == "own-folders":
            own_folders.evaluate_own(data, folders, default, arguments.publish)
        elif arguments.part == "games":
            with TemporaryDirectory() as folder:
                lay_out(Path(folder))
                evaluate(Path(folder), folders, queries, GAMES_FOLD, *options)
        else:
            rows = evaluate(data, folders, queries, fold, *options)
            if arguments.publish:
                publish(rows, folders, CHECKPOINTS)
                publish_table(rows, page, "sound results")


if __name__ == "__main__":
    run(SoundSearchTraining())
