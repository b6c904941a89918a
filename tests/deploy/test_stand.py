"""What starts a stand by itself: the unit of its server, and the browser before it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from earshot.app.options import options
from earshot.core.paths import ROOT

DEPLOY = ROOT / "deploy"


def test_unit_starts_a_stand_that_exists() -> None:
    """With options that there are, from the folder in which all of it is named."""
    unit = (DEPLOY / "earshot-stand.service").read_text()
    [(program, arguments)] = re.findall(r"^ExecStart=(\S+) app\.py (.+)$", unit, re.MULTILINE)
    chosen = options(arguments.split(), {})
    assert chosen.kiosk and chosen.preload and chosen.port == 7860
    folder = "/opt/earshot"
    assert program.startswith(folder) and f"WorkingDirectory={folder}\n" in unit
    autostart = (DEPLOY / "earshot-stand.desktop").read_text()
    [script] = re.findall(rf"^Exec={folder}/(\S+)$", autostart, re.MULTILINE)
    assert os.access(ROOT / script, os.X_OK)


@pytest.mark.slow
def test_browser_waits_for_the_server_and_comes_again(tmp_path: Path) -> None:
    """Started before the server, and closed by somebody."""
    (tmp_path / "chromium").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/started\n')
    (tmp_path / "chromium").chmod(0o755)
    (tmp_path / "phone").touch()
    path = f"{tmp_path}:{os.environ['PATH']}"
    address = "http://127.0.0.1:1/"
    environment = {**os.environ, "PATH": path, "ADDRESS": address, "TMPDIR": str(tmp_path)}
    script = ["timeout", "2", "sh", str(DEPLOY / "earshot-stand")]
    subprocess.run(script, env=environment, check=False)
    assert not (tmp_path / "started").exists()
    environment["ADDRESS"] = f"file://{tmp_path}/"
    subprocess.run(["timeout", "5", *script[2:]], env=environment, check=False)
    starts = (tmp_path / "started").read_text().splitlines()
    assert len(starts) > 1 and all(line.startswith("--kiosk ") for line in starts)
    assert not [*tmp_path.glob("tmp.*/*")]
