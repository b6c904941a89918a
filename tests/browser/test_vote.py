"""A visitor hears two conversions and votes, blind."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch, site
from earshot.study.library import VOTE
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services
from tests.browser.visit import PLAYING, Visit
from tests.support.serving import close


@pytest.fixture(scope="module")
def served(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    tests = listening_tests.opened(tmp_path_factory.mktemp("tests"), None)
    page = site.build(Services(device="cpu", tests=tests), tiny_checkpoints)
    options = launch.options([], {})
    yield launch.launch(page, options, block=False), tests
    close(page)


def test_visitor_votes_on_many_pairs(browser: Browser, served: tuple, tmp_path: Path) -> None:
    """A visitor votes on pair after pair and sees the score move."""
    address, tests = served
    context = browser.new_context()
    visit = Visit(context.new_page(), address, tmp_path)
    visit.open()
    page, test = visit.page, tests.open(VOTE.name).test
    score, better = page.locator("#vote-score"), visit.button("A is clearer")
    for votes in range(2):
        score_text = score.inner_text()
        visit.button("Another pair" if votes else "Listen and vote").click()
        expect(page.locator(".vote-play").nth(0)).to_have_class("vote-play tl-on")
        expect(better).to_be_disabled()
        second = page.locator(".vote-play").nth(1)
        expect(second).to_have_class("vote-play tl-on")
        expect(page.locator(".vote-hint")).to_have_text("Both have to be heard to the end.")
        second.click()  # it waits, and goes on
        expect(page.locator(".vote-hint")).to_contain_text("Press B.")
        second.click()
        assert page.evaluate(PLAYING) == 0, "the sounds are of no player that could tell them"
        expect(better).to_be_enabled()
        visit.shoot(f"pair {votes}")
        better.click()
        expect(score).not_to_have_text(score_text)
        expect(score).to_contain_text("A was")
        expect(score).to_contain_text(re.compile(r" 1 vote on | [2-9] votes on this pair"))
        assert len(tests.store.ratings(test)) == votes + 1
        expect(visit.button("Another pair")).to_be_visible()
    visit.look("voted")
    assert visit.complaints == []
    context.close()
