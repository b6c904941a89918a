"""What a call, a sleep or a pulled plug does to the sounds of a rater's page."""

from playwright.sync_api import Page

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
        const during = [one.active, one.interrupted, one.heard(0)];
        one.play(0); // on a new context, for the old one's clock stands
        contexts[1].currentTime = 2.02;
        Source.last.onended();
        return { during, contexts: contexts.length, closed: contexts[0].closed,
          volume: player.volume, after: [one.active, one.interrupted, one.heard(0)] };
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
        return { heard: one.heard(0), interrupted: one.interrupted };
        """,
    )
    assert seen == {"heard": False, "interrupted": True}


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
        return { stopped, seconds: all.seconds[0], heard: [all.heard(0), all.heard(1)],
          contexts: contexts.length };
        """,
    )
    assert seen["stopped"] == -1 and seen["contexts"] == 2
    assert seen["seconds"] == 0.48  # half a second, less what a start takes
    assert seen["heard"] == [False, True]


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
