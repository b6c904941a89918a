"""What a call, a sleep or a pulled plug does to the sounds of a rater's page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design.designs import ANCHORS
from earshot.study.library import TestLibrary
from earshot.study.storage.raters import rater_id
from earshot.study.storage.tables import ItemRow
from tests.browser.rater_form import RaterForm

# A context of Web Audio whose clock the test moves, as an iPhone's stands during a call.
STUB = """
  const contexts = [];
  class Context {
    constructor() {
      Object.assign(this, { state: "running", currentTime: 0, closed: false, destination: {} });
      contexts.push(this);
    }
    createGain() {
      const gain = { value: 1 };
      for (const name of ["cancelScheduledValues", "setValueAtTime", "linearRampToValueAtTime"]) {
        gain[name] = () => null;
      }
      return { gain, connect: () => null };
    }
    resume() { return new Promise(() => null); }
    async close() { this.closed = true; }
    interrupt() { this.state = "interrupted"; this.onstatechange(); }
  }
  class Source {
    constructor() { Source.last = this; }
    connect(next) { return next; }
    start() {}
    stop() {}
  }
  Object.assign(window, { AudioContext: Context, AudioBufferSourceNode: Source });
  const { Player, Deck } = await import("/study-page/player.js");
  const player = new Player(0.5);
  const buffers = [{ duration: 2, sampleRate: 48000 }, { duration: 2, sampleRate: 48000 }];
  const deck = (together) => new Deck(player, buffers, together, () => null);
"""


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Browser], speech: Path) -> Iterator[Browser]:
    """The whole of Chromium: its shell counts no sound that was left out."""
    started = chromium(speech, whole=True)
    yield started
    started.close()


def run(page: Page, address: str, steps: str) -> dict[str, object]:
    page.goto(f"{address}/listen/ab")
    return page.evaluate(f"async () => {{ {STUB} {steps} }}")


def test_call_stops_sound(page: Page, address: str) -> None:
    """A sound is heard only when it is played to its end."""
    seen = run(
        page,
        address,
        """
        const one = deck(false);
        one.play(0);
        contexts[0].currentTime = 1;
        contexts[0].interrupt();
        const during = [one.active, one.interrupted, one.hasPlayed(0)];
        one.play(0); // on a new context, for the old one's clock stands
        contexts[1].currentTime = 2.02;
        Source.last.onended();
        return { during, contexts: contexts.length, closed: contexts[0].closed,
          volume: player.volume, after: [one.active, one.interrupted, one.hasPlayed(0)] };
        """,
    )
    assert seen["during"] == [-1, True, False]
    assert seen["contexts"] == 2 and seen["closed"] is True and seen["volume"] == 0.5
    assert seen["after"] == [-1, False, True]


def test_sound_ending_early_is_not_heard(page: Page, address: str) -> None:
    seen = run(
        page,
        address,
        """
        const one = deck(false);
        one.play(0);
        contexts[0].currentTime = 0.8;
        Source.last.onended();
        return { played: one.hasPlayed(0), interrupted: one.interrupted };
        """,
    )
    assert seen == {"played": False, "interrupted": True}


def test_clock_standing_still_stops_sound(page: Page, address: str) -> None:
    """A clock that stands without a word counts nothing as heard."""
    seen = run(
        page,
        address,
        """
        const all = deck(true);
        all.play(0);
        contexts[0].currentTime = 0.5;
        for (let now = 0; now <= 3000; now += 100) all.watch(now); // ms of frames, wall time
        const stopped = all.active;
        all.play(1);
        contexts[1].currentTime = 1.5;
        return { stopped, seconds: all.seconds[0], played: [all.hasPlayed(0), all.hasPlayed(1)],
          contexts: contexts.length };
        """,
    )
    assert seen["stopped"] == -1 and seen["contexts"] == 2
    assert seen["seconds"] == 0.48  # half a second, less what a start takes
    assert seen["played"] == [False, True]


def test_hidden_page_is_no_interruption(page: Page, address: str) -> None:
    seen = run(
        page,
        address,
        """
        const one = deck(false);
        one.play(0);
        one.watch(0);
        one.watch(60000); // no frame is drawn while the page is hidden
        contexts[0].currentTime = 0.1;
        one.watch(60016);
        return { active: one.active };
        """,
    )
    assert seen == {"active": 0}


# The clocks of a device: `off` ms that the sound's is behind the page's, whose frames come at 60 a
# second and read it up to `late` ms too late, and at most `blur` ms early.
CLOCKS = """
  const { Device } = await import("/study-page/device.js");
  const device = new Device(() => null);
  const context = { state: "running", sampleRate: 48000, currentTime: 0 };
  let now = 0, clock = 0;
  const run = (ms, { late = 10, blur = 1, behind = 0, sounding = true } = {}) => {
    for (const end = now + ms; now < end;) {
      now += 16;
      clock += 16 - behind;
      context.currentTime = (clock - (now * 7) % late) / 1000;
      device.look(context, sounding, Math.floor(now / blur) * blur);
    }
    return { ...device.figures };
  };
"""


def measure(page: Page, address: str, steps: str) -> dict[str, Any]:
    page.goto(f"{address}/listen/ab")
    return page.evaluate(f"async () => {{ {CLOCKS} {steps} }}")


def test_dropouts_are_read_off_both_clocks(page: Page, address: str) -> None:
    """Where the browser counts none: once a second in which some sound was lost, and nothing in a
    start, in silence, of clocks that are read late or blurred, or that drift."""
    seen = measure(
        page,
        address,
        """
        const start = run(1200, { behind: 1 }), quiet = run(8000, { late: 30 });
        const silent = (run(1200, { sounding: false }), run(3000, { sounding: false, behind: 2 }));
        run(1200, { sounding: false });
        const one = (run(2000), run(200, { behind: 8 }), run(2000));
        const drifted = run(8000, { behind: 0.01 });
        device.begin();
        const blurred = run(20000, { blur: 100 });
        return { start, quiet, silent, one, drifted, blurred };
        """,
    )
    none = {"dropouts": 0, "lost": 0, "stalls": 0, "hidden": 0, "changes": 0}
    assert seen["start"] == seen["quiet"] == seen["silent"] == seen["blurred"] == none
    assert seen["one"]["dropouts"] == 1 and 80 <= seen["one"]["lost"] <= 120
    assert seen["drifted"] == seen["one"]


def test_browser_is_believed_and_figures_are_bounded(page: Page, address: str) -> None:
    """What it counts itself is a dropout each second at most; what it does not know is null."""
    seen = measure(
        page,
        address,
        """
        const stats = context.playbackStats = { underrunDuration: 0.5 };
        const before = run(2000);
        stats.underrunDuration += 0.02; run(500); stats.underrunDuration += 0.03; run(100);
        const one = device.report;
        run(1000); stats.underrunDuration += 0.05; run(100); device.stall();
        const two = device.report;
        stats.underrunDuration = Infinity; context.sampleRate = NaN; context.outputLatency = -1;
        run(1000); run(3000);
        return { before, one, two, wild: device.report };
        """,
    )
    assert seen["before"]["dropouts"] == 0
    assert seen["one"] | {"dropouts": 1, "lost": 50, "rate": 48_000, "latency": None} == seen["one"]
    assert seen["two"] | {"dropouts": 2, "lost": 100, "stalls": 1} == seen["two"]
    wild = seen["wild"]
    assert wild["lost"] <= 3_600_000 and wild["rate"] is None and wild["latency"] is None


OVERLOAD = """
  const Real = AudioContext;
  window.AudioContext = class extends Real { // to be found by overload
    constructor(options) { super(options); (window.contexts ??= []).push(this); }
  };
  window.overload = (ms) => {
    const context = contexts.at(-1);
    const nodes = Array.from({ length: 3000 }, () => {
      const node = new OscillatorNode(context);
      node.connect(new BiquadFilterNode(context)).connect(new GainNode(context, { gain: 0 }))
        .connect(context.destination);
      node.start();
      return node;
    });
    setTimeout(() => nodes.forEach((node) => { node.stop(); node.disconnect(); }), ms);
  };
"""
# What the page remembers of trials.
FORGET = """() => Object.keys(localStorage).filter((key) => / \\d+$/.test(key))
  .forEach((key) => localStorage.removeItem(key))"""
UNCOUNTED = "Object.defineProperty(Real.prototype, 'playbackStats', { value: undefined });"


@pytest.mark.parametrize("counts", [True, False], ids=["browser counts", "clocks only"])
def test_slow_device_is_told_at_once(
    page: Page, address: str, tests: TestLibrary, counts: bool
) -> None:
    """A slow page leaves no sound out. A device that cannot keep up with the sound does: the rater
    reads what helps, and the answer says so."""
    page.add_init_script(OVERLOAD if counts else OVERLOAD + UNCOUNTED)
    form = RaterForm(page, address, "mushra", tests)
    form.agree()
    tests.store.screen(form.test, form.token, "headphones", True)
    cdp = page.context.new_cdp_session(page)
    cdp.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    advice = page.locator(".trial .actions .message")
    for _ in range(3):  # beside other tests it may be the machine of all that skips
        page.evaluate(FORGET)
        page.reload()
        form.listen()
        form.button("Reference").click()
        page.wait_for_timeout(3000)  # as long as a start, and then some
        if advice.is_hidden():
            break
    expect(advice).to_be_hidden()
    cdp.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    page.evaluate("overload(700)")
    expect(advice).to_have_text(form.say("device.skipped"))
    page.wait_for_timeout(2000)
    form.rate(dict.fromkeys((*form.test.systems, "reference", *ANCHORS), 50))
    with Session(tests.store.engine) as session:
        of_rater = select(ItemRow).where(ItemRow.rater == rater_id(form.test, form.token))
        rows = session.scalars(of_rater.order_by(ItemRow.place)).all()
        played = rows[0].playback
    assert played and 1 <= (played["dropouts"] or 0) <= 5
    assert (played["lost"] or 0) > 100 and played["rate"] == 44_100 and played["hidden"] == 0


@pytest.mark.parametrize("page", [("phone", "dark")], indirect=True)
def test_headphones_in_a_call_are_noticed(page: Page, address: str, tests: TestLibrary) -> None:
    """Before the trials, for what they play is not to be rated."""
    page.add_init_script(
        "Object.defineProperty(BaseAudioContext.prototype, 'sampleRate', { get: () => 16000 })"
    )
    form = RaterForm(page, address, "ab", tests)
    form.agree()
    form.button(form.say("play.sound")).click()
    expect(page.locator(".actions .message")).to_have_text(form.say("device.call", n=16))
