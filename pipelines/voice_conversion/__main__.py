"""Convert speech to another voice, from the command line.

python -m pipelines.voice_conversion in.wav --to TF2 -o out.wav
python -m pipelines.voice_conversion FOLDER --to SM1 -o OUT
python -m pipelines.voice_conversion in.wav -o units.json    # encode only
python -m pipelines.voice_conversion units.json --to S1 -o out.wav
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from media.audio.load import wav_bytes
from pipelines import command_line
from pipelines.voice_conversion import settings
from pipelines.voice_conversion.units import Units

if TYPE_CHECKING:
    from pipelines.voice_conversion import VoiceConversion


def main(arguments: Sequence[str] | None = None) -> None:
    """See above."""
    parser = command_line.parser_of("voice_conversion", "recordings or units files", __doc__)
    parser.add_argument("-o", "--out", type=Path, required=True, help="a .wav or .json; a folder")
    parser.add_argument("--to", choices=settings.VOICES, default=settings.DEFAULT_VOICE)
    parser.add_argument("--vocoder", choices=settings.VOCODERS, default=settings.VOCODERS[0])
    parser.add_argument(
        "--model",
        default=next(iter(settings.MODELS)),
        help=f"{', '.join(settings.MODELS)}, a folder or a hub id (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    with command_line.explained():
        outputs = command_line.outputs_of(options.inputs, options.out, ".wav")
        from pipelines.voice_conversion import VoiceConversion  # late, for it loads torch

        pipeline = VoiceConversion.from_pretrained(options.model, options.device)

        def convert(source: Path) -> str:
            return _convert(pipeline, source, outputs[source], options.to, options.vocoder)

        command_line.for_each(list(outputs), convert)


def _convert(pipeline: "VoiceConversion", source: Path, out: Path, voice: str, vocoder: str) -> str:
    """Writes the speech, or the units, of one file; returns the line that says so."""
    units = (
        Units.from_json(source.read_text(errors="replace"))
        if source.suffix == ".json"
        else pipeline.encode(source)[1]
    )
    if out.suffix == ".json":
        content = units.to_json().encode()
    else:
        speech = pipeline.decode(units, voice, vocoder)
        content = wav_bytes(speech.waveform, speech.sample_rate)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(content)
    return f"{out}\t{len(units.codes)} units"


if __name__ == "__main__":
    main()
