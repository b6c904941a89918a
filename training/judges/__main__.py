"""python -m training.judges train: the evaluation models, on original recordings only."""

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Final, TypeVar

import torch
from torch import nn

from training.common.corpora import data_root
from training.judges.card import card
from training.judges.evaluator import FOLDER, EvaluationModels
from training.judges.kmeans import train_kmeans
from training.judges.recogniser import Recogniser
from training.judges.speaker_encoder import SpeakerEncoder
from training.judges.train_recogniser import train_recogniser
from training.judges.train_speaker_encoder import train_speaker_encoder

Network = TypeVar("Network", bound=nn.Module)

STATE: Final = Path(gettempdir()) / "earshot-evaluation"
SPEAKER_ENCODER_STEPS: Final = 800


def main() -> None:
    """Train what is not yet in STATE, then write all of it to OUT."""
    parser = argparse.ArgumentParser(prog="python -m training.judges")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("train", help="recordings → checkpoints/evaluation")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--out", type=Path, default=FOLDER)
    command.add_argument("--state", type=Path, default=STATE, help="folder of finished parts")
    command.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    data, seed = data_root(arguments.data), arguments.seed
    arguments.state.mkdir(parents=True, exist_ok=True)
    recogniser, recogniser_metrics = _part(
        arguments.state / "recogniser.pt",
        Recogniser(),
        lambda: train_recogniser(data, arguments.state, seed),
    )
    speaker_encoder, speaker_metrics = _part(
        arguments.state / "speaker_encoder.pt",
        SpeakerEncoder(),
        lambda: train_speaker_encoder(data, SPEAKER_ENCODER_STEPS, seed),
    )
    models = EvaluationModels(recogniser.eval(), speaker_encoder.eval(), train_kmeans(data, seed))
    models.save(
        arguments.out,
        {"recogniser": recogniser_metrics, "speaker_encoder": speaker_metrics, "seed": seed},
    )
    (arguments.out / "README.md").write_text(
        card(recogniser_metrics, speaker_metrics, seed), encoding="utf-8"
    )


def _part(
    path: Path, network: Network, train: Callable[[], tuple[Network, dict[str, float]]]
) -> tuple[Network, dict[str, float]]:
    """A finished part from STATE, or a newly trained one, which is put there."""
    if not path.exists():
        trained, measured = train()
        torch.save({"network": trained.state_dict(), "measured": measured}, path)
    saved = torch.load(path, weights_only=True)
    network.load_state_dict(saved["network"])
    return network, saved["measured"]


if __name__ == "__main__":
    main()
