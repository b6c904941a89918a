"""A staircase, and levels that are set, in a browser: by keys at a computer, and by a thumb on a
phone."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.listening import write_test
from earshot.study.assignment import start_of
from earshot.study.library import TestLibrary
from tests.browser.rater_form import RaterForm
from tests.browser.study.conftest import rater_page
from tests.browser.study.test_study import LOOKS, in_order
from tests.browser.visit import shoot

LEVELS = {"rough": 9, "near": 6, "close": 3}
STEPS = 3
SETTINGS = 1


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
    write_test(tests.folders[0] / "levels", "adjustment", trials=SETTINGS, practice=0, gain=[-9, 1])


def hear_all(page: Page) -> None:
    for place in range(page.locator(".card").count()):
        page.locator(".card").nth(place).click()
        expect(page.locator(".card.heard")).to_have_count(place + 1)


def test_level_follows_the_answers(
    browser: Browser, address: str, tests: TestLibrary, complaints: list[str], tmp_path: Path
) -> None:
    """Whoever is right gets a harder level, which the page could not load before."""
    for (size, scheme), wrong in zip(LOOKS, ((), (1,)), strict=True):
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
            assert levels == ["rough", "rough", "rough" if wrong else "near"]
            form.finish()
    assert sorted(tests.store.ratings(tests.get("steps").test)["answer"]) == [
        0,
        *[1] * (2 * STEPS - 1),
    ]


def test_level_is_set_from_a_random_start(
    browser: Browser, address: str, tests: TestLibrary, complaints: list[str], tmp_path: Path
) -> None:
    """Half a setting is kept, and the slider says nothing of dB."""
    settings = {"desktop": -4, "phone": -9}
    for size, scheme in LOOKS:
        with rater_page(browser, size, scheme, complaints) as page:
            form, starts = RaterForm(page, address, "levels", tests), []
            form.begin()
            slider = page.get_by_label("Level of the sound")
            for trial in range(SETTINGS):
                form.item()
                expect(slider).to_be_disabled()
                starts.append(int(slider.input_value()))
                form.button("Reference").click()
                expect(page.locator(".pill.heard")).to_be_visible()
                form.button("Play the sound").click()
                expect(page.locator(".switch.heard")).to_be_visible()
                expect(form.button("Next")).to_be_disabled()
                if size == "desktop":
                    slider.focus()
                    page.keyboard.press("Home")
                    for _ in range(settings[size] + 9):
                        page.keyboard.press("ArrowRight")
                else:
                    slider.fill("0")
                expect(form.button("Next")).to_be_enabled()
                if not trial:
                    in_order(page, [(size, scheme)])
                    shoot(page, tmp_path / f"levels-{size}.png")
                    page.reload()
                    form.listen(back=False)
                    expect(slider).to_have_value(str(settings[size] + 9))
                form.next()
            form.finish()
            rater = tests.store.resume(form.test, form.token)
            assert rater
            assert starts == [start_of(form.test, rater.id, n) + 9 for n in range(SETTINGS)]
    table = tests.store.ratings(tests.get("levels").test)
    assert sorted(table["answer"]) == sorted([*settings.values()] * SETTINGS)
