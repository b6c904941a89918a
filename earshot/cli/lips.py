"""Read the lips of videos, from the command line; their sound is ignored.

python -m earshot lips in.mp4                 # prints the words
python -m earshot lips in.mp4 -o out.wav      # and speaks them
python -m earshot lips in.mp4 -o out.wav --voice Nell
python -m earshot lips FOLDER -o OUT --json
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import explained
from earshot.core.paths import CHECKPOINTS
from earshot.media.encode import FORMATS
from earshot.provenance.manifest import write_speech

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech import LipReading

FACE: Final = "face"  # the voice that the face suggests


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the videos that the command line names."""
    parser = files.parser_of("lips", "videos of a speaking face", __doc__)
    files.add_output(parser, f"the speech: a {', '.join(FORMATS)}", required=False)
    parser.add_argument(
        "--voice",
        default=FACE,
        help=f"of the speech: {files.NAMED} (default: that which the face suggests)",
    )
    parser.add_argument("--vocoder", choices=["neural", "griffin-lim"], default="neural")
    parser.add_argument(
        "--model", default=CHECKPOINTS / "lip-to-speech", help="a folder, or a hub id"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document a video")
    files.add_no_mark(parser)
    options = parser.parse_args(arguments)
    with explained():
        jobs = files.jobs_of(options.inputs, options.out, FORMATS, options.overwrite)
        from earshot.systems.lip_to_speech import LipToSpeech  # late, for it loads torch

        pipeline = LipToSpeech.from_pretrained(options.model, options.device)
        voice = None if options.voice == FACE else pipeline.voice_of(options.voice)

        def read(job: Job) -> files.Outcome:
            reading = pipeline.encode(job.path)
            if job.out:
                speech = pipeline.speak(reading, voice or reading.voice, options.vocoder).speech
                write_speech(job.out, speech)
            return _line(job.file, reading, options.json), reading.notices

        files.for_each(jobs, read)


def _line(video: Path, reading: "LipReading", as_json: bool) -> str:
    sentence = " ".join(word.text for word in reading.caption)
    if not as_json:
        return f"{video}\t{sentence}\t{reading.confidence:.2f}"
    return files.as_json(
        {
            "file": str(video),
            "sentence": sentence,
            "confidence": reading.confidence,
            "words": [asdict(word) for word in reading.caption],
            "notices": reading.notices,
        }
    )


if __name__ == "__main__":
    main()
