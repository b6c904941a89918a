"""Whole listening tests in a real browser, and what their organiser sees."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.listening import Rater
from earshot.study.library import TestLibrary
from earshot.study.sounds import checks
from tests.browser.rater_form import RaterForm
from tests.browser.visit import FAINT, FITS, PATIENCE, SIZES, shoot

Look = tuple[str, Literal["light", "dark"]]
LOOKS: list[Look] = [("desktop", "light"), ("phone", "dark")]
SCORES = {"fine": 82, "rough": 31, "reference": 100, "anchor-3.5k": 40, "anchor-7k": 60}


def in_order(page: Page, looks: Sequence[Look] = LOOKS) -> None:
    """Nothing is cut off at the side, hard to read, or too small for a thumb, in any of the looks;
    the page keeps the last."""
    height = "(all) => all.filter((e) => e.checkVisibility()).map((e) => e.offsetHeight)"
    for size, scheme in looks:
        width, tall = SIZES[size]
        page.set_viewport_size({"width": width, "height": tall})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FITS), size
        assert page.evaluate(FAINT) == [], scheme
        assert min(page.locator("button, label.answer").evaluate_all(height)) >= 44, size


@pytest.mark.parametrize("page", [("phone", "dark")], indirect=True)
def test_mushra_is_taken_to_completion_code(
    page: Page, address: str, tests: TestLibrary, tmp_path: Path
) -> None:
    """A rater takes the test from consent to code."""
    form = RaterForm(page, address, "mushra", tests)
    form.agree()
    in_order(page)
    form.listen()
    expect(page.get_by_text(f"1 of {checks.HEADPHONE_TRIALS}")).to_be_visible()
    in_order(page)
    form.check()
    expect(page.get_by_text("for practice")).to_be_visible()
    in_order(page)
    form.rate(SCORES)
    for trial in range(3):
        expect(page.locator("#count")).to_have_text(f"{trial + 1} of 3")
        form.rate(SCORES)
        if trial == 0:  # closes the browser, and comes back by the same link
            before, link = form.item(), page.url
            page.goto("about:blank")
            page.goto(link)
            form.listen(back=True)
            assert form.item() == before
    shoot(page, tmp_path / "thanks.png")
    rater = tests.store.resume(form.test, form.token)
    assert rater and rater.headphones and form.finish() == rater.code
    in_order(page)
    ratings = tests.store.ratings(form.test)
    mine = ratings[(ratings["rater"] == rater.id) & (ratings["kind"] == "trial")]
    assert mine.groupby("system")["answer"].agg(["min", "max"]).T.to_dict() == {
        system: {"min": score, "max": score} for system, score in SCORES.items()
    }
    assert min(mine["plays"]) >= 1 and min(mine["milliseconds"]) > 0


def test_ab_is_resumed_in_second_sitting(page: Page, address: str, tests: TestLibrary) -> None:
    form = RaterForm(page, address, "ab", tests)
    form.agree()
    form.listen()
    form.check(right=False)
    form.button("Try again").click()
    form.check(right=True, attempt=1)
    trials = 6  # one of them for practice, and one to see who listens
    for _ in range(3):
        form.prefer("fine")
    # Half a trial is kept as well: what was heard, and what was chosen.
    item, link = form.item(), page.url
    for name in ("A", "B"):
        form.button(f"Play {name}").click()
        expect(page.locator(".card.heard")).to_have_count("AB".index(name) + 1)
    page.locator(".answer").nth(1).click()
    in_order(page)
    page.goto("about:blank")
    page.goto(link)
    form.listen(back=True)
    assert form.item() == item
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    page.locator(".answer").nth(0 if item.systems[0].startswith("fine") else 2).click()
    form.next()
    for _ in range(4, trials):
        form.prefer("fine")
    assert len(form.finish()) == 8
    ratings = tests.store.ratings(form.test)
    mine = ratings[ratings["rater"] == ratings.iloc[-1]["rater"]]
    assert {*mine["headphones"]} == {True}
    assert {*ratings["answer"]} == {1}


def test_report_shows_the_preferred_system(
    page: Page, address: str, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tests, "min_time", 0)  # these raters hear nothing
    elsewhere = {"X-Forwarded-For": "192.0.2.1"}
    with httpx.Client(base_url=address, timeout=PATIENCE / 1000, headers=elsewhere) as client:
        for name in ("ab", "mushra") * 8:
            test = tests.get(name).test
            rater = Rater(client, name)
            stored = tests.store.resume(test, rater.token)
            assert stored
            for item, trial in zip(stored.items, rater.session()["trials"], strict=True):
                best = "a" if item.systems[0].startswith("fine") else "b"
                scores = [SCORES.get(system, 0) for system in item.systems]
                rater.answer(trial, best if name == "ab" else scores).raise_for_status()
    for name in ("ab", "mushra"):
        page.goto(f"{address}/results/{name}?key={tests.get(name).key}")
        page.get_by_role("button", name="Show them now").click()
        expect(page.locator(".verdict")).to_contain_text(re.compile("^fine.*(prefer|highest)"))
        with page.expect_download() as download:
            page.get_by_role("link", name="Ratings (CSV)").click()
        assert "fine" in download.value.path().read_text()
    guessed = page.request.get(f"{address}/results/ab?key=guessed")
    assert guessed.status == 403 and "The key in this link is not" in guessed.text()
