"""Convert speech to another voice, from the command line.

python -m earshot.pipelines.voice_conversion in.wav --to TF2 -o out.wav
python -m earshot.pipelines.voice_conversion FOLDER --to SM1 -o OUT
python -m earshot.pipelines.voice_conversion in.wav -o units.json    # encode only
python -m earshot.pipelines.voice_conversion units.json --to S1 -o out.wav
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import wav_bytes
from earshot.pipelines import command_line
from earshot.pipelines.voice_conversion import settings
from earshot.pipelines.voice_conversion.units import Units

if TYPE_CHECKING:
    from earshot.pipelines.voice_conversion.converter import Converter


def main(arguments: Sequence[str] | None = None) -> None:
    """See above."""
    parser = command_line.parser_of("voice_conversion", "recordings or units files", __doc__)
    parser.add_argument("-o", "--out", type=Path, required=True, help="a .wav or .json; a folder")
    parser.add_argument("--to", choices=settings.VOICES, default=settings.DEFAULT_VOICE)
    parser.add_argument("--vocoder", choices=settings.VOCODERS, help="default: the model's")
    parser.add_argument("--intonation", choices=settings.INTONATIONS, help="default: the model's")
    parser.add_argument(
        "--model",
        default=_installed()[0],
        help=f"{', '.join(_installed())}, a folder or a hub id (default: %(default)s)",
    )
    parser.add_argument(
        "--speecht5",
        type=Path,
        metavar="VOICE.npy",
        help="convert by microsoft/speecht5_vc (600 MB) instead, to this x-vector of 512 numbers",
    )
    options = parser.parse_args(arguments)
    with command_line.explained():
        outputs = command_line.outputs_of(options.inputs, options.out, ".wav")
        if options.speecht5:
            _by_speecht5(outputs, options.speecht5, options.device)
            return
        pipeline = _load(options.model, options.device)
        vocoder = options.vocoder or pipeline.vocoders[0]
        intonation = options.intonation or pipeline.intonations[0]

        def convert(source: Path) -> str:
            choices = options.to, vocoder, intonation
            return _convert(pipeline, source, outputs[source], choices)

        command_line.for_each(list(outputs), convert)


def _installed() -> list[str]:
    """The models whose checkpoint is here, the default first."""
    return [
        name
        for name, model in settings.MODELS.items()
        if (CHECKPOINTS / model.checkpoint / "config.json").exists()
    ]


def _load(model: str, device: str) -> "Converter":
    from earshot.pipelines.voice_conversion import VoiceConversion  # late, for they load torch
    from earshot.pipelines.voice_conversion.converters import Converters

    if model in settings.MODELS:
        return Converters(CHECKPOINTS, device)(model)
    return VoiceConversion.from_pretrained(model, device)


def _by_speecht5(outputs: dict[Path, Path], voice: Path, device: str) -> None:
    from earshot.pipelines.voice_conversion.speecht5 import (  # late: torch
        SpeechT5Conversion,
        read_voice,
    )

    vector = read_voice(voice)
    pipeline = SpeechT5Conversion.from_pretrained(device=device)

    def convert(source: Path) -> str:
        speech = pipeline(source, vector).converted
        return _write(outputs[source], wav_bytes(speech.waveform, speech.sample_rate))

    command_line.for_each(list(outputs), convert)


def _convert(pipeline: "Converter", source: Path, out: Path, choices: tuple[str, str, str]) -> str:
    """Writes the speech, or the units, of one file; returns the line that says so. choices: voice,
    vocoder and intonation."""
    units = (
        Units.from_json(source.read_text(errors="replace"))
        if source.suffix == ".json"
        else pipeline.encode(source)[1]
    )
    if out.suffix == ".json":
        content = units.to_json().encode()
    else:
        speech = pipeline.decode(units, *choices)
        content = wav_bytes(speech.waveform, speech.sample_rate)
    return f"{_write(out, content)}\t{len(units.codes)} units"


def _write(out: Path, content: bytes) -> str:
    """Writes a file and returns its name."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(content)
    return str(out)


if __name__ == "__main__":
    main()
