"""Where networks are trained there may be torch and numpy, and nothing else."""

import subprocess
import sys

import pytest

ABSENT = "scipy sklearn librosa numba pandas soundfile soxr pocketsphinx gradio".split()
IMPORT = """
import sys
sys.modules.update(dict.fromkeys({absent}))  # None: importing it raises ImportError
import training.{system}.recipe
"""


@pytest.mark.parametrize("system", ["voice_conversion", "words", "sound_search"])
def test_a_recipe_needs_torch_and_numpy_alone(system: str) -> None:
    script = IMPORT.format(absent=ABSENT, system=system)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
