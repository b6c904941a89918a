"""python -m training.sound_search prepare|train|export|evaluate: see --help of each."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from earshot.core.paths import CHECKPOINTS
from training.common.commands import Arguments, Recipe, run


class SoundSearchTraining:
    """The commands of sound search."""

    name = "sound_search"
    front_end = False

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add other queries, clips and checkpoints."""
        evaluate.add_argument("--queries", type=Path, help="lines of JSON; ours unless given")
        evaluate.add_argument("--fold", type=int, help="the clips to rank: 4 unless given")
        evaluate.add_argument("--languages", action="store_true", help="queries in other languages")
        evaluate.add_argument(
            "--own-folders", action="store_true", help="threshold and errors of folders of anything"
        )
        evaluate.add_argument(
            "--unseen", action="store_true", help="kinds that the models were not trained on"
        )
        evaluate.add_argument("--checkpoints", type=Path, default=CHECKPOINTS, help="other models")

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn sounds and captions into arrays."""
        from training.sound_search.data.prepare import prepare

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
        """Measure the checkpoints on queries, of other languages where these are asked for."""
        from earshot.systems.sound_search.encoders.models import DEFAULT_MODEL
        from training.common.report import publish_table
        from training.sound_search.evaluate.card import publish
        from training.sound_search.evaluate.evaluate import evaluate
        from training.sound_search.evaluate.test_set import QUERIES

        page = CHECKPOINTS.parent / "docs" / "sound_search.md"
        if arguments.languages:
            from training.sound_search.evaluate.languages import COLUMNS, evaluate_languages

            options = arguments.fold, arguments.split, arguments.json, arguments.quick
            default = [arguments.checkpoints / folder.name for folder in DEFAULT_MODEL]
            rows = evaluate_languages(data, default, *options)
            if arguments.publish:
                publish_table(rows, page, "language results", COLUMNS)
            return
        folders = sorted(arguments.checkpoints.glob("sound-*"))
        if arguments.unseen:
            from training.sound_search.evaluate import unseen

            rows = unseen.evaluate_unseen(data, folders, arguments.json)
            if arguments.publish:
                publish_table(rows, page, "unseen results", unseen.COLUMNS)
            return
        if arguments.own_folders:
            default = [arguments.checkpoints / folder.name for folder in DEFAULT_MODEL]
            self._own_folders(data, folders, default, arguments.publish)
            return
        rows = evaluate(
            data,
            folders,
            arguments.queries or QUERIES,
            arguments.fold,
            arguments.split,
            arguments.json,
            arguments.quick,
        )
        if arguments.publish:
            publish(rows, folders, CHECKPOINTS)
            publish_table(rows, page, "sound results")

    def _own_folders(
        self, data: Path, folders: Sequence[Path], default: Sequence[Path], publish: bool
    ) -> None:
        """Print the threshold of own folders, write it into the checkpoints if asked for, and print
        how often the default model labels such folders wrong."""
        from earshot.systems.sound_search.encoders.encoder import EarshotEncoder
        from training.common.report import markdown
        from training.sound_search.evaluate.own_folders import (
            COLUMNS,
            LABEL_COLUMNS,
            calibrate_own,
            measure_own,
            write_own_threshold,
        )

        for folder in folders:
            threshold, rows = calibrate_own(EarshotEncoder.from_pretrained(folder, "cpu"), data)
            print(folder.name, markdown(rows, COLUMNS), sep="\n")
            if publish:
                write_own_threshold(folder, threshold)
        encoder = EarshotEncoder.from_pretrained(default, "cpu")
        print(encoder.name, markdown(measure_own(encoder, data), LABEL_COLUMNS), sep="\n")


if __name__ == "__main__":
    run(SoundSearchTraining())
