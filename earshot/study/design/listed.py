"""Practice trials, attention checks and gold trials, which a test's YAML lists one by one."""

from pathlib import Path

from earshot.study.design.model import PAIRED, REFERENCED, SCALES, Design, Kind, Trial
from earshot.study.design.patterns import inside
from earshot.study.design.trials import of_kind, scored
from earshot.study.design.yaml_lines import Value

KEYS = "sounds reference expected tolerance".split()
NEAR = 15.0  # of a MUSHRA score, in practice
PREFERENCES = {"first": 1.0, "second": 0.0, "same": 0.5}  # what `expected` may be in ab


def listed(value: Value, kind: Kind, design: Design, folder: Path) -> list[Trial]:
    """The trial that is written there, if it can be read; sounds are called after their files."""
    if not isinstance(value.content, dict):
        value.problem("write sounds: and what belongs to them here.")
        return []
    value.only(KEYS)
    sounds = value.at("sounds")
    files = sounds.content if isinstance(sounds.content, list) else [sounds]
    number = 2 if design in PAIRED else 1
    fits = len(files) >= 1 if design == "mushra" else len(files) == number
    if not value.has("sounds") or not fits:
        sounds.problem(f'"sounds" must name {number} file{"s" * (number > 1)} in {design}.')
        return []
    systems = {str(each.content): inside(folder, each, "sounds") for each in files}
    reference = None
    if design in REFERENCED and (design != "mushra" or value.has("reference")):
        value.take("reference", str)
        reference = inside(folder, value.at("reference"), "reference")
    trial = scored(design, folder, next(iter(systems)), systems, reference)[0]
    if kind == "practice" and not value.has("expected") and design != "abx":
        return [of_kind(kind, trial)]
    # Nobody finds a number of a hundred to the point, so a lesson allows for some.
    near = NEAR if kind == "practice" and design == "mushra" else 0.0
    return [of_kind(kind, trial, _expected(value, design), value.take("tolerance", float, near))]


def _expected(value: Value, design: Design) -> float:
    """The tidy answer that the first sound should get."""
    if design == "abx":
        return 1.0
    if design == "ab":
        word = value.take("expected", str)
        if word not in PREFERENCES:
            value.at("expected").problem(f'"expected" must be {", ".join(PREFERENCES)}.')
        return PREFERENCES.get(word, 0.0)
    number = value.take("expected", float)
    values = [0.0, 100.0] if design == "mushra" else [float(each) for each, _ in SCALES[design]]
    if not min(values) <= number <= max(values):
        value.at("expected").problem(f'"expected" must be {min(values):g} to {max(values):g}.')
    return number
