"""What raters read, in each of our languages."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.core.limits import BUDGETS
from earshot.study import rater_links
from earshot.study.design import DESIGNS
from earshot.study.design.scales import ASKED_BY, STANDARD
from earshot.study.library import TestLibrary
from earshot.study.storage import queries
from earshot.study.storage.store import (
    NO_CHECK,
    NO_QUESTION,
    NO_ROOM,
    STALE,
    TOO_MANY_MISSING,
    TOO_SOON,
)
from earshot.study.web import rater_page, rater_requests, rater_routes
from earshot.study.web.rater_page import LANGUAGES, choose_language, page_texts
from earshot.study.web.server import app, library

OTHERS = [name for name in LANGUAGES if name != "en"]
GAP = re.compile(r"\{\w+\}")
# What the server may tell a rater.
SENTENCES = (
    queries.NOBODY,
    queries.SCREENED,
    rater_links.NOT_OF_PANEL,
    TOO_SOON,
    NO_CHECK,
    NO_ROOM,
    rater_links.INVITED_ONLY,
    rater_requests.NOT_STORED,
    NO_QUESTION,
    STALE,
    TOO_MANY_MISSING,
    rater_links.UNFILLED,
    rater_links.NOT_SIGNED,
    rater_requests.BEGUN,
    rater_requests.WRONG_TOKEN,
    rater_requests.NOBODY,
    rater_routes.UNHEARD,
    BUDGETS["raters"].refusal,
)


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    german = {"title": "Ein Test", "question": "Welches klingt besser?", "consent": "Freiwillig."}
    write_test(tmp_path / "ab", "ab", texts={"de": german}, question="Which sounds better?")
    write_test(tmp_path / "acr", "acr")
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def gaps(text: Any) -> set[str]:
    return {*GAP.findall(json.dumps(text, ensure_ascii=False))}


@pytest.mark.parametrize("language", OTHERS)
def test_language_has_texts_with_gaps(language: str) -> None:
    """It has every text of English, with the same gaps."""
    english, other = page_texts("en"), page_texts(language)
    designs = (*DESIGNS, "adjustment.alone", "mushra.alone", *STANDARD)
    scales = {f"{kind}.{design}" for kind in ("scale", "question") for design in designs}
    assert {*other} - {*SENTENCES} - scales == {*english}
    for key, text in english.items():
        assert gaps(other[key]) == gaps(text), key
        assert type(other[key]) is type(text), key
        alike = isinstance(text, dict) or len(text) < 12  # "{n} question" is French too
        assert alike or other[key] != text, key
    assert {*SENTENCES} <= {*other}, "what the server says"
    for design in DESIGNS:
        scale = other.get(f"scale.{design}", {})
        missing = {str(value) for value, word in DESIGNS[design].scale.answers if len(word) > 1} - {
            *scale
        }
        assert not missing and other[f"question.{design}"], design
    assert other["question.mushra.alone"] and other["question.adjustment.alone"]
    for name, scale in STANDARD.items():
        key = ASKED_BY.get(name, name)
        assert other[f"question.{key}"] != scale.question, name
        values = {str(value) for value in scale.numbers}
        assert values == {*other.get(f"scale.{key}", {})}, name


def test_arabic_alone_goes_right_to_left() -> None:
    """There are six languages."""
    assert {*LANGUAGES} == {"ar", "de", "en", "es", "fr", "zh"}
    assert {name for name in LANGUAGES if page_texts(name)["direction"] == "rtl"} == {"ar"}


@pytest.mark.parametrize(
    ("wish", "accepted", "expected"),
    [
        ("fr", "de", "fr"),  # what is asked for
        ("de-AT", "fr", "de"),
        (None, "de-AT,de;q=0.9,en;q=0.8", "de"),
        (None, "fr,de;q=0.5", "de"),  # the test is not written in French
        (None, "en;q=0.1,de;q=0.9", "de"),
        (None, "zh", "en"),
        ("xx", "", "en"),
        (None, ";;;q=.,de;q=1.2.3" + "x" * 5000, "en"),
    ],
)
def test_language_asked_for_comes_first(wish: str | None, accepted: str, expected: str) -> None:
    """Else it is the first of the browser's in which the test is written."""
    assert choose_language(wish, accepted, ("en", "de"), "en") == expected


def test_test_speaks_raters_language(client: TestClient, tests: TestLibrary) -> None:
    """The ratings hold the language."""
    page = client.get("/listen/ab", headers={"Accept-Language": "de-DE"}).text
    assert '<html lang="de" dir="ltr">' in page and "<title>Ein Test" in page
    rater = Rater(client, "ab", language="de")
    session = rater.session()  # whatever the browser says by now
    assert session["title"] == "Ein Test" and session["consent"] == "Freiwillig."
    assert session["instructions"].startswith("Listen closely")  # is not translated
    trial = session["trials"][0]
    assert trial["question"] == "Welches klingt besser?"
    assert trial["words"][1]["label"] == page_texts("de")["scale.ab"]["same"]
    rater.answer(trial, "a")
    key = tests.open("ab").key
    table = client.get("/results/ab/ratings.csv", params={"key": key}).text
    head, row = (line.split(",") for line in table.splitlines()[:2])
    assert dict(zip(head, row, strict=True))["language"] == "de"


def test_standard_scale_is_translated(client: TestClient) -> None:
    page = client.get("/listen/acr", params={"lang": "ar"}).text
    assert '<html lang="ar" dir="rtl">' in page
    rater = Rater(client, "acr", language="ar")
    labels = [word["label"] for word in rater.session()["trials"][0]["words"]]
    assert labels == [page_texts("ar")["scale.acr"][str(value)] for value in (5, 4, 3, 2, 1)]


def test_text_cannot_end_its_element(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = page_texts("en") | {"leave": "</script><script>alert(1)"}
    monkeypatch.setattr(rater_page, "page_texts", lambda language: hostile)
    assert "</script><script>alert" not in client.get("/listen/acr").text
