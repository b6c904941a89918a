"""Tabs that were left open, sounds that never come, and a second look at a test that was taken."""

from playwright.sync_api import Dialog, Page, Route, expect

from earshot.study.library import TestLibrary
from tests.browser.rater_form import RaterForm


def test_tab_left_open_replaces_no_answer(
    page: Page, address: str, tests: TestLibrary, complaints: list[str]
) -> None:
    form = RaterForm(page, address, "acr", tests)
    form.begin()
    rater = tests.store.resume(form.test, form.token)
    assert rater
    first = rater.items[0].order
    form.button("Play the sound").click()
    expect(page.get_by_role("radio").first).to_be_enabled()
    # Meanwhile another tab answers, of which this one knows nothing.
    tests.store.answer(form.test, form.token, first, 2, [1], 900)
    page.locator(".answer").first.click()
    form.button("Next").click()
    expect(form.heading).to_have_text(form.say("volume.back.title"))
    table = tests.store.ratings(form.test)
    mine = table[table["rater"] == rater.id]
    assert list(mine[mine["order"] == first]["answer"]) == [2.0]
    assert all("409" in complaint for complaint in complaints) and complaints
    complaints.clear()


def test_sound_never_coming_is_skipped(
    page: Page, address: str, tests: TestLibrary, complaints: list[str]
) -> None:
    """The organiser is told of a sound that never comes."""
    form = RaterForm(page, address, "ccr", tests)
    form.agree()
    tests.store.screen(form.test, form.token, "headphones", True)
    rater = tests.store.resume(form.test, form.token)
    assert rater
    lost = rater.items[1]

    def refuse(route: Route) -> None:
        route.fulfill(status=404, body="")

    page.route(f"**/sound/{lost.order}/1*", refuse)
    page.reload()
    form.listen()
    for name in ("A", "B"):
        form.button(form.say("play.one", name=name)).click()
        expect(page.locator(".card.heard")).to_have_count("AB".index(name) + 1)
    page.locator(".answer").first.click()
    form.button("Next").click()
    expect(form.heading).to_have_text(form.say("missing.title"))
    stimulus = form.test.trials[lost.trial].stimulus
    assert tests.store.missing(form.test)[stimulus, lost.systems[1]] == 1
    form.button("Next").click()
    expect(page.locator(".card").first).to_be_visible()
    complaints.clear()


def test_second_taking_is_asked_about(page: Page, address: str, tests: TestLibrary) -> None:
    """A browser that has taken a test is asked before it takes it again."""
    form = RaterForm(page, address, "dcr", tests)
    form.agree()
    page.evaluate("localStorage.setItem('listen /listen/dcr done', 'true')")
    page.evaluate("localStorage.removeItem('listen /listen/dcr')")
    page.goto(form.link)
    expect(page.get_by_text(form.say("consent.again"))).to_be_visible()
    messages: list[str] = []

    def refuse(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    form.button(form.say("consent.agree")).click()
    expect(form.heading).to_have_text("A test of dcr")
    assert messages == [form.say("consent.again")]


def test_failed_headphone_check_says_so(page: Page, address: str, tests: TestLibrary) -> None:
    """The page says at once that the answers do not count."""
    form = RaterForm(page, address, "abx", tests)
    form.agree()
    tests.store.screen(form.test, form.token, "headphones", False, 0, last=False)
    page.reload()
    form.listen()
    form.check(right=False, attempt=1)
    expect(form.heading).to_have_text(form.say("check.lost.title"))
    expect(page.get_by_role("button", name=form.say("leave")).first).to_be_visible()
    form.button(form.say("check.lost.go_on")).click()
    expect(page.locator(".card").first).to_be_visible()
