"""What a visitor waits for, next to what they may be asked to: python -m benchmarks.start.

The first page, next to that of an empty Gradio app; the command line; finding a word in a
recording, alone and next to another visitor; the first start of Live; and how much an agent is
answered. Writes start.md. The targets hold for two quiet cores: run it where nothing else does.
"""

import base64
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import anyio
import httpx
import numpy as np
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from playwright.sync_api import Page, sync_playwright

from benchmarks.load.visitor import Visitor
from benchmarks.support.served import PROXY, Served
from earshot.core.paths import ASSETS, ROOT
from earshot.media.audio.load import load, wav_bytes

RUNS: Final = 5
WARMING: Final = 25.0  # seconds until a server has loaded what it loads by itself
RATE: Final = 16_000
SPEECH: Final = sorted(
    path for path in (ASSETS / "examples").glob("*.ogg") if "finished" not in path.stem
)
LONG_SECONDS: Final = 44.0  # seconds of the recording in which a word is found
SHORT_SECONDS: Final = 4.0  # seconds of the file that the command line converts
LIVE_FLAGS: Final = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
PLAY_AT_ONCE: Final = """new MutationObserver((_, observer) => {
  const sound = document.querySelector("audio[src]");
  if (!sound) return;
  observer.disconnect();
  sound.addEventListener("playing", () => { window.played_after = performance.now(); });
  sound.play();
}).observe(document, { childList: true, subtree: true });"""
EMPTY: Final = """
import sys
import gradio
with gradio.Blocks() as page:
    gradio.Markdown("Hello")
page.launch(server_port=int(sys.argv[2]))
"""


def main() -> None:
    """Measure, print, and write the table."""
    lines = [
        "# What a visitor waits for",
        "",
        f"`python -m benchmarks.start`: median of {RUNS}, on {os.cpu_count()} cores "
        f"({platform.machine()}); load {os.getloadavg()[0]:.1f} before the start.",
        "",
        "| what | measured | target |",
        "|---|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder) / "short.wav", Path(folder) / "long.wav"
        speech = np.concatenate([load(path, RATE).waveform for path in SPEECH * 3])
        for path, seconds in ((short, SHORT_SECONDS), (long, LONG_SECONDS)):
            path.write_bytes(wav_bytes(np.resize(speech, round(seconds * RATE)), RATE))
        for rows in (first_page(), command_line(short), visits(short, long)):
            for row in rows:
                print(row, flush=True)
                lines.append(row)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


def first_page() -> Iterator[str]:
    """Measure the page from the start of its server, and in a browser that has never seen it."""
    served: dict[str, list[float]] = {"an empty Gradio app": [], "Earshot": []}
    times_shown: dict[str, list[float]] = {name: [] for name in served}
    fetched: dict[str, float] = {}
    pages: list[httpx.Response] = []
    for _ in range(RUNS):  # in turn, so that other load on the machine affects both alike
        for name, program in (("an empty Gradio app", ("-c", EMPTY)), ("Earshot", ("app.py",))):
            start = time.perf_counter()
            server = Served(*program)
            try:
                served[name].append(time.perf_counter() - start)
                seconds, fetched[name] = show(server.address)
                times_shown[name].append(seconds)
                if name == "Earshot":
                    pages.append(httpx.get(server.address, headers={"Accept-Encoding": "gzip"}))
            finally:
                server.kill()
    for what, times in (("served after", served), ("shown by a browser in", times_shown)):
        for name, seconds in times.items():
            yield f"| the page of {name} is {what} | {median(seconds):.1f} s | |"
    empty, ours = (median(seconds) for seconds in times_shown.values())
    yield f"| ours, shown, next to the empty one | {ours / empty:.2f} × | ≤ 1.5 × |"
    yield from warm_page()
    for name, kilobytes in fetched.items():
        limit = "≤ 450 kB" if name == "Earshot" else ""
        yield f"| the first page of {name} fetches | {kilobytes:.0f} kB | {limit} |"
    page = pages[-1]
    encoding, size = page.headers.get("content-encoding"), page.num_bytes_downloaded / 1000
    yield f"| index page as it is sent ({encoding}) | {size:.0f} kB | gzip |"


def warm_page() -> Iterator[str]:
    """Measure the page of servers that have run for a while, in new browsers in turn."""
    empty, ours = Served("-c", EMPTY), Served("app.py")
    try:
        show(ours.address)
        time.sleep(WARMING)
        runs = [(show(empty.address)[0], show(ours.address)[0]) for _ in range(RUNS)]
        sound = median(first_sound(ours.address) for _ in range(RUNS))
    finally:
        empty.kill()
        ours.kill()
    theirs, own = (median(seconds) for seconds in zip(*runs, strict=True))
    yield f"| the same of servers that are warm | {own / theirs:.2f} × | ≤ 1.5 × |"
    yield f"| there its first sound plays after | {sound:.1f} s | ≤ 1 s |"


def command_line(recording: Path) -> Iterator[str]:
    """Measure the command that converts a short file."""
    out = recording.with_name("out.wav")
    command = [sys.executable, "-m", "earshot", "convert", str(recording)]
    command += ["-o", str(out), "--overwrite"]
    walls, processor = [], []
    for _ in range(RUNS + 1):  # the first from a cold disk
        start, before = time.perf_counter(), os.times()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - start)
        after = os.times()
        used = after.children_user + after.children_system
        processor.append(used - before.children_user - before.children_system)
    yield f"| command line, {SHORT_SECONDS:.0f} s of speech | {median(walls[1:]):.1f} s | ≤ 3 s |"
    yield f"| the same, of processor time | {median(processor[1:]):.1f} s | |"


def visits(short: Path, long: Path) -> Iterator[str]:
    """Measure what visitors of one app do."""
    server = Served("app.py", *PROXY)
    try:
        yield f"| Live's first start | {live(server.address, short):.1f} s | ≤ 5 s |"
        visitor = Visitor(server.address)
        find(visitor, long)  # loads the model
        alone = median(find(visitor, long) for _ in range(RUNS))
        yield f"| a word found in {LONG_SECONDS:.0f} s of speech | {alone:.1f} s | ≤ 6 s |"
        with converting(server.address):
            busy = median(find(visitor, long) for _ in range(RUNS))
        ratio = f"{busy:.1f} s, {busy / alone:.1f} ×"
        yield f"| the same, while another visitor converts | {ratio} | ≤ 2 × |"
        size = len(anyio.run(converted_for_an_agent, server.address, short).encode())
        yield f"| `convert` of MCP answers | {size / 1000:.1f} kB | ≤ 2 kB |"
    finally:
        server.kill()


def find(visitor: Visitor, recording: Path) -> float:
    """Return the seconds from the upload of a recording to the places of a word in it."""
    start = time.perf_counter()
    visitor.ask("find_word", [visitor.upload(recording), "lighthouse", None])
    return time.perf_counter() - start


@contextmanager
def converting(address: str) -> Iterator[None]:
    """Let another visitor convert, again and again."""
    done, other = threading.Event(), Visitor(address, 1)

    def convert() -> None:
        while not done.is_set():
            other.call("convert")

    other.call("convert")  # loads the model
    thread = threading.Thread(target=convert)
    thread.start()
    yield
    done.set()
    thread.join()


def live(address: str, microphone: Path) -> float:
    """Return the seconds from the press on Live to the first delay that it shows."""
    with page_of(*LIVE_FLAGS, f"--use-file-for-fake-audio-capture={microphone}") as page:
        page.goto(address)
        switch = page.get_by_role("button", name="Live", exact=True)
        switch.wait_for(timeout=120_000)
        start = time.perf_counter()
        switch.click()
        page.locator(".live-line", has_text="ms delay").wait_for(timeout=120_000)
        return time.perf_counter() - start


async def converted_for_an_agent(address: str, recording: Path) -> str:
    """Return what an agent is answered that converts a recording."""
    sound = base64.b64encode(recording.read_bytes()).decode()
    async with (
        streamable_http_client(f"{address}/gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        arguments = {"audio": f"data:audio/wav;base64,{sound}"}
        content = (await client.call_tool("convert", arguments)).content[0]
    assert isinstance(content, TextContent)
    return content.text


def show(address: str) -> tuple[float, float]:
    """Return the seconds until a new browser shows what Gradio makes of a page, and the kB that
    came for it."""
    with page_of() as page:
        network, size = page.context.new_cdp_session(page), 0.0

        def count(event: dict[str, float]) -> None:
            nonlocal size
            size += event["encodedDataLength"]

        network.send("Network.enable")
        network.on("Network.loadingFinished", count)
        start = time.perf_counter()
        page.goto(address)
        page.locator(".gradio-container main .block:visible").first.wait_for()
        return time.perf_counter() - start, size / 1000


def first_sound(address: str) -> float:
    """Return the seconds from the navigation of a new browser until a sound of the page plays, for
    somebody who presses its button at once."""
    with page_of("--autoplay-policy=no-user-gesture-required") as page:
        page.add_init_script(PLAY_AT_ONCE)
        page.goto(address)
        page.wait_for_function("window.played_after", timeout=120_000)
        return page.evaluate("window.played_after") / 1000


@contextmanager
def page_of(*flags: str) -> Iterator[Page]:
    """Open a page of a new browser."""
    with sync_playwright() as playwright:
        executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        args = ["--no-sandbox", *flags]
        browser = playwright.chromium.launch(executable_path=executable, args=args)
        yield browser.new_page()
        browser.close()


if __name__ == "__main__":
    main()
