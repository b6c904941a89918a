"""What a rater's page does in a real browser: keys, every design, lost connections, withdrawal."""

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.support.listening import write_test
from earshot.study.library import TestLibrary
from tests.browser.rater_form import RaterForm

# Two sounds with the same samples, switched in the middle: the largest step away from the sound.
SWITCHED = """async () => {
  const { Deck } = await import("/study-page/player.js");
  const rate = 48000;
  const context = new OfflineAudioContext(1, rate, rate);
  const out = context.createGain();
  out.connect(context.destination);
  const sound = context.createBuffer(1, rate / 2, rate);
  const samples = sound.getChannelData(0);
  for (let i = 0; i < samples.length; i++) samples[i] = Math.sin(i / 10) / 2;
  const deck = new Deck({ context, out, wake() {} }, [sound, sound, sound], true, () => null);
  deck.play(0);
  context.suspend(0.3).then(() => { deck.play(2); context.resume(); });
  const output = (await context.startRendering()).getChannelData(0);
  const start = output.findIndex((value) => value !== 0) - 1;
  let worst = 0;
  for (let i = start; i < output.length; i++) {
    worst = Math.max(worst, Math.abs(output[i] - samples[(i - start) % samples.length]));
  }
  return { worst, start, plays: deck.plays };
}"""


def test_rater_page_works_by_keyboard_alone(page: Page, address: str, tests: TestLibrary) -> None:
    form = RaterForm(page, address, "acr", tests)
    page.goto(form.link)
    page.get_by_role("button", name="I agree").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Set the volume")
    page.keyboard.press("Space")
    expect(form.button("It is comfortable")).to_be_enabled()
    page.keyboard.press("Enter")
    form.check()
    for key in ("5", "2", "3"):
        order = form.item().order
        page.keyboard.press(key)
        assert page.get_by_role("radio", checked=True).count() == 0, "nothing is heard yet"
        page.keyboard.press("Space")
        expect(page.locator(".card.heard")).to_be_visible()
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_function("() => !document.querySelector('.card.heard')")
        rater = tests.store.resume(form.test, form.token)
        assert rater and order in rater.answered
    form.finish()
    answers = tests.store.ratings(form.test)["answer"]
    assert sorted(answers) == [2, 3, 5]


def test_mushra_page_is_used_by_keyboard(page: Page, address: str, tests: TestLibrary) -> None:
    """The keyboard loops a part and rates the sounds."""
    write_test(tests.folders[0] / "looped", "mushra", 1.0, trials=3)  # half a second is looped
    form = RaterForm(page, address, "looped", tests)
    form.begin()
    item = form.item()
    page.keyboard.press("r")
    expect(page.locator(".pill.on.heard")).to_be_visible()
    for place in range(len(item.systems)):
        page.keyboard.press(str(place + 1))
        expect(page.locator(".switch.on")).to_have_text(str(place + 1))
        expect(page.locator(".switch.heard")).to_have_count(place + 1)
        page.keyboard.press("ArrowRight")
    expect(page.locator(".row .value").first).to_have_text("51")
    box = page.locator(".lane").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], y, steps=3)
    page.mouse.up()
    expect(page.locator(".part")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".part")).to_be_hidden()
    page.keyboard.press("Space")
    expect(page.locator(".toggle.on")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("1 of 3")


# Others: test_study_ranking.py, test_study_scales.py, test_study_videos.py, test_study_ways.py.
@pytest.mark.parametrize("design", ["dcr"])
def test_rater_completes_each_design(
    page: Page, address: str, tests: TestLibrary, design: str
) -> None:
    form = RaterForm(page, address, design, tests)
    form.begin()
    for _ in range(3):
        cards = page.locator(".card")
        form.item()
        for i in range(cards.count()):
            cards.nth(i).click()
            expect(page.locator(".card.heard")).to_have_count(i + 1)
        page.locator(".answer").last.click()
        form.next()
    form.finish()


def test_withdrawal_on_rater_page_deletes_everything(
    page: Page, address: str, tests: TestLibrary
) -> None:
    form = RaterForm(page, address, "ab", tests)
    form.agree()
    form.listen()
    token = form.token
    page.on("dialog", lambda dialog: dialog.accept())
    form.button("Stop and delete my answers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers are deleted")
    rater = tests.store.resume(form.test, token)
    assert rater and rater.withdrawn and not rater.items
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers are deleted")


def test_answer_without_connection_is_sent_again(
    page: Page, address: str, tests: TestLibrary, complaints: list[str]
) -> None:
    form = RaterForm(page, address, "ab", tests)
    form.begin()
    tries: list[Route] = []

    def fail(route: Route) -> None:
        tries.append(route)
        if len(tries) < 3:
            route.abort()
        else:
            route.continue_()

    page.route("**/answer", fail)
    form.prefer("rough")
    assert len(tries) == 3 and len(complaints) == 2
    page.unroute("**/answer")
    form.withdraw()
    complaints.clear()


def test_unstorable_answer_is_kept_for_later(
    page: Page, address: str, tests: TestLibrary, complaints: list[str]
) -> None:
    """An answer that the server cannot store is kept and stored later."""
    form = RaterForm(page, address, "acr", tests)
    form.begin()
    order = form.item().order
    page.route("**/answer", lambda route: route.fulfill(status=503, json={"detail": "full"}))
    page.locator(".card").click()
    expect(page.locator(".card.heard")).to_be_visible()
    page.locator(".answer").nth(1).click()
    form.button("Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not stored yet")
    rater = tests.store.resume(form.test, form.token)
    assert rater and order not in rater.answered
    page.unroute("**/answer")
    form.button("Try now").click()
    expect(page.locator("#count")).not_to_have_text("Practice")
    rater = tests.store.resume(form.test, form.token)
    assert rater and order in rater.answered
    form.withdraw()
    complaints.clear()


def test_general_link_on_same_browser_resumes(page: Page, address: str, tests: TestLibrary) -> None:
    form = RaterForm(page, address, "ab", tests)
    form.agree()
    token = form.token
    page.goto(form.link)
    page.get_by_role("link", name="Go on with it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Set the volume")
    assert form.token == token
    form.withdraw()


def test_mushra_switch_keeps_position_without_gap(page: Page, address: str) -> None:
    page.goto(f"{address}/listen/mushra")
    switched = page.evaluate(SWITCHED)
    assert switched["worst"] < 1e-3
    assert switched["plays"] == [1, 0, 1]
