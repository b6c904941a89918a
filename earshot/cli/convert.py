"""Convert speech to another voice, from the command line.

python -m earshot convert in.wav --to TF2 -o out.wav
python -m earshot convert FOLDER --to SM1 -o OUT
python -m earshot convert in.wav -o units.json    # encode only
python -m earshot convert units.json --to S1 -o edited.wav
python -m earshot convert in.wav --reference clip.wav -o like-clip.wav
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import explained, text_of
from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import load, loudness, match_loudness
from earshot.media.encode import FORMATS, encode_audio
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech
    from earshot.pretrained.recogniser import Transcriber
    from earshot.systems.voice_conversion import Converter, Voice

ENDINGS: Final = (*FORMATS, ".json")


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert the recordings, or units, that the command line names."""
    parser = files.parser_of("convert", "recordings or units files", __doc__)
    files.add_output(parser, f"a {', '.join(ENDINGS)}", required=True)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--to", choices=settings.VOICES, default=settings.DEFAULT_VOICE)
    target.add_argument(
        "--reference",
        type=Path,
        metavar="CLIP",
        help="10 to 30 s of somebody who agreed to be spoken as, in place of --to",
    )
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
    parser.add_argument(
        "--loudness",
        choices=settings.LOUDNESS,
        help="that of the source, or the same for all (default: the source's where there are "
        "several files, which keeps them apart)",
    )
    parser.add_argument(
        "--transcripts",
        action="store_true",
        help="print what a recogniser hears in the source and in its conversion, too",
    )
    options = parser.parse_args(arguments)
    with explained():
        jobs = files.jobs_of(options.inputs, options.out, ENDINGS, options.overwrite)
        keep = options.loudness == "source" or (options.loudness is None and len(jobs) > 1)
        if options.speecht5:
            _by_speecht5(jobs, keep, options.speecht5, options.device)
            return
        pipeline = _load(options.model, options.device)
        vocoder = options.vocoder or pipeline.vocoders[0]
        intonation = options.intonation or pipeline.intonations[0]
        target = _voice(pipeline, options.reference) if options.reference else options.to
        transcriber = _transcriber(options.device) if options.transcripts else None

        def convert(job: Job) -> files.Outcome:
            return _convert(pipeline, job, keep, target, vocoder, intonation, transcriber)

        files.for_each(jobs, convert)


def _installed() -> list[str]:
    """List the models whose checkpoint is here, the default first."""
    return [
        name
        for name, checkpoint in settings.MODELS.items()
        if (CHECKPOINTS / checkpoint / "config.json").exists()
    ]


def _load(model: str, device: str) -> "Converter":
    from earshot.systems.voice_conversion import VoiceConversion  # late: it loads torch

    return VoiceConversion.from_pretrained(model, device)


def _voice(pipeline: "Converter", clip: Path) -> "Voice":
    """Make the voice of a clip; what is wrong with it is said with its name."""
    try:
        with files.readable(Job(clip, clip.name, clip)) as job:
            return pipeline.voice_from(job.path)
    except InputError as error:
        raise InputError(f"{clip}: {text_of(error)}") from error


def _transcriber(device: str) -> "Transcriber":
    from earshot.pretrained.recogniser import Transcriber  # late: torch

    return Transcriber.from_pretrained(device=device)


def _by_speecht5(jobs: list[Job], keep: bool, voice: Path, device: str) -> None:
    from earshot.systems.voice_conversion.speecht5 import (  # late: torch
        SpeechT5Conversion,
        read_voice,
    )

    vector = read_voice(voice)
    pipeline = SpeechT5Conversion.from_pretrained(device=device)

    def convert(job: Job) -> files.Outcome:
        result = pipeline(job.path, vector)
        return _write(job, result.converted, keep), result.notices

    files.for_each(jobs, convert)


def _convert(
    pipeline: "Converter",
    job: Job,
    keep: bool,
    target: "str | Voice",
    vocoder: str,
    intonation: str,
    transcriber: "Transcriber | None" = None,
) -> files.Outcome:
    """Write the speech, or the units, of one file; keep: with the loudness of its source."""
    assert job.out
    heard: list[Speech] = []
    from_units = _is_units(job.path)
    if from_units:
        units, notices = Units.from_json(job.path.read_text("utf-8", errors="replace")), ()
    else:
        source, units, notices = pipeline.encode(job.path)
        heard.append(source)
    if job.out.suffix.lower() == ".json":
        write(job.out, units.to_json().encode())
        line = str(job.out)
    else:
        speech = pipeline.decode(units, target, vocoder, intonation)
        line = _write(job, speech, keep and not from_units)
        heard.append(speech)
    words = [transcriber(each).text for each in heard] if transcriber else []
    return "\t".join([line, f"{len(units.codes)} units", *words]), notices


def _is_units(path: Path) -> bool:
    """Say whether a file holds units: by its name, or, without one, by how it begins."""
    if path.suffix:
        return path.suffix.lower() == ".json"
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def _write(job: Job, speech: "Speech", keep: bool) -> str:
    """Write speech, with the loudness of its source where that is kept → the name of the file."""
    assert job.out
    waveform, rate = speech.waveform, speech.sample_rate
    if keep:
        source = load(job.path, rate, settings.MAX_SECONDS).waveform
        waveform = match_loudness(waveform, rate, loudness(source, rate))
    write(job.out, encode_audio(waveform, rate, job.out.suffix))
    return str(job.out)


if __name__ == "__main__":
    main()
