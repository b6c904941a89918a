"""A visitor hears two conversions and votes, blind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch, site
from earshot.study.shipped import VOTE
from earshot.tabs import listening_tests
from tests.browser.visit import PLAYING, Visit

LOOKS = [
    ((1440, 900), "light"),
    ((1440, 900), "dark"),
    ((360, 780), "light"),
    ((1920, 1080), "dark"),
]


@pytest.fixture(scope="module")
def served(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple]:
    tests = listening_tests.opened(tmp_path_factory.mktemp("tests"), None)
    page = site.build("cpu", tiny_checkpoints, tests=tests)
    options = launch.options([], {})
    yield launch.launch(page, options, block=False, folder=tiny_checkpoints, tests=tests), tests
    page.close()


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_visitor_votes_and_sees_the_score_move(
    browser: Browser, served: tuple, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    address, tests = served
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport)  # type: ignore[arg-type]
    visit = Visit(context.new_page(), address, tmp_path)
    visit.open(scheme)
    page, test = visit.page, tests.open(VOTE.name).test
    before = len(tests.store.ratings(test))
    visit.button("Listen and vote").click()
    better = visit.button("A is clearer")
    expect(page.locator(".vote-play").nth(0)).to_have_class("vote-play tl-on")
    expect(better).to_be_disabled()
    expect(page.locator(".vote-play").nth(1)).to_have_class("vote-play tl-on")
    assert page.evaluate(PLAYING) == 0, "the sounds are of no player that could tell them"
    expect(better).to_be_enabled()
    visit.shoot("pair")
    better.click()
    score = page.locator("#vote-score")
    expect(score).to_contain_text("A was")
    expect(score).to_contain_text("votes on this pair")
    assert len(tests.store.ratings(test)) == before + 1
    assert visit.faint() == []
    visit.shoot("voted")
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    expect(visit.button("Another pair")).to_be_visible()
    assert visit.complaints == []
    context.close()
