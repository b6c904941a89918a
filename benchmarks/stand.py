"""Two hours of a stand: python -m benchmarks.stand [--minutes 9] [--every 3].

The app with --kiosk, in Chromium at 1366 × 768. Every few minutes a visitor comes, touches, records
or searches in one tab, and leaves; meanwhile the page shows its examples. What each of them meets
is printed: how long until the recorder is empty and until there is a result, errors of the page,
and the memory of page and server. Ends with 1 where one of them finds a dead end. Writes stand.md
after two hours.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Final

from playwright.sync_api import CDPSession, Page, expect, sync_playwright

from benchmarks.support.served import Served
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes

HOURS: Final = 2
FLAGS: Final = (
    "--no-sandbox",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
)
MAX_WAIT: Final = 60_000  # ms until a visitor gives up
IDLE: Final = 150  # seconds after which the stand is to show itself again
TABLE: Final = (
    "| visitor | tab | empty recorder, s | result, s | page, MB | server, MB | errors |\n"
    "|---|---|---|---|---|---|---|"
)


def speak(page: Page) -> None:
    """Record three seconds, and wait for what comes of it."""
    result = page.locator("#conversion audio").last
    before = result.get_attribute("src")
    _record(page, 3.0)
    expect(result).not_to_have_attribute("src", before or "", timeout=MAX_WAIT)


def say_a_word(page: Page) -> None:
    """Record a word, and wait for its neighbours."""
    _record(page, 1.0)
    expect(page.locator("#word-found h3")).to_be_visible(timeout=MAX_WAIT)


def search(page: Page) -> None:
    """Search the example."""
    page.locator(".chips button:visible").first.click()
    expect(page.locator("#found")).to_contain_text("searched in", timeout=MAX_WAIT)


def read_lips(page: Page) -> None:
    """Run the example, for there is no face before this camera."""
    page.locator(".chips button:visible").first.click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden(timeout=MAX_WAIT)


def be_a_rater(page: Page) -> None:
    """Open the example of a listening test, and come back."""
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Take the example test").click()
    opened.value.get_by_role("button", name="Back", exact=True).click(timeout=MAX_WAIT)
    expect(page.get_by_role("tab", name="Listening tests")).to_be_visible()


VISITS: Final[dict[str, Callable[[Page], None]]] = {
    "Voice conversion": speak,
    "Words": say_a_word,
    "Sound search": search,
    "Lip to speech": read_lips,
    "Listening tests": be_a_rater,
}


def main() -> None:
    """Let visitors come, print a line for each, and what became of the memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60 * HOURS)
    parser.add_argument("--every", type=float, default=3, help="minutes (%(default)s)")
    options = parser.parse_args()
    visitors = max(1, round(options.minutes / options.every))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        rate = 16_000
        speech = load(ASSETS / "examples" / "woman-lighthouse.ogg", rate).waveform
        sound = Path(folder, "speech.wav")
        sound.write_bytes(wav_bytes(speech, rate))
        studies = str(Path(folder, "studies"))
        served = Served("-m", "earshot", "--kiosk", "--studies", studies, path="/phone")
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=[*FLAGS, f"--use-file-for-fake-audio-capture={sound}"],
        )
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        try:
            page.goto(served.address)
            lines, failed = walk(page, served, visitors, 60 * options.every)
        finally:
            browser.close()
            served.kill()
    if options.minutes >= 60 * HOURS:
        about = f"`python -m benchmarks.stand`, on {os.cpu_count()} cores."
        text = "\n".join(["# Two hours of a stand", "", about, "", TABLE, *lines, ""])
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    sys.exit(1 if failed else 0)


def walk(page: Page, served: Served, visitors: int, every: float) -> tuple[list[str], int]:
    """Let so many come, one each so many seconds → a row each, and how many found a dead end."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    devtools, rows, memory, failed = page.context.new_cdp_session(page), [], [], 0
    print(TABLE)
    veil = page.get_by_role("button", name="Touch to try")
    for number in range(visitors):
        begun = time.monotonic()
        name, visit = [*VISITS.items()][number % len(VISITS)]
        try:
            expect(veil).to_be_visible(timeout=1000 * IDLE)
            time.sleep(max(0.0, every / 3 - (time.monotonic() - begun)))  # its examples run
            touched = time.monotonic()
            veil.click()
            page.get_by_role("tab", name=name).click()
            recorders = page.locator(".sound-input:visible, video:visible")
            expect(recorders.locator("[aria-label='Clear']:visible")).to_have_count(0)
            empty = time.monotonic() - touched
            visit(page)
            result = f"{time.monotonic() - touched:.1f}"
        except Exception as error:  # noqa: BLE001  (whatever it is, the next visitor comes)
            failed, empty, result = failed + 1, float("nan"), f"dead end: {str(error)[:200]}"
            page.screenshot(path=Path(tempfile.gettempdir(), f"stand-{number}.png"))
        memory.append((_heap(devtools), _resident(served.process.pid)))
        (of_page, of_server), count = memory[-1], len(errors)
        row = f"| {number + 1} | {name} | {empty:.1f} | {result} | {of_page:.0f} | "
        rows.append(f"{row}{of_server:.0f} | {count} |")
        print(rows[-1], *errors, sep="\n", flush=True)
        errors.clear()
        if number + 1 < visitors:
            time.sleep(max(0.0, every - (time.monotonic() - begun)))
    half = max(1, len(memory) // 2)
    for place, what in enumerate(("page", "server")):
        early, late = (
            mean(each[place] for each in part) for part in (memory[:half], memory[-half:])
        )
        print(f"{what}: {early:.0f} MB in the first half, {late:.0f} in the second")
    print(f"{failed} of {visitors} found a dead end")
    return rows, failed


def _record(page: Page, seconds: float) -> None:
    page.locator(".sound-input .record-button:visible").first.click()
    page.wait_for_timeout(1000 * seconds)
    stop = page.locator(".sound-input .stop-button:visible")
    if stop.count():  # a word's recorder may have ended by itself
        stop.first.click()


def _heap(devtools: CDPSession) -> float:
    """Measure what the page's scripts hold once garbage is collected, in MB."""
    devtools.send("HeapProfiler.collectGarbage")
    return devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6


def _resident(process: int) -> float:
    """Add up the memory of a process and of those that it started, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    own = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return own + sum(_resident(int(child)) for child in children)


if __name__ == "__main__":
    main()
