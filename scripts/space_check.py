"""make space-check: check whether this tree would build and run as a Hugging Face Space.

A Space has the Python and the torch of its hardware, and installs gradio with its extras next to
requirements.txt. Where Python 3.12 is installed, that environment is built and the app started in
it; elsewhere its versions are resolved only, which is said, and the app is started in the
environment of the tests. A browser then visits it as a Space shows it: in an iframe of another
site, without third-party cookies. It needs a network: the package index.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from earshot.core.paths import ROOT

MAX_FILE_BYTES: Final = 10 * 2**20  # bytes of a file that a plain push takes
PYTHONS: Final = ("3.12.12", "3.10.13")  # of ZeroGPU
PYTHON: Final = "3.12"
TORCHES: Final = ("2.8.0", "2.11.0")  # the oldest and the newest of ZeroGPU
PLATFORM: Final = "x86_64-manylinux_2_36"  # Debian 12's C library, which Spaces have
MAX_START: Final = 300.0  # seconds for the page to come up
FREE: Final = {"cpu-basic", "zero-a10g"}
THUMBNAIL: Final = re.compile(r"https://huggingface\.co/spaces/[^/]+/[^/]+/resolve/main/(.+)")
VISIT: Final = "tests/browser/test_embedded.py"


def main() -> None:
    """Run every check in turn; the first that fails ends with a sentence."""
    uv = find_uv()
    front = front_matter(ROOT / "README.md")
    check_files()
    check_front_matter(front)
    versions: list[str] = []
    for torch in TORCHES:
        versions = resolve(uv, front["sdk_version"], torch)
        print(f"Python {PYTHON}, torch {torch}: {len(versions)} packages fit together")
    python = find_python(uv)
    with tempfile.TemporaryDirectory(prefix="space-") as folder:
        if python:
            inside = build(uv, python, versions, f"{folder}/environment")
            print(f"Python {PYTHON}: built")
        else:
            inside = sys.executable
            print(
                f"NOT BUILT: there is no Python {PYTHON} here, so its versions were only resolved. "
                f"The app is started with Python {sys.version.split()[0]} and the packages of the "
                "tests instead"
            )
        with served(inside, folder) as address:
            visit(address)


def find_uv() -> str:
    """Find the resolver of requirements-dev.txt."""
    path = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return path or sys.exit("uv is missing: pip install -r requirements-dev.txt")


def find_python(uv: str) -> str | None:
    """Find a Python 3.12 of this machine; None where there is none."""
    run = subprocess.run([uv, "python", "find", PYTHON], capture_output=True, text=True)
    if run.returncode == 0:
        return run.stdout.strip()
    # uv stops at a shim of pyenv for a version that is installed and not chosen.
    installed = Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python")
    return next(map(str, installed), None)


def front_matter(readme: Path) -> dict[str, Any]:
    """Read the YAML above a README."""
    return yaml.safe_load(readme.read_text(encoding="utf-8").split("---\n", 2)[1])


def check_files() -> None:
    """Check that no file is too large to be pushed, and that the app file is there."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    sizes = {name: (ROOT / name).stat().st_size for name in names if (ROOT / name).is_file()}
    large = [name for name, size in sizes.items() if size > MAX_FILE_BYTES]
    if large:
        sys.exit(f"Over 10 MB: {', '.join(large)}")
    print(f"{len(sizes)} files, {sum(sizes.values()) / 2**20:.0f} MB, none over 10 MB")


def check_front_matter(front: dict[str, Any]) -> None:
    """Check that the README's front matter agrees with the requirements, and that Spaces know its
    values.
    """
    requirements = (ROOT / "requirements.txt").read_text()
    pinned = re.search(r"^gradio==(\S+)", requirements, re.M)
    thumbnail = THUMBNAIL.fullmatch(front["thumbnail"])
    wrong = [
        sentence
        for sentence, applies in {
            "sdk_version is not the pinned gradio": not pinned or pinned[1] != front["sdk_version"],
            f"python_version is none of {PYTHONS}": front["python_version"] not in PYTHONS,
            "app_file is not there": not (ROOT / front["app_file"]).is_file(),
            "header is neither mini nor default": front["header"] not in ("mini", "default"),
            "suggested_hardware is not free": front["suggested_hardware"] not in FREE,
            "thumbnail is no address of a file here": not thumbnail
            or not (ROOT / thumbnail[1]).is_file(),
            "short_description has over 60 characters": len(front["short_description"]) > 60,
        }.items()
        if applies
    ]
    if wrong:
        sys.exit(f"README.md: {'; '.join(wrong)}")


def resolve(uv: str, gradio: str, torch: str) -> list[str]:
    """Resolve the versions that a Space would install, NAME==VERSION each."""
    brought = f"gradio[oauth,mcp]=={gradio}\nuvicorn>=0.14\nwebsockets>=10.4\nspaces\n"
    command = [uv, "pip", "compile", "-q", "--no-header", "--no-annotate", "-"]
    command += ["--python-version", PYTHON, "--python-platform", PLATFORM]
    ran = subprocess.run(
        command,
        input=f"{brought}torch=={torch}\n-r requirements.txt\n",
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        sys.exit(f"With torch {torch} the requirements do not fit together:\n{ran.stderr}")
    return ran.stdout.split()


def build(uv: str, python: str, versions: list[str], folder: str) -> str:
    """Build a new environment with these packages → its Python."""
    inside = f"{folder}/bin/python"
    subprocess.run([uv, "venv", "-q", "--python", python, folder], check=True)
    subprocess.run([uv, "pip", "install", "-q", "--python", inside, *versions], check=True)
    return inside


@contextmanager
def served(python: str, folder: str) -> Iterator[str]:
    """Start the app as a Space does, and yield its address while it runs; it keeps its files in
    ``folder``.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"SPACE_ID": "someone/earshot", "EARSHOT_PORT": str(port)}
    command = [python, "app.py", "--studies", f"{folder}/studies"]
    app = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        seconds = wait(f"http://127.0.0.1:{port}/", app)
        print(f"The page came after {seconds:.0f} s")
        yield f"http://127.0.0.1:{port}"
    finally:
        app.terminate()
        try:
            app.wait(30)
        except subprocess.TimeoutExpired:
            app.kill()


def visit(address: str) -> None:
    """Open every tab in an iframe of another site, and run an example in each."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", VISIT]
    ran = subprocess.run(command, cwd=ROOT, env=os.environ | {"EARSHOT_ADDRESS": address})
    if ran.returncode:
        sys.exit("In an iframe of another site, without third-party cookies, it does not work.")
    print("In an iframe of another site, without third-party cookies, every tab works")


def wait(address: str, app: subprocess.Popen[bytes]) -> float:
    """Wait until the page is served, and measure the seconds."""
    began = time.monotonic()
    while time.monotonic() - began < MAX_START:
        if app.poll() is not None:
            sys.exit(f"The app ended with {app.returncode} before its page came.")
        try:
            urllib.request.urlopen(address).close()
            return time.monotonic() - began
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    sys.exit(f"The page did not come within {MAX_START:.0f} s.")


if __name__ == "__main__":
    main()
