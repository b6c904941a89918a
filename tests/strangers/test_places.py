"""Places in which strangers start programs, and names that they give: each kind with the public
report that it comes from, and what is right."""

import argparse
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from earshot.cli.files import jobs_of
from earshot.core.connections import _Forwarded, check_address, url_of
from earshot.core.console import count
from earshot.core.errors import InputError
from earshot.core.paths import user_folder
from earshot.tabs.listening_tests.events import LINKS, Link
from earshot.tabs.shared import tool_server
from tests.support.loops import run
from tests.support.sounds import write_sound


@pytest.mark.parametrize(
    ("forwarded", "scheme"),
    [
        ("https", "https"),
        ("https, http", "https"),
        ("https,https", "https"),
        ("http, https", "http"),
    ],
)
def test_first_of_several_proxies_names_scheme(forwarded: str, scheme: str) -> None:
    """gradio-app/gradio#8148, xorbitsai/inference#4856: behind two proxies all addresses begin with
    http://."""
    seen: list[str] = []

    async def app(scope: Any, *_: object) -> None:
        seen.append(scope["scheme"])

    headers = [(b"x-forwarded-proto", forwarded.encode())]
    for kind, start in (("http", "http"), ("websocket", "ws")):
        scope = {"type": kind, "scheme": start, "headers": headers, "client": ("10.0.0.2", 1)}
        run(_Forwarded(app, ["10.0.0.2"])(scope, None, None))  # type: ignore[arg-type]
    assert seen == [scheme, scheme.replace("http", "ws")]


def test_taken_port_is_told() -> None:
    """Gradio: “Cannot find empty port in range”, with a traceback, for a host that is none too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host, number in (("127.0.0.1", port), ("no.such.host.invalid", 80), ("::1", 70_000)):
            with pytest.raises(InputError, match=f"{host}, port {number} .*--port"):
                check_address(host, number)
    check_address("127.0.0.1", port)
    check_address("127.0.0.1")
    with pytest.raises(InputError, match=r"no\.such\.host\.invalid, port any"):
        check_address("no.such.host.invalid")


def test_address_of_ipv6_has_brackets() -> None:
    assert url_of("::1", 8000) == "http://[::1]:8000"
    assert url_of("lab.example", 80) == "http://lab.example:80"


def test_user_without_home_has_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """h2oai/h2o-llmstudio#974, vectorize-io/hindsight#3934: a uid without a name, as of docker."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_folder("XDG_CACHE_HOME", ".cache") == tmp_path / "earshot"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder("XDG_CACHE_HOME", ".cache") == tmp_path / ".cache" / "earshot"

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert user_folder("XDG_CACHE_HOME", ".cache").is_absolute()


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_stream_is_no_file(tmp_path: Path, closed: int) -> None:
    """NousResearch/hermes-agent#40096, getdango/dango#339: started by cron with a closed one, all
    recordings were “damaged”, and notices lay among the results."""
    write_sound(tmp_path / "a.wav", 1)
    program = (
        "import sys\n"
        "from earshot.core.console import open_streams\n"
        f"if {closed} != 1: open_streams()\n"
        "from earshot.media.audio.load import load\n"
        f"seconds = load({str(tmp_path / 'a.wav')!r}).seconds\n"
        "print('a notice', file=sys.stderr)\n"
        f"open({str(tmp_path / 'result')!r}, 'w').write(str(seconds))\n"
        "print(seconds)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.close(closed),
        check=False,
    )
    assert (tmp_path / "result").read_text() == "2.0"
    assert done.stdout == (b"" if closed == 1 else b"2.0\n")


def test_last_dot_may_be_no_ending(tmp_path: Path) -> None:
    """beetbox/beets#5774, equinor/xtgeo#592: “take 1.5” and “take 1.6” had one result."""
    names = ["interview 3.1", "take 1.5", "take 1.6", "v1.0 final.wav", "2026.11.29 12.30.45"]
    for name in names:
        write_sound(tmp_path / "in" / name, 1)
    jobs = jobs_of([tmp_path / "in"], str(tmp_path / "out"), [".wav"])
    results = sorted(job.out.name for job in jobs if job.out)
    assert results == sorted(f"{name.removesuffix('.wav')}.wav" for name in names)


def test_file_of_two_names_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sound(tmp_path / "a.wav", 1)
    monkeypatch.chdir(tmp_path)
    twice = [Path("a.wav"), tmp_path / "a.wav", tmp_path / "." / "a.wav"]
    assert [job.name for job in jobs_of(twice, "out/", [".flac"])] == ["a.wav"]
    (tmp_path / "other").mkdir()
    write_sound(tmp_path / "other" / "a.wav", 1)
    with pytest.raises(InputError, match="rename one"):
        jobs_of([Path("a.wav"), Path("other/a.wav")], "out/", [".flac"])


@pytest.mark.parametrize("text", ["-1", "0", "-3"])
def test_count_is_at_least_one(text: str) -> None:
    """To a list, -1 is all but the last: 502 sounds."""
    with pytest.raises(argparse.ArgumentTypeError, match="1 is the least"):
        count(text)
    assert count("3") == 3


def test_copying_needs_no_https() -> None:
    """open-webui/open-webui#1147: over http a browser has no navigator.clipboard, and the press did
    nothing."""
    page = LINKS.render(links=[Link("For raters", "http://lab/listen/mine", "A note.")], code="")
    assert "if (navigator.clipboard)" in page and "execCommand" in page


@pytest.mark.parametrize(
    "head",
    [
        "data:audio/wav;base64,",
        "data:;base64,",
        "data:application/octet-stream;base64,",
        "data:audio/vnd.wave;codec=1;base64,",
        'data:video/webm;codecs="vp8,opus";base64,',
        "data:video/webm;codecs=vp8,opus;base64,",
        "DATA:audio/wav;BASE64,",
        "data:audio/wav;base64, ",
    ],
)
def test_data_url_of_browser_is_read(head: str, tmp_path: Path) -> None:
    """mistralai/mistral-common#259, NousResearch/hermes-agent#112333: other types, parameters,
    folded lines and codings decoded to nothing."""
    tool_server._inbox.set(str(tmp_path))
    content = b"RIFF\xff\xfe?\x3e content"
    plain = "UklGRv/+Pz4gY29udGVudA=="
    forms = [plain, plain.rstrip("="), f"{plain[:8]}\t\r\n{plain[8:]}", plain.replace("/", "%2F")]
    for form in [*forms, plain.replace("/", "_").replace("+", "-")]:
        assert Path(tool_server._file(head + form)["path"]).read_bytes() == content
