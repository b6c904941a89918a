"""The pronouncing dictionary that comes inside pocketsphinx: 134,000 entries, American English."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGE: Final = "pocketsphinx"  # its recogniser is not loaded
FILE: Final = "model/en-us/cmudict-en-us.dict"


@cache
def pronunciations() -> dict[str, str]:
    """Read the dictionary: spelling in lower case → ARPAbet without stress, "K AE T".

    A word's other pronunciations are under "read(2)", "read(3)"; do not change what is returned.
    Raises RuntimeError where the package is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"The package {PACKAGE} is not installed.")
    lines = (Path(spec.submodule_search_locations[0]) / FILE).read_text(encoding="utf-8")
    entries = (line.partition(" ") for line in lines.splitlines())
    return {spelling: phones for spelling, _, phones in entries}
