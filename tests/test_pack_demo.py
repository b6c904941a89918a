"""The demo without a clone: what is packed, and that it starts."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scripts.pack_demo import TOP, pack, packed_files

pytestmark = pytest.mark.slow


def test_packed_demo_starts(tmp_path: Path) -> None:
    """Without training, tests, or what else it does not need; the same bytes each time."""
    names = {path.parts[0] for path in packed_files()}
    assert names.isdisjoint({"tests", "training", "benchmarks", "synthetic", ".git"})
    pack(tmp_path / "demo.tar")
    size = (tmp_path / "demo.tar").stat().st_size
    with tarfile.open(tmp_path / "demo.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    script = (
        "from earshot.app import import_gradio; import_gradio();"
        "from earshot.app import site; page = site.build(); print(len(page.blocks))"
    )
    command = [sys.executable, "-c", script]
    place = tmp_path / TOP
    built = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    assert int(built.stdout) > 200 and size < 200_000_000
    again = [sys.executable, "-m", "scripts.pack_demo", str(tmp_path / "again.tar")]
    subprocess.run(again, cwd=place, capture_output=True, check=True)
    assert (tmp_path / "again.tar").read_bytes() == (tmp_path / "demo.tar").read_bytes()
