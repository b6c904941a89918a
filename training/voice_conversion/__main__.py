"""python -m training.voice_conversion prepare|train|export|evaluate: see --help of each.

On a machine that is there for some minutes only:

    python -m training.voice_conversion pack --out OUT --to FOLDER
    python -m training.voice_conversion train-remote --packed FOLDER --out OUT --seconds 525 \\
        --recogniser encoder_model.ort [--start checkpoints/any-voice]

`pack` copies what `prepare` wrote into OUT, with speech as Opus: 44 MB for five hours and a half.
`train-remote` needs torch, numpy, soundfile, safetensors and flatbuffers only, and the repository
with checkpoints/any-voice-vocoder: it unpacks, trains for so many seconds, from where it was, and
exports below OUT/checkpoints.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.commands import (
    Arguments,
    Recipe,
    System,
    add_judges,
    front_end_of,
    prepared_with,
    run,
)

if TYPE_CHECKING:
    from training.common.commands import Subparsers


class VoiceConversionTraining(System):
    """The commands of voice conversion."""

    name = "voice_conversion"
    front_end = True
    networks = ("any-voice", "vqvae")

    def add_options(self, evaluate: argparse.ArgumentParser) -> None:
        """Add the part to measure, further checkpoints, which of all, and judges of the hub."""
        evaluate.add_argument(
            "--part",
            choices=["table", "noise", "unseen", "nobody", "hall"],
            default="table",
            help="noise: the default and the original, in babble at 20, 10, 5 and 0 dB; unseen: "
            "the default, to people whom no training knew; nobody: how far nobody's voice hides "
            "speakers; hall: any-voice, and --compared's, in babble on validation",
        )
        evaluate.add_argument("--compared", type=Path, help="a folder of further checkpoints")
        evaluate.add_argument(
            "--only",
            nargs="+",
            help="checkpoints to measure with the baselines, or rows of nobody; all unless named",
        )
        add_judges(evaluate)

    def add_commands(self, stages: "Subparsers") -> None:
        """Add the commands for a machine that is there for some minutes only, and those that fit
        linear-vc and what nobody is drawn from."""
        fitting = stages.add_parser("linear", help="the data folder → checkpoints/linear-vc")
        fitting.add_argument("--data", help="the data folder; $EARSHOT_DATA unless named")
        fitting.set_defaults(run=_fit_linear)
        drawn = stages.add_parser("strangers", help="the data folder → what nobody is drawn from")
        drawn.add_argument("--data", help="the data folder; $EARSHOT_DATA unless named")
        drawn.set_defaults(run=_fit_strangers)
        teaching = stages.add_parser(
            "hall", help="arrays in OUT → a content encoder taught in noise"
        )
        teaching.add_argument("--out", type=Path, required=True)
        teaching.add_argument("--steps", type=int, default=3_000, help="in all; resumes")
        teaching.set_defaults(run=_teach)
        packing = stages.add_parser("pack", help="arrays in OUT → a small folder to carry")
        packing.add_argument("--to", type=Path, required=True)
        training = stages.add_parser("train-remote", help="a packed folder → OUT/checkpoints")
        training.add_argument("--packed", type=Path, required=True)
        training.add_argument("--seconds", type=float, required=True, help="of training")
        training.add_argument(
            "--recogniser",
            type=Path,
            required=True,
            help="assets/tiny-en/encoder_model.ort of the wheel moonshine-voice",
        )
        training.add_argument("--start", type=Path, help="a checkpoint to begin with")
        for stage, command in ((packing, _pack), (training, _train_remote)):
            stage.add_argument("--out", type=Path, required=True)
            stage.set_defaults(run=command)

    def prepare(self, data: Path, arguments: Arguments) -> None:
        """Turn recordings into the arrays of the default, or of the baselines: of MFCC, or of the
        frames of a front end."""
        from training.voice_conversion.baselines.prepare import prepare as prepare_baselines
        from training.voice_conversion.prepare import prepare

        if arguments.front_end:
            encoder = prepared_with(arguments.front_end, arguments.out)
            prepare_baselines(data, arguments.out, encoder)
        elif arguments.network == "vqvae":
            prepare_baselines(data, arguments.out)
        else:
            prepare(data, arguments.out)

    def recipe(self, arguments: Arguments) -> Recipe:
        """Choose the recipe: of the front end of the arrays, else of the network."""
        from training.voice_conversion.recipe import BASELINES, FRONT_END_RECIPE, RECIPE

        if front_end_of(arguments.out):
            return FRONT_END_RECIPE
        return BASELINES if arguments.network == "vqvae" else RECIPE

    def export(self, arguments: Arguments) -> None:
        """Write the checkpoints of what was trained. Models over a front end stay with the person
        who trains them."""
        from training.voice_conversion.export import export, export_baselines
        from training.voice_conversion.hall import export_taught

        own = arguments.out / "checkpoints" if front_end_of(arguments.out) else CHECKPOINTS
        export_baselines(arguments.out, own)
        export(arguments.out, own)
        export_taught(arguments.out, own)

    def evaluate(self, data: Path, arguments: Arguments) -> None:
        """Measure the shipped checkpoints, those to compare them with, and the baselines."""
        from training.common.report import publish_table
        from training.judges.hub import Judges
        from training.voice_conversion.evaluate import (
            evaluate,
            evaluate_in_noise,
            evaluate_unseen,
            publish,
            publish_unseen,
        )

        page = ROOT / "docs" / "voice_conversion.md"
        if arguments.part == "noise":
            rows = evaluate_in_noise(data, CHECKPOINTS, arguments.json, arguments.quick)
            if arguments.publish:
                publish_table([r for r in rows if "noise_0db" in r], page, "noise-results")
                publish_table([r for r in rows if "warned_0db" in r], page, "notice-results")
            return
        if arguments.part == "nobody":
            from training.voice_conversion.nobody import nobody_rows

            rows = nobody_rows(data, arguments.json, arguments.quick, arguments.only or ())
            if arguments.publish:
                publish_table(rows, page, "nobody-results")
            return
        if arguments.part == "hall":
            from training.voice_conversion.hall import SHIPPED, hall_rows

            others = [arguments.compared / SHIPPED.name] if arguments.compared else []
            hall_rows(data, [SHIPPED, *others], arguments.json)
            return
        if arguments.part == "unseen":
            rows = evaluate_unseen(data, CHECKPOINTS, arguments.json, arguments.quick)
            if arguments.publish:
                publish_unseen(rows, CHECKPOINTS, page)
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


def _fit_linear(arguments: Arguments) -> None:
    from training.common.corpora import data_root
    from training.voice_conversion.linear import fit_linear

    fit_linear(data_root(arguments.data))


def _fit_strangers(arguments: Arguments) -> None:
    from training.common.corpora import data_root
    from training.voice_conversion.nobody import fit_strangers

    fit_strangers(data_root(arguments.data))


def _teach(arguments: Arguments) -> None:
    from training.common.loop import Budget
    from training.voice_conversion.hall import teach

    teach(arguments.out, Budget(steps=arguments.steps))


def _pack(arguments: Arguments) -> None:
    from training.voice_conversion.remote import pack

    pack(arguments.out, arguments.to)


def _train_remote(arguments: Arguments) -> None:
    from training.voice_conversion.remote import train_remote

    train_remote(
        arguments.packed,
        arguments.out,
        arguments.seconds,
        arguments.recogniser,
        arguments.start,
    )


if __name__ == "__main__":
    run(VoiceConversionTraining())
