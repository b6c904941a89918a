"""The notebook in docs/ runs from its first cell to its last."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from earshot.core.paths import ROOT

NOTEBOOK = ROOT / "docs" / "earshot.ipynb"
# Jupyter has IPython, and the tests have not: what a cell shows is what Audio was given.
AUDIO = """
class Audio:
    def __init__(self, data, rate=None):
        import numpy as np
        assert isinstance(data, str) or (rate == 16000 and 0 < np.abs(data).max() <= 1)
        print("played")
"""


@pytest.fixture(scope="module")
def cells() -> list[dict]:
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_notebook_is_stored_without_outputs(cells: list[dict]) -> None:
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in cells}) == len(cells)


@pytest.mark.slow
def test_notebook_runs_every_pipeline(cells: list[dict], tmp_path: Path) -> None:
    (tmp_path / "IPython").mkdir()
    (tmp_path / "IPython" / "display.py").write_text(AUDIO)
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (tmp_path / "notebook.py").write_text("\n\n".join(code))
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "", "HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, str(tmp_path / "notebook.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("played") == 4
    assert "bird\n" in run.stdout and "dog" in run.stdout
