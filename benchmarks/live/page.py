"""Measure c: from the microphone's bus to the playback's, in the page, in headless Chromium.

The fake microphone hears a click every two seconds. Both buses are recorded by one worklet more, so
that one clock says when a click is on each. Identity gives back every chunk as it comes, in place
of the conversion: its delay is that of the page, the socket and the server.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.support.live import Echoes
from earshot.app import launch, site
from earshot.media.audio.load import wav_bytes
from earshot.tabs.shared.services import Services

RATE: Final = 48_000  # Hz, of the file that the microphone hears
EVERY: Final = 2.0  # seconds between two clicks
CLICK: Final = 0.02  # seconds
LOUD: Final = 0.5
STEP: Final = 0.001  # seconds of the peaks that are recorded
FLAGS: Final = (
    "--no-sandbox",
    "--headless",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
)
# Taps the microphone's bus and what is connected to the loudspeaker without an input of its own.
# window.recorded() → the peaks of each in steps of STEP, and those of a click.
TAP: Final = """(() => {
  const script = `registerProcessor("tap", class extends AudioWorkletProcessor {
    constructor() {
      super();
      this.size = Math.round(STEP * sampleRate);
      this.peaks = [[], []];
      this.peak = [0, 0];
      this.filled = 0;
      this.port.onmessage = () => this.port.postMessage(this.peaks);
    }
    process(inputs) {
      for (let i = 0; i < 128; i++) {
        for (const bus of [0, 1]) {
          const sample = inputs[bus][0]?.[i] ?? 0;
          this.peak[bus] = Math.max(this.peak[bus], Math.abs(sample));
        }
        if (++this.filled < this.size) continue;
        for (const bus of [0, 1]) this.peaks[bus].push(this.peak[bus]);
        this.peak = [0, 0];
        this.filled = 0;
      }
      return true;
    }
  })`;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const connect = AudioNode.prototype.connect;
  let tap = null;
  const join = async (node, bus) => {
    const { context } = node;
    tap ??= context.audioWorklet.addModule(url).then(() => {
      const end = new AudioWorkletNode(context, "tap", { numberOfInputs: 2 });
      connect.call(end, context.destination);
      return end;
    });
    connect.call(node, await tap, 0, bus);
  };
  AudioNode.prototype.connect = function (to, ...rest) {
    if (this instanceof MediaStreamAudioSourceNode) join(this, 0);
    else if (to === this.context.destination && !this.numberOfInputs) join(this, 1);
    return connect.call(this, to, ...rest);
  };
  window.recorded = async () => {
    const { port } = await tap;
    return new Promise((resolve) => {
      port.onmessage = ({ data }) => resolve(data);
      port.postMessage("");
    });
  };
})()""".replace("STEP", str(STEP))


def page(seconds: float) -> list[str]:
    """Write the rows of a Markdown table. seconds: of each of the three, in the page."""
    with patch.object(launch, "LiveProcesses", lambda _: Echoes()):
        identity = row("identity", seconds)
    return [
        "| c: in the page | clicks | ms p50 | p95 | max | shown p50 | dropouts a minute |",
        "|---|---:|---:|---:|---:|---:|---:|",
        identity,
        row("conversion", seconds),
        row("conversion, two sessions", seconds, 2),
    ]


def row(name: str, seconds: float, sessions: int = 1) -> str:
    """Measure what visitors meet who speak for so long, at the same time."""
    with visitors(sessions) as pages:
        lines = [page.locator(".live-line") for page in pages]
        for line in lines:
            line.filter(has_text="ms delay").wait_for(timeout=300_000)
        readings = []
        for _ in range(round(seconds)):
            pages[0].wait_for_timeout(1000)
            readings += [int(line.inner_text().split(" ms delay")[0]) for line in lines]
        dropouts = [int(line.inner_text().split(" · ")[1].split(" ")[0]) for line in lines]
        recorded = [page.evaluate("recorded()") for page in pages]
    late = 1000 * np.concatenate([delays(*map(np.array, buses)) for buses in recorded])
    p50, p95, longest = np.percentile(late, [50, 95, 100]) if len(late) else [np.nan] * 3
    return (
        f"| {name} | {len(late)} | {p50:.0f} | {p95:.0f} | {longest:.0f} "
        f"| {np.median(readings):.0f} "
        f"| {' and '.join(f'{60 * n / seconds:.0f}' for n in dropouts)} |"
    )


def delays(recording: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Measure the seconds between the loudest places of a click on one bus, and on the other before
    the next.

    heard, played: peaks in steps of STEP, (N,) each.
    """
    width, window = round(2 * CLICK / STEP), round(0.9 * EVERY / STEP)
    loud, late = np.flatnonzero(recording > LOUD / 4), []
    while len(loud) and loud[0] + window <= len(played):
        place = loud[0] + recording[loud[0] : loud[0] + width].argmax()
        after = played[place : place + window]
        if after.max() > 0:
            late.append(after.argmax() * STEP)
        loud = loud[loud > place + window]
    return np.array(late)


def clicks(seconds: float) -> np.ndarray:
    """Make bursts of noise, EVERY so many seconds: (T,) at RATE."""
    waveform = np.zeros(round(seconds * RATE), np.float32)
    burst = np.random.default_rng(0).uniform(-LOUD, LOUD, round(CLICK * RATE))
    for start in range(0, len(waveform) - len(burst), round(EVERY * RATE)):
        waveform[start : start + len(burst)] = burst
    return waveform


@contextmanager
def visitors(sessions: int) -> Iterator[list[Page]]:
    """Open pages on which Live was pressed."""
    built = site.build(Services(device="cpu"))
    address = launch.launch(built, launch.options([], {}), block=False)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (microphone := Path(folder) / "clicks.wav").write_bytes(wav_bytes(clicks(20), RATE))
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=[*FLAGS, f"--use-file-for-fake-audio-capture={microphone}"],
        )
        pages = []
        for _ in range(sessions):
            page = browser.new_context(permissions=["microphone"]).new_page()
            page.add_init_script(TAP)
            page.goto(address)
            page.get_by_role("button", name="Live", exact=True).click(timeout=120_000)
            pages.append(page)
        yield pages
        browser.close()
    built.close()
