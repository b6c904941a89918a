"""The queue of the live playback: its delay, simulated chunk by chunk without a clock."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser

from earshot.tabs.voice_conversion.live.panel import FOLDER

RATE = 48_000
CHUNK = 3_840  # samples: 80 ms
AWAY = 9_600  # frames between a sound and its arrival

# Runs live/playback.js for so many seconds; arrivals: when each chunk comes, in frames, and when
# its last sample was recorded. Returns what it reported.
SIMULATE = """([script, seconds, arrivals, pause]) => {
  let Playback;
  const run = new Function(
    "AudioWorkletProcessor", "registerProcessor", "sampleRate", `let currentFrame = 0;
    ${script}
    return (frame) => (currentFrame = frame);`
  );
  const base = class { port = {}; };
  const tick = run(base, (_, processor) => (Playback = processor), 48000);
  const messages = [];
  const port = { postMessage: (message) => messages.push(message) };
  const playback = new Playback();
  playback.port.onmessage({ data: { worker: port } });
  let next = 0;
  for (let frame = 0; frame < 48000 * seconds; frame += 128) {
    tick(frame);
    for (; next < arrivals.length && arrivals[next][0] <= frame; next++) {
      const loud = next % 8 < pause ? 0 : 0.1;
      const samples = new Float32Array(3840).fill(loud);
      port.onmessage({ data: { samples, end: arrivals[next][1] } });
    }
    playback.process([], [[new Float32Array(128)]]);
  }
  return messages;
}"""

Simulate = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def simulate(browser: Browser) -> Simulate:
    script = (FOLDER / "playback.js").read_text()

    def run(late: Callable[[int], int], seconds: float = 38, pause: int = 0) -> list[dict]:
        """late: by how many frames chunk i comes late; pause: chunks of silence in every 8."""
        ends = [(i + 1) * CHUNK for i in range(500)]
        arrivals = [[end + AWAY + late(i), end] for i, end in enumerate(ends)]
        page = browser.new_page()
        try:
            return page.evaluate(SIMULATE, [script, seconds, arrivals, pause])
        finally:
            page.close()

    return run


def test_playback_of_steady_stream_flows(
    simulate: Simulate,
) -> None:
    """Playback never runs dry and keeps little in reserve."""
    reports = simulate(lambda i: 0)
    assert reports[-1]["dropouts"] == 0
    # A chunk takes 80 ms to play; the reserve is at most 40 ms.
    assert reports[-1]["delay"] < (AWAY + CHUNK) / RATE + 0.05


@pytest.mark.parametrize("pause", [0, 2], ids=["loud", "with pauses"])
def test_playback_delay_recovers_after_standstill(simulate: Simulate, pause: int) -> None:
    """The delay comes down again after the network stood still for 3 s."""

    def late(i: int) -> int:
        return (138 - i) * CHUNK if 100 <= i < 138 else 0

    reports = simulate(late, pause=pause)
    before = reports[4 * 7]["delay"]
    assert max(report["delay"] for report in reports) > before + 1
    assert reports[-1]["dropouts"] == 1
    assert reports[-1]["delay"] < before + 0.1


def test_playback_reserve_grows_for_uneven_chunks(simulate: Simulate) -> None:
    reports = simulate(lambda i: (i * 7919 % 13) * CHUNK // 4, seconds=15)
    dry = [report for report in reports if report["dropouts"]]
    assert dry and dry[0]["reserve"] > 0.04
    assert reports[-1]["dropouts"] <= 3
