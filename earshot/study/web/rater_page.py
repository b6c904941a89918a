"""The rater's page and its data, in the rater's language: nothing by which one system could be
distinguished from another.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment
from markupsafe import Markup

from earshot.core.templates import environment
from earshot.study.assignment import TRIALS_AHEAD, start_of
from earshot.study.design import Item, Scale, Test
from earshot.study.design.model import UNDRAWN
from earshot.study.design.raters import Outcome, Question
from earshot.study.design.scales import ASKED_BY, STANDARD, TRIAL, Texts
from earshot.study.library import Opened
from earshot.study.sounds import checks
from earshot.study.storage.raters import End, Rater

PAGE: Final = Path(__file__).parent / "page"
TEXTS: Final = Path(__file__).parent / "languages"  # en.json is the one to translate
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; media-src blob:; "
    "base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
ENGLISH: Final = "en"
LANGUAGES: Final = tuple(sorted(path.stem for path in TEXTS.glob("*.json")))
ACCEPTED_LANGUAGE: Final = re.compile(r"([A-Za-z]{1,8})[A-Za-z0-9-]*(?:\s*;\s*q=([\d.]+))?")
MAX_HEADER: Final = 1000  # characters of a header


@cache
def page_texts(language: str) -> dict[str, Any]:
    """Read all texts by their keys; English where there is no such language."""
    name = language if language in LANGUAGES else ENGLISH
    return json.loads((TEXTS / f"{name}.json").read_text(encoding="utf-8"))


def choose_language(wish: str | None, accepted: str, written: Collection[str], own: str) -> str:
    """Choose the language to show: the one that is asked for ("de", "de-AT"), if we speak it; else
    the first that the browser accepts (Accept-Language) of those in which the test is written; else
    its own.
    """
    spoken = (wish or "").partition("-")[0].lower()
    if spoken in LANGUAGES:
        return spoken
    offers = [
        (-float(weight or 1), place, name.lower())
        for place, (name, weight) in enumerate(ACCEPTED_LANGUAGE.findall(accepted[:MAX_HEADER]))
        if re.fullmatch(r"(\d+(\.\d*)?)?", weight)
    ]
    return next((name for _, _, name in sorted(offers) if name in written), own)


@dataclass(frozen=True)
class Wording:
    """The texts of a test in one language: see earshot.study.design.Test; words are those of the
    scale. scales: where a trial has several.
    """

    title: str
    instructions: str
    consent: str
    question: str
    words: tuple[str, ...]
    agree: tuple[str, ...]
    scales: tuple[Scale, ...]
    guidelines: Mapping[str, str]
    faults: tuple[str, ...]


def own_languages(test: Test) -> tuple[str, ...]:
    """List the languages in which there is a text of the test's own."""
    return (test.language, *test.texts)


def wording(test: Test, language: str) -> Wording:
    """Choose the test's texts in the language; where they are not written, its question and scale
    are still those of the standard where it asks by these, and the rest is in its own language.
    """
    texts = test.texts.get(language, Texts())
    return Wording(
        title=texts.title or test.title,
        instructions=texts.instructions or test.instructions,
        consent=texts.consent or test.consent,
        question=texts.question or _wording_question(test, language),
        words=texts.words or _wording_words(test, language),
        agree=texts.agree or test.agree,
        scales=tuple(_wording_scale(test, scale, texts, language) for scale in test.scales),
        guidelines={**test.guidelines, **texts.guidelines},
        faults=texts.faults or test.faults,
    )


def _wording_scale(test: Test, scale: Scale, texts: Texts, language: str) -> Scale:
    """Choose the scale in the language, where it is written there, or asked by a text of ours."""
    question, answers = texts.scales.get(scale.name, (None, ()))
    ours, words_of_page = STANDARD.get(scale.name), page_texts(language)
    key = ASKED_BY.get(scale.name, scale.name)
    if test.design.reworded:
        ours, key = test.design.scale, test.design.name
    if ours and question is None and scale.question == ours.question:
        question = words_of_page.get(f"question.{key}")
    if ours and not answers:  # of another number of points, the ends have the same words
        translated = words_of_page.get(f"scale.{key}", {})
        words = {word: translated.get(str(value), word) for value, word in ours.answers}
        answers = tuple((value, words.get(word, word)) for value, word in scale.answers)
    return replace(scale, question=question or scale.question, answers=answers or scale.answers)


def _wording_question(test: Test, language: str) -> str:
    name, design = test.design.name, test.design
    keys = {design.scale.question: name, design.unreferenced: f"{name}.alone"}
    key = f"question.{keys.get(test.question)}"
    return page_texts(language).get(key, test.question)


def _wording_words(test: Test, language: str) -> tuple[str, ...]:
    standard = {word for _, word in test.design.scale.answers}
    if not {*test.words} <= standard:
        return test.words
    values = [str(value) for value, _ in test.scale]
    translated = page_texts(language).get(f"scale.{test.design.name}", {})
    return tuple(
        translated.get(value, word) for value, word in zip(values, test.words, strict=True)
    )


def render(name: str, /, **values: Any) -> str:
    """Fill the template of that name."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return environment([PAGE])


def page(test: Test, language: str) -> HTMLResponse:
    """Write the page itself, the same for every rater of a test who reads the language."""
    words = page_texts(language)
    # Data, not HTML: no text can end the element that holds it.
    data = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    title = wording(test, language).title
    text = render("rater.html", texts=words, title=title, language=language, words=Markup(data))
    return HTMLResponse(text, headers=HEADERS)


def message(
    title: str, text: str, status: int, headers: Mapping[str, str] = MappingProxyType({})
) -> HTMLResponse:
    """Write a page with one message."""
    page = render("message.html", title=title, text=text)
    return HTMLResponse(page, status, HEADERS | dict(headers))


def ended(test: Test, rater: Rater | End | None, outcome: Outcome | None = None) -> dict[str, Any]:
    """Describe how it ended, None while it goes on; the completion code; and back: the panel's
    address or code for it, which no rater gets before. outcome: where it is not the rater's own.
    """
    outcome = outcome or (rater.outcome if rater else None)
    return {
        "outcome": outcome,
        "code": rater and rater.code,
        "back": test.panel.back(outcome),
    }


def about(
    test: Test,
    opened: Opened,
    rater: Rater | None,
    language: str,
    outcome: Outcome | None = None,
    preview: bool = False,
    visitors: bool = False,
    public: bool = False,
) -> dict[str, Any]:
    """Describe the test, and where the rater stands in it; None: a visitor who has not agreed yet.
    opened: what is played. outcome: theirs, or why nobody can begin or go on. visitors: whether a
    visitor opened the test; public: whether it is an example, which one may take with loudspeakers.
    """
    texts = wording(test, language)
    return {
        "title": texts.title,
        "instructions": texts.instructions,
        "consent": texts.consent,
        "agree": texts.agree,
        "approval": test.approval,
        "disclosed_after": test.disclosed_after,
        "show_others": test.show_others,
        "count": test.trial_count,
        "checks": checks.HEADPHONE_TRIALS,
        "check": rater and headphone_step(opened, rater),
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
        "videos": opened.video_types,
        "trials": [_trial(opened, texts, rater, item) for item in rater.items] if rater else [],
    }


def headphone_step(opened: Opened, rater: Rater) -> dict[str, Any] | None:
    """Describe the next trial of a headphone check that is asked trial by trial: its kind and
    number, the answers of this attempt so far, and how many there are at most; None where there is
    no such trial."""
    check, attempt = opened.test.headphones, rater.attempts
    if check is None or rater.headphones is not None or attempt >= checks.MAX_ATTEMPTS:
        return None
    answers = rater.headphone_answers
    _, kind, trial = checks.judge_headphones(opened.key, rater.token, check, answers, attempt)
    most = checks.trials_of(check) * len(checks.kinds(check, attempt))
    step = {"kind": kind, "trial": trial, "answers": answers}
    return step | {"most": most, "short": check.short}


def coming(opened: Opened, rater: Rater, language: str) -> list[dict[str, Any]]:
    """List the rater's next trials of an adaptive test, which were not chosen when the page
    asked.
    """
    test = opened.test
    if not test.draws_late:
        return []
    texts = wording(test, language)
    ahead = [item for item in rater.items if item.order not in rater.answered][:TRIALS_AHEAD]
    return [_trial(opened, texts, rater, item) for item in ahead]


def _question(number: int, question: Question, language: str) -> dict[str, Any]:
    ask, choices = question.wording(language)
    return {
        "number": number,
        "when": question.when,
        "every": question.every,
        "ask": ask,
        "choices": choices,
        "optional": question.optional,
    }


def _trial(opened: Opened, texts: Wording, rater: Rater, item: Item) -> dict[str, Any]:
    test = opened.test
    trial = test.trials[item.trial] if item.trial != UNDRAWN else None
    referenced = trial is not None and trial.reference is not None
    adjusted, (low, high) = test.design.scale.adjusted, test.design.scale.bounds
    words = [
        {"value": value, "label": word, "number": test.design.number(value)}
        for (value, _), word in zip(test.scale, texts.words, strict=True)
    ]
    return {
        "order": item.order,
        "design": test.design.name,
        "cards": test.design.cards,
        "sliders": test.design.switched or adjusted,
        "gain": {"low": low, "high": high, "start": start_of(test, rater.id, item.order)}
        if adjusted
        else None,
        "ranked": test.design.scale.ranked,
        "together": (test.design.switched and test.strict) or adjusted,
        "question": texts.question,
        "words": words,
        "scales": [
            _scale(test, scale) | {"guidelines": texts.guidelines.get(scale.name)}
            for scale in texts.scales
        ],
        "guidelines": texts.guidelines.get(TRIAL),
        "faults": texts.faults,
        "comment": test.comment,
        "sentence": test.sentences.get(trial.stimulus) if trial and test.show_sentence else None,
        "practice": trial is not None and trial.kind == "practice",
        "referenced": referenced,
        "sounds": len(item.systems) + referenced,
        "pictures": len(opened.pictures(item)) if trial else 0,
        "answered": item.order in rater.answered,
        "version": rater.versions.get(item.order, 0),
    }


def _scale(test: Test, scale: Scale) -> dict[str, Any]:
    words = [
        {"value": value, "label": word, "number": test.design.number(value)}
        for value, word in scale.answers
    ]
    return {"name": scale.name, "question": scale.question, "words": words, "typed": scale.typed}
