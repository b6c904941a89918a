"""The notebook in docs/ runs from its first cell to its last."""

import json
import re
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


@pytest.fixture(scope="module")
def code(cells: list[dict]) -> list[dict]:
    return [cell for cell in cells if cell["cell_type"] == "code"]


def without_numbers(text: str) -> str:
    """What is printed, but for numbers, which are not the same to the last digit on every CPU."""
    return re.sub(r"[\d.,]+", "#", text)


def test_notebook_is_stored_as_run(cells: list[dict], code: list[dict]) -> None:
    """The notebook was run from its first cell."""
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} == {"stream", "execute_result"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
    assert (
        sum("<audio" in "".join(output.get("data", {}).get("text/html", "")) for output in outputs)
        == 4
    )
    assert "VoiceConversion.from_pretrained()" in "".join(code[1]["source"]), (
        "the default comes first"
    )
    assert len({cell["id"] for cell in cells}) == len(cells)


@pytest.mark.slow
def test_notebook_runs_every_pipeline(code: list[dict], tmp_path: Path) -> None:
    """The notebook prints what is stored."""
    (tmp_path / "IPython").mkdir()
    (tmp_path / "IPython" / "display.py").write_text(AUDIO)
    (tmp_path / "notebook.py").write_text("\n\n".join("".join(cell["source"]) for cell in code))
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "", "HOME": str(tmp_path)}
    environment["OMP_NUM_THREADS"] = "1"  # others would wait for each other by spinning
    run = subprocess.run(
        [sys.executable, str(tmp_path / "notebook.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("played\n") == 4
    stored = "".join(
        "".join(output["text"])
        for cell in code
        for output in cell["outputs"]
        if output["output_type"] == "stream"
    )
    assert without_numbers(run.stdout.replace("played\n", "")) == without_numbers(stored)
