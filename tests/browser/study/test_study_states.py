"""Tabs that were left open, sounds that never come, and a second look at a test that was taken."""

from playwright.sync_api import Dialog, Page, Route, expect

from earshot.study.library import Library
from tests.browser.taking import Taking


def test_tab_that_was_left_open_replaces_no_answer(
    page: Page, address: str, tests: Library, complaints: list[str]
) -> None:
    taking = Taking(page, address, "acr", tests)
    taking.begin()
    rater = tests.store.resume(taking.test, taking.token)
    assert rater
    first = rater.items[0].order
    taking.button("Play the sound").click()
    expect(page.get_by_role("radio").first).to_be_enabled()
    # Meanwhile another tab answers, of which this one knows nothing.
    tests.store.answer(taking.test, taking.token, first, 2, [1], 900)
    page.locator(".answer").first.click()
    taking.button("Next").click()
    expect(taking.heading).to_have_text(taking.say("volume.back.title"))
    table = tests.store.ratings(taking.test)
    mine = table[table["rater"] == rater.id]
    assert list(mine[mine["order"] == first]["answer"]) == [2.0]
    assert all("409" in complaint for complaint in complaints) and complaints
    complaints.clear()


def test_sound_that_never_comes_is_skipped_and_told_to_the_organiser(
    page: Page, address: str, tests: Library, complaints: list[str]
) -> None:
    taking = Taking(page, address, "ccr", tests)
    taking.agree()
    tests.store.headphones(taking.test, taking.token, True)
    rater = tests.store.resume(taking.test, taking.token)
    assert rater
    lost = rater.items[1]

    def refuse(route: Route) -> None:
        route.fulfill(status=404, body="")

    page.route(f"**/sound/{lost.order}/1*", refuse)
    page.reload()
    taking.listen()
    for name in ("A", "B"):
        taking.button(taking.say("play.one", name=name)).click()
        expect(page.locator(".card.heard")).to_have_count("AB".index(name) + 1)
    page.locator(".answer").first.click()
    taking.button("Next").click()
    expect(taking.heading).to_have_text(taking.say("missing.title"))
    stimulus = taking.test.trials[lost.trial].stimulus
    assert tests.store.missing(taking.test)[stimulus, lost.shown[1]] == 1
    taking.button("Next").click()
    expect(page.locator(".card").first).to_be_visible()
    complaints.clear()


def test_browser_that_has_taken_a_test_is_asked_before_it_takes_it_again(
    page: Page, address: str, tests: Library
) -> None:
    taking = Taking(page, address, "dcr", tests)
    taking.agree()
    page.evaluate("localStorage.setItem('listen /listen/dcr done', 'true')")
    page.evaluate("localStorage.removeItem('listen /listen/dcr')")
    page.goto(taking.link)
    expect(page.get_by_text(taking.say("consent.again"))).to_be_visible()
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    taking.button(taking.say("consent.agree")).click()
    expect(taking.heading).to_have_text("A test of dcr")
    assert asked == [taking.say("consent.again")]


def test_failed_headphone_check_says_at_once_that_the_answers_do_not_count(
    page: Page, address: str, tests: Library
) -> None:
    taking = Taking(page, address, "abx", tests)
    taking.agree()
    tests.store.headphones(taking.test, taking.token, False, 0, last=False)
    page.reload()
    taking.listen()
    taking.check(right=False, attempt=1)
    expect(taking.heading).to_have_text(taking.say("check.lost.title"))
    expect(page.get_by_role("button", name=taking.say("leave")).first).to_be_visible()
    taking.button(taking.say("check.lost.go_on")).click()
    expect(page.locator(".card").first).to_be_visible()
