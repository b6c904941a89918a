"""The wheel of `pip install .`: it holds what the app needs, and runs outside the repository."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import soundfile

from earshot.app import launch
from earshot.core.paths import ASSETS, CHECKPOINTS, PIPELINES, ROOT
from earshot.systems.registry import load_board

pytestmark = pytest.mark.slow

ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # others would wait for each other by spinning
# In a folder that is not the repository, from the unpacked wheel.
USE = """
import sys
from pathlib import Path
import earshot
assert "torch" not in sys.modules
from earshot.app import import_gradio
import_gradio()
from earshot.app import site
from earshot.pretrained.checkpoint import locate
installed = Path(sys.argv[1]).resolve()
assert Path(earshot.__file__).is_relative_to(installed), earshot.__file__
assert Path(earshot.__file__).with_name("py.typed").exists()
assert locate("vqvae-512").is_relative_to(installed)
from earshot.systems.registry import TASKS, load_board
assert all(load_board().offer(task) for task in TASKS)
from earshot.tabs.shared.services import Services
page = site.build(Services(device="cpu"))
texts = " ".join(str(getattr(block, "value", "")) for block in page.blocks.values())
assert "This tab has no model yet" not in texts
print(len(texts))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as pip builds it, but with the backend that is installed, for there is no network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("earshot-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel. An install would join the environment of other tests."""
    folder = tmp_path_factory.mktemp("site-packages")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_wheel_holds_every_model(wheel: Path) -> None:
    """The wheel holds every model of the app and nothing of training."""
    names = zipfile.ZipFile(wheel).namelist()
    named = {name for system in load_board().systems for name in system.needs}
    joined = {"vocoder", "vocoder-lips", "words-bottleneck", "words-states", "g2p"}  # by others
    for model in named | joined:
        files = [path.name for path in (CHECKPOINTS / model).glob("*.safetensors")]
        assert "model.safetensors" in files
        assert all(f"earshot/checkpoints/{model}/{file}" in names for file in files)
    files = {path.name for path in PIPELINES.iterdir() if path.is_file()}
    assert {f"earshot/pipelines/{file}" for file in files} <= {*names}
    for start in ("training", "tests", "scripts", "synthetic", "earshot/assets/screenshots"):
        assert not [name for name in names if name.startswith(f"{start}/")]
    assert not [name for name in names if name.endswith("/card.md.jinja")]
    installed = {Path(name).parts[0] for name in names if not name.startswith("earshot-")}
    assert installed == {"earshot"}


def test_wheel_requires_what_requirements_txt_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(about).decode()
        scripts = archive.read(about.replace("METADATA", "entry_points.txt")).decode()
    required = {line.split(": ")[1] for line in metadata.splitlines() if "Requires-Dist" in line}
    # requirements.txt is of a demo that signs what it converts.
    extras = {line for line in required if "extra ==" in line and "'provenance'" not in line}
    required -= extras
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    requirements = {line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()}
    assert {_name(line) for line in required} == {_name(line) for line in requirements}
    assert "earshot = earshot.__main__:main" in scripts
    assert callable(launch.main)


def test_unpacked_wheel_builds_page(installed: Path, tmp_path: Path) -> None:
    """An unpacked wheel finds its weights."""
    command = [sys.executable, "-c", USE, str(installed)]
    environment = {"PYTHONPATH": str(installed), "PATH": "", "HOME": str(tmp_path)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_wheel_converts_beside_users_modules(installed: Path, tmp_path: Path) -> None:
    """The wheel converts a file beside modules of the user's own."""
    work = tmp_path / "work"
    for name in ("models", "media", "tabs", "app"):  # as many projects have them
        (work / name).mkdir(parents=True)
        (work / name / "__init__.py").write_text("raise ImportError('not this one')")
    source = str(ASSETS / "examples" / "scot-digits.ogg")
    run = subprocess.run(
        [sys.executable, "-m", "earshot", "convert", source, "-o", "out.wav"],
        cwd=work,
        env={"PYTHONPATH": str(installed), "PATH": "", "HOME": str(tmp_path)} | ONE_THREAD,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert soundfile.info(work / "out.wav").duration > 1


def _name(requirement: str) -> str:
    return requirement.split("=")[0].split("<")[0].split(">")[0].lower().replace("_", "-")
