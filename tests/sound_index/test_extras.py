"""Optional extras of the index of sounds are loaded only where they are needed."""

import subprocess
import sys
from pathlib import Path

from earshot.core.paths import ROOT

EXTRAS = ("bucket", "disk", "cluster")
SEARCHED = f"""
import sys
from pathlib import Path
from earshot.exports.sounds import labels_csv, results_zip
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.scan import scan
from earshot.systems.sound_search import SoundSearch, list_sounds
from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
folder, out, encoder = Path(sys.argv[1], "sounds"), Path(sys.argv[1], "index"), FakeEncoder()
write_tone(folder / "low.wav", "low")
assert scan(folder, out, encoder).added == 1
index = SoundIndex.open(out, encoder)
result = SoundSearch(encoder)(index, "low")
results_zip(result, index), labels_csv(index, {{}}), list_sounds(index, [index.sounds[0].id], "", 1)
print([name for name in {EXTRAS} if f"earshot.sound_index.{{name}}" in sys.modules])
"""


def test_extras_are_loaded_only_if_needed(tmp_path: Path) -> None:
    """An index is made, searched and exported without them."""
    command = [sys.executable, "-c", SEARCHED, str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr
