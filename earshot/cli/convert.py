"""Convert speech to another voice, from the command line.

python -m earshot convert in.wav --to TF2 -o out.wav
python -m earshot convert FOLDER --to SM1 -o OUT
python -m earshot convert in.wav -o units.json    # encode only
python -m earshot convert units.json --to S1 -o edited.wav
python -m earshot convert in.wav --reference clip.wav -o like-clip.wav
python -m earshot convert in.wav --to nobody --strength .8 -o nobody.wav
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import explained, text_of, typed_path
from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import loudness, match_loudness
from earshot.media.encode import FORMATS
from earshot.pretrained.voice import STRENGTH, Nobody, voice_named
from earshot.provenance.detection import notices_of_mark
from earshot.provenance.manifest import write_speech
from earshot.provenance.mark import marked
from earshot.provenance.notice import AUTOMATIC, CHOICES, with_notice
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech
    from earshot.pretrained.recogniser import Transcriber
    from earshot.systems.voice_conversion import Converter, Voice

ENDINGS: Final = (*FORMATS, ".json")
TO: Final[dict[str, Any]] = {  # the option: a shipped voice by either of its names, or nobody
    "type": voice_named,
    "choices": (*settings.VOICES, settings.NOBODY),
    "default": settings.DEFAULT_VOICE,
    "metavar": "VOICE",
    "help": f"{files.NAMED}, or {settings.NOBODY} (default: %(default)s)",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert the recordings, or units, that the command line names."""
    parser = files.parser_of("convert", "recordings or units files", __doc__)
    files.add_output(parser, f"a {', '.join(ENDINGS)}", required=True)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--to", **TO)
    target.add_argument(
        "--reference",
        type=typed_path,
        metavar="CLIP",
        help="10 to 30 s of a speaker who agreed to be spoken as, in place of --to",
    )
    parser.add_argument(
        "--strength",
        type=float,
        help="with --to nobody, whose voice is drawn anew by each command: how much of the speaker "
        f"goes, from 0 to 1 (default: {STRENGTH})",
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
        type=typed_path,
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
        "--notice",
        choices=CHOICES,
        default=AUTOMATIC,
        help="say before the speech that a computer changed it, in this language (default: in "
        "English where the voice is that of --reference)",
    )
    parser.add_argument(
        "--transcripts",
        action="store_true",
        help="print the transcripts of the source and of its conversion by a recogniser, too, and "
        "say where it guesses, as at other languages than English: about as long again",
    )
    files.add_no_mark(parser)
    options = parser.parse_args(arguments)
    with explained():
        target = target_of(options.to, options.strength)
        jobs = files.jobs_of(options.inputs, options.out, ENDINGS, options.overwrite)
        level = options.loudness or ("source" if len(jobs) > 1 else "level")
        if options.speecht5:
            as_loud = level == "source"
            _by_speecht5(jobs, options.speecht5, options.device, as_loud, options.notice)
            return
        from earshot.systems.voice_conversion import VoiceConversion  # late: it loads torch

        converter = VoiceConversion.from_pretrained(options.model, options.device)
        if options.reference:
            target = voice_of_clip(converter, options.reference)
        choices = (target, options.vocoder, options.intonation, level)
        transcriber = _transcriber(options.device) if options.transcripts else None
        work = partial(_convert, converter, choices, transcriber, options.notice)
        files.for_each(jobs, work)


def _installed() -> list[str]:
    """List the models whose checkpoint is here, the default first."""
    return [
        name
        for name, checkpoint in settings.MODELS.items()
        if (CHECKPOINTS / checkpoint / "config.json").exists()
    ]


def target_of(name: str, strength: float | None) -> str | Nobody:
    """Draw nobody, where they are the target. Raises InputError for a strength of others."""
    if name == settings.NOBODY:
        return Nobody(STRENGTH if strength is None else strength)
    if strength is not None:
        raise InputError("--strength is that of --to nobody.")
    return name


def voice_of_clip(converter: "Converter", clip: Path) -> "Voice":
    """Make the voice of a clip; an error about it names it."""
    try:
        with files.readable(Job(clip, clip.name, clip)) as job:
            return converter.voice_from(job.path)
    except InputError as error:
        raise InputError(f"{clip}: {text_of(error)}") from error


def _transcriber(device: str) -> "Transcriber":
    from earshot.pretrained.recogniser import Transcriber  # late: torch

    return Transcriber.from_pretrained(device=device)


def _by_speecht5(jobs: list[Job], voice: Path, device: str, as_loud: bool, notice: str) -> None:
    """Convert by SpeechT5 to the x-vector of a file; as_loud: as loud as the source."""
    from earshot.systems.voice_conversion.speecht5 import (  # late: torch
        SpeechT5Conversion,
        read_voice,
    )

    vector = read_voice(voice)
    convert_speech = SpeechT5Conversion.from_pretrained(device=device)

    def convert(job: Job) -> files.Outcome:
        result = convert_speech(job.path, vector)
        source, speech = result.source, marked(result.converted)
        if as_loud:
            lufs = loudness(source.waveform, source.sample_rate)
            waveform = match_loudness(speech.waveform, speech.sample_rate, lufs)
            speech = replace(speech, waveform=waveform)
        return _write(job, speech, notice), result.notices

    files.for_each(jobs, convert)


def _convert(
    converter: "Converter",
    choices: "tuple[str | Voice | Nobody, str | None, str | None, str]",
    transcriber: "Transcriber | None",
    notice: str,
    job: Job,
) -> files.Outcome:
    """Write the speech, or the units, of one file. choices: target, vocoder, intonation, loudness,
    of which the last is that of recordings.
    """
    assert job.out
    as_units = job.out.suffix.lower() == ".json"
    source = speech = None
    notices: Sequence[str] = ()
    if _is_units(job.path):
        units = Units.from_json(job.path.read_text("utf-8", errors="replace"))
        if not as_units:
            speech = converter.decode(units, *choices[:3])
    elif as_units:
        source, units, notices = converter.encode(job.path)
    else:
        result = converter(job.path, *choices)
        source, units, speech = result.source, result.units, result.converted
        notices = (*result.notices, *notices_of_mark(source))
    if speech is None:
        write(job.out, units.to_json().encode())
    else:
        _write(job, speech, notice)
    transcripts = [transcriber(each) for each in (source, speech) if transcriber and each]
    if source and transcripts and transcripts[0].doubt:
        notices = (*notices, transcripts[0].doubt)
    line = [str(job.out), f"{len(units.codes)} units", *(each.text for each in transcripts)]
    return "\t".join(line), notices


def _is_units(path: Path) -> bool:
    """Whether a file holds units: by its name, or, without one, by how it begins."""
    if path.suffix[1:].lower() in files.ENDINGS:
        return path.suffix.lower() == ".json"
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def _write(job: Job, speech: "Speech", notice: str) -> str:
    """Write speech, after a notice, → the name of the file."""
    assert job.out
    write_speech(job.out, with_notice(speech, notice))
    return str(job.out)


if __name__ == "__main__":
    main()
