"""python -m benchmarks.index_scale.arithmetic: what libraries of many sounds need.

From the sizes of what is written for a sound, and the time that one takes to embed
(benchmarks/sound_search.md). Prints a table.
"""

import argparse
import math
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.index_scale.engines import fields
from earshot.sound_index.disk import RowWriter
from earshot.sound_index.nearest import N_PROBES, SUBVECTOR
from earshot.sound_index.sound import Sound

DIMENSION: Final = 992
ROWS: Final = 10_000  # written to weigh one
CLIP: Final = 10.0  # seconds: a segment
NUMBER: Final = 8  # bytes of the number that a list keeps of a vector


def main() -> None:
    """Compute and print what the libraries need."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index_scale.arithmetic", description=__doc__
    )
    parser.add_argument("--sounds", type=int, nargs="+", default=[10**6, 5 * 10**6, 10**8])
    parser.add_argument("--clip-ms", type=float, default=69.0, help="to embed 10 s on 2 cores")
    parser.add_argument("--machines", type=int, default=20, help="of 2 cores, together")
    chosen = parser.parse_args()
    row = row_bytes()
    lines: dict[str, list[str]] = {}
    for sounds in chosen.sounds:
        code = DIMENSION // SUBVECTOR + NUMBER
        lists = math.ceil(math.sqrt(sounds))
        days = sounds * chosen.clip_ms / 1e3 / 86_400
        for name, value in {
            "vectors of segments (4 bytes a dimension), GB": sounds * DIMENSION * 4 / 1e9,
            "vectors of seconds (2 bytes), GB": sounds * CLIP * DIMENSION * 2 / 1e9,
            f"rows and their indexes ({row:.0f} bytes), GB": sounds * row / 1e9,
            f"lists ({code} bytes), the only part that a search scans, GB": sounds * code / 1e9,
            "scanned by a search, MB": N_PROBES * sounds / lists * code / 1e6,
            "to embed on one machine of 2 cores, days": days,
            f"to embed on {chosen.machines} of them, days": days / chosen.machines,
        }.items():
            lines.setdefault(name, []).append(f"{value:,.1f}")
    print("| sounds of 10 s | " + " | ".join(f"{sounds:,}" for sounds in chosen.sounds) + " |")
    print("|---|" + "---:|" * len(chosen.sounds))
    for name, values in lines.items():
        print(f"| {name} | {' | '.join(values)} |")


def row_bytes() -> float:
    """Measure the bytes that the table of sounds takes for one, with its indexes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        writer = RowWriter(file, Path(folder))
        for number in range(ROWS):
            about = fields(number)
            writer.append(Sound(**about | {"path": Path(about["path"])}))
        writer.close()
        return file.stat().st_size / ROWS


if __name__ == "__main__":
    main()
