"""Listening tests alone, in an environment made of requirements-study.txt: without torch."""

import subprocess
import time
import venv
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import httpx
import pytest
from packaging.requirements import Requirement

from benchmarks.support.listening import Rater, write_test
from benchmarks.support.served import MAX_START, Served
from earshot.core.paths import ROOT

REQUIREMENTS: Final = ROOT / "requirements-study.txt"
HEAVY: Final = {"torch", "gradio", "mediapipe", "transformers"}
SOUND_SECONDS: Final = 0.02


def pins(file: Path) -> set[str]:
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return {line for line in lines if line}


def test_requirements_are_those_of_the_app() -> None:
    assert pins(REQUIREMENTS) < pins(ROOT / "requirements.txt")


def link_packages(required: set[str], site: Path) -> None:
    """Link what these requirements name, and what that requires, from this environment into the
    folder of packages of another: pip would fetch and unpack for a minute."""
    waiting, linked = [Requirement(line) for line in required], set[str]()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in linked:
            continue
        linked.add(str(requirement))
        package = distribution(requirement.name)
        assert requirement.specifier.contains(package.version), f"{requirement} is not installed"
        for entry in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            if not (site / entry).exists():
                (site / entry).symlink_to(str(package.locate_file(entry)))
        for needed in map(Requirement, package.requires or ()):
            extras = ("", *requirement.extras)
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                needed.marker = None
                waiting.append(needed)


@pytest.mark.slow
def test_laboratory_needs_no_torch(tmp_path: Path) -> None:
    """A rater takes a test, and it is analysed."""
    venv.create(tmp_path / "venv", symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    link_packages(pins(REQUIREMENTS), site)
    assert not HEAVY & {path.name.lower() for path in site.iterdir()}
    python = str(tmp_path / "venv" / "bin" / "python")

    folder = write_test(tmp_path / "tests" / "ab", "ab", SOUND_SECONDS)
    study = ["-m", "earshot", "study"]
    served = Served(*study, "serve", str(folder.parent), path="/listen/ab", python=python)
    try:
        with httpx.Client(base_url=served.address, timeout=MAX_START) as client:
            rater = Rater(client, "ab")
            code = None
            for trial in rater.session()["trials"]:
                for place in range(trial["sounds"]):
                    assert rater.get(f"sound/{trial['order']}/{place}").status_code == 200
                time.sleep(trial["sounds"] * SOUND_SECONDS)
                code = rater.answer(trial, "a").raise_for_status().json()["code"]
            assert code
    finally:
        served.kill()
    for command in ("check", "analyse"):
        subprocess.run([python, *study, command, folder], cwd=ROOT, check=True)
    assert (folder / "results" / "report.html").is_file()
