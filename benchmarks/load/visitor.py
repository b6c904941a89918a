"""python -m benchmarks.load ADDRESS: many visitors at once, over the real HTTP interface.

Each visitor uploads, waits in the queue and reads the answer as a browser does, with a session of
their own, for some minutes. Prints p50, p95 and the longest time of every task, and what failed.
Start the app first, in another terminal: python app.py --preload --max-queue 200.
"""

import argparse
import itertools
import threading
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np

ROOT: Final = Path(__file__).parent.parent
SPEECH: Final = next((ROOT / "assets" / "examples").glob("*.ogg"))
VIDEO: Final = next((ROOT / "assets" / "heads").glob("*.mp4"))
TASKS: Final = ("convert", "search_sounds", "embed_text", "lip_to_speech")


class Visitor:
    """One session."""

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=address.rstrip("/") + "/gradio_api", timeout=300)
        self.session = uuid.uuid4().hex

    def upload(self, path: Path) -> dict[str, Any]:
        """Sends a file, as a page does after a recording."""
        sent = self.client.post("/upload", files={"files": (path.name, path.read_bytes())})
        sent.raise_for_status()
        return {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}

    def call(self, task: str) -> None:
        """Runs a task and waits for its result. Raises RuntimeError if it fails."""
        data = self._inputs(task)
        joined = self.client.post(
            f"/call/{task}", json={"data": data, "session_hash": self.session}
        )
        if joined.status_code != 200:
            raise RuntimeError(f"refused: {joined.status_code} {joined.text[:100]}")
        with self.client.stream("GET", f"/call/{task}/{joined.json()['event_id']}") as events:
            name = ""
            for line in events.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                if line.startswith("data: ") and name in ("complete", "error"):
                    break
        if name != "complete":
            raise RuntimeError(f"failed: {line[:100]}")

    def _inputs(self, task: str) -> list:
        match task:
            case "convert":
                return [self.upload(SPEECH), "TF2", "vqvae-512", "griffin-lim"]
            case "search_sounds":
                return ["a dog barks while it rains", ""]
            case "embed_text":
                return ["butterfly"]
            case _:
                return [self.upload(VIDEO), "neural"]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    chosen = parser.parse_args()
    times: dict[str, list[float]] = defaultdict(list)
    failures: dict[str, list[str]] = defaultdict(list)
    ends = time.monotonic() + chosen.seconds

    def visit(number: int) -> None:
        visitor = Visitor(chosen.address)
        for task in itertools.islice(itertools.cycle(chosen.tasks), number, None):
            begun = time.monotonic()
            if begun > ends:
                return
            try:
                visitor.call(task)
                times[task].append(time.monotonic() - begun)
            except (RuntimeError, httpx.HTTPError) as error:
                failures[task].append(str(error))

    visitors = [threading.Thread(target=visit, args=[n]) for n in range(chosen.visitors)]
    for thread in visitors:
        thread.start()
    for thread in visitors:
        thread.join()
    print("| task | done | p50 s | p95 s | max s | refused or failed |\n|---|---|---|---|---|---|")
    for task in chosen.tasks:
        p50, p95, longest = np.percentile(times[task] or [np.nan], [50, 95, 100])
        failed = len(failures.get(task, ()))
        row = f"{len(times[task])} | {p50:.2f} | {p95:.2f} | {longest:.2f} | {failed}"
        print(f"| {task} | {row} |")
    for task, messages in failures.items():
        print(f"{task}: {messages[0]}")


if __name__ == "__main__":
    main()
