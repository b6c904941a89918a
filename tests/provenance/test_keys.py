"""The key of an installation: made once, kept from others, and a sentence for what is wrong with
it."""

import subprocess
import sys
from pathlib import Path

import pytest

from earshot.app.launch import prepare_signing
from earshot.app.options import options
from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.provenance import keys
from earshot.provenance.keys import Installation, installation


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder in which there is no key yet; no key is named."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in (keys.KEY, keys.CHAIN, "STATE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "earshot"


def forget() -> None:
    keys._installation.cache_clear()


def test_key_is_made_once_and_is_nobody_elses(state: Path) -> None:
    first = installation()
    forget()
    assert installation() == first
    file = state / keys.FILE
    assert (file.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [path.name for path in state.iterdir()] == [keys.FILE]
    assert 0 <= keys.installation_number() < 2**16
    assert first.chain.count(b"BEGIN CERTIFICATE") == 2
    assert file.read_bytes().count(b"PRIVATE KEY-----") == 2  # of the leaf, not of the root


def test_processes_that_start_at_once_share_one_key(state: Path) -> None:
    code = "from earshot.provenance.keys import installation; print(installation().serial)"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
        for _ in range(3)
    ]
    serials = {process.communicate()[0] for process in started}
    assert serials == {f"{installation().serial}\n".encode()}


def test_lost_key_is_a_new_installation(state: Path) -> None:
    first = installation()
    (state / keys.FILE).unlink()
    forget()
    assert installation().serial != first.serial


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda file: file.chmod(0o644), "chmod 600"),
        (lambda file: file.write_bytes(b""), "damaged"),
        (lambda file: file.write_bytes(file.read_bytes()[:300]), "damaged"),
        (lambda file: file.write_bytes(b"\xff" * 100_000), "damaged"),
    ],
    ids=["mode", "empty", "truncated", "noise"],
)
def test_unusable_key_is_a_sentence(state: Path, damage: object, sentence: str) -> None:
    installation()
    assert callable(damage)
    damage(state / keys.FILE)
    forget()
    with pytest.raises(InputError, match=sentence):
        installation()
    assert keys.installation_number() == 0


def lab(folder: Path, installed: Installation, name: str = "lab") -> tuple[Path, Path]:
    """Write a key and its chain into files of a lab."""
    key, chain = folder / f"{name}.key", folder / f"{name}.pem"
    key.write_bytes(installed.key)
    key.chmod(0o600)
    chain.write_bytes(installed.chain)
    return key, chain


def test_labs_own_key(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, chain = lab(tmp_path, installation())
    named = ["--signing-key", str(key), "--signing-chain", str(chain)]
    (state / keys.FILE).unlink()
    forget()
    environment: dict[str, str] = {}
    prepare_signing(options(named, {}), environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    forget()
    assert installation().chain == chain.read_bytes()
    # As a secret of a Space holds them.
    monkeypatch.setenv(keys.KEY, key.read_text())
    monkeypatch.setenv(keys.CHAIN, chain.read_text())
    assert installation().chain == chain.read_bytes()


def test_labs_key_that_cannot_be_used(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, chain = lab(tmp_path, installation())
    (state / keys.FILE).unlink()
    forget()
    _, other = lab(tmp_path, installation(), "other")
    monkeypatch.setenv(keys.KEY, str(key))
    with pytest.raises(InputError, match="both"):
        installation()
    monkeypatch.setenv(keys.CHAIN, str(other))
    with pytest.raises(InputError, match="does not belong"):
        installation()
    monkeypatch.setenv(keys.CHAIN, str(tmp_path / "none.pem"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        installation()
    monkeypatch.setenv(keys.CHAIN, str(key))
    with pytest.raises(InputError, match="damaged"):
        installation()


def test_no_room_for_a_key(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file where the folder should be")
    prepare_signing(options([], {}), {})
    assert "Files are not signed" in capsys.readouterr().err
    assert keys.installation_number() == 0
