"""python -m benchmarks.start: from the start of the app to its page, next to Gradio alone.

Then how long a browser takes to show the page, and how many kB it fetches for it, the first time.
Writes start.md.
"""

import os
import platform
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import sync_playwright

ROOT: Final = Path(__file__).parent.parent
RUNS: Final = 5
EMPTY: Final = """
import sys
import gradio
with gradio.Blocks() as page:
    gradio.Markdown("Hello")
page.launch(server_port=int(sys.argv[2]))
"""


def main() -> None:
    """Measure, print, and write the table."""
    times: dict[str, list[float]] = {}
    fetched: dict[str, float] = {}
    for _ in range(RUNS):  # in turn, so that other load on the machine affects all alike
        for name, seconds in (
            ("`import gradio`", imported("gradio")),
            ("`import earshot.app.launch`", imported("earshot.app.launch")),
        ):
            times.setdefault(name, []).append(seconds)
        for name, program in (("an empty Gradio app", ("-c", EMPTY)), ("Earshot", ("app.py",))):
            seconds, visible, kilobytes = served(*program)
            times.setdefault(f"{name}: page served", []).append(seconds)
            times.setdefault(f"{name}: page shown by a browser", []).append(visible)
            fetched[name] = kilobytes
    lines = [
        "# Start",
        "",
        f"Median of {RUNS}, in turn, on {os.cpu_count()} cores ({platform.machine()}).",
        "",
        "| what | seconds |",
        "|---|---:|",
        *(f"| {name} | {median(seconds):.1f} |" for name, seconds in times.items()),
        "",
        "| the first page fetches | kB |",
        "|---|---:|",
        *(f"| {name} | {kilobytes:.0f} |" for name, kilobytes in fetched.items()),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def imported(module: str) -> float:
    """Measure the seconds for a new Python to start and import a module."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], cwd=ROOT, check=True)
    return time.perf_counter() - start


def served(*program: str) -> tuple[float, float, float]:
    """Start a server by `python program --port PORT` → seconds until it serves its page, seconds in
    which a browser shows it, and the kB that come for that.

    Raises RuntimeError where it stops before.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, *program, "--port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        while server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}") as page:
                    page.read()
                return time.perf_counter() - start, *shown(f"http://127.0.0.1:{port}")
            except urllib.error.URLError:
                time.sleep(0.02)
        raise RuntimeError(f"{program} stopped with {server.returncode}")
    finally:
        server.kill()
        server.wait()


def shown(address: str) -> tuple[float, float]:
    """Measure the seconds until a new browser shows what Gradio makes of a page, and the kB that
    came.
    """
    with sync_playwright() as playwright:
        executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        network, size = page.context.new_cdp_session(page), 0.0

        def count(event: dict[str, float]) -> None:
            nonlocal size
            size += event["encodedDataLength"]

        network.send("Network.enable")
        network.on("Network.loadingFinished", count)
        start = time.perf_counter()
        page.goto(address)
        page.locator(".gradio-container main .block:visible").first.wait_for()
        seconds = time.perf_counter() - start
        browser.close()
    return seconds, size / 1000


if __name__ == "__main__":
    main()
