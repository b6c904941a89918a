"""Rater pages by axe-core: no finding that keeps anybody from taking part.

axe-core (MPL-2.0) comes inside axe-playwright-python; it is installed for the tests only.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from study.library import Library
from study.web.languages import words
from tests.browser.taking import Taking

GRAVE = ("serious", "critical")


def findings(page: Page) -> list[tuple[str, str]]:
    """The rule and the first element of every grave finding."""
    found = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in GRAVE]


@pytest.mark.parametrize(
    ("page", "design", "language"),
    [
        (("desktop", "light"), "ab", "en"),
        (("phone", "dark", "ar"), "mushra", "ar"),
    ],
    indirect=["page"],
)
def test_rater_page_has_no_serious_finding_by_axe(
    page: Page, address: str, tests: Library, design: str, language: str
) -> None:
    taking = Taking(page, address, design, tests, words(language))
    page.goto(f"{taking.link}?lang={language}")
    expect(taking.button(taking.say("consent.agree"))).to_be_visible()
    assert findings(page) == []
    taking.button(taking.say("consent.agree")).click()
    expect(taking.heading).to_have_text(taking.say("volume.title"))
    assert findings(page) == []
    taking.listen()
    expect(taking.heading).to_have_text(taking.say("check.title"))
    assert findings(page) == []
    tests.store.headphones(taking.test, taking.token, True)
    page.reload()
    taking.listen()
    taking.item()
    assert findings(page) == []
    tests.store.withdraw(taking.test, taking.token)
