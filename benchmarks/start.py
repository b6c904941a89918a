"""python -m benchmarks.start: from the start of the app to its page, with Gradio alone beside it.

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

ROOT: Final = Path(__file__).parent.parent
RUNS: Final = 5
EMPTY: Final = """
import sys
import gradio
with gradio.Blocks() as page:
    pass
page.launch(server_port=int(sys.argv[2]))
"""


def main() -> None:
    """Measure, print, and write the table."""
    times: dict[str, list[float]] = {}
    for _ in range(RUNS):  # in turn, so that other load on the machine affects all alike
        for name, seconds in (
            ("`import gradio`", imported("gradio")),
            ("`import earshot.app.launch`", imported("earshot.app.launch")),
            ("an empty Gradio app: page served", served("-c", EMPTY)),
            ("Earshot: page served", served("app.py")),
        ):
            times.setdefault(name, []).append(seconds)
    lines = [
        "# Start",
        "",
        f"Median of {RUNS}, in turn, on {os.cpu_count()} cores ({platform.machine()}).",
        "",
        "| what | seconds |",
        "|---|---:|",
        *(f"| {name} | {median(seconds):.1f} |" for name, seconds in times.items()),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def imported(module: str) -> float:
    """Seconds for a new Python to start and import a module."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], cwd=ROOT, check=True)
    return time.perf_counter() - start


def served(*program: str) -> float:
    """Seconds until a server started by `python program --port PORT` serves its page.

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
                return time.perf_counter() - start
            except urllib.error.URLError:
                time.sleep(0.02)
        raise RuntimeError(f"{program} stopped with {server.returncode}")
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
