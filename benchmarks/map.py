"""python -m benchmarks.map: how long Chromium takes to render a map, and to move its marker.

From the press of a button to the second frame after the points are there, server and transfer
included. Writes map.md.
"""

import os
import platform
import tempfile
from pathlib import Path

import gradio as gr
import numpy as np
from playwright.sync_api import sync_playwright

from earshot.tabs.components.map import Chart, Point, QueryMarker, show, sound_map

COUNTS = (500, 5_000)
FILES = 500  # sounds, shared by the points
RUNS = 5
CATEGORIES = [f"kind {i}" for i in range(8)]
# Presses a button and waits until a test of the page holds → milliseconds.
PRESS = """([name, test]) => new Promise((done) => {
  const holds = new Function(`return ${test}`);
  const start = performance.now();
  const look = () => holds()
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)))
    : setTimeout(look, 5);
  [...document.querySelectorAll("button")].find((b) => b.textContent.trim() === name).click();
  look();
})"""
FIRST = "document.querySelector('.map-point')?.dataset.x"
MARKER = "document.querySelector('.map-query')?.getAttribute('style')"


def main() -> None:
    """Measure, print, and write the table."""
    lines = [
        "# Rendering a map",
        "",
        f"Median of {RUNS} on {os.cpu_count()} cores ({platform.machine()}), Chromium headless.",
        "",
        "| points | rendered in | marker moved in |",
        "|---:|---:|---:|",
    ]
    for count in COUNTS:
        rendered, moved = measure(count)
        lines.append(f"| {count:,} | {rendered / 1000:.2f} s | {moved / 1000:.2f} s |")
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def measure(count: int) -> tuple[float, float]:
    """Measure the median milliseconds: to render `count` points, and to move the marker."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        sounds = [Path(folder) / f"{i}.wav" for i in range(FILES)]
        for sound in sounds:
            sound.touch()
        gr.set_static_paths([folder])

        def chart() -> Chart:
            points = [
                Point(f"{i}", x, y, f"word {i}, voice", CATEGORIES[i % 8], sounds[i % FILES])
                for i, (x, y) in enumerate(rng.random((count, 2)).tolist())
            ]
            return Chart("Points", points, CATEGORIES)

        def marker() -> QueryMarker:
            x, y = rng.random(2).tolist()
            return QueryMarker(x, y, "query", [str(i) for i in range(10)])

        with gr.Blocks() as page:
            plane = sound_map("map")
            gr.Button("render").click(lambda: show(marker(), chart()), None, plane)
            gr.Button("move").click(lambda: show(marker()), None, plane)
        _, address, _ = page.launch(prevent_thread_lock=True, quiet=True, run_history=False)
        try:
            return _visit(address)
        finally:
            page.close()


def _visit(address: str) -> tuple[float, float]:
    times: dict[str, list[float]] = {"render": [], "move": []}
    with sync_playwright() as playwright:
        executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.get_by_role("button", name="render").wait_for()
        for _ in range(RUNS):
            for name, looked_at in (("render", FIRST), ("move", MARKER)):
                before = page.evaluate(looked_at)
                changed = f"({looked_at} ?? null) !== {before!r}".replace("None", "null")
                times[name].append(page.evaluate(PRESS, [name, changed]))
                page.wait_for_timeout(500)
        browser.close()
    return float(np.median(times["render"])), float(np.median(times["move"]))


if __name__ == "__main__":
    main()
