"""Listening tests alone, in an environment made of requirements-study.txt: without torch."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import httpx
import pytest

from benchmarks.support.listening import Rater, write_test
from benchmarks.support.served import PATIENCE, Served
from earshot.core.paths import ROOT

REQUIREMENTS: Final = ROOT / "requirements-study.txt"
HEAVY: Final = {"torch", "gradio", "mediapipe", "transformers"}
SOUND_SECONDS: Final = 0.02


def pins(file: Path) -> set[str]:
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return {line for line in lines if line}


def test_requirements_are_those_of_the_app() -> None:
    assert pins(REQUIREMENTS) < pins(ROOT / "requirements.txt")


@pytest.mark.slow
def test_laboratory_needs_no_torch(tmp_path: Path) -> None:
    """A rater takes a test, and it is analysed."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [python, "-m", "pip"]
    subprocess.run([*pip, "install", "-q", "--no-compile", "-r", REQUIREMENTS], check=True)
    packages = subprocess.run([*pip, "list", "--format=json"], check=True, capture_output=True)
    assert not HEAVY & {package["name"].lower() for package in json.loads(packages.stdout)}

    folder = write_test(tmp_path / "tests" / "ab", "ab", SOUND_SECONDS)
    study = ["-m", "earshot", "study"]
    served = Served(*study, "serve", str(folder.parent), path="/listen/ab", python=python)
    try:
        with httpx.Client(base_url=served.address, timeout=PATIENCE) as client:
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
