"""The data that the rater's page gets: nothing by which one system could be told from another."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fastapi.responses import HTMLResponse
from markupsafe import Markup

from earshot.study.assignment import AHEAD
from earshot.study.design import Item, Scale, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.design.panel import Outcome
from earshot.study.design.questions import Question
from earshot.study.sounds import checks
from earshot.study.storage.raters import Rater
from earshot.study.web import languages
from earshot.study.web.templates import render
from earshot.study.web.wording import Wording, wording

PAGE: Final = Path(__file__).parent / "page"
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def html(test: Test, language: str) -> HTMLResponse:
    """Write the page itself, the same for every rater of a test who reads the language."""
    words = languages.words(language)
    # Data, not HTML: no text can end the element that holds it.
    data = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    title = wording(test, language).title
    text = render("rater.html", said=words, title=title, language=language, words=Markup(data))
    return HTMLResponse(text, headers=HEADERS)


def message(
    title: str, text: str, status: int, headers: Mapping[str, str] = MappingProxyType({})
) -> HTMLResponse:
    """Write a page that says one thing."""
    page = render("message.html", title=title, text=text)
    return HTMLResponse(page, status, HEADERS | dict(headers))


def ended(test: Test, rater: Rater | None, outcome: Outcome | None = None) -> dict[str, Any]:
    """Say how it ended, None while it goes on; the completion code; and back: the panel's address
    or code for it, which nobody is told before. outcome: where it is not the rater's own.
    """
    outcome = outcome or (rater and rater.outcome)
    return {
        "outcome": outcome,
        "code": rater and rater.code,
        "back": test.panel.back(outcome),
    }


def about(
    test: Test,
    rater: Rater | None,
    language: str,
    outcome: Outcome | None = None,
    preview: bool = False,
    visitors: bool = False,
    public: bool = False,
) -> dict[str, Any]:
    """Describe the test, and where the rater stands in it; None: somebody who has not agreed yet.
    outcome: theirs, or why nobody can begin or go on. visitors: whether a visitor opened the test;
    public: whether it is an example, which one may take with loudspeakers.
    """
    said = wording(test, language)
    return {
        "title": said.title,
        "instructions": said.instructions,
        "consent": said.consent,
        "agree": said.agree,
        "approval": test.approval,
        "count": test.asked,
        "checks": checks.HEADPHONE_TRIALS,
        "attempt": rater.attempts if rater else 0,
        "consented": rater is not None,
        "withdrawn": rater is not None and rater.withdrawn,
        "headphones": rater and rater.headphones,
        "room": test.environment and test.environment.pairs,
        "room_attempt": rater.rooms if rater else 0,
        "environment": rater and rater.environment,
        "break_every": test.break_every,
        "preview": preview,
        "visitors": visitors,
        "loudspeakers": public,
        "questions": [
            _question(number, each, language) for number, each in enumerate(test.questions)
        ],
        "replied": rater.replied if rater else [],
        "link": test.panel.link,
        "signed": test.panel.signed and test.panel.signed.name,
        "decline": test.panel.back("no_consent"),
        **ended(test, rater, outcome),
        "trials": [_trial(test, said, rater, item) for item in rater.items] if rater else [],
    }


def coming(test: Test, rater: Rater, language: str) -> list[dict[str, Any]]:
    """List the rater's next trials of an adaptive test, which were not chosen when the page
    asked.
    """
    if test.pairing != "adaptive":
        return []
    said = wording(test, language)
    ahead = [item for item in rater.items if item.order not in rater.answered][:AHEAD]
    return [_trial(test, said, rater, item) for item in ahead]


def _question(number: int, question: Question, language: str) -> dict[str, Any]:
    ask, choices = question.said(language)
    return {
        "number": number,
        "when": question.when,
        "every": question.every,
        "ask": ask,
        "choices": choices,
        "optional": question.optional,
    }


def _trial(test: Test, said: Wording, rater: Rater, item: Item) -> dict[str, Any]:
    asked = test.trials[item.trial] if item.trial != UNDRAWN else None
    referenced = asked is not None and asked.reference is not None
    words = [
        {"value": value, "label": word, "number": test.design.number(value)}
        for (value, _), word in zip(test.scale, said.words, strict=True)
    ]
    return {
        "order": item.order,
        "design": test.design.name,
        "cards": test.design.cards,
        "sliders": test.design.together,
        "together": test.design.together and test.strict,
        "question": said.question,
        "words": words,
        "scales": [_scale(test, scale) for scale in said.scales],
        "comment": test.comment,
        "sentence": test.sentences.get(asked.stimulus) if asked and test.show_sentence else None,
        "practice": asked is not None and asked.kind == "practice",
        "referenced": referenced,
        "sounds": len(item.shown) + referenced,
        "answered": item.order in rater.answered,
        "version": rater.versions.get(item.order, 0),
    }


def _scale(test: Test, scale: Scale) -> dict[str, Any]:
    words = [
        {"value": value, "label": word, "number": test.design.number(value)}
        for value, word in scale.answers
    ]
    return {"name": scale.name, "question": scale.question, "words": words, "typed": scale.typed}
