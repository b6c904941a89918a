"""What the rater's page is told: nothing by which one system could be told from another."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fastapi.responses import HTMLResponse

from study.design import Item, Test
from study.sounds import headphones
from study.storage.raters import Rater

PAGE: Final = Path(__file__).parent / "page"
NUMBERED: Final = ("acr", "dcr", "ccr")  # designs whose answers are known by their numbers
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def html(title: str, language: str = "en") -> HTMLResponse:
    """The page itself, the same for every rater of a test."""
    text = (PAGE / "rater.html").read_text()
    text = text.replace("{{title}}", escape(title)).replace("{{language}}", escape(language))
    return HTMLResponse(text, headers=HEADERS)


def message(
    title: str, text: str, status: int, headers: Mapping[str, str] = MappingProxyType({})
) -> HTMLResponse:
    """A page that says one thing."""
    page = (PAGE / "message.html").read_text()
    page = page.replace("{{title}}", escape(title)).replace("{{text}}", escape(text))
    return HTMLResponse(page, status, HEADERS | dict(headers))


def about(test: Test, rater: Rater | None) -> dict[str, Any]:
    """The test, and where the rater stands in it; None: somebody who has not agreed yet."""
    scored = test.trials_per_rater + len(test.of_kind("attention")) + len(test.of_kind("gold"))
    return {
        "title": test.title,
        "instructions": test.instructions,
        "consent": test.consent,
        "count": scored,
        "checks": headphones.TRIALS,
        "attempt": rater.attempts if rater else 0,
        "consented": rater is not None,
        "withdrawn": rater is not None and rater.withdrawn,
        "headphones": rater and rater.headphones,
        "code": rater and rater.code,
        "trials": [_trial(test, rater, item) for item in rater.items] if rater else [],
    }


def _trial(test: Test, rater: Rater, item: Item) -> dict[str, Any]:
    words = [
        {"value": value, "label": word, "number": _number(test, value)}
        for value, word in test.scale
    ]
    return {
        "order": item.order,
        "design": test.design,
        "question": test.question,
        "words": words,
        "practice": test.trials[item.trial].kind == "practice",
        "referenced": test.trials[item.trial].reference is not None,
        "sounds": len(item.shown) + (test.trials[item.trial].reference is not None),
        "answered": item.order in rater.answered,
    }


def _number(test: Test, value: int | str) -> str | None:
    """How an answer is called by its number, with a minus that is one."""
    if test.design not in NUMBERED:
        return None
    return f"{value:+d}".replace("-", "−") if test.design == "ccr" and value else str(value)
