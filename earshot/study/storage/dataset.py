"""A test as a data set to publish: tables in words, a dictionary of their columns, and a
description as Psych-DS has it (psych-ds.github.io), for OSF and the like."""

import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from earshot.core.files import write as write_file
from earshot.study import preregistration
from earshot.study.design import Item, Test
from earshot.study.design.designs import FAULTS
from earshot.study.design.model import PREPARED
from earshot.study.sounds import copies
from earshot.study.storage.answers import design_columns, rating_rows
from earshot.study.storage.export import csv, json_line, lines
from earshot.study.storage.store import Store

if TYPE_CHECKING:  # it takes seconds to import
    from earshot.study.analysis.publication import Circumstances

CHECKED: Final = {True: "passed", False: "failed", None: "not done"}
COLUMNS: Final[dict[str, dict[str, str]]] = {
    "ratings.csv": {
        "rater": "hash of the rater's link, the same in every table",
        "stimulus": "what was said or played, the same for every system",
        "system": "the system that the answer is about; reference and anchors of MUSHRA too",
        "compared_with": "the other system of a pair; empty where there is none",
        "answer": "as a number: of the scale; of transcription the share of word errors; "
        "in ab 1 for the system, 0 for the other, 0.5 for "
        "neither; in abx 1 where X was found; in ccr the system compared with the other; in "
        "ranking its place, from 1, the best; in adjustment the gain in dB",
        "answer_in_words": "the same in the words of the scale; in mushra of its interval",
        "scale": "what was asked: the design, or one of several scales; comment: a text on it; "
        "faults: whether the fault in text was ticked of the sound, 1 or 0",
        "text": "what the rater wrote: what they heard, or a comment; of faults the name of one",
        "kind": "trial, practice, attention (an instructed check) or gold (a known answer)",
        "expected": "the answer that is right, of checks and gold trials",
        "order": "place in the rater's sequence, from 0",
        "position": "place on the page, from 0: left, first or A",
        "plays": "how often the sounds were played",
        "seconds": "from the start of the trial to its answer, as the page measured",
        "frames": "of the video that were to be seen; empty where there is none",
        "dropped_frames": "of these, left out by the browser, as it counts",
        "drift": "the farthest that the video was from its sound, in ms, as the page measured",
        "dropouts": "seconds in which the device left out some of the sound, as the page measured; "
        "empty where it did not, as in all that follow",
        "lost_sound": "how much was left out, in ms",
        "stalls": "how often playing stood still: a call, a sleep, or another output",
        "hidden": "how often the page was hidden while a sound played",
        "device_changes": "how often a sound device came or went; empty where no browser says so",
        "rate": "of the output, in Hz: 24,000 and less is that of headphones in a call",
        "latency": "of the output, in ms, by its own account",
    },
    "raters.csv": {
        "rater": "hash of the rater's link",
        "day": "on which they began, in UTC",
        "outcome": "complete; headphones, environment or attention (screened out); withdrawn, or "
        "unfinished",
        "language": "of the page",
        "device": "kind and browser's family, of those who allowed it",
        "headphones": "the check of headphones: passed, failed, not done",
        "environment": "the test of the room: passed, failed, not done",
        "answered": "trials with an answer",
        "missing": "trials that were skipped since a sound did not come",
        "changed": "answers that were replaced",
        "checks": "attention checks that were answered",
        "checks_failed": "of these, farther from the expected answer than tolerated",
        "dropouts": "of the device in all trials; empty where nothing was measured",
        "minutes": "from consent to the last answer, by the server's clock",
    },
    "stimuli.csv": {
        "kind": "trial, practice, attention or gold",
        "stimulus": "what was said or played",
        "system": "what made the sound; reference for what was heard openly",
        "file": "path in the folder of the test",
        "sha256": "of the file; empty where it is away",
        "ratings": "answers to it",
        "missing": "raters for whom it did not come",
    },
}
DESIGN_COLUMNS: Final = {  # of ratings.csv, in tests that have them
    "start": "the gain, in dB, at which the slider was when the trial began",
    "level": "of the sound that was to be told from the reference; empty in checks",
    "unit": "of levels",
}
README: Final = """# {title}

{raters} raters, {ratings} ratings. The tables in `data` are CSV in UTF-8; `{dictionary}` says
what every column holds. `{everything}` has all of it as it was stored, with the test, but for what
leads to a person: completion codes, and what a panel's link said. Sounds are
not included: the table of stimuli has their names and hashes. Replies to questions are as raters
wrote them: look for names, and for combinations that fit one person only, before you publish.

`{report}` is the report, and `{scored}` the answers that it counts. With Earshot,
`python -m earshot study reproduce` and the zip of all this computes it anew, and says whether every
figure is the same. `{models}` has other models of the same answers, for R.

Laid out after Psych-DS (https://psych-ds.github.io). Collected with Earshot.
"""
CHANGES: Final = "# Changes\n\n{day}: taken from the store of Earshot.\n"
DESCRIPTION: Final = "dataset_description.json"
DICTIONARY: Final = "documentation/dictionary.csv"
EVERYTHING: Final = "data/raw/{name}.jsonl"
IGNORED: Final = "data/raw\n"  # what a validator of Psych-DS need not know
PRIVATE: Final = ("code", "panel")  # of a rater: what leads to a person


def root(test: Test, folder: Path) -> Path:
    """Name the data set's own folder in the folder."""
    return folder / f"{test.name}-dataset"


def write(test: Test, store: Store, folder: Path) -> Path:
    """Write the data set into a folder of its own in the folder → that folder."""
    written = root(test, folder)
    for name, content in files(test, store).items():
        write_file(written / name, content)
    return written


def zipped(test: Test, store: Store, file: Any) -> None:
    """Write the data set as a zip; file: a path, or what is open to write."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files(test, store).items():
            archive.writestr(f"{test.name}/{name}", content)


def files(
    test: Test, store: Store, circumstances: "Circumstances | None" = None
) -> dict[str, bytes]:
    """Make the files of the data set, by their paths in it, as Psych-DS 1.5 has them: tables below
    data, and their columns in dataset_description.json; and the analysis, of a test that is not
    here in these circumstances."""
    from earshot.study.analysis import publication  # late, for it loads statsmodels

    everything = [_published(line) for line in lines(test, store)]
    people = [line["rater"] for line in everything if "rater" in line]
    rated, conduct = store.ratings(test), store.conduct(test)
    tables = {
        "ratings.csv": ratings(test, rated),
        "raters.csv": raters(test, people),
        "stimuli.csv": stimuli(test, rated, store.missing(test)),
    }
    # Without a mark before the first column, whose name it would change for a validator.
    contents = {path(test, name): csv(table).encode() for name, table in tables.items()}
    questions = [
        name for name in map(str, tables["raters.csv"]) if name not in COLUMNS["raters.csv"]
    ]
    described = dictionary(test, {name: f"reply to: {name}" for name in questions})
    text = json.dumps(description(test, described), ensure_ascii=False, indent=2)
    raw = EVERYTHING.format(name=test.name)
    readme = README.format(
        title=test.title,
        dictionary=DICTIONARY,
        everything=raw,
        report=publication.REPORT,
        scored=publication.SCORED,
        models=publication.MODELS,
        raters=len(people),
        ratings=int(rated.loc[rated["scale"] != FAULTS, "answer"].count()),
    )
    today = datetime.now(UTC).date().isoformat()
    if circumstances is None:
        notes = tuple(filter(None, [preregistration.describe_changes(test)]))
        circumstances = publication.describe(test, conduct, notes)
    return contents | {
        DICTIONARY: csv(described).encode("utf-8-sig"),  # for spreadsheets
        DESCRIPTION: text.encode(),
        "README.md": readme.encode(),
        "CHANGES.md": CHANGES.format(day=today).encode(),
        ".psychds-ignore": IGNORED.encode(),
        raw: "".join(map(json_line, everything)).encode(),
        **publication.files(test, rated, conduct, circumstances),
    }


def _published(line: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a line of everything what leads to a person, and what is not stored: starts."""
    if "rater" not in line:
        return line
    rater = {name: value for name, value in line["rater"].items() if name not in PRIVATE}
    for item in rater["items"]:
        item.pop("start", None)
    return {"rater": rater}


def path(test: Test, table: str) -> str:
    """Name the file of a table as Psych-DS wants it: keywords with values of letters and digits."""
    study = "".join(letter for letter in test.name if letter.isalnum())
    return f"data/study-{study}_description-{table.removesuffix('.csv')}_data.csv"


def ratings(test: Test, rated: pd.DataFrame) -> pd.DataFrame:
    """Put the tidy table in words."""
    table = rated.rename(columns={"other": "compared_with"})
    pairs = zip(table["scale"], table["answer"], strict=True)
    table["answer_in_words"] = [in_words(test, scale, value) for scale, value in pairs]
    table["seconds"] = table["milliseconds"] / 1000
    return table.reindex(columns=list(columns_of(test)["ratings.csv"]))


def columns_of(test: Test) -> dict[str, dict[str, str]]:
    """Return what every column of the test's tables holds, by the table."""
    own = {name: DESIGN_COLUMNS[name] for name in design_columns(test)}
    return COLUMNS | {"ratings.csv": COLUMNS["ratings.csv"] | own}


def in_words(test: Test, scale: str, value: float) -> str:
    """Return an answer of the tidy table (answers.rating_rows) in the words of its scale."""
    match = next((each for each in test.rated if each.name == scale), None)
    has_words = match is not None and (match.answers or match.ranked or match.adjusted)
    return test.design.in_words(value, match.answers) if match and has_words else ""


def raters(test: Test, everything: list[dict[str, Any]]) -> pd.DataFrame:
    """Make a row of each rater, with a column for each question, replies in words."""
    checks = {trial.id: trial for trial in test.of_kind("attention")}
    rows = []
    for rater in everything:
        items = rater["items"]
        answers = [item for item in items if item["answer"] is not None]
        answered_checks = [item for item in answers if item["trial"] in checks]
        skipped = sum(item["trial"] in checks for item in items if item.get("there"))
        row = {
            "rater": rater["id"],
            "day": rater["started"],
            "outcome": "withdrawn" if rater["withdrawn"] else rater["outcome"] or "unfinished",
            "language": rater["language"] or "",
            "device": rater["device"] or "",
            "headphones": CHECKED[rater["headphones"]],
            "environment": CHECKED[rater["environment"]],
            "answered": len(answers),
            "missing": sum(item["missing"] is not None for item in items),
            "changed": sum(len(item["changes"]) for item in items),
            "checks": len(answered_checks) + skipped,
            "checks_failed": skipped + sum(_failed(test, item) for item in answered_checks),
            "dropouts": _dropouts(items),
            "minutes": round(sum(item["server_milliseconds"] or 0 for item in items) / 60_000, 2),
        }
        rows.append(row | _replies(test, rater["replies"]))
    names = [*COLUMNS["raters.csv"], *(_column(test, k) for k in range(len(test.questions)))]
    return pd.DataFrame(rows, columns=names).astype({"dropouts": "Int64"})


def stimuli(
    test: Test, rated: pd.DataFrame, missing: Mapping[tuple[str, str], int]
) -> pd.DataFrame:
    """Make a row of each sound of each trial."""
    scored: Any = rated
    rated = scored[scored["scale"] == test.rated[0].name]  # one row of several of an answer
    hashes, prepared = copies.file_hashes(test), test.folder / PREPARED
    pairs = zip(rated["trial"], rated["system"], strict=True)
    counts = Counter((int(trial), system) for trial, system in pairs)
    counts += Counter(
        (int(trial), other)
        for trial, other in zip(rated["trial"], rated["other"], strict=True)
        if other
    )
    table = []
    for trial in test.trials:
        sounds = dict(trial.sounds)
        if trial.reference:
            sounds.setdefault("reference", trial.reference)
        for system, path in sounds.items():
            file = "" if path.parent == prepared else path.relative_to(test.folder).as_posix()
            at = (trial.stimulus, system)
            counted = {"ratings": counts[trial.id, system], "missing": missing.get(at, 0)}
            named = {"kind": trial.kind, "stimulus": trial.stimulus, "system": system}
            table.append({**named, "file": file, "sha256": hashes.get(file, ""), **counted})
    return pd.DataFrame(table, columns=list(COLUMNS["stimuli.csv"]))


def dictionary(test: Test, questions: Mapping[str, str]) -> pd.DataFrame:
    """Make the table of what every column holds; questions: the columns of the test's own
    questions.
    """
    columns = columns_of(test) | {"raters.csv": COLUMNS["raters.csv"] | dict(questions)}
    rows = [
        {"file": path(test, file), "column": column, "description": text}
        for file, each in columns.items()
        for column, text in each.items()
    ]
    return pd.DataFrame(rows)


def description(test: Test, described: pd.DataFrame) -> dict[str, Any]:
    """Describe the data set as Psych-DS wants it (JSON-LD of schema.org's Dataset), each column of
    its tables once."""
    measured = [
        {
            "@type": "PropertyValue",
            "name": name,
            "description": "; ".join(dict.fromkeys(rows["description"])),
        }
        for name, rows in described.groupby("column", sort=False)
    ]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": test.title,
        "description": f"A listening test of the design {test.design.name}. {test.question}",
        "variableMeasured": measured,
        "schemaVersion": "Psych-DS 1.5.1",
    }


def _failed(test: Test, item: Mapping[str, Any]) -> bool:
    """Whether an attention check was answered otherwise than expected."""
    trial = test.trials[item["trial"]]
    check = Item(item["order"], item["trial"], tuple(item["shown"]))
    return any(
        row.expected is not None and abs(row.answer - row.expected) > trial.tolerance
        for row in rating_rows(test, check, item["answer"], item["plays"])
    )


def _dropouts(items: list[dict[str, Any]]) -> int | None:
    """Count the dropouts of a rater's device, where they were measured."""
    figures = [item["playback"]["dropouts"] for item in items if item.get("playback")]
    return sum(figures) if figures else None


def _column(test: Test, question: int) -> str:
    """Name the column of a question, which no other has."""
    questions = [each.wording(test.language)[0] for each in test.questions]
    taken = (*COLUMNS["raters.csv"], *questions[:question])
    name = questions[question]
    return f"{name} ({question + 1})" if name in taken else name


def _replies(test: Test, replies: list[dict[str, Any]]) -> dict[str, str]:
    """Write the replies in words by the question; where one was asked often, with the trial."""
    by_question: defaultdict[str, list[str]] = defaultdict(list)
    for each in sorted(replies, key=lambda reply: reply["trials"]):
        question = test.questions[each["question"]]
        choices = question.wording(test.language)[1]
        if each["reply"] is None:  # it was left out
            continue
        text = choices[each["reply"]] if choices else each["reply"]
        often = question.when == "between"
        by_question[_column(test, each["question"])].append(
            f"after {each['trials']}: {text}" if often else text
        )
    return {question: "; ".join(text) for question, text in by_question.items()}
