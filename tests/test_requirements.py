"""What the code imports is declared: in the wheel's dependencies, and pinned for the Makefile."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from earshot.core.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Of the extras, that which make and a Space install.
DECLARED = [*PROJECT["dependencies"], *EXTRAS["provenance"]]
OURS = {"earshot", "training", "synthetic", "benchmarks", "scripts", "tests"}


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def names(requirements: list[str]) -> set[str]:
    return {normal(Requirement(line).name) for line in requirements}


def imported(folders: list[str]) -> set[str]:
    """Distributions that the files of folders import anywhere, late imports included."""
    modules: set[str] = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    installed = packages_distributions()
    ours = OURS | sys.stdlib_module_names
    return {normal(installed.get(name, [name])[0]) for name in modules - ours}


def pinned(file: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("-r")]


def test_wheel_declares_what_the_package_imports() -> None:
    declared = names(PROJECT["dependencies"])
    optional = set().union(*map(names, EXTRAS.values()))
    assert imported(["earshot", "pipelines"]) - declared - optional == {"spaces"}  # a Space's own


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-scale.txt"])
def test_requirements_are_pinned(file: str) -> None:
    loose = [line for line in pinned(ROOT / file) if "==" not in line]
    ranges = ["pydantic>=2.11.10,<3", "torch>=2.8,<=2.13.0"]  # a Space brings its own
    assert loose == (ranges if file == "requirements.txt" else [])


def test_pins_lie_in_the_wheels_ranges() -> None:
    ranges = {normal(r.name): r.specifier for r in map(Requirement, DECLARED)}
    for line in pinned(ROOT / "requirements.txt"):
        requirement = Requirement(line)
        for pin in requirement.specifier:
            if pin.operator == "==":
                assert pin.version in ranges[normal(requirement.name)], line
