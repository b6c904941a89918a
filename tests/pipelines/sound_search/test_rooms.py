"""The rooms of sound search: arrows lead one way, and optional extras are loaded by nobody else."""

import subprocess
import sys
from pathlib import Path

import earshot.pipelines.sound_search
from earshot.core.paths import ROOT
from tests.support.imports import modules_imported

PACKAGE = "earshot.pipelines.sound_search"
FOLDER = Path(earshot.pipelines.sound_search.__file__).parent
# Room → the rooms that it may import; the package's own modules may import any.
ALLOWED = {
    "sources": set(),
    "encoders": set(),
    "languages": set(),
    "library": {"sources"},
    "indexing": {"sources", "library", "encoders"},
    "search": {"sources", "library", "encoders", "languages", "indexing"},
}
EXTRAS = ("sources.bucket", "sources.hashes", "library.disk", "indexing.cluster")
SEARCHED = f"""
import sys
from pathlib import Path
from {PACKAGE} import SoundIndex, SoundSearch, labels_csv, listed, results_zip
from {PACKAGE}.indexing.scan import scan
from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
folder, out, encoder = Path(sys.argv[1], "sounds"), Path(sys.argv[1], "index"), FakeEncoder()
write_tone(folder / "low.wav", "low")
assert scan(folder, out, encoder).added == 1
index = SoundIndex.open(out, encoder)
result = SoundSearch(encoder)(index, "low")
results_zip(result, index), labels_csv(index, {{}}), listed(index, [index.sounds[0].id], "", 1)
print([name for name in {EXTRAS} if f"{PACKAGE}.{{name}}" in sys.modules])
"""


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports."""
    prefix = f"{PACKAGE}."
    names = modules_imported(path)
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def test_rooms_import_only_those_below_them() -> None:
    assert {path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()} == {*ALLOWED}
    wrong = {
        str(path.relative_to(FOLDER)): sorted(others)
        for room, allowed in ALLOWED.items()
        for path in (FOLDER / room).glob("*.py")
        if (others := {name.split(".")[0] for name in imported(path)} - allowed - {room})
    }
    assert wrong == {}


def test_extras_are_loaded_only_if_needed(tmp_path: Path) -> None:
    """An index is made, searched and exported without them."""
    command = [sys.executable, "-c", SEARCHED, str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr
