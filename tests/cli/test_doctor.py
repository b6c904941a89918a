"""What the doctor finds, and its cure."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from earshot.cli import doctor
from earshot.core.paths import CHECKPOINTS


def test_machine_of_the_tests_misses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        doctor.main([])
    printed = capsys.readouterr().out
    assert ended.value.code == 0 and "Nothing is missing." in printed
    for name in ("Python", "packages", "torch", "libraries", "camera", "port", "disk", "models"):
        assert name in printed


def test_missing_package_and_library_have_a_cure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_pins", lambda: {"no-such-package": "1", "numpy": "0.1"})
    monkeypatch.setattr(doctor, "LIBRARIES", {"libNone.so.1": "libnone1"})
    with pytest.raises(SystemExit) as ended:
        doctor.main([])
    printed = capsys.readouterr().out
    assert ended.value.code == 1 and "2 missing." in printed
    assert "not installed: no-such-package" in printed and "pip install -r" in printed
    assert "for 0.1" in printed and "sudo apt-get install libnone1" in printed


def test_port_that_is_taken_is_a_note() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        finding = next(doctor.ports(port))
    assert finding.state == "note" and "--port" in finding.cure
    assert next(doctor.ports(99_999)).state == "note"


def test_camera_of_others_has_a_cure(tmp_path: Path) -> None:
    assert {each.state for each in doctor.devices(tmp_path)} == {"note"}
    (tmp_path / "video0").touch(mode=0o600)
    camera = next(doctor.devices(tmp_path))
    assert camera.state == ("ok" if os.access(tmp_path / "video0", os.W_OK) else "note")


def test_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    for name in ("g2p", "linear-vc"):
        shutil.copytree(CHECKPOINTS / name, tmp_path / name)
    assert next(doctor.models(tmp_path)).state == "ok"
    with next((tmp_path / "g2p").glob("*.safetensors")).open("r+b") as weights:
        weights.truncate(100)
    (tmp_path / "linear-vc" / "metrics.json").write_text("{")
    finding = next(doctor.models(tmp_path))
    assert finding.state == "missing" and "g2p, linear-vc" in finding.text
    assert next(doctor.models(tmp_path / "none")).state == "missing"
