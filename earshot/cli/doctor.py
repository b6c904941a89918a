"""Look at this machine: what Earshot needs, what of it is here, and what to do about the rest.

python -m earshot doctor                # a line each: ok, note (works without it), or missing
python -m earshot doctor --port 8000    # asks whether that port is free

The exit status is 1 where something is missing. It is asked when nothing works, so it uses
Python's own library, and whatever else is installed only as far as that can be imported.
"""

import argparse
import ctypes
import hashlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, NamedTuple

from earshot.core.console import explained
from earshot.core.paths import CHECKPOINTS, ROOT, release, user_folder

LIBRARIES: Final = {  # that OpenCV and MediaPipe are linked to, by their Debian packages
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libGLESv2.so.2": "libgles2",
    "libglib-2.0.so.0": "libglib2.0-0",
}
PYTHONS: Final = ((3, 11), (3, 12))
INSTALL: Final = "make demo, or pip install -r requirements.txt"
GPU_BUILD: Final = (
    'make demo GPU=1, or pip install "torch>=2.8,<=2.13.0" --upgrade --force-reinstall'
)
EFFECTS: Final = "aisfx-0.1.2-py2.py3-none-any.whl"  # of earshot.pretrained.sound_search
GB: Final = 1_000_000_000
MIN_DISK: Final = 1 * GB  # which uploads and answers leave free
MIN_MEMORY: Final = 3 * GB  # with every model loaded


class Finding(NamedTuple):
    """What was found of one thing: whether it is there, works without, or is missing; cure: what to
    do."""

    state: Literal["ok", "note", "missing"]
    name: str
    text: str
    cure: str = ""


def versions() -> Iterator[Finding]:
    """Look at Python, Earshot's own version and the packages."""
    python = sys.version_info[:2]
    state = "ok" if python in PYTHONS else "missing"
    cure = "Python 3.11 or 3.12: PYTHON=/path/to/python3.12 make demo"
    yield Finding(state, "Python", sys.version.split()[0], cure)
    yield Finding("ok", "Earshot", release())
    absent, other = [], []
    pins = _pins()
    for package, pin in pins.items():
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            absent.append(package)
            continue
        if pin and version != pin:
            other.append(f"{package} {version} for {pin}")
    if absent:
        yield Finding("missing", "packages", f"not installed: {', '.join(absent)}", INSTALL)
    if other:
        yield Finding("note", "packages", f"other versions: {', '.join(other)}", INSTALL)
    if not (absent or other):
        yield Finding("ok", "packages", f"all {len(pins)}")
    if "torch" not in absent:
        yield _torch(metadata.version("torch"))


def _pins() -> dict[str, str]:
    """Read which packages are needed, with their versions where there is only one."""
    listed = ROOT / "requirements.txt"
    lines = (
        listed.read_text(encoding="utf-8").splitlines()
        if listed.is_file()
        else metadata.requires("earshot") or []
    )
    needed = [line for line in lines if "extra ==" not in line]
    names = (re.match(r"([\w.-]+)(?:\[\w+\])?(?:==([\w.]+))?", line) for line in needed)
    return {match[1]: match[2] or "" for match in names if match}


def _torch(version: str) -> Finding:
    gpu, cpu_build = Path("/dev/nvidia0").exists(), "+cpu" in version
    if gpu and cpu_build:
        return Finding("note", "torch", f"{version} uses no GPU, and one is here", GPU_BUILD)
    return Finding("ok", "torch", f"{version}, {'GPU' if gpu else 'on the processor'}")


def libraries() -> Iterator[Finding]:
    """Look for the system's libraries."""
    absent = []
    for name, package in LIBRARIES.items():
        try:
            ctypes.CDLL(name)
        except OSError:
            absent.append((name, package))
    if absent:
        names, packages = (" ".join(column) for column in zip(*absent, strict=True))
        cure = f"sudo apt-get install {packages}"
        yield Finding("missing", "libraries", f"{names}: no video can be read without", cure)
    else:
        yield Finding("ok", "libraries", " ".join(LIBRARIES))


def devices(root: Path = Path("/dev")) -> Iterator[Finding]:
    """Look for camera and microphone, which are those of the browser's machine, often this one."""
    elsewhere = "plug one in, or open the page on a machine that has one"
    for name, pattern, group in (
        ("camera", "video*", "video"),
        ("microphone", "snd/pcm*c", "audio"),
    ):
        paths = sorted(root.glob(pattern))
        if not paths:
            yield Finding("note", name, "none at this machine: uploads work", elsewhere)
        elif any(os.access(path, os.R_OK | os.W_OK) for path in paths):
            yield Finding("ok", name, str(paths[0]))
        else:
            cure = f"sudo usermod -aG {group} $USER, and log in again"
            yield Finding("note", name, f"{paths[0]} is not for this user", cure)


def ports(port: int) -> Iterator[Finding]:
    """Ask whether the port is free, and by which address others reach this machine."""
    with socket.socket() as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asking.bind(("127.0.0.1", port))
            yield Finding("ok", "port", f"{port} is free")
        except (OSError, OverflowError) as error:
            cure = f"end what listens there (ss -ltnp 'sport = :{port}'), or take another: --port"
            reason = getattr(error, "strerror", None) or str(error)
            yield Finding("note", "port", f"{port} is not free ({reason})", cure)
    try:
        from earshot.core.connections import machine_address  # late, for it needs packages
    except ImportError:
        return
    own = machine_address()
    cure = "connect it, for phones to open the page and raters to come"
    text = f"{own}: others come with --host 0.0.0.0 --https" if own else "none"
    yield Finding("ok" if own else "note", "network", text, "" if own else cure)


def space() -> Iterator[Finding]:
    """Look at the room on the disk, in memory, and where keys are kept."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    cure = f"make room in {tempfile.gettempdir()}, or name another folder: TMPDIR=/folder"
    state = "ok" if free >= MIN_DISK else "missing"
    yield Finding(state, "disk", f"{free / GB:.1f} GB free for uploads, 1 is needed", cure)
    try:
        about = Path("/proc/meminfo").read_text(encoding="ascii")
        memory = 1024 * int(re.findall(r"MemAvailable:\s+(\d+)", about)[0])
    except (OSError, IndexError):
        return
    state = "ok" if memory >= MIN_MEMORY else "note"
    text = f"{memory / GB:.1f} GB to be had, 3 are used with every model loaded"
    yield Finding(state, "memory", text, "end other programs, or leave --preload out")


def models(folder: Path = CHECKPOINTS) -> Iterator[Finding]:
    """Compare every checkpoint with the hash of its card, and look for what is downloaded."""
    cards = sorted(folder.glob("*/metrics.json"))
    damaged = [file.parent.name for file in cards if not _is_whole(file)]
    cure = "git checkout -- checkpoints (a clone), or install the wheel again"
    if not cards:
        yield Finding("missing", "models", f"none in {folder}", cure)
    elif damaged:
        yield Finding("missing", "models", f"not as they were made: {', '.join(damaged)}", cure)
    else:
        yield Finding("ok", "models", f"{len(cards)} checkpoints, as they were made")
    effects = user_folder("XDG_CACHE_HOME", ".cache") / EFFECTS
    text = "its encoder is here" if effects.exists() else "its encoder comes at the first search"
    state = "ok" if effects.exists() else "note"
    yield Finding(state, "sound search", text, "python -m earshot sounds fetch, with a network")


def _is_whole(metrics: Path) -> bool:
    try:
        expected = json.loads(metrics.read_text(encoding="utf-8")).get("sha256")
    except (ValueError, AttributeError):
        return False
    weights = sorted(metrics.parent.glob("model*.safetensors"))
    if not (expected and weights):
        return not expected
    digest = hashlib.sha256()
    for path in weights:
        digest.update(path.read_bytes())
    return digest.hexdigest() == expected


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each thing; exit with 1 where one is missing."""
    parser = argparse.ArgumentParser(
        prog="earshot doctor", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--port", type=int, default=7860, help="to be asked for (%(default)s)")
    options = parser.parse_args(arguments)
    checks: Sequence[Callable[[], Iterator[Finding]]] = (
        versions, libraries, devices, lambda: ports(options.port), space, models,
    )  # fmt: skip
    with explained():
        missing = 0
        for check in checks:
            for state, name, text, cure in check():
                print(f"{state:8}{name:13}{text}")
                if state != "ok" and cure:
                    print(f"{'':21}→ {cure}")
                missing += state == "missing"
        print(f"\n{missing} missing." if missing else "\nNothing is missing.")
        sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
