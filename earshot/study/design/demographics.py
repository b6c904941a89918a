"""What a paper says of its raters: questions about them to put into a test by their names, in all
languages of the page, none of which has to be answered."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from earshot.study.design.questions import Question
from earshot.study.design.yaml_lines import Value

TEXTS: Final = Path(__file__).with_suffix(".json")


@cache
def template() -> dict[str, Question]:
    """Give the questions by their names."""
    found: dict[str, Any] = json.loads(TEXTS.read_text(encoding="utf-8"))
    return {
        name: Question(
            ask=each["ask"],
            choices={key: tuple(words) for key, words in each["choices"].items()} or None,
            optional=True,
        )
        for name, each in found.items()
    }


def read_demographics(document: Value) -> tuple[Question, ...]:
    """Read which of them the test asks: all for true, else those that are named."""
    if not document.has("demographics"):
        return ()
    value, known = document.at("demographics"), template()
    if isinstance(value.content, bool):
        return tuple(known.values()) if value.content else ()
    if not isinstance(value.content, list):
        value.problem(f"write true here, or some of [{', '.join(known)}].")
        return ()
    found: dict[str, Question] = {}
    for each in value.content:
        name = each.be(str, "demographics")
        if name not in known:
            each.problem(f'there is no "{name}": there are {", ".join(known)}.')
        else:
            found[name] = known[name]
    return tuple(found.values())
