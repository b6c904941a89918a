"""A ranking by elimination in a browser: by keys at a computer, and by a thumb on a phone, which is
closed in the middle; whose end shows how answers lie among others'."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.listening import write_test
from earshot.study.analysis import analyse
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.storage.answers import MIN_OTHERS
from earshot.study.storage.raters import SIMULATED
from tests.browser.rater_form import RaterForm
from tests.browser.study.conftest import rater_page
from tests.browser.study.test_study import in_order
from tests.browser.visit import shoot

SYSTEMS = {name: f"{name}/*.wav" for name in ("fine", "rough", "dull", "flat")}
BEST_FIRST = ("fine", "flat", "rough", "dull")
TRIALS = 2


@pytest.fixture(scope="module", autouse=True)
def ranking(tests: TestLibrary) -> None:
    folder = tests.folders[0] / "elimination"
    write_test(
        folder,
        "ranking",
        systems=SYSTEMS,
        practice=0,
        trials=TRIALS,
        faults=["buzz"],
        show_others=True,
    )
    for name in ("dull", "flat"):
        shutil.copytree(folder / "rough", folder / name)


def hear_all(page: Page, form: RaterForm) -> None:
    expect(form.button("Worst of these").first).to_be_disabled()
    for place in range(len(SYSTEMS)):
        form.button(f"Play sound {place + 1}").click()
        expect(page.locator(".switch.heard")).to_have_count(place + 1)


def test_two_raters_take_out_the_worst(
    browser: Browser, address: str, tests: TestLibrary, complaints: list[str], tmp_path: Path
) -> None:
    with rater_page(browser, "desktop", "light", complaints) as page:
        form = RaterForm(page, address, "elimination", tests)
        form.begin()
        for trial in range(TRIALS):
            systems = form.item().systems
            hear_all(page, form)
            for system in BEST_FIRST[:0:-1]:
                page.keyboard.press(str(systems.index(system) + 1))  # which plays it
                page.keyboard.press("x")
            expect(form.button("Next")).to_be_enabled()
            page.keyboard.press("Backspace")  # the last one is put back, and taken out again
            expect(form.button("Next")).to_be_disabled()
            page.keyboard.press("x")
            shoot(page, tmp_path / f"ranking-{trial}.png")
            in_order(page)
            form.next()
        form.finish()
        expect(page.locator(".among")).to_have_count(0)  # nobody else has finished
    simulate(form.test, tests.store, MIN_OTHERS)
    with rater_page(browser, "phone", "dark", complaints) as page:
        form = RaterForm(page, address, "elimination", tests)
        form.begin()
        for trial in range(TRIALS):
            systems = form.item().systems
            hear_all(page, form)
            rows = [
                page.locator(".rank .row", has=page.get_by_label(f"Play sound {k + 1}"))
                for k in range(len(systems))
            ]
            rows[systems.index("fine")].get_by_role("button", name="Worst of these").tap()
            rows[systems.index("fine")].get_by_role("button", name="Put back").tap()
            rows[systems.index("dull")].get_by_role("button", name="Worst of these").tap()
            rows[systems.index("rough")].get_by_role("button", name="Worst of these").tap()
            in_order(page)
            shoot(page, tmp_path / "ranking-phone.png")
            if not trial:  # half a trial is kept
                page.reload()
                form.listen()
                expect(page.locator(".rank .taken")).to_have_count(2)
            expect(form.button("Next")).to_be_disabled()
            rows[systems.index("flat")].get_by_role("button", name="Worst of these").tap()
            expect(rows[systems.index("fine")]).to_contain_text("place 1")
            form.next()
        form.finish()
        expect(page.locator(".among .other")).to_have_count(MIN_OTHERS + 1)
        expect(page.locator(".among .own")).to_have_count(1)
        in_order(page)
        shoot(page, tmp_path / "others-phone.png")
    table: Any = tests.store.ratings(form.test)
    table = table[~table["rater"].str.startswith(SIMULATED)]
    places = table[table["scale"] == "ranking"].groupby("system")["answer"].unique()
    assert {name: list(each) for name, each in places.items()} == {
        name: [place] for place, name in enumerate(BEST_FIRST, 1)
    }
    assert analyse(form.test, table).included.raters == 2
