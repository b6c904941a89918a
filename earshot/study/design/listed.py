"""Practice trials, attention checks and gold trials, which a test's YAML lists one by one."""

from pathlib import Path

from earshot.study.design.designs import Design
from earshot.study.design.model import Kind, Trial
from earshot.study.design.patterns import inside
from earshot.study.design.trials import of_kind, scored
from earshot.study.design.yaml_lines import Value

KEYS = "sounds reference expected tolerance".split()


def listed(value: Value, kind: Kind, design: Design, folder: Path) -> list[Trial]:
    """Read the trial that is written there, if it can be read; sounds are called after their
    files.
    """
    if not isinstance(value.content, dict):
        value.problem("write sounds: and what belongs to them here.")
        return []
    value.only(KEYS)
    sounds = value.at("sounds")
    files = sounds.content if isinstance(sounds.content, list) else [sounds]
    number = 2 if design.paired else 1
    fits = len(files) >= 1 if design.together else len(files) == number
    if not value.has("sounds") or not fits:
        sounds.problem(f'"sounds" must name {number} file{"s" * (number > 1)} in {design.name}.')
        return []
    systems = {str(each.content): inside(folder, each, "sounds") for each in files}
    reference = None
    if design.reference == "open" or (design.referenced and value.has("reference")):
        value.take("reference", str)
        reference = inside(folder, value.at("reference"), "reference")
    trial = scored(design, folder, next(iter(systems)), systems, reference)[0]
    if kind == "practice" and not value.has("expected") and not design.scale.chance:
        return [of_kind(kind, trial)]
    near = design.near if kind == "practice" else 0.0
    return [of_kind(kind, trial, _expected(value, design), value.take("tolerance", float, near))]


def _expected(value: Value, design: Design) -> float:
    """Read the tidy answer that the first sound should get."""
    if design.scale.chance:  # what is right is there to be found
        return 1.0
    if named := design.expectations:
        word = value.take("expected", str)
        if word not in named:
            value.at("expected").problem(f'"expected" must be {", ".join(named)}.')
        return named.get(word, 0.0)
    if not design.scale.answers:
        value.problem("nothing can be expected of what raters write: add a scale with points.")
        return 0.0
    number, (low, high) = value.take("expected", float), design.ends
    if not low <= number <= high:
        value.at("expected").problem(f'"expected" must be {low:g} to {high:g}.')
    return number
