"""A rater's way through listening tests, in a real browser."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from study.library import Library
from study.server import app, library
from tests.browser.taking import Taking
from tests.browser.visit import FAINT, PATIENCE
from tests.listening import Rater, write_test

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
LOOKS = [("desktop", "light"), ("phone", "dark")]
SCORES = {"fine": 82, "rough": 31, "reference": 100, "anchor-3.5k": 40, "anchor-7k": 60}
# Two sounds with the same samples, switched in the middle: the largest step away from the sound.
SWITCHED = """async () => {
  const { Deck } = await import("/study-page/player.js");
  const rate = 48000;
  const context = new OfflineAudioContext(1, rate, rate);
  const resume = context.resume.bind(context);
  context.resume = () => null; // nothing to wake
  const out = context.createGain();
  out.connect(context.destination);
  const sound = context.createBuffer(1, rate / 2, rate);
  const samples = sound.getChannelData(0);
  for (let i = 0; i < samples.length; i++) samples[i] = Math.sin(i / 10) / 2;
  const deck = new Deck({ context, out }, [sound, sound, sound], true, () => null);
  deck.play(0);
  context.suspend(0.3).then(() => { deck.play(2); resume(); });
  const heard = (await context.startRendering()).getChannelData(0);
  const start = heard.findIndex((value) => value !== 0) - 1;
  let worst = 0;
  for (let i = start; i < heard.length; i++) {
    worst = Math.max(worst, Math.abs(heard[i] - samples[(i - start) % samples.length]));
  }
  return { worst, start, plays: deck.plays };
}"""


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("tests")
    attention = [{"sounds": ["fine/bird.wav", "rough/bird.wav"], "expected": "first"}]
    write_test(folder / "ab", "ab", attention=attention)
    write_test(folder / "mushra", "mushra", trials=3)
    for design in ("acr", "ccr", "dcr", "abx", "similarity"):
        write_test(folder / design, design, trials=2)
    return library(folder)


@pytest.fixture(scope="module")
def address(tests: Library) -> Iterator[str]:
    config = uvicorn.Config(app(tests), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A rater's browser. Parametrize indirectly with ("phone", "dark") and the like."""
    size, scheme = getattr(request, "param", LOOKS[0])
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=size == "phone",
        is_mobile=size == "phone",
        color_scheme=scheme,
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    page = context.new_page()
    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


def in_order(page: Page) -> None:
    """Nothing is cut off at the side, hard to read, or too small for a thumb."""
    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollWidth <= {root}.clientWidth")
    assert page.evaluate(FAINT) == []
    height = "(all) => all.filter((e) => e.checkVisibility()).map((e) => e.offsetHeight)"
    assert min(page.locator("button, label.answer").evaluate_all(height)) >= 44


@pytest.mark.parametrize("page", LOOKS, indirect=True)
def test_a_whole_mushra(page: Page, address: str, tests: Library, tmp_path: Path) -> None:
    taking = Taking(page, address, "mushra", tests)
    taking.agree()
    in_order(page)
    taking.listen()
    in_order(page)
    taking.check()
    expect(page.get_by_text("for practice")).to_be_visible()
    in_order(page)
    taking.rate(SCORES)
    for trial in range(3):
        expect(page.locator("#count")).to_have_text(f"{trial + 1} of 3")
        taking.rate(SCORES)
        if trial == 0:  # closes the browser, and comes back by the same link
            before, link = taking.item(), page.url
            page.goto("about:blank")
            page.goto(link)
            taking.listen(back=True)
            assert taking.item() == before
    page.screenshot(path=tmp_path / "thanks.png")
    rater = tests.store.resume(taking.test, taking.token)
    assert rater and rater.headphones and taking.finish() == rater.code
    in_order(page)
    ratings = tests.store.ratings(taking.test)
    mine = ratings[(ratings["rater"] == rater.id) & (ratings["kind"] == "trial")]
    assert mine.groupby("system")["answer"].agg(["min", "max"]).T.to_dict() == {
        system: {"min": score, "max": score} for system, score in SCORES.items()
    }
    assert (mine["plays"] >= 1).all() and (mine["milliseconds"] > 0).all()


@pytest.mark.parametrize("page", LOOKS, indirect=True)
def test_a_whole_ab_in_two_sittings(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "ab", tests)
    taking.agree()
    taking.listen()
    taking.check(right=False)
    taking.button("Try again").click()
    taking.check(right=False, attempt=1)
    trials = 6  # one of them for practice, and one to see who listens
    for _ in range(3):
        taking.prefer("fine")
    # Half a trial is kept as well: what was heard, and what was chosen.
    item, link = taking.item(), page.url
    for name in ("A", "B"):
        taking.button(f"Play {name}").click()
        expect(page.locator(".card.heard")).to_have_count("AB".index(name) + 1)
    page.locator(".answer").nth(1).click()
    in_order(page)
    page.goto("about:blank")
    page.goto(link)
    taking.listen(back=True)
    assert taking.item() == item
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    page.locator(".answer").nth(0 if item.shown[0] == "fine" else 2).click()
    taking.next()
    for _ in range(4, trials):
        taking.prefer("fine")
    assert len(taking.finish()) == 8
    ratings = tests.store.ratings(taking.test)
    mine = ratings[ratings["rater"] == ratings.iloc[-1]["rater"]]
    assert not mine["headphones"].any()
    assert (ratings["answer"] == 1).all()


def test_keys_alone(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "acr", tests)
    page.goto(taking.link)
    page.get_by_role("button", name="I agree").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Set the volume")
    page.keyboard.press("Space")
    expect(taking.button("It is comfortable")).to_be_enabled()
    page.keyboard.press("Enter")
    taking.check()
    for key in ("5", "2", "3"):
        order = taking.item().order
        page.keyboard.press(key)
        assert page.get_by_role("radio", checked=True).count() == 0, "nothing is heard yet"
        page.keyboard.press("Space")
        expect(page.locator(".card.heard")).to_be_visible()
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_function("() => !document.querySelector('.card.heard')")
        rater = tests.store.resume(taking.test, taking.token)
        assert rater and order in rater.answered
    taking.finish()
    answers = tests.store.ratings(taking.test)["answer"]
    assert sorted(answers) == [2, 3, 5]


def test_mushra_by_keys_with_a_part_repeated(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "mushra", tests)
    taking.agree()
    taking.listen()
    taking.check()
    item = taking.item()
    page.keyboard.press("r")
    expect(page.locator(".pill.on.heard")).to_be_visible()
    for place in range(len(item.shown)):
        page.keyboard.press(str(place + 1))
        expect(page.locator(".switch.on")).to_have_text(str(place + 1))
        expect(page.locator(".switch.heard")).to_have_count(place + 1)
        page.keyboard.press("ArrowRight")
    expect(page.locator(".row output").first).to_have_text("51")
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


@pytest.mark.parametrize("design", ["ccr", "dcr", "abx", "similarity"])
def test_other_designs(page: Page, address: str, tests: Library, design: str) -> None:
    taking = Taking(page, address, design, tests)
    taking.agree()
    taking.listen()
    taking.check()
    for _ in range(3):
        cards = page.locator(".card")
        taking.item()
        for i in range(cards.count()):
            cards.nth(i).click()
            expect(page.locator(".card.heard")).to_have_count(i + 1)
        page.locator(".answer").last.click()
        taking.next()
    taking.finish()


def test_withdrawing_deletes_everything(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "ab", tests)
    taking.agree()
    taking.listen()
    token = taking.token
    page.on("dialog", lambda dialog: dialog.accept())
    taking.button("Stop and delete my answers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers are deleted")
    rater = tests.store.resume(taking.test, token)
    assert rater and rater.withdrawn and not rater.items
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers are deleted")


def test_an_answer_waits_for_the_connection(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "ab", tests)
    taking.agree()
    taking.listen()
    taking.check()
    failed = []

    def fail(route, request) -> None:  # noqa: ANN001
        failed.append(request)
        route.abort() if len(failed) < 3 else route.continue_()

    page.route("**/answer", fail)
    taking.prefer("rough")
    assert len(failed) == 3
    page.unroute("**/answer")
    tests.store.withdraw(taking.test, taking.token)


def test_the_general_link_finds_who_began_here(page: Page, address: str, tests: Library) -> None:
    taking = Taking(page, address, "ab", tests)
    taking.agree()
    expect(page.get_by_role("heading", level=1)).to_have_text("Set the volume")
    token = taking.token
    page.goto(taking.link)
    page.get_by_role("link", name="Go on with it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Set the volume")
    assert taking.token == token
    tests.store.withdraw(taking.test, token)


def test_a_switch_keeps_the_position_and_makes_no_gap(page: Page, address: str) -> None:
    page.goto(f"{address}/listen/mushra")
    switched = page.evaluate(SWITCHED)
    assert switched["worst"] < 1e-3
    assert switched["plays"] == [1, 0, 1]


def test_the_report_shows_who_won(page: Page, address: str, tests: Library) -> None:
    import httpx

    with httpx.Client(base_url=address) as client:
        for _ in range(6):
            rater = Rater(client, "ab")
            test = tests.get("ab").test
            stored = tests.store.resume(test, rater.token)
            assert stored
            for item, trial in zip(stored.items, rater.session()["trials"], strict=True):
                rater.answer(trial, "a" if item.shown[0] in ("fine", "fine/bird.wav") else "b")
    page.goto(f"{address}/results/ab?key={tests.get('ab').key}")
    expect(page.locator("body")).to_contain_text("fine")
    page.goto(f"{address}/results/ab?key=guessed")
    expect(page.locator("body")).to_contain_text("key")
