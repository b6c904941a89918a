"""``train`` runs where torch and numpy are installed, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.word_arrays import write_arrays

pytestmark = pytest.mark.slow

# What is installed together with torch and numpy, and what the operating system provides.
INSTALLED = """torch numpy typing_extensions sympy mpmath networkx jinja2 markupsafe fsspec filelock
setuptools torchgen functorch triton nvidia"""
ROOMS = "training earshot synthetic tests"
BARE_MACHINE = f"""
import runpy, sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

ALLOWED = {{*sys.stdlib_module_names, *{(INSTALLED + " " + ROOMS).split()!r}}}

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        top = name.partition(".")[0]
        is_there = top in ALLOWED or top.startswith("_")
        return super().find_spec(name, path, target) if is_there else None

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Installed]
"""
COMMANDS = [
    "voice_conversion train",
    "voice_conversion train --network vqvae",
    "words train",
    "sound_search train",
    "lip_to_speech train",
]


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script in an interpreter that can import torch and numpy alone."""
    command = [sys.executable, "-c", BARE_MACHINE + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_bare_machine_hides_other_packages() -> None:
    assert run("import torch, numpy").returncode == 0
    assert "No module named 'scipy'" in run("import scipy").stderr


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command writes on standard error. Torch is imported once, for all of them."""
    folder = tmp_path_factory.mktemp("errors")
    script = f"""
import os, pathlib
import torch, numpy
for number, command in enumerate({COMMANDS!r}):
    if not os.fork():
        file = pathlib.Path(sys.argv[1], str(number)).open("wb")
        os.dup2(file.fileno(), 2)
        system, *arguments = command.split()
        sys.argv = [system, *arguments, "--out", f"{{sys.argv[1]}}/run"]
        runpy.run_module("training." + system, run_name="__main__")
        sys.exit()
    os.wait()
"""
    ran = run(script, str(folder))
    assert ran.returncode == 0, ran.stderr
    return {command: (folder / str(n)).read_text() for n, command in enumerate(COMMANDS)}


@pytest.mark.parametrize("command", COMMANDS)
def test_train_without_arrays_wants_only_these(command: str, errors: dict[str, str]) -> None:
    """The command has parsed its arguments, imported its recipe and begun the first stage."""
    last = errors[command].strip().splitlines()[-1]
    assert last.startswith("FileNotFoundError") and "run/" in last, errors[command]


def test_train_of_words_needs_torch_only(tmp_path: Path) -> None:
    """Each stage needs torch and NumPy only."""
    write_arrays(tmp_path)
    script = """
from pathlib import Path
from earshot.models.words.word_embedder import ViewConfig
from earshot.models.words.word_embedder import PhonemeBottleneckConfig
from training.words.frames import stage

run = Path(sys.argv[1])
view = ViewConfig("conformer", 1, 2, width=16, inner=16)
config = PhonemeBottleneckConfig(view, view, channels=4, local_layers=1, local_width=8)
for objective in ("ctc", "contrastive", "triplet"):
    short = stage.Stage(2, 1e-3, 1, objective=objective, n_words=8)
    stage.train_stage(run, objective, config, short)
"""
    ran = run(script, str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert {path.stem for path in tmp_path.glob("*.pt")} >= {"ctc", "contrastive", "triplet"}


def test_train_of_g2p_needs_torch_only(tmp_path: Path) -> None:
    """Training needs torch and NumPy only."""
    words = {"cat": ["K AE T"], "dog": ["D AO G"]}
    splits = {"train": words, "val": words, "test": words}
    (tmp_path / "g2p-words.json").write_text(json.dumps(splits))
    script = """
from pathlib import Path
from training.words import g2p

g2p.STEPS, g2p.BATCH = 2, 2
g2p.train_g2p(Path(sys.argv[1]))
"""
    ran = run(script, str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "g2p.pt").exists()
