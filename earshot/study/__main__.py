"""earshot study COMMAND: a listening test from start to figures.

Commands: new, check, freeze, simulate, serve, invite, backup, export, analyse, compare, reproduce,
import.

TEST is a folder with test.yaml, or a YAML file of webMUSHRA's.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from earshot.core.connections import network
from earshot.core.console import count, open_streams, typed_path
from earshot.core.errors import InputError
from earshot.core.files import check_new, replacing
from earshot.core.files import write as write_file
from earshot.study import preregistration, rater_links
from earshot.study.design import DESIGNS, Test, spec
from earshot.study.design.form import SCHEMA, Form, template
from earshot.study.design.spec import FILE, SpecError
from earshot.study.design.statements import reviewer_gaps
from earshot.study.imports.toolkits import CLIPS, SCALES, read_ratings
from earshot.study.sounds import stimuli
from earshot.study.sounds.copies import same_systems
from earshot.study.storage import dataset
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.storage.export import export, exported
from earshot.study.storage.raters import Conduct
from earshot.study.storage.store import Store

REHEARSAL = "simulated"  # the folder of what simulated raters answer
REHEARSAL_DATABASE = "rehearsal.db"  # of simulated raters' answers, in that folder
SAME = "{} and {} have the same sounds in every trial: is one of them written wrongly?"
MISSING = (
    "What a reviewer will miss (after Cooper et al. 2025, arXiv 2503.03250), by the names of our "
    "own YAML; the test opens without it:"
)
COPY = "To copy the answers themselves: python -m earshot study backup {test} FILE"
OF_SOUNDS = (
    "title",
    "question",
    "instructions",
    "consent",
    "agree",
    "approval",
    "trials",
    "raters",
)
ANSWERS = "answers.db"  # where `serve` keeps them, in the folder that it serves


def new(options: argparse.Namespace) -> None:
    """Write an example to fill in, and the schema by which an editor completes it; of a folder of
    sounds the whole test, open, with its links as JSON."""
    if options.sounds:
        _make(options)
        return
    if options.folder is None or any(getattr(options, name) for name in OF_SOUNDS):
        raise InputError(
            "Name the folder that the test is written into, or with --from DIR that of its sounds: "
            f"{', '.join(f'--{name}' for name in OF_SOUNDS)} belong to the latter."
        )
    file = options.folder / FILE
    options.folder.mkdir(parents=True, exist_ok=True)
    if file.exists():
        sys.exit(f"{file} is there already: choose another folder.")
    file.write_text(template(DESIGNS[options.design]), encoding="utf-8")
    shutil.copyfile(SCHEMA, options.folder / SCHEMA.name)
    print(f"Wrote {file}: fill it in, then python -m earshot study check {options.folder}")


def _make(options: argparse.Namespace) -> None:
    """Make a whole test of a folder of sounds, and print what a program wants to know of it."""
    from earshot.study.making import make  # loads statsmodels

    form = Form(
        options.design,
        **{name: getattr(options, name) for name in OF_SOUNDS if getattr(options, name)},
    )
    folder = options.folder or Path(f"{options.sounds.resolve().name}-test")
    test = make(options.sounds, folder, form, options.address, options.database)
    print(json.dumps(test, ensure_ascii=False, indent=2))


def check(options: argparse.Namespace) -> None:
    """Report what must be mended before the test can open."""
    test = spec.load(options.test)
    if problems := [*test.unwritten, *stimuli.check(test)]:
        sys.exit("\n".join(problems))
    if answers := _answers(test):
        Store(f"sqlite:///{answers}").open(test)  # which reports sounds that were changed
    systems, scored = len(test.systems), len(test.of_kind("trial"))
    print(
        f"{test.name} is ready: {test.design.name}, {systems} system{'s' * (systems != 1)}, "
        f"{scored} trial{'s' * (scored != 1)}, {test.trials_per_rater} for each rater and "
        f"{len(test.trials) - scored} for practice and checks.",
        flush=True,  # before what is said of it
    )
    for pair in same_systems(test):
        print(SAME.format(*pair), file=sys.stderr)
    if gaps := [*reviewer_gaps(test)]:
        print(MISSING, *(f"- {gap}" for gap in gaps), sep="\n", file=sys.stderr)


def freeze(options: argparse.Namespace) -> None:
    """Write the test's design, texts, sounds and plan into its folder, with a hash."""
    test = spec.load(options.test)
    if problems := [*test.unwritten, *stimuli.check(test)]:
        sys.exit("\n".join(problems))
    if (options.database or _answers(test)) and _store(test, options.database).raters(test.name):
        sys.exit("Somebody has begun this test: it is frozen before anybody rates, or not at all.")
    print(preregistration.freeze(test), preregistration.describe_changes(test), sep="\n")


def serve(options: argparse.Namespace) -> None:
    """Serve the rater's page."""
    from earshot.study.web.server import serve  # loads a web server

    serve(options.folder, options.database, options.host, options.port, options.proxy)


def invite(options: argparse.Namespace) -> None:
    """Print a link for each of so many raters."""
    test = spec.load(options.test)
    if not test.invited:
        sys.exit(f"{test.name} is open to anybody: write invited: true into its YAML.")
    key = _store(test, options.database).open(test)
    print(*rater_links.invitation_links(options.address, test.name, key, options.raters), sep="\n")


def back_up(options: argparse.Namespace) -> None:
    """Write all answers into one file, also while the test is served."""
    test = spec.load(options.test)
    check_new([options.file], options.overwrite)
    _store(test, options.database).back_up(options.file)
    print(options.file)


def results(options: argparse.Namespace) -> None:
    """Write everything, or its analysis, to a folder."""
    test = spec.load(options.test)
    store, folder = _store(test, options.database), options.out or test.folder / "results"
    store.open(test)  # which reports another test of that name
    archive = folder / f"{test.name}.zip"
    if options.command == "export":
        written = (*exported(test, folder), dataset.root(test, folder), archive)
    else:
        written = _reported(test, folder)
    check_new(written, options.overwrite)
    preregistration.look((store, test))
    if options.command == "export":
        print(*export(test, store, folder), dataset.write(test, store, folder), sep="\n")
        with replacing(archive) as file:
            dataset.zipped(test, store, file)
        print(archive)
        print(COPY.format(test=options.test), file=sys.stderr)
        return
    notes = list(filter(None, [preregistration.describe_changes(test)]))
    _report(test, store.ratings(test), folder, conduct=store.conduct(test), notes=notes)


def compare(options: argparse.Namespace) -> None:
    """Write a page of two tests side by side."""
    from earshot.study.analysis import analyse  # loads statsmodels and matplotlib
    from earshot.study.analysis.report.comparison import check_comparable, compare, page

    if options.out.suffix.lower() != ".html":  # nor can it replace a test or its answers
        raise InputError(f"{options.out} does not say that it is a page: end it in .html.")
    check_new([options.out], options.overwrite)
    both = [
        (_store(test, options.database), test)
        for test in map(spec.load, (options.test, options.other))
    ]
    for store, test in both:
        store.open(test)
    check_comparable(*(test for _, test in both))
    preregistration.look(*both)
    results = [
        analyse(test, store.ratings(test), conduct=store.conduct(test)) for store, test in both
    ]
    write_file(options.out, page(compare(*results)).encode())
    print(options.out)


def reproduce(options: argparse.Namespace) -> None:
    """Compute a published data set anew, and say whether every figure is the same."""
    from earshot.study.reproduction import reproduce  # loads statsmodels and matplotlib

    second = reproduce(options.file)
    if options.out:
        check_new([options.out / name for name in second.files], options.overwrite)
        for name, content in second.files.items():
            write_file(options.out / name, content)
    print(*second.lines(), sep="\n")
    if second.different:
        sys.exit(1)


def analyse_ratings(options: argparse.Namespace) -> None:
    """Analyse ratings that were collected elsewhere."""
    if options.out and options.out.resolve() == options.file.resolve().parent:
        raise InputError(f"{options.out} has the ratings in it, which results could replace.")
    ratings = read_ratings(options.file, options.clips, options.scale)
    folder = options.out or options.file.with_name(f"{options.file.stem}-results")
    check_new(_reported(ratings.test, folder), options.overwrite)
    _report(ratings.test, ratings.table, folder, notes=ratings.notes)


def simulate(options: argparse.Namespace) -> None:
    """Let simulated raters take the test, and write what the report would be like."""
    from earshot.study.simulation import RATERS, simulate  # loads scipy

    test = spec.load(options.test)
    folder = options.out or test.folder / REHEARSAL
    for file in (ANSWERS, REHEARSAL_DATABASE):
        if (folder / file).exists() and Store(f"sqlite:///{folder / file}").real_raters():
            raise InputError(
                f"{folder / file} holds answers of real raters: choose another folder with --out."
            )
    written = (folder / REHEARSAL_DATABASE, *exported(test, folder), *_reported(test, folder))
    check_new(written, options.overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob(
        f"{REHEARSAL_DATABASE}*"
    ):  # of the rehearsal before, with SQLite's own files
        file.unlink()
    store = Store(f"sqlite:///{folder / REHEARSAL_DATABASE}")
    simulate(test, store, options.raters or test.raters or RATERS, options.seed)
    export(test, store, folder)
    print("These raters are simulated, and so is what they say:")
    _report(test, store.ratings(test), folder, conduct=store.conduct(test))


def _reported(test: Test, folder: Path) -> list[Path]:
    from earshot.study.analysis import paths  # loads statsmodels and matplotlib

    return paths(test, folder)


def _report(
    test: Test,
    ratings: pd.DataFrame,
    folder: Path,
    conduct: Conduct | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write the report, and print its sentences and where it is."""
    from earshot.study.analysis import analyse, write  # loads statsmodels and matplotlib
    from earshot.study.analysis.report.prose import attendance, conclusion, more_raters

    results = analyse(test, ratings, conduct=conduct, notes=notes)
    write(results, folder)
    print(attendance(results), conclusion(results), *results.notes, sep="\n")
    print(*more_raters(results.included), folder, sep="\n")


def _store(test: Test, url: str | None) -> Store:
    """Open the answers at the URL, else next to the test, else in the folder of all tests."""
    answers = _answers(test)
    if not url and not answers:
        sys.exit(f"There is no {ANSWERS} in {test.folder}: name the store with --database URL.")
    return Store(url or f"sqlite:///{answers}")


def _answers(test: Test) -> Path | None:
    """Return the answers next to the test, else in the folder of all tests."""
    files = (test.folder / ANSWERS, test.folder.parent / ANSWERS)
    return next((file for file in files if file.exists()), None)


def _parser() -> argparse.ArgumentParser:
    """Make the parser of the commands."""
    parser = argparse.ArgumentParser(prog="earshot study", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    served_at: dict[str, Any] = {"default": "http://127.0.0.1:8000", "help": "where it is served"}

    def add(
        name: str, run: Callable[[argparse.Namespace], None], text: str, test: bool = True
    ) -> argparse.ArgumentParser:
        """Add a command, mostly of a test."""
        command = commands.add_parser(name, help=text)
        command.set_defaults(run=run)
        if test:
            command.add_argument("test", type=typed_path)
        return command

    def add_database(command: argparse.ArgumentParser, folder: str = "TEST") -> None:
        default = f"default: {folder}/{ANSWERS}"
        command.add_argument("--database", metavar="URL", help=default)

    command = add("new", new, "write an example test.yaml, or make a whole test", test=False)
    command.add_argument("folder", type=typed_path, nargs="?", help="default with --from: DIR-test")
    command.add_argument("--design", choices=DESIGNS, default="acr")
    command.add_argument(
        "--from",
        dest="sounds",
        type=typed_path,
        metavar="DIR",
        help="a folder of sounds for each system: write, check, freeze and open a test of them, "
        "and print its links as JSON",
    )
    for name in OF_SOUNDS:
        number = name in ("trials", "raters")
        kind, metavar = (count, "N") if number else (str, "TEXT")
        command.add_argument(f"--{name}", type=kind, metavar=metavar, help="with --from")
    command.add_argument("--address", **served_at)
    add_database(command, "FOLDER")
    add("check", check, "say what is wrong in a test and its sounds")
    add_database(add("freeze", freeze, "write down the test before anybody rates"))
    command = add("simulate", simulate, "rehearse with simulated raters")
    command.add_argument("--raters", type=count, help="default: those of the YAML, else 20")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--out", type=typed_path, help=f"folder, default: TEST/{REHEARSAL}")
    command = add("serve", serve, "let raters take the tests of a folder", test=False)
    command.add_argument("folder", type=typed_path)
    add_database(command, "FOLDER")
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, default=8000)
    command.add_argument(
        "--proxy",
        nargs="+",
        default=[],
        type=network,
        metavar="ADDRESS",
        help="believe these about whom they forward (X-Forwarded-For)",
    )
    command = add("invite", invite, "print links that let one rater in each")
    command.add_argument("--raters", type=count, required=True, metavar="N")
    command.add_argument("--address", **served_at)
    add_database(command)
    command = add("backup", back_up, "copy the answers into one file, also while served")
    command.add_argument("file", type=typed_path, help=f"of SQLite's, as {ANSWERS} is")
    add_database(command)
    for name, what in [
        ("export", "all answers, tables, and a zip to publish"),
        ("analyse", "the report"),
    ]:
        command = add(name, results, f"write {what}")
        add_database(command)
        command.add_argument("--out", type=typed_path, help="folder, default: TEST/results")
    command = add("compare", compare, "write a page of two tests side by side")
    command.add_argument("other", type=typed_path, help="a test of the same design")
    add_database(command)
    command.add_argument("--out", type=typed_path, default=Path("comparison.html"), help="file")
    command = add("reproduce", reproduce, "compute a published data set anew", test=False)
    command.add_argument("file", type=typed_path, help="the zip that export writes")
    command.add_argument(
        "--out", type=typed_path, help="folder for what is computed; none without it"
    )
    text = "analyse a CSV of webMUSHRA or the P.808 toolkit"
    command = add("import", analyse_ratings, text, test=False)
    command.add_argument("file", type=typed_path)
    command.add_argument("--clips", default=CLIPS, help="how P.808 clips are called: %(default)s")
    command.add_argument("--scale", choices=SCALES, default=SCALES[0], help="of P.835: %(default)s")
    command.add_argument("--out", type=typed_path, help="folder, default: FILE-results")
    for name in ("backup", "simulate", "export", "analyse", "compare", "reproduce", "import"):
        text = "replace results that are there"
        commands.choices[name].add_argument("--overwrite", action="store_true", help=text)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name."""
    open_streams()
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (SpecError, InputError) as error:
        sys.exit(str(error))
    except UNAVAILABLE as error:
        sys.exit(f"The answers cannot be read: {str(error).splitlines()[0]}")
    except OSError as error:
        sys.exit(f"{error.filename or 'A file'}: {error.strerror or error}.")


if __name__ == "__main__":
    main()
