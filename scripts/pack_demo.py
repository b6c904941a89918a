"""Pack what the app needs, and nothing else, into demo.tar: no training, tests, or history.

Run as `make demo.tar`, or `python -m scripts.pack_demo [FILE]`, in a clone or in what was packed.
Uses Python's own library only. The same content gives the same bytes.
"""

import argparse
import tarfile
from pathlib import Path
from typing import Final

from earshot.core.paths import ROOT

TOP: Final = "earshot"  # the folder that it unpacks to
FILES: Final = (
    "Makefile LICENSE README.md CITATION.cff app.py packages.txt pyproject.toml requirements.txt "
    "requirements-study.txt scripts/__init__.py scripts/compile.py scripts/pack_demo.py"
).split()
FOLDERS: Final = ("assets", "checkpoints", "deploy", "docs", "earshot", "pipelines")
# Pictures of documents but for the one that links show; what only measures, trains or compares.
LEFT_OUT: Final = (
    "assets/screenshots",
    "assets/mark_test",
    "checkpoints/evaluation",
    "checkpoints/vqvae-512-paper",
    "docs/training_logs",
    "docs/earshot.ipynb",
)
THUMBNAIL: Final = "assets/screenshots/thumbnail.png"


def packed_files() -> list[Path]:
    """List what is packed, below ROOT, sorted."""
    names = [Path(name) for name in (*FILES, THUMBNAIL)]
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT)
            cached = "__pycache__" in name.parts or name.name.startswith(".")
            left_out = any(name.is_relative_to(other) for other in LEFT_OUT)
            if path.is_file() and not cached and not left_out:
                names.append(name)
    return sorted(name for name in names if (ROOT / name).is_file())


def pack(out: Path) -> None:
    """Write the archive."""
    with tarfile.open(out, "w") as archive:
        for name in packed_files():
            entry = archive.gettarinfo(ROOT / name, f"{TOP}/{name.as_posix()}")
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            with (ROOT / name).open("rb") as file:
                archive.addfile(entry, file)


def main() -> None:
    """Pack, and print what to do with it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=Path("demo.tar"))
    out: Path = parser.parse_args().file
    pack(out)
    print(f"{out}, {out.stat().st_size / 1e6:.0f} MB: tar -xf {out.name} && make -C {TOP} demo")


if __name__ == "__main__":
    main()
