"""python -m training.voice_conversion prepare|train|evaluate: see --help of each."""

from media.paths import CHECKPOINTS, ROOT
from training.common.commands import add_judges, commands


def main() -> None:
    """Parse the command line and run one stage.

    Each stage imports what it needs: training runs where only torch and numpy are installed.
    """
    parser, evaluation = commands("voice_conversion")
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
        prepare(data, arguments.out)
        prepare_any_voice(data, arguments.out)
    elif arguments.command == "train":
        from training.voice_conversion.recipe import RECIPE

        for name in arguments.names or RECIPE:
            RECIPE[name](arguments.out, name)
    elif arguments.command == "export":
        from training.voice_conversion.any_voice.export import export as export_any_voice
        from training.voice_conversion.export import export

        export(arguments.out, CHECKPOINTS)
        if (arguments.out / "conversion.state").exists():
            export_any_voice(arguments.out, CHECKPOINTS)
    else:
        from training.common.corpora import data_root
        from training.evaluators.pretrained.judges import Judges
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
        )
        if arguments.publish:
            publish(rows, CHECKPOINTS, ROOT / "docs" / "voice_conversion.md")


if __name__ == "__main__":
    main()
