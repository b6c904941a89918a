"""python -m benchmarks.index_scale.cluster: indexing on a Ray cluster of which a machine is lost.

Two nodes on this machine embed made clips with a model that takes a while for each; one of them is
killed. The index must be that of a plain scan, byte for byte. Prints what was lost.
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from benchmarks.support.served import free_port

DELAY: Final = 0.05  # seconds to embed a clip


def main() -> None:
    """Measure the cluster, and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.index_scale.cluster", description=__doc__)
    parser.add_argument("--clips", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=DELAY, help="to embed a clip")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(compared(Path(folder), chosen.clips, chosen.seconds))


def compared(folder: Path, clips: int, delay: float) -> str:
    """Index by one process and by the cluster, and write a table of one row. Raises AssertionError
    where the indexes differ.
    """
    from earshot.sound_index.cluster import BATCH, Workers
    from earshot.sound_index.scan import scan

    sounds = folder / "sounds"
    for number in range(clips):
        write_tone(sounds / f"{number:05}.wav", WORDS[number % 5], seconds=0.5 + number / clips)
    (sounds / "broken.wav").write_text("no sound")
    plain = scan(sounds, folder / "plain", FakeEncoder())
    with two_nodes() as cluster:
        killed = threading.Thread(
            target=_kill, args=[cluster, folder / "spread", clips // 4], daemon=True
        )
        killed.start()
        encoder, began = _Counting(folder / "calls", delay), time.monotonic()
        workers = Workers(cluster.address, partial(_Counting, folder / "calls", delay))
        spread = scan(sounds, folder / "spread", encoder, workers=workers)
        seconds = time.monotonic() - began
        killed.join()
    assert spread == plain, (spread, plain)
    assert _contents(folder / "spread") == _contents(folder / "plain")
    again = len((folder / "calls").read_bytes()) - clips
    return (
        "| clips | nodes | killed | seconds | embedded again | files in a batch |\n"
        "|---:|---:|---:|---:|---:|---:|\n"
        f"| {clips:,} | 2 | 1 | {seconds:.0f} | {again} | {BATCH} |"
    )


class _Counting(FakeEncoder):
    """An encoder that adds a byte to a file for every sound that any process embeds."""

    def __init__(self, calls: Path, delay: float) -> None:
        super().__init__(delay=delay)
        self._calls = calls

    def embed_audio(self, segments: Any) -> Any:
        with self._calls.open("ab") as file:
            file.write(b".")
        return super().embed_audio(segments)


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Start a Ray cluster of two nodes with a core each, and a head without any."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray, utils = import_module("ray"), import_module("ray.cluster_utils")
    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **_ports()})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, **_ports())
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def _ports() -> dict[str, int]:
    """Choose the ports of a node's helpers. A node waits 15 s at most for ports that they choose
    themselves, which is too short on a busy machine.
    """
    names = ("metrics_agent", "metrics_export", "dashboard_agent_listen", "runtime_env_agent")
    return {f"{name}_port": free_port() for name in names}


def _kill(cluster: Any, index: Path, done: int) -> None:
    """Kill a node when so many clips are embedded."""
    while len(list(index.glob("partial-*/*.npz"))) < done:
        time.sleep(0.05)
    cluster.remove_node(max(cluster.worker_nodes, key=id), allow_graceful=False)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


if __name__ == "__main__":
    main()
