"""python -m training.words prepare|train|export|evaluate: see --help of each."""

import argparse
from pathlib import Path

from earshot.core.paths import CHECKPOINTS
from training.common.commands import commands
from training.common.front_end import front_end_of, prepared_with


def main() -> None:
    """Parse the command line and run one command.

    Each command imports what it needs: ``train`` runs where only torch and numpy are installed.
    """
    arguments = _arguments()
    if arguments.command == "train":
        from training.words.g2p.train import NAME, train_g2p
        from training.words.recipe import FRONT_END_RECIPE, RECIPE

        recipe = FRONT_END_RECIPE if front_end_of(arguments.out) else RECIPE
        for name in arguments.names or ([NAME, *RECIPE] if recipe is RECIPE else recipe):
            train_g2p(arguments.out) if name == NAME else recipe[name](arguments.out, name)
        return
    from training.common.corpora import data_root

    data = data_root(arguments.data)
    if arguments.command == "prepare":
        from training.words.data.prepare import prepare
        from training.words.g2p.train import prepare_g2p

        if arguments.front_end:
            prepare(data, arguments.out, prepared_with(arguments.front_end, arguments.out))
            return
        prepare_g2p(arguments.out)
        prepare(data, arguments.out)
    elif arguments.command == "export":
        from training.words.export import export
        from training.words.g2p.train import evaluate_g2p, export_g2p

        export(data, arguments.out, CHECKPOINTS)
        if front_end_of(arguments.out):
            return
        export_g2p(arguments.out, CHECKPOINTS)
        evaluate_g2p(arguments.out, CHECKPOINTS)
    else:
        _evaluate(data, arguments)


def _evaluate(data: Path, arguments: argparse.Namespace) -> None:
    from training.common.report import publish_table, publish_text
    from training.words.evaluate.card import publish
    from training.words.evaluate.evaluate import evaluate
    from training.words.evaluate.tables import details
    from training.words.recipe import MEASURED

    roots = [CHECKPOINTS, *([arguments.compared] if arguments.compared else [])]
    folders = [root / name for name in MEASURED for root in roots if (root / name).exists()]
    only = arguments.only
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


def _arguments() -> argparse.Namespace:
    parser, evaluate = commands("words", front_end=True)
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
        help="speech encoders of transformers, untrained, as further systems: folders or hub ids",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
