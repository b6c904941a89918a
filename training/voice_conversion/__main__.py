"""python -m training.voice_conversion prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.commands import Arguments, Recipe, System, add_judges, run
from training.common.front_end import front_end_of, prepared_with


class VoiceConversionTraining(System):
    """The commands of voice conversion."""

    name = "voice_conversion"
    front_end = True

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add further checkpoints, which of all to measure, and judges of the hub."""
        evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
        evaluate.add_argument(
            "--only",
            nargs="+",
            help="checkpoints to measure with the baselines; all unless named",
        )
        evaluate.add_argument(
            "--noise",
            action="store_true",
            help="measure only the default and the original, in babble at 20, 10, 5 and 0 dB",
        )
        add_judges(evaluate)

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn recordings into arrays: frames of a front end, or our own."""
        from training.voice_conversion.any_voice.prepare import prepare as prepare_any_voice
        from training.voice_conversion.data.prepare import prepare

        if arguments.front_end:
            prepare(data, arguments.out, prepared_with(arguments.front_end, arguments.out))
        else:
            prepare(data, arguments.out)
            prepare_any_voice(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe of the arrays."""
        from training.voice_conversion.recipe import FRONT_END_RECIPE, RECIPE

        return FRONT_END_RECIPE if front_end_of(arguments.out) else RECIPE

    def export(self, arguments: Arguments) -> None:
        """Write the checkpoints. Models over a front end stay with the person who trains them."""
        from training.voice_conversion.any_voice.export import export as export_any_voice
        from training.voice_conversion.export import export

        own = arguments.out / "checkpoints" if front_end_of(arguments.out) else CHECKPOINTS
        export(arguments.out, own)
        if (arguments.out / "conversion.pt").exists():
            export_any_voice(arguments.out, CHECKPOINTS)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the shipped checkpoints, those to compare them with, and the baselines."""
        from training.common.report import publish_table
        from training.judges.pretrained.judges import Judges
        from training.voice_conversion.evaluate.card import publish
        from training.voice_conversion.evaluate.evaluate import evaluate, evaluate_in_noise

        page = ROOT / "docs" / "voice_conversion.md"
        if arguments.noise:
            rows = evaluate_in_noise(data, CHECKPOINTS, arguments.json, arguments.quick)
            if arguments.publish:
                publish_table([r for r in rows if "noise_0db" in r], page, "noise-results")
                publish_table([r for r in rows if "warned_0db" in r], page, "notice-results")
            return
        rows = evaluate(
            data,
            CHECKPOINTS,
            arguments.split,
            arguments.json,
            arguments.quick,
            arguments.only,
            Judges.of(arguments),
            arguments.compared,
        )
        if arguments.publish:
            publish(rows, CHECKPOINTS, page)


if __name__ == "__main__":
    run(VoiceConversionTraining())
