"""A staircase in a browser: by keys at a computer, and by a thumb on a phone."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.listening import write_test
from earshot.study.library import TestLibrary
from tests.browser.rater_form import RaterForm
from tests.browser.study.conftest import rater_page
from tests.browser.study.test_study import in_order
from tests.browser.visit import shoot

LEVELS = {"rough": 9, "near": 6, "close": 3}
STEPS = 4


@pytest.fixture(scope="module", autouse=True)
def ways(tests: TestLibrary) -> None:
    folder = tests.folders[0] / "steps"
    write_test(
        folder,
        "abx",
        systems={name: f"{name}/*.wav" for name in LEVELS},
        reference="reference/*.wav",
        staircase={"levels": LEVELS, "unit": "dB"},
        trials=STEPS,
        practice=0,
    )
    for name in ("near", "close"):
        shutil.copytree(folder / "fine", folder / name)


def hear_all(page: Page) -> None:
    for place in range(page.locator(".card").count()):
        page.locator(".card").nth(place).click()
        expect(page.locator(".card.heard")).to_have_count(place + 1)


def test_level_follows_the_answers(
    browser: Browser, address: str, tests: TestLibrary, complaints: list[str], tmp_path: Path
) -> None:
    """Whoever is right gets a harder level, which the page could not load before."""
    for size, scheme, wrong in (("desktop", "light", ()), ("phone", "dark", (2,))):
        with rater_page(browser, size, scheme, complaints) as page:
            form, levels = RaterForm(page, address, "steps", tests), []
            form.begin()
            for trial in range(STEPS):
                item = form.item()
                levels.append(next(iter(form.test.trials[item.trial].sounds)))
                hear_all(page)
                is_first = item.systems[0] == item.systems[2]
                place = int(is_first == (trial in wrong))
                if size == "desktop":
                    page.keyboard.press(str(place + 1))
                else:
                    page.locator(".answer").nth(place).tap()
                if not trial:
                    in_order(page, [(size, scheme)])
                    shoot(page, tmp_path / f"steps-{size}.png")
                form.next()
            assert levels == ["rough", "rough", "near", "rough" if wrong else "near"]
            form.finish()
    assert sorted(tests.store.ratings(form.test)["answer"]) == [0, *[1] * (2 * STEPS - 1)]
