"""Makes the choices of an adaptive test again, from its exported log."""

from collections.abc import Iterable, Mapping
from typing import Any

from earshot.study.assignment import Event, choose
from earshot.study.design import Item, Test
from earshot.study.storage.answers import rating_rows


def events(test: Test, lines: Iterable[Mapping[str, Any]]) -> list[Event]:
    """The choices in the lines of an export (earshot.study.storage.export.lines)."""
    differences = []
    for rater in (line["rater"] for line in lines if "rater" in line):
        for item in rater["items"]:
            if item["drawn"] is not None:
                differences.append(_event(test, rater["id"], item))
    return sorted(differences, key=lambda event: event.drawn)


def differing(test: Test, log: list[Event]) -> list[Event]:
    """The choices that come out otherwise than they were: none, unless somebody has withdrawn, for
    then the votes are gone that later choices knew."""
    return [
        event
        for event in log
        if choose(test, log, event.rater, event.place, event.knew).id != event.trial
    ]


def _event(test: Test, rater: str, item: Mapping[str, Any]) -> Event:
    first = None
    if item["answer"] is not None:
        next_item = Item(item["order"], item["trial"], tuple(item["shown"]))
        first = rating_rows(test, next_item, item["answer"], item["plays"])[0].answer
    numbers = (item["order"], item["trial"], item["knew"], item["drawn"], item["voted"])
    return Event(rater, *numbers, first)
