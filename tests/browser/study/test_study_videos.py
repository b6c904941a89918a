"""Videos in a rater's browser: in step with their sounds, switched, counted, refused."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from earshot.study.library import TestLibrary
from earshot.study.web.server import library
from tests.browser.rater_form import RaterForm
from tests.browser.study.test_study_accessible import findings
from tests.browser.visit import FITS
from tests.support.videos import write_video_test

SEEN = (
    "() => [...document.querySelectorAll('.screen video')].map((v) => v.classList.contains('on'))"
)
# The places of a sound, and of its picture, in s.
PLACES = """() => ({
  sound: Number(document.querySelector(".lane").getAttribute("aria-valuenow")),
  picture: document.querySelector(".screen video.on").currentTime,
})"""
# Another tab comes before this one, in which browsers stop pictures, and sounds go on.
HIDDEN = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# A picture whose frames come later or sooner than what is heard: its speed, and how often it jumps.
FOLLOWED = """async (off) => {
  const { Screen } = await import("/study-page/picture.js");
  const video = Object.assign(document.createElement("video"), { play: async () => null });
  const jumps = [];
  Object.defineProperty(video, "currentTime", { get: () => 0, set: (time) => jumps.push(time) });
  Object.defineProperty(video, "duration", { value: 60 });
  Object.defineProperty(video, "paused", { value: false });
  const screen = new Screen([video]);
  const audible = (at) => at / 1000;
  screen.rolling = [video];
  screen.roll({ audible, stop() {} }, 0);
  const state = screen.states.get(video);
  for (let at = 1000; at < 2000; at += 40) screen.follow(video, state, audible(at) + off, at);
  const { drift } = screen.figures;
  return { rate: video.playbackRate, jumps: jumps.length, drift: Math.round(1000 * drift) };
}"""


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> TestLibrary:
    folder = tmp_path_factory.mktemp("tests")
    write_video_test(folder / "ccr", "ccr", shared=True, trials=1)
    write_video_test(folder / "similarity", "similarity", shared=False, trials=1)
    write_video_test(folder / "mushra", "mushra", shared=True, frames=50, trials=1)
    return library(folder)


def figures(tests: TestLibrary, form: RaterForm) -> set[tuple[int, int, int]]:
    """What was measured with every answer: on a busy machine a frame may be late, but a second is
    never lost."""
    table = tests.store.ratings(form.test)
    columns = (list(table[name]) for name in ("frames", "dropped_frames", "drift"))
    rows = set(zip(*columns, strict=True))
    assert all(frames > dropped >= 0 and drift < 1000 for frames, dropped, drift in rows)
    return rows


@pytest.mark.parametrize(
    ("page", "design", "pictures"),
    [(("desktop", "light"), "ccr", 1), (("phone", "dark"), "similarity", 2)],
    indirect=["page"],
)
def test_rater_judges_videos(
    page: Page, address: str, tests: TestLibrary, tmp_path: Path, design: str, pictures: int
) -> None:
    form = RaterForm(page, address, design, tests)
    page.goto(form.link)
    expect(page.get_by_text(form.say("consent.videos"))).to_be_visible()
    form.begin()
    form.item()
    expect(page.locator(".screen video")).to_have_count(pictures)
    cards = page.locator(".card")
    for place in range(2):
        cards.nth(place).click()
        expect(page.locator(".card.heard")).to_have_count(place + 1)
        visible = [place == k for k in range(2)] if pictures == 2 else [True]
        assert page.evaluate(SEEN) == visible
    assert page.evaluate(FITS) and findings(page) == []
    page.screenshot(path=tmp_path / f"{design}.png")
    page.locator(".answer").first.click()
    form.next()
    form.finish()
    figures(tests, form)


def test_switch_keeps_place_of_video(page: Page, address: str, tests: TestLibrary) -> None:
    """It goes on while sounds are switched, at its end both begin again, and hidden both stop."""
    form = RaterForm(page, address, "mushra", tests)
    form.begin()
    form.item()
    page.keyboard.press("r")
    expect(page.locator(".pill.heard")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator(".switch.on")).to_have_text("1")
    switched = page.evaluate(PLACES)
    assert switched["sound"] >= 1 and abs(switched["picture"] - switched["sound"]) < 0.5
    page.wait_for_function(f"() => ({PLACES})().sound < {switched['sound']}")
    page.wait_for_function(f"() => ({PLACES})().sound > 0.2")
    again = page.evaluate(PLACES)
    assert abs(again["picture"] - again["sound"]) < 0.5 and page.locator(".toggle.on").count() == 1
    page.evaluate(HIDDEN)
    expect(page.locator(".hint")).to_have_text(form.say("trial.interrupted"))
    assert page.evaluate("() => document.querySelector('.screen video').paused")


def test_picture_follows_sound(page: Page, address: str) -> None:
    """Near the sound it is left alone; else it goes faster or slower, and from afar it jumps."""
    page.goto(f"{address}/listen/ccr")
    results = {off: page.evaluate(FOLLOWED, off) for off in (0.01, -0.05, 0.05, -2)}
    assert [result["drift"] for result in results.values()] == [10, 50, 50, 2000]
    assert [bool(result["jumps"]) for result in results.values()] == [False, False, False, True]
    assert [round(results[off]["rate"], 3) for off in (0.01, -0.05, 0.05)] == [1, 1.1, 0.9]


def test_unplayable_videos_are_named_before_consent(
    page: Page, address: str, tests: TestLibrary
) -> None:
    page.add_init_script("HTMLMediaElement.prototype.canPlayType = () => ''")
    page.goto(f"{address}/listen/ccr")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your browser cannot play this test")
    assert page.get_by_role("button").count() == 0
