"""python -m training.voice_conversion prepare|train|evaluate: see --help of each."""

from pathlib import Path

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.commands import add_judges, commands
from training.common.front_end import front_end_of, prepared_with


def main() -> None:
    """Parse the command line and run one stage.

    Each stage imports what it needs: training runs where only torch and numpy are installed.
    """
    parser, evaluation = commands("voice_conversion", front_end=True)
    evaluation.add_argument("--compared", type=Path, help="a folder of further checkpoints")
    evaluation.add_argument(
        "--only", nargs="+", help="checkpoints to measure beside the baselines; all unless named"
    )
    add_judges(evaluation)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.common.corpora import data_root
        from training.voice_conversion.any_voice.prepare import prepare as prepare_any_voice
        from training.voice_conversion.data.prepare import prepare

        data = data_root(arguments.data)
        if arguments.front_end:
            prepare(data, arguments.out, prepared_with(arguments.front_end, arguments.out))
        else:
            prepare(data, arguments.out)
            prepare_any_voice(data, arguments.out)
    elif arguments.command == "train":
        from training.voice_conversion.recipe import FRONT_END_RECIPE, RECIPE

        recipe = FRONT_END_RECIPE if front_end_of(arguments.out) else RECIPE
        for name in arguments.names or recipe:
            recipe[name](arguments.out, name)
    elif arguments.command == "export":
        from training.voice_conversion.any_voice.export import export as export_any_voice
        from training.voice_conversion.export import export

        # Models over a front end are not shipped: whoever trains them keeps them.
        own = arguments.out / "checkpoints" if front_end_of(arguments.out) else CHECKPOINTS
        export(arguments.out, own)
        if (arguments.out / "conversion.state").exists():
            export_any_voice(arguments.out, CHECKPOINTS)
    else:
        from training.common.corpora import data_root
        from training.judges.pretrained.judges import Judges
        from training.voice_conversion.evaluate.card import publish
        from training.voice_conversion.evaluate.evaluate import evaluate

        rows = evaluate(
            data_root(arguments.data),
            CHECKPOINTS,
            arguments.split,
            arguments.json,
            arguments.quick,
            arguments.only,
            Judges.of(arguments),
            arguments.compared,
        )
        if arguments.publish:
            publish(rows, CHECKPOINTS, ROOT / "docs" / "voice_conversion.md")


if __name__ == "__main__":
    main()
