"""A rater's sitting: questions that may be left out, the test of the room, and breaks."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.listening import write_test
from earshot.study.library import TestLibrary
from earshot.study.web.server import library
from tests.browser.rater_form import RaterForm
from tests.browser.study.test_study import in_order


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestLibrary]:
    folder = tmp_path_factory.mktemp("tests")
    sitting = {"environment": {"pairs": 2, "right": 2}, "break_every": 2, "disclosure": "after"}
    headphones = {"test": "either", "short": True}
    write_test(
        folder / "sitting", "acr", trials=4, demographics=True, headphones=headphones, **sitting
    )
    yield library(folder)


@pytest.mark.parametrize("page", [("phone", "dark")], indirect=True)
def test_sitting_with_questions_room_and_breaks(
    page: Page, address: str, tests: TestLibrary
) -> None:
    form = RaterForm(page, address, "sitting", tests)
    page.goto(form.link)
    for text in ("consent.questions", "consent.room"):
        expect(page.get_by_text(form.say(text))).to_be_visible()
    expect(page.get_by_text(form.say("consent.voices"))).to_have_count(0)
    form.button(form.say("consent.agree")).click()
    expect(form.heading).to_have_text(form.say("questions.title"))
    in_order(page)
    expect(page.get_by_text(form.say("question.optional"))).to_have_count(6)
    page.get_by_role("radio", name="25–34").check()
    form.button(form.say("trial.next")).click()
    expect(form.heading).to_have_text(form.say("volume.title"))
    form.listen()
    assert form.check_by_trial(right=False) == ["huggins"] * 2
    expect(form.heading).to_have_text(form.say("check.failed.title"))
    form.button(form.say("check.again")).click()
    expect(page.get_by_text(form.say("check.short", n=1, of=7))).to_be_visible()
    in_order(page)
    assert form.check_by_trial(attempt=1) == ["antiphase"] * 4
    form.check_room(right=False)
    expect(form.heading).to_have_text(form.say("room.failed.title"))
    form.button(form.say("check.again")).click()
    form.check_room(attempt=1)
    for trial in range(3):
        _answer(form)
        if trial == 2:  # one for practice, then two
            expect(form.heading).to_have_text(form.say("break.title"))
            expect(page.get_by_text("You have done 2 of 4.")).to_be_visible()
            in_order(page)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    form.listen(back=True)
    for _ in range(2):
        _answer(form)
    form.finish()
    expect(page.get_by_text(form.say("end.voices"))).to_be_visible()
    rater = tests.store.resume(form.test, form.token)
    assert rater and rater.environment and rater.rooms == 2
    assert rater.replied == tuple((question, 0) for question in range(6))


def _answer(form: RaterForm) -> None:
    form.item()
    form.button(form.say("play.sound")).click()
    answer = form.page.locator(".answer").first
    expect(form.page.get_by_role("radio").first).to_be_enabled()
    answer.click()
    form.next()
