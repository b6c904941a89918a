"""An export of everything that is known of a test: JSON lines, and the tidy table as CSV."""

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.core.files import write
from earshot.media.text.table import FORMULA
from earshot.study.assignment import start_of
from earshot.study.design import Test
from earshot.study.design.raters import Question
from earshot.study.design.scales import Texts
from earshot.study.storage.store import Store
from earshot.study.storage.tables import ChangeRow, ItemRow, RaterRow

ANSWERED = ("answer", "plays", "milliseconds")
SOMETIMES = (
    *("scales", "comment", "sentences", "show_sentence"),
    *("environment", "break_every", "blocks", "disclosed_after", "statements"),
    *("guidelines", "faults", "headphones", "show_others", "staircase", "gain"),
)
RARE_RULES = ("least_seconds", "most_seconds", "most_minutes", "dropouts")  # that few tests have
LINE_END = re.compile(r"\r\n?")  # which, unquoted, would begin another row
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")  # what ends a text for some that read tables


def exported(test: Test, folder: Path) -> tuple[Path, Path]:
    """Name the files that export writes."""
    return folder / f"{test.name}.jsonl", folder / f"{test.name}.csv"


def export(test: Test, store: Store, folder: Path) -> tuple[Path, Path]:
    """Write NAME.jsonl and NAME.csv into the folder: see lines, and answers.ratings_table."""
    everything, table = exported(test, folder)
    write(everything, jsonl(test, store).encode())
    write(table, csv(store.ratings(test)).encode("utf-8-sig"))  # for spreadsheets
    return everything, table


def csv(ratings: pd.DataFrame) -> str:
    """Write the tidy table as CSV; text that a spreadsheet would run as a formula gets an
    apostrophe, lines end as in the table, and control characters are left out.
    """

    def plain(cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        text = CONTROL.sub("", LINE_END.sub("\n", cell))
        return f"'{text}" if FORMULA.match(text) else text

    return ratings.rename(columns=plain).map(plain).to_csv(index=False)


def jsonl(test: Test, store: Store) -> str:
    """Write everything as JSON lines: see lines."""
    return "".join(map(json_line, lines(test, store)))


def json_line(content: dict[str, Any]) -> str:
    """Write one of the lines."""
    return json.dumps(content, ensure_ascii=False) + "\n"


def lines(test: Test, store: Store) -> Iterator[dict[str, Any]]:
    """Yield {"test": ...}, the test with its trials, then {"rater": ...} for each rater who came,
    with their whole sequence and the answers as they were given, null where there is none yet; the
    completion code is null until all is answered. outcome: see design.panel; panel: keyed hashes of
    the values of the panel's link, see rater_links; changes: the answers that others have replaced;
    missing: the position of a sound that never came; there: whether the server had it; video and
    playback: what the page measured of pictures and of the device, where it did (see ItemRow);
    start: in adjustment the gain, in dB, at which the slider was.
    """
    yield {"test": described(test)}
    with Session(store.engine) as session:
        raters = select(RaterRow).where(RaterRow.test == test.name).order_by(RaterRow.id)
        for rater in session.scalars(raters):
            items = select(ItemRow).where(ItemRow.rater == rater.id).order_by(ItemRow.place)
            changes = defaultdict(list)
            of_rater = select(ChangeRow).where(ChangeRow.rater == rater.id).order_by(ChangeRow.id)
            for change in session.scalars(of_rater):
                changes[change.place].append(
                    {name: getattr(change, name) for name in ("version", *ANSWERED)}
                )
            yield {
                "rater": {
                    "id": rater.id,
                    "started": rater.started.isoformat(),
                    "headphones": rater.headphones,
                    "environment": rater.environment,
                    "withdrawn": rater.withdrawn,
                    "code": rater.code,
                    "outcome": rater.outcome,
                    "panel": rater.panel,
                    "language": rater.language,
                    "device": rater.device,
                    "replies": rater.replies or [],
                    "items": [
                        {
                            "order": item.place,
                            "trial": item.trial,
                            "shown": item.systems,
                            "answer": item.answer,
                            "plays": item.plays,
                            "milliseconds": item.milliseconds,
                            "server_milliseconds": item.server_milliseconds,
                            "knew": item.knew,
                            "drawn": item.drawn,
                            "voted": item.voted,
                            "version": item.version,
                            "missing": item.missing,
                            **(
                                {"start": start_of(test, rater.id, item.place)} if test.gain else {}
                            ),
                            **({} if item.there is None else {"there": item.there}),
                            **({"video": item.video} if item.video else {}),
                            **({"playback": item.playback} if item.playback else {}),
                            "changes": changes[item.place],
                        }
                        for item in session.scalars(items)
                    ],
                }
            }


def described(test: Test) -> dict[str, Any]:
    """Describe the test as JSON takes it; files are relative to its folder."""

    def file(path: Path | None) -> str | None:
        return path.relative_to(test.folder).as_posix() if path else None

    hidden = ("folder", "trials", "panel", "recordings")  # what proves a rater's work stays here
    names = [field.name for field in dataclasses.fields(test) if field.name not in hidden]
    fields = {name: getattr(test, name) for name in names}
    fields["design"] = test.design.name
    fields["scales"] = [vars(scale) for scale in test.scales]
    for name in ("environment", "headphones", "staircase"):
        fields[name] = fields[name] and vars(fields[name])
    for name in SOMETIMES:  # a test without them is described as ever
        if not fields[name]:
            del fields[name]
    fields["rules"] = _rules(test)
    fields["questions"] = [_question_fields(question) for question in test.questions]
    fields["texts"] = {name: _text_fields(texts) for name, texts in test.texts.items()}
    fields["closes"] = test.closes and test.closes.isoformat()
    trials = [
        vars(trial)
        | {"sounds": {name: file(path) for name, path in trial.sounds.items()}}
        | {"reference": file(trial.reference)}
        for trial in test.trials
    ]
    return fields | {"conditions": test.conditions, "trials": trials}


def _text_fields(texts: Texts) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(texts).items()
        if name not in ("scales", "guidelines", "faults") or value
    }


def _rules(test: Test) -> dict[str, Any]:
    rules = {
        name: rule for name, rule in vars(test.rules).items() if rule or name not in RARE_RULES
    }
    if not test.environment:
        del rules["environment"]
    return rules


def _question_fields(question: Question) -> dict[str, Any]:
    return {name: each for name, each in vars(question).items() if each or name != "optional"}
