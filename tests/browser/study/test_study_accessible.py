"""Rater pages by axe-core: no finding that keeps anybody from taking part.

axe-core (MPL-2.0) comes inside axe-playwright-python; it is installed for the tests only.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.listening import write_test
from earshot.study.design import DESIGNS
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.web.rater_page import page_texts
from tests.browser.rater_form import RaterForm

QUESTIONS = [
    {"ask": "كم عمرك؟", "choices": ["18–29", "30–49"]},
    {"ask": "Which headphones do you wear?"},
]
NARROW = "document.documentElement.scrollWidth <= 360"
GRAVE = ("serious", "critical")


def findings(page: Page) -> list[tuple[str, str]]:
    """The rule and the first element of every grave finding."""
    violations = Axe().run(page).response["violations"]
    return [
        (each["id"], each["nodes"][0]["html"]) for each in violations if each["impact"] in GRAVE
    ]


@pytest.mark.parametrize(
    ("page", "design", "language"),
    [
        (("desktop", "light"), "ab", "en"),
        (("phone", "dark", "ar"), "mushra", "ar"),
    ],
    indirect=["page"],
)
def test_rater_page_passes_axe(
    page: Page, address: str, tests: TestLibrary, design: str, language: str
) -> None:
    """The rules of axe find nothing serious."""
    form = RaterForm(page, address, design, tests, page_texts(language))
    page.goto(f"{form.link}?lang={language}")
    expect(form.button(form.say("consent.agree"))).to_be_visible()
    assert findings(page) == []
    form.button(form.say("consent.agree")).click()
    expect(form.heading).to_have_text(form.say("volume.title"))
    assert findings(page) == []
    form.listen()
    expect(form.heading).to_have_text(form.say("check.title"))
    assert findings(page) == []
    tests.store.screen(form.test, form.token, "headphones", True)
    page.reload()
    form.listen()
    form.item()
    assert findings(page) == []
    form.withdraw()


@pytest.fixture
def phone(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A narrow one whose owner reads Arabic."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, is_mobile=True, reduced_motion="reduce", locale="ar"
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("design", [*DESIGNS, "several"])
def test_trial_of_each_design_is_accessible(
    phone: Page, address: str, tests: TestLibrary, design: str
) -> None:
    """A trial has no serious finding by axe and fits a phone in Arabic."""
    say, test = page_texts("ar"), tests.open(design).test
    rater = tests.store.enrol(test, language="ar")
    tests.store.screen(test, rater.token, "headphones", True)
    phone.goto(f"{address}/listen/{design}?rater={rater.token}")
    phone.get_by_role("button", name=say["play.sound"]).click()
    phone.get_by_role("button", name=say["volume.done"]).click()
    expect(phone.locator(".trial h1")).to_be_focused()
    assert findings(phone) == [] and phone.evaluate(NARROW)
    # A sign before its number, as in every language.
    if design == "ccr":
        first = phone.locator(".answer b").first
        expect(first).to_have_text("+3")
        assert first.evaluate("(e) => getComputedStyle(e).direction") == "ltr"
    phone.goto("about:blank")
    tests.store.withdraw(test, rater.token)


def test_questions_and_end_pass_axe(phone: Page, address: str, tests: TestLibrary) -> None:
    """The rules of axe find nothing serious."""
    write_test(tests.folders[0] / "asked", "acr", trials=1, questions=QUESTIONS)
    test = tests.open("asked").test
    rater = tests.store.enrol(test, language="ar")
    link = f"{address}/listen/asked?rater={rater.token}"
    phone.goto(link)
    expect(phone.locator("h1")).to_have_text(page_texts("ar")["questions.title"])
    assert findings(phone) == [] and phone.evaluate(NARROW)
    for item in rater.items:
        tests.store.answer(test, rater.token, item.order, 4, [1], 900)
    phone.goto(link)
    expect(phone.locator("h1")).to_have_text(page_texts("ar")["end.complete.title"])
    assert findings(phone) == [] and phone.evaluate(NARROW)


def test_organisers_page_is_accessible(phone: Page, address: str, tests: TestLibrary) -> None:
    """The page has no serious finding by axe and fits a phone."""
    write_test(tests.folders[0] / "rehearsed", "ab", pairing="adaptive", raters=20)
    opened = tests.open("rehearsed")
    simulate(opened.test, tests.store, 4)
    phone.goto(f"{address}/results/rehearsed?key={opened.key}")
    expect(phone.get_by_role("heading", name="Raters over time")).to_be_visible()
    assert findings(phone) == [] and phone.evaluate(NARROW)
