"""A rater's sitting: questions that may be left out, the test of the room, and breaks."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.listening import write_test
from earshot.study.library import Library
from earshot.study.web.server import library
from tests.browser.taking import Taking


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("tests")
    sitting = {"environment": {"pairs": 2, "right": 2}, "break_every": 2}
    write_test(folder / "sitting", "acr", trials=4, demographics=True, **sitting)
    yield library(folder)


@pytest.mark.parametrize("page", [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_sitting_with_questions_room_and_breaks(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "sitting", tests)
    page.goto(taking.link)
    for said in ("consent.questions", "consent.room"):
        expect(page.get_by_text(taking.say(said))).to_be_visible()
    taking.button(taking.say("consent.agree")).click()
    expect(taking.heading).to_have_text(taking.say("questions.title"))
    expect(page.get_by_text(taking.say("question.optional"))).to_have_count(6)
    page.get_by_role("radio", name="25–34").check()
    taking.button(taking.say("trial.next")).click()
    expect(taking.heading).to_have_text(taking.say("volume.title"))
    tests.store.headphones(taking.test, taking.token, True)
    page.reload()
    taking.listen()
    taking.check_room(right=False)
    expect(taking.heading).to_have_text(taking.say("room.failed.title"))
    taking.button(taking.say("check.again")).click()
    taking.check_room(attempt=1)
    for trial in range(3):
        _answer(taking)
        if trial == 2:  # one for practice, then two
            expect(taking.heading).to_have_text(taking.say("break.title"))
            expect(page.get_by_text("You have done 2 of 4.")).to_be_visible()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    taking.listen(back=True)
    for _ in range(2):
        _answer(taking)
    taking.finish()
    rater = tests.store.resume(taking.test, taking.token)
    assert rater and rater.environment and rater.rooms == 2
    assert rater.replied == tuple((question, 0) for question in range(6))


def _answer(taking: Taking) -> None:
    taking.item()
    taking.button(taking.say("play.sound")).click()
    answer = taking.page.locator(".answer").first
    expect(taking.page.get_by_role("radio").first).to_be_enabled()
    answer.click()
    taking.next()
