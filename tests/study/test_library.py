"""The library of tests: reading one does not block the others, and who may open tests here."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.core.errors import InputError
from earshot.core.limits import RateLimit
from earshot.study.design import Test
from earshot.study.design.document import SpecError
from earshot.study.library import BusyError, Permission
from earshot.study.sounds import stimuli
from earshot.study.sounds.copies import Copy
from earshot.study.web.server import app, library
from earshot.tabs.listening_tests.events import StudyEvents


def test_library_serves_others_while_preparing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test that is being prepared says so."""
    write_test(tmp_path / "small", "ab")
    write_test(tmp_path / "large", "ab")
    tests = library(tmp_path)
    tests.open("small")
    reading, go_on, prepare = threading.Event(), threading.Event(), stimuli.prepare

    def slowly(test: Test, folder: Path, most: int | None) -> dict[Path, Copy]:
        reading.set()
        assert go_on.wait(30)
        return prepare(test, folder, most)

    monkeypatch.setattr(stimuli, "prepare", slowly)
    reader = threading.Thread(target=tests.open, args=["large"])
    reader.start()
    assert reading.wait(30)
    with TestClient(app(tests)) as client:
        Rater(client, "small")
        session = client.get("/listen/large/session")
        page = client.get("/listen/large")
        assert reader.is_alive(), "all of this is while the other one is read"
        assert session.status_code == page.status_code == 503
        assert "being prepared" in session.json()["detail"] and page.headers["Refresh"] == "2"
        with pytest.raises(BusyError, match="being prepared"):
            tests.get("large")
        go_on.set()
        reader.join()
        assert client.get("/listen/large/session").status_code == 200


def test_library_get_decodes_broken_test_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_test(tmp_path / "ab", "ab")
    (folder / "fine" / "cat.wav").write_text("no sound")
    tests, decoded, check = library(tmp_path), [], stimuli.check
    monkeypatch.setattr(stimuli, "check", lambda *arguments: decoded.append(1) or check(*arguments))
    for _ in range(3):
        with pytest.raises(InputError, match="is not open"):
            tests.get("ab")
    assert len(decoded) == 1
    with pytest.raises(SpecError, match="fine/cat.wav"):  # the organiser may have mended it
        tests.open("ab")
    assert len(decoded) == 2


def test_restarted_library_decodes_no_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sounds that were checked before are not read again."""
    write_test(tmp_path / "ab", "ab", loudness=-25)
    before = library(tmp_path).open("ab")

    def check(*_: object) -> list[str]:
        raise AssertionError("the sounds are read again")

    monkeypatch.setattr(stimuli, "check", check)
    assert vars(library(tmp_path).open("ab")) == vars(before)


def test_library_get_lists_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_test(tmp_path / "ab", "ab")
    tests = library(tmp_path)

    def glob(*_: object) -> list[Path]:
        raise AssertionError("the folder is listed")

    tests.open("ab")
    monkeypatch.setattr(Path, "glob", glob)
    assert tests.get("ab").test.name == "ab"
    for name in ("nothing", "..", "a/b", "", "."):
        with pytest.raises(InputError, match="Check the link"):
            tests.get(name)


def test_permission_off_a_space_is_anybodys() -> None:
    permission = Permission.of(None, {})
    assert permission.possible
    permission.check("")


def test_permission_without_key_is_nobodys() -> None:
    """It is so on a Space."""
    permission = Permission.of(None, {"SPACE_ID": "lab/earshot"})
    assert not permission.possible
    with pytest.raises(InputError, match="Download yours"):
        permission.check("")


@pytest.mark.parametrize("environment", [{}, {"SPACE_ID": "lab/earshot"}])
def test_permission_is_for_who_types_key(environment: dict[str, str]) -> None:
    permission = Permission.of("a-long-key", environment)
    permission.check(" a-long-key\n")
    for wrong in ("", "a-long-ke", "é"):
        with pytest.raises(InputError, match="Type the key"):
            permission.check(wrong)


def test_wrong_keys_of_network_are_few() -> None:
    """38 a second were tried: a key of four digits is found in minutes."""
    tests: Any = SimpleNamespace(permission=Permission("4711"))
    events: Any = SimpleNamespace(tests=tests, _keys=RateLimit.of("keys"))
    request: Any = SimpleNamespace(request=None)
    for _ in range(20):  # right ones do not count
        StudyEvents._permit(events, "4711", request)
    for number in range(5):
        with pytest.raises(InputError, match="Type the key"):
            StudyEvents._permit(events, f"{number:04}", request)
    for key in ("0005", "4711"):
        with pytest.raises(InputError, match="Try again in a minute"):
            StudyEvents._permit(events, key, request)
