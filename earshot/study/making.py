"""A listening test made of a folder of sounds in one go, for scripts and agents: written, checked,
frozen, opened, and described with its links. Doing it twice makes one test.
"""

import filecmp
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.study import preregistration, rater_links
from earshot.study.design import spec
from earshot.study.design.folder import describe, gather
from earshot.study.design.form import Form
from earshot.study.design.model import PREPARED, Test
from earshot.study.design.spec import SpecError
from earshot.study.design.statements import reviewer_gaps
from earshot.study.sounds import stimuli
from earshot.study.storage.store import Store

ANSWERS: Final = "answers.db"
CONSENT: Final = (
    "Your answers are stored without your name or address, and used for research. You can stop at "
    "any time, and have your answers deleted."
)
NAMELESS: Final = "The consent names nobody to write to: say who asks and why, with --consent."
OTHER: Final = (
    "{folder} is there already, and is another test ({difference}): choose another folder, or "
    "delete that one."
)
APART: Final = "{folder} and {source} lie in each other: choose a folder for the test elsewhere."


def make(
    source: Path, folder: Path, form: Form, address: str, database: str | None = None
) -> dict[str, Any]:
    """Make the test that the form describes of the sounds in source, in a folder that is named as
    it is → what a program wants to know of it: see _described; new: whether it was not there;
    serve: the command that lets raters come; to_do: what a reviewer will miss.

    The folder is there when all is right, or not at all. Where it is there and has the same test,
    what is missing of it is done, and the rest stays. address: where raters will find the server;
    database: the URL of the answers, else they lie in the folder. Raises SpecError with all that is
    wrong, and InputError for another test there.
    """
    source, folder = source.resolve(), folder.resolve()
    address = rater_links.server_address(address)
    elsewhere = Store(database) if database else None  # first, in case there is no such database
    if folder.is_relative_to(source) or source.is_relative_to(folder):
        raise InputError(APART.format(folder=folder, source=source))
    if not spec.NAME.fullmatch(folder.name):
        raise InputError(
            f'"{folder.name}" cannot be part of a link: name the folder by letters, digits, - or _.'
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name[:40]}-") as away:
        written = Path(away) / folder.name
        gather(source, written)
        yaml = describe(written, replace(form, consent=form.consent.strip() or CONSENT))
        (written / spec.FILE).write_text(yaml, encoding="utf-8")
        new = not folder.exists() or not any(folder.iterdir())
        if new:
            test = spec.load(written)
            if problems := [*test.unwritten, *stimuli.check(test)]:
                raise SpecError("\n".join(problems))
            written.rename(folder)  # in place of an empty folder, too
        elif difference := _difference(written, folder):
            raise InputError(OTHER.format(folder=folder, difference=difference))
    test = spec.load(folder)
    # Where the folder of all tests is served, answers are there.
    served = folder.parent if (folder.parent / ANSWERS).is_file() else folder
    store = elsewhere or Store(f"sqlite:///{served / ANSWERS}")
    if not preregistration.frozen(test) and not store.raters(test.name):
        preregistration.freeze(test)
    key = store.open(test)
    store.dispose()
    command = ["python", "-m", "earshot", "study", "serve", str(served)]
    return {
        **_described(test, key, address),
        "new": new,
        "serve": command + (["--database", database] if database else []),
        "to_do": [*([] if form.consent.strip() else [NAMELESS]), *reviewer_gaps(test)],
    }


def _described(test: Test, key: str, address: str) -> dict[str, Any]:
    """Describe the test for a program: where it lies, what raters are asked, the sentence on its
    freezing, and its links."""
    form = replace(Form.of(test), trials=test.trials_per_rater, question=test.question)
    return {
        "name": test.name,
        "folder": str(test.folder),
        "design": test.design.name,
        "systems": [*test.systems],
        "trials": len(test.of_kind("trial")),
        "trials_per_rater": test.trials_per_rater,
        "raters": test.raters,
        "asked": [*form.raters_words(test.has_reference)],
        "frozen": preregistration.describe_changes(test),
        "links": {
            "raters": f"{address}/listen/{test.name}",
            "results": f"{address}/results/{test.name}?key={key}",
        },
    }


def _difference(written: Path, folder: Path) -> str:
    """Name the first file in which two tests differ; "" where they are the same. What was made in
    the folder since is none of it."""
    if not (folder / spec.FILE).is_file():
        return f"it has no {spec.FILE}"
    ours = {path.relative_to(written) for path in written.rglob("*") if path.is_file()}
    patterns = {part.parts[0] for part in ours if len(part.parts) > 1} - {PREPARED}
    theirs = {
        path.relative_to(folder)
        for name in patterns
        for path in (folder / name).rglob("*")
        if path.is_file()
    }
    for name in sorted(ours | theirs):
        if name not in ours or not (folder / name).is_file():
            return f"{name} is in one of them only"
        if not filecmp.cmp(written / name, folder / name, shallow=False):
            return f"{name} is another"
    return ""
