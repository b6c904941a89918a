"""python -m training.judges train: the evaluation models, on original recordings only."""

import argparse
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from training.common.corpora import data_root
from training.common.report import write_card
from training.judges.evaluator import FOLDER, EvaluationModels, train_kmeans
from training.judges.recogniser import train_recogniser
from training.judges.speaker_encoder import train_speaker_encoder

STATE: Final = Path(gettempdir()) / "earshot-evaluation"
SPEAKER_ENCODER_STEPS: Final = 800


def main() -> None:
    """Train the models, going on from what is in STATE, and write them to OUT."""
    parser = argparse.ArgumentParser(prog="python -m training.judges")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("train", help="recordings → checkpoints/evaluation")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--out", type=Path, default=FOLDER)
    command.add_argument("--state", type=Path, default=STATE, help="folder of unfinished training")
    command.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data, seed = data_root(arguments.data), arguments.seed
    arguments.state.mkdir(parents=True, exist_ok=True)
    recogniser, recogniser_metrics = train_recogniser(data, arguments.state, seed)
    speaker_encoder, speaker_metrics = train_speaker_encoder(
        data, arguments.state, SPEAKER_ENCODER_STEPS, seed
    )
    models = EvaluationModels(recogniser, speaker_encoder, train_kmeans(data, seed))
    models.save(
        arguments.out,
        {"recogniser": recogniser_metrics, "speaker_encoder": speaker_metrics, "seed": seed},
    )
    write_card(arguments.out, FOLDER.name)


if __name__ == "__main__":
    main()
