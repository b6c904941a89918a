"""The rule of the packages: data flows tabs → systems → sound_index → pretrained → models → media →
core, and nothing imports up; provenance lies between systems and media.

Inside a package no system imports another: what two of them need lies below both.

Imports are read from the source (AST), late and type-checking ones included.
"""

import ast
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from earshot.core.paths import ROOT
from tests.support.imports import imports, modules_imported

SYSTEMS = {"systems", "provenance", "sound_index", "pretrained", "models", "media", "core"}
# Package → the packages of ours that it may import, besides itself.
ALLOWED = {
    "core": set(),
    "media": {"core"},
    "provenance": {"media", "core"},
    "models": {"media", "core"},
    "pretrained": {"models", "media", "core"},
    "sound_index": {"pretrained", "models", "media", "core"},
    "systems": SYSTEMS - {"systems"},
    "exports": SYSTEMS | {"study"},
    "cli": SYSTEMS | {"exports", "study"},
    "pipelines": {"systems", "core"},
    "study": {"media", "core"},
    "tabs": SYSTEMS - {"models"} | {"exports", "study"},
    "app": SYSTEMS - {"models"} | {"tabs", "study"},
    "synthetic": SYSTEMS,
    "training": SYSTEMS | {"synthetic"},
    "benchmarks": SYSTEMS | {"app", "tabs", "study", "training", "synthetic"},
}
OURS = {*ALLOWED, "assets", "scripts", "tests"}
ROOMS = {path.parent.name for path in (ROOT / "earshot").glob("*/__init__.py")}
# Package → what lies below its systems; each of the rest of its folders is a system.
SHARED = {
    "earshot.tabs": {"shared", "components"},
    "earshot.systems": set(),
    "earshot.models": set(),
    "training": {"common", "judges"},
}
MAX_SHORT = 110  # lines of a module that needs more than one user in its folder
MAX_LINES = 400  # of a module whose docstring says nothing of its length
# Sampling rate, window and hop: earshot.media.constants has their names.
NAMED = {16_000, 640, 160}
# Sizes of layers and images are no sampling rates, though they may be the same numbers.
SIZES = ("width", "channels", "pixels")


def sources(package: str) -> list[Path]:
    folder = ROOT / "earshot" / package if package in ROOMS else ROOT / package
    return sorted(folder.rglob("*.py"))


@cache
def imported(path: Path) -> set[str]:
    """The packages of ours that a file imports anywhere."""
    names: set[str] = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            names |= {room_of(alias.name) for alias in node.names}
        elif node.module and not node.level:
            if node.module == "earshot":
                names |= {alias.name for alias in node.names}
            names.add(room_of(node.module))
    return names & OURS


def room_of(module: str) -> str:
    """earshot.media.audio → media; training.common → training."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "earshot" else first


@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_nothing_above_it(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): sorted(other)
        for path in sources(package)
        if (other := imported(path) - ALLOWED[package] - {package})
    }
    assert wrong == {}


def test_modules_import_in_no_circle() -> None:
    """Late imports, and those for types only, count."""
    paths = [path for path in (ROOT / "earshot").rglob("*.py") if path.name != "__init__.py"]
    graph = {module_name(path): modules_imported(path) for path in paths}
    assert {*graph} <= {*TopologicalSorter(graph).static_order()}


def test_nobody_imports_assets_or_scripts() -> None:
    paths = [path for package in ALLOWED for path in sources(package)] + [ROOT / "app.py"]
    assert [p for p in paths if imported(p) & {"assets", "scripts"}] == []


def test_short_module_has_several_users() -> None:
    """A short module with one user, which lies in the same folder, is a part of that user. What a
    package's __init__ passes on has the users of the package, and each stage of a training is a
    module, which its command calls."""
    users: defaultdict[str, list[Path]] = defaultdict(list)
    for path in (path for package in ALLOWED for path in sources(package)):
        for name in modules_imported(path):
            users[name].append(path)
    folders = ["earshot", "training", "synthetic", "benchmarks"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    lonely = {
        module_name(path): user.name
        for path in paths
        for user in users[module_name(path)]
        if lines(path) <= MAX_SHORT and len(users[module_name(path)]) == 1
        if user.parent == path.parent and user.name != "__init__.py"
        if user.name != "__main__.py" or (ROOT / "training") not in path.parents
    }
    assert lonely == {}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def lines(path: Path) -> int:
    return path.read_text().count("\n")


def test_constants_import_nothing_but_typing() -> None:
    tree = ast.parse((ROOT / "earshot" / "media" / "constants.py").read_text())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert modules == ["typing"]
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))


@pytest.mark.parametrize("package", SHARED)
def test_no_system_imports_another(package: str) -> None:
    """Nor do the folders that systems share import one."""
    root = ROOT / package.replace(".", "/")
    rooms = {path.parent.name for path in root.glob("*/__init__.py")}
    wrong = {
        str(path.relative_to(ROOT)): sorted(others)
        for room in rooms
        for path in (root / room).rglob("*.py")
        if (others := (rooms_in(package, path) & rooms) - SHARED[package] - {room})
    }
    assert wrong == {}


def test_what_training_shares_knows_no_judge() -> None:
    paths = (ROOT / "training" / "common").rglob("*.py")
    assert [path for path in paths if "judges" in rooms_in("training", path)] == []


def rooms_in(package: str, path: Path) -> set[str]:
    """The rooms of a package that a file imports anything of: "words" of training.words.recipe."""
    names = {
        f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in imports(path)
        for alias in node.names
    }
    inside = (name.removeprefix(f"{package}.") for name in names if name.startswith(f"{package}."))
    return {name.partition(".")[0] for name in inside}


def test_long_module_says_why() -> None:
    """A module is one concept, of whatever length; "lines" stands in the docstring of a long one,
    with the reason."""
    paths = [path for package in ALLOWED for path in sources(package)]
    long = [path for path in paths if lines(path) > MAX_LINES]
    docstrings = {path: ast.get_docstring(ast.parse(path.read_text())) or "" for path in long}
    assert [path for path, docstring in docstrings.items() if "lines" not in docstring] == []


@pytest.mark.parametrize("package", ["training", "pretrained", "systems", "tabs"])
def test_package_names_its_sampling_constants(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources(package)
        for line in bare_constants(ast.parse(path.read_text()))
    ]
    assert wrong == []


def bare_constants(tree: ast.AST) -> Iterator[int]:
    """Lines with a number of NAMED, unless it is the value of something that names a size."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if node.value in NAMED:
                yield node.lineno
        elif not names_a_size(node):
            yield from bare_constants(node)


def names_a_size(node: ast.AST) -> bool:
    """width=160, width: int = 160, WIDTH = 160, {"width": 160} or stem_channels=(32, 64, 160)."""
    name = ""
    if isinstance(node, ast.keyword):
        name = node.arg or ""
    elif isinstance(node, ast.AnnAssign):
        name = ast.unparse(node.target)
    elif isinstance(node, ast.Assign):
        name = ast.unparse(node.targets[0])
    elif isinstance(node, ast.arguments):
        # Defaults follow the arguments that have them.
        pairs = zip(node.args[::-1], node.defaults[::-1], strict=False)
        named = {argument.arg for argument, default in pairs if _is_named(default)}
        return bool(named) and all("width" in argument for argument in named)
    elif isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value == "width" for key in node.keys)
    return any(size in name.lower() for size in SIZES)


def _is_named(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMED


def test_importing_systems_loads_no_torch() -> None:
    script = """
import sys
import earshot.systems, earshot.media.audio.speech
import earshot.systems.voice_conversion.settings
import earshot.systems.voice_conversion.units
print(sorted({"torch", "librosa", "scipy", "av", "gradio"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr


@pytest.mark.parametrize(
    "module", ["earshot.app.launch", "benchmarks", "training", "earshot.systems.words.system"]
)
def test_threads_are_limited_before_numpy_loads(module: str) -> None:
    script = f"""
import os, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Finder())
import {module}, numpy
"""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"}
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert ran.stdout.splitlines()[:1] == ["4"], ran.stderr
