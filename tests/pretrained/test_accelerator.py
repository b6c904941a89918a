"""Where networks run; ZeroGPU is played by a module of the interface of `spaces`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from earshot.core.paths import ROOT
from earshot.pretrained.accelerator import choose_device, lent

# As on ZeroGPU: spaces is imported before torch; what it lends a GPU to is pickled; torch says that
# there is a GPU, also where none is lent.
SPACES = """
import pickle, sys
assert "torch" not in sys.modules, "torch was imported before spaces"
lending = []
def GPU(duration):
    def decorate(task):
        def call(*arguments):
            lending.append(duration)
            return pickle.loads(pickle.dumps(task(*pickle.loads(pickle.dumps(arguments)))))
        return call
    return decorate
"""
USE = """
from earshot.app import import_gradio
import_gradio()
import earshot.app.launch, spaces, torch
from earshot.pretrained.accelerator import choose_device, lent
from earshot.pretrained.checkpoint import choose_device as of_checkpoints
torch.cuda.is_available = lambda: True
assert of_checkpoints is choose_device
assert choose_device("auto").type == "cpu"
assert choose_device("auto", large=True).type == "cuda"
class Encoder:
    def __init__(self):
        self.network = lambda values: [2 * value for value in values]  # cannot be pickled
        self.embed = lent("encoder", self._embed)
    def _embed(self, values):
        return self.network(values)
assert Encoder().embed([1, 2]) == [2, 4]
assert spaces.lending == [60]
"""


def test_lent_changes_nothing_without_lender() -> None:
    """It gives the work itself."""
    assert lent("doubled", max) is max
    assert choose_device("cpu").type == "cpu"


@pytest.mark.slow
def test_zerogpu_lends_to_large_networks_only(tmp_path: Path) -> None:
    (tmp_path / "spaces.py").write_text(SPACES)
    environment = os.environ | {"SPACES_ZERO_GPU": "true", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    run = subprocess.run(
        [sys.executable, "-c", USE], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
