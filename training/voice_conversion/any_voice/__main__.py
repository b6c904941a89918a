"""python -m training.voice_conversion.any_voice: train on a machine that is lent for some minutes.

    python -m training.voice_conversion.any_voice pack --out OUT --to FOLDER
    python -m training.voice_conversion.any_voice lent --packed FOLDER --out OUT --seconds 525 \\
        --recogniser encoder_model.ort [--start checkpoints/any-voice]

`pack` copies what `prepare` wrote into OUT, with speech as Opus: 44 MB for five hours and a half.
`lent` needs torch, numpy, soundfile, safetensors, flatbuffers and lazy_loader only, and the
repository with checkpoints/any-voice-vocoder: it unpacks, trains for so many seconds, from where it
was, and exports below OUT/checkpoints.
"""

import argparse
from pathlib import Path


def main() -> None:
    """Parse the command line and run one stage."""
    parser = argparse.ArgumentParser(prog="python -m training.voice_conversion.any_voice")
    stages = parser.add_subparsers(dest="command", required=True)
    packing = stages.add_parser("pack", help="arrays of OUT → a folder to carry")
    packing.add_argument("--to", type=Path, required=True)
    lent = stages.add_parser("lent", help="a carried folder → checkpoints")
    lent.add_argument("--packed", type=Path, required=True)
    lent.add_argument("--seconds", type=float, required=True, help="of training")
    lent.add_argument(
        "--recogniser",
        type=Path,
        required=True,
        help="assets/tiny-en/encoder_model.ort of the wheel moonshine-voice",
    )
    lent.add_argument("--start", type=Path, help="a checkpoint to begin with")
    for stage in (packing, lent):
        stage.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    from training.voice_conversion.any_voice.pack import pack, unpack

    if arguments.command == "pack":
        pack(arguments.out, arguments.to)
        return
    from training.common.loop import Budget
    from training.voice_conversion.any_voice.conversion import train_conversion
    from training.voice_conversion.any_voice.export import export

    if not (arguments.out / "train" / "waveform.npy").exists():
        unpack(arguments.packed, arguments.out)
    budget = Budget(seconds=arguments.seconds)
    train_conversion(arguments.out, "conversion", budget, arguments.recogniser, arguments.start)
    export(arguments.out, arguments.out / "checkpoints")


if __name__ == "__main__":
    main()
