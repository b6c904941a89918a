"""python -m training.voice_conversion prepare|train|evaluate: see --help of each."""

import argparse
from pathlib import Path

from models.vocoder import VocoderConfig
from models.vqvae import VQVAEConfig
from training.voice_conversion.units import train_units
from training.voice_conversion.vocoder import train_vocoder

UNITS = {
    "vqvae-64": VQVAEConfig(codebook_size=64),
    "vqvae-128": VQVAEConfig(codebook_size=128),
    "vqvae-256": VQVAEConfig(codebook_size=256),
    "vqvae-512": VQVAEConfig(codebook_size=512, strides=(2, 1)),
}


def main() -> None:
    """Parse the command line and run one stage."""
    parser = argparse.ArgumentParser(prog="python -m training.voice_conversion")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare", help="recordings → arrays in OUT")
    command.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    command.add_argument("--out", type=Path, required=True)
    command = commands.add_parser("train", help="arrays in OUT → weights in OUT")
    command.add_argument("name", choices=[*UNITS, "vocoder"])
    command.add_argument("--out", type=Path, required=True)
    command.add_argument("--steps", type=int, required=True)
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        from training.corpora import data_root
        from training.voice_conversion.prepare import prepare

        prepare(data_root(arguments.data), arguments.out)
    elif arguments.name == "vocoder":
        train_vocoder(arguments.out, "vocoder", VocoderConfig(), arguments.steps)
    else:
        train_units(arguments.out, arguments.name, UNITS[arguments.name], arguments.steps)


if __name__ == "__main__":
    main()
