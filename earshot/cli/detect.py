"""Say whether files were made here: their signed metadata, and the mark in their sound.

python -m earshot detect in.wav                # a line, then what each layer says
python -m earshot detect FOLDER --json         # a document a file

The exit status is 1 where a file could not be read. Nothing found does not prove that a file is a
recording: marks and metadata can be removed.
"""

from collections.abc import Sequence

from earshot.cli import files
from earshot.cli.files import Job
from earshot.core.console import explained
from earshot.provenance.detection import VERDICTS, detect


def main(arguments: Sequence[str] | None = None) -> None:
    """Search the files that the command line names."""
    parser = files.parser_of("detect", "sounds and videos", __doc__, device=False)
    parser.add_argument("--json", action="store_true", help="print a JSON document a file")
    options = parser.parse_args(arguments)
    with explained():
        jobs = files.jobs_of(options.inputs)

        def search(job: Job) -> files.Outcome:
            detection = detect(job.path)
            if options.json:
                return files.as_json({"file": str(job.file), **detection.document()}), ()
            lines = [f"{job.file}\t{VERDICTS[detection.verdict]}", *detection.answers]
            return "\n\t".join(lines), ()

        files.for_each(jobs, search)


if __name__ == "__main__":
    main()
