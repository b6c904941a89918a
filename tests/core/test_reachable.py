"""How others reach a server of this machine: by which address, and with which certificate."""

import socket
import ssl
import threading
from pathlib import Path

import pytest

from earshot.core import certificate, connections
from earshot.core.certificate import FILE, own_certificate
from earshot.core.connections import address_for_others
from earshot.core.errors import InputError

OWN = "192.168.1.7"


@pytest.mark.parametrize(
    ("address", "host", "reached"),
    [
        ("http://localhost:7860/?tab=words", None, None),
        ("http://127.0.0.1:7860/", "127.0.0.1", None),
        ("http://[::1]:7860/", "localhost", None),
        ("http://localhost:7860/?tab=words", "0.0.0.0", f"http://{OWN}:7860/?tab=words"),
        ("https://0.0.0.0:7860/", "::", f"https://{OWN}:7860/"),
        ("http://localhost:7860/", "10.0.0.3", "http://10.0.0.3:7860/"),
        ("http://localhost/", "fd00::3", "http://[fd00::3]/"),
        ("https://earshot.example/x", None, "https://earshot.example/x"),
        ("https://name.hf.space/", "0.0.0.0", "https://name.hf.space/"),
        ("http://localhost:99999/", "0.0.0.0", None),
        ("http://[/", "0.0.0.0", None),
    ],
)
def test_address_for_others_leads_to_this_machine(
    address: str, host: str | None, reached: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "machine_address", lambda: OWN)
    assert address_for_others(address, host) == reached


def test_machine_in_no_network_is_reached_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "machine_address", lambda: None)
    assert address_for_others("http://localhost:7860/", "0.0.0.0") is None


def test_device_that_trusts_the_certificate_believes_this_machine(tmp_path: Path) -> None:
    """Under each of its names, and nobody without it."""
    own = own_certificate(tmp_path, "localhost")
    assert own.file.stat().st_mode & 0o077 == 0
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(own.file, own.file)
    trusting = ssl.create_default_context(cadata=own.content.decode())
    for name, context in (
        ("127.0.0.1", trusting),
        ("localhost", trusting),
        ("elsewhere.example", trusting),
        ("localhost", ssl.create_default_context()),
    ):
        ours, theirs = socket.socketpair()
        thread = threading.Thread(target=_greet, args=[server, ours])
        thread.start()
        believed = context is trusting and name != "elsewhere.example"
        if believed:
            context.wrap_socket(theirs, server_hostname=name).close()
        else:
            with pytest.raises(ssl.SSLCertVerificationError):
                context.wrap_socket(theirs, server_hostname=name)
        theirs.close()
        thread.join()


def _greet(context: ssl.SSLContext, side: socket.socket) -> None:
    try:
        context.wrap_socket(side, server_side=True).close()
    except OSError:  # which the other side has refused
        side.close()


def test_certificate_is_kept_while_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged one, and one of another address, are replaced."""
    first = own_certificate(tmp_path)
    assert own_certificate(tmp_path) == first
    monkeypatch.setattr(certificate, "machine_address", lambda: OWN)
    second = own_certificate(tmp_path)
    assert second.fingerprint != first.fingerprint
    (tmp_path / FILE).write_text("nothing")
    assert own_certificate(tmp_path).fingerprint not in (first.fingerprint, second.fingerprint)


def test_certificate_without_a_folder_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be kept in .*XDG_STATE_HOME"):
        own_certificate(tmp_path / "file" / "below")
