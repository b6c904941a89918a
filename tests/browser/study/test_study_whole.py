"""A test with all that a test can have, taken by three raters: one on a phone to whom a sound does
not come, and one with a tab that was left open. It was frozen before, and its export reads back."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from benchmarks.support.listening import write_test
from earshot.study import preregistration
from earshot.study.analysis.estimates import Table
from earshot.study.design import Item
from earshot.study.library import TestLibrary
from earshot.study.storage import dataset
from tests.browser.rater_form import RaterForm
from tests.browser.study.conftest import rater_page
from tests.browser.study.test_study_scales import (
    LESSON,
    SCALES,
    SENTENCES,
    TRANSCRIPTION,
    answer,
    listen,
)
from tests.browser.visit import shoot

pytestmark = pytest.mark.slow

WHOLE: dict[str, Any] = {
    "scales": SCALES,
    "sentences": SENTENCES,
    "comment": True,
    "trials": 4,
    "practice": [LESSON],
    "attention": [{**LESSON, "sounds": "fine/cat.wav", "reference": "reference/cat.wav"}],
    "demographics": ["age", "hearing", "device"],
    "questions": [
        {"ask": "Are you tired?", "when": "between", "every": 3, "choices": ["yes", "no"]},
        {"ask": "What was hard?", "when": "after"},
    ],
    "environment": {"pairs": 2, "right": 2},
    "break_every": 2,
    "blocks": "systems",
    "agree": ["I am 18 or older."],
    "approval": "No. 17",
    "raters": 3,
    "loudness": -23,
    "rules": {"least_seconds": 0.2, "most_minutes": 60, "failed_checks": 0.5},
}
TRIAL = "a trial"
# What is on the page, once it is there.
PAGE_TITLE = f"""() => !document.querySelector('.loading') && (document.querySelector('.trial')
  ? '{TRIAL}' : document.querySelector('h1')?.textContent)"""
GONE = "title => document.querySelector('h1')?.textContent !== title"
RATERS = [("desktop", "light"), ("phone", "dark"), ("desktop", "dark")]


@pytest.fixture(scope="module", autouse=True)
def whole(tests: TestLibrary) -> None:
    folder = write_test(tests.folders[0] / "whole", "smos", **WHOLE)
    preregistration.freeze(tests.open("whole").test)
    assert (folder / preregistration.FILE).is_file()


class Sitting:
    """A rater who goes through all of it. lost: a trial whose first sound does not come; stale: one
    that another tab answers first."""

    def __init__(self, page: Page, form: RaterForm, name: str, shots: Path) -> None:
        self.page, self.form, self.name, self.shots = page, form, name, shots
        self.seen: list[str] = []
        self.lost: Item | None = None
        self.stale: Item | None = None

    def begin(self) -> None:
        """All that comes before the trials."""
        form, page = self.form, self.page
        page.goto(form.link)
        expect(page.get_by_text("No. 17")).to_be_visible()
        expect(form.button(form.say("consent.agree"))).to_be_disabled()
        page.get_by_role("checkbox", name="I am 18 or older.").check()
        self.shoot("consent")
        form.button(form.say("consent.agree")).click()
        expect(form.heading).to_have_text(form.say("questions.title"))
        page.get_by_role("radio", name="25–34").check()
        self.shoot("questions")
        form.button(form.say("trial.next")).click()
        expect(form.heading).to_have_text(form.say("volume.title"))
        form.tests.store.screen(form.test, form.token, "headphones", True)
        rater = form.tests.store.resume(form.test, form.token)
        assert rater
        if self.name.startswith("phone"):
            self.lost = rater.items[2]
            page.route(f"**/sound/{self.lost.order}/0*", lambda route: refuse(route))
        if self.name == "desktop-dark":
            self.stale = rater.items[3]
        page.reload()
        form.listen()
        form.check_room()
        page.wait_for_function(GONE, arg=form.say("room.title"))

    def go_on(self) -> bool:
        """Does what the page asks for now → whether there is more."""
        form, page = self.form, self.page
        title = page.wait_for_function(PAGE_TITLE).json_value()
        if title == TRIAL:
            self.judge()
            return True
        self.seen.append(title)
        if title == form.say("break.title"):
            self.shoot("break")
            form.button(form.say("break.go_on")).click()
        elif title == form.say("questions.title"):
            if page.get_by_role("radio", name="no").count():
                page.get_by_role("radio", name="no").check()
            else:
                page.get_by_role("textbox").fill("Nothing.")
            form.button(form.say("trial.next")).click()
        elif title == form.say("volume.back.title"):
            form.listen(back=True)
        elif title == form.say("end.complete.title"):
            return False
        else:  # a lesson, or a sound that did not come
            assert title in (form.say("lesson.right"), form.say("missing.title")), title
            form.button(form.say("trial.next")).click()
        page.wait_for_function(GONE, arg=title)
        return True

    def judge(self) -> None:
        """Judges a trial."""
        form = self.form
        item = form.item()
        listen(self.page)
        answer(self.page, self.name)
        if self.stale and item.order == self.stale.order:  # which another tab answers meanwhile
            answers: dict[str, int | list[int] | str] = dict.fromkeys(
                ("similarity", "naturalness", "pleasantness"), 2
            )
            answers["transcription"] = "no"
            store = form.tests.store
            store.answer(form.test, form.token, item.order, answers, [1, 1], 900)
            form.button(form.say("trial.next")).click()
            expect(form.heading).to_have_text(form.say("volume.back.title"))
            return
        if item.order == 4:
            self.shoot("trial")
        form.next()
        expect(self.page.locator(".card.heard")).to_have_count(0)

    def shoot(self, what: str) -> None:
        shoot(self.page, self.shots / f"whole-{self.name}-{what}.png")


def refuse(route: Route) -> None:
    route.fulfill(status=404, body="")


def test_three_raters_take_whole_test(
    browser: Browser, address: str, tests: TestLibrary, tmp_path: Path
) -> None:
    """The export of the test reads back."""
    opened, store = tests.open("whole"), tests.store
    link, key = f"{address}/results/whole", {"key": opened.key}
    sittings: dict[str, Sitting] = {}
    for size, scheme in RATERS:
        running = httpx.get(link, params=key, timeout=60).text
        assert "They are shown, and ratings may be taken along, once the test is closed" in running
        assert httpx.get(f"{link}/ratings.csv", params=key).status_code == 403, "it was frozen"
        complaints: list[str] = []
        with rater_page(browser, size, scheme, complaints) as page:
            form = RaterForm(page, address, "whole", tests)
            sitting = Sitting(page, form, f"{size}-{scheme}", tmp_path)
            sitting.begin()
            while sitting.go_on():
                pass
            rater = store.resume(opened.test, form.token)
            assert rater and rater.outcome == "complete"
            sittings[rater.id] = sitting
            expected = ("404",) if sitting.lost else ("409",) if sitting.stale else ()
            assert all(any(code in each for code in expected) for each in complaints), complaints
            complaints.clear()  # of which no other is allowed
        blocks = [
            trial.sounds.keys()
            for item in rater.items
            if (trial := opened.test.trials[item.trial]).kind == "trial"
        ]
        assert len(blocks) == 4 and blocks[0] == blocks[1] != blocks[2] == blocks[3]
        assert sitting.seen.count(form.say("break.title")) >= 1

    # The test is full, so what was found is shown, and was looked at by nobody before.
    report = httpx.get(link, params=key, timeout=120).text
    assert "Which sounds decide?" in report and "nothing was changed since" in report
    assert store.looks(opened.test) == []
    assert "3 of 3 raters passed the check" in report and "not looked at" in report
    content = httpx.get(f"{link}/dataset.zip", params=key, timeout=60).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:

        def table(name: str) -> Table:
            file = archive.read(f"whole/{dataset.path(opened.test, name)}")
            return pd.read_csv(io.BytesIO(file), keep_default_na=False)

        raters, ratings = table("raters.csv").set_index("rater"), table("ratings.csv")
        described = json.loads(archive.read("whole/dataset_description.json"))
    assert {*raters.index} == {*sittings} and {*raters["outcome"]} == {"complete"}
    assert {*raters["environment"]} == {"passed"} and {*raters["headphones"]} == {"passed"}
    assert {*raters["How old are you?"]} == {"25–34"} and {*raters["How is your hearing?"]} == {""}
    assert {*raters["What was hard?"]} == {"Nothing."}
    assert all("after 3: no" in reply for reply in raters["Are you tired?"])
    measured = {each["name"] for each in described["variableMeasured"]}
    assert {*ratings.columns, *raters.columns} - {"rater"} <= measured - {"rater"}
    for rater, sitting in sittings.items():
        own = ratings[ratings["rater"] == rater]
        assert raters.loc[rater, "missing"] == (sitting.lost is not None)
        if sitting.lost:
            assert sitting.lost.order not in {*own["order"]}
        if sitting.stale:  # the first answer stands
            first = own[own["order"] == sitting.stale.order].set_index("scale")
            assert float(first.loc["naturalness", "answer"]) == 2
            own = own[own["order"] != sitting.stale.order]
        typed = own[own["scale"] == "transcription"]
        assert {*typed["text"]} == {TRANSCRIPTION} and {*own["kind"]} >= {"practice", "trial"}
    missing = store.missing(opened.test)
    assert missing.total() == 1
