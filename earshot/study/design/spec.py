"""Read a test's YAML file: our own here, webMUSHRA's in earshot.study.design.webmushra.

More than 400 lines, for what a key may say depends on other keys.
"""

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from os.path import normpath
from pathlib import Path
from typing import Final, get_args

from earshot.study.design import webmushra
from earshot.study.design.designs import (
    ANCHORS,
    DESIGNS,
    MAX_CONDITIONS,
    MAX_SYSTEMS,
    REFERENCE,
    SAME,
    Adjustment,
    Design,
    Scale,
)
from earshot.study.design.document import (
    REQUIRED,
    Pattern,
    SpecError,
    Value,
    at_least,
    inside,
    is_line,
    read,
)
from earshot.study.design.model import (
    MAX_TRIALS,
    MAX_TRIALS_PER_RATER,
    Disclosure,
    Kind,
    Pairing,
    Staircase,
    Test,
    Trial,
    make_trials,
    number_trials,
)
from earshot.study.design.raters import (
    Blocks,
    read_closes,
    read_demographics,
    read_environment,
    read_headphones,
    read_panel,
    read_questions,
    read_rules,
)
from earshot.study.design.scales import (
    LINE,
    by_checks,
    read_agree,
    read_faults,
    read_guidelines,
    read_language,
    read_question,
    read_scales,
    read_sentences,
    read_texts,
)
from earshot.study.design.statements import read_statements

__all__ = ["SpecError", "load"]

FILE: Final = "test.yaml"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
KEYS: Final = (
    "title design systems reference trials practice attention gold instructions consent question "
    "words language no_preference loudness seed invited panel raters closes texts pairing "
    "mention_reference questions rules agree approval strict scales comment sentences "
    "show_sentence demographics environment break_every blocks disclosure statements "
    "guidelines faults headphones show_others staircase gain"
).split()
TRIAL_KEYS: Final = ("sounds", "reference", "expected", "tolerance")
MIN_RANKED: Final = 2  # sounds of a check
STAIRCASE_KEYS: Final = ("levels", "unit", "down")
MIN_LEVELS: Final = 3
MAX_DOWN: Final = 4
MAX_UNIT: Final = 20  # characters
MIN_GAIN, MAX_GAIN = -60, 40  # dB
MIN_RANGE: Final = 2  # dB, from end to end
LOUDNESS: Final = (-60.0, -10.0)  # LUFS, what can be meant


def load(path: Path) -> Test:
    """Load the test in a YAML file, ours or webMUSHRA's, or in the folder that holds test.yaml.

    Its name is the folder's, for another file than test.yaml the file's. Sounds may be missing:
    see earshot.study.sounds.stimuli. Raises SpecError with all that is wrong.
    """
    path = (path / FILE if path.is_dir() else path).resolve()
    name = path.parent.name if path.name == FILE else path.stem
    document = read(path)
    if not NAME.fullmatch(name):
        document.problem(
            f'rename "{name}" to letters, digits, - and _ only: the name is part of the link.'
        )
    read_test = webmushra.test if document.has("pages") else _test
    test = read_test(document, name, path.parent)
    others = len(test.trials) - len(test.of_kind("trial"))
    if len(test.trials) > MAX_TRIALS:
        document.problem(
            f"a test has {MAX_TRIALS} trials at most, and this one {len(test.trials)}."
        )
    if test.trials_per_rater + others > MAX_TRIALS_PER_RATER:
        document.at("trials").problem(
            f"a rater gets {MAX_TRIALS_PER_RATER} trials at most, with practice and checks: write "
            '"trials" and a lower number.'
        )
    document.problems.raise_any()
    return test


def _test(document: Value, name: str, folder: Path) -> Test:
    """Read the test in our own format as far as it can be read; problems are noted in the
    document.
    """
    document.only(KEYS)
    name_of_design = document.take("design", str)
    if name_of_design not in DESIGNS:
        document.at("design").problem(f'"design" must be one of {", ".join(DESIGNS)}.')
        document.problems.raise_any()
    design = DESIGNS[name_of_design]
    gain = _gain(document, design)
    if gain and isinstance(design, Adjustment):
        design = design.bounded(*gain)
    scales = read_scales(document, design)
    systems, trials = _systems_and_trials(document, design, folder)
    number = document.take("trials", int, len(trials))
    staircase = _staircase(document, design, systems, trials)
    most = MAX_TRIALS_PER_RATER if staircase else len(trials)  # a staircase comes back to a trial
    if trials and not 1 <= number <= most:
        document.at("trials").problem(f'"trials", the number for each rater, must be 1 to {most}.')
    seed = document.take("seed", int, 0, at_least(0), "0 or more")
    checked = replace(design, scale=next(by_checks(scales), design.scale))
    others = _practice(document, checked, folder, trials, seed)
    for kind in ("attention", "gold"):
        for each in document.take(kind, list, []):
            others += _listed(each, kind, checked, folder)
    no_preference = document.take("no_preference", bool, True)
    loudness = document.take(
        "loudness", float, None, _is_loudness, "-60 to -10 (LUFS): -23 suits speech"
    )
    words = _words(document, design, no_preference)
    agree, faults = read_agree(document), read_faults(document, design)
    strict = document.take("strict", bool, True)
    if document.has("strict") and not design.switched:
        document.at("strict").problem('"strict" belongs to mushra.')
    blocks = document.choice("blocks", get_args(Blocks), None)
    if blocks and len({frozenset(trial.sounds) for trial in trials}) < 2:
        document.at("blocks").problem('"blocks" need trials of several systems or pairs.')
    pairing = document.choice("pairing", get_args(Pairing), "balanced")
    if pairing == "adaptive" and not design.adaptive:
        document.at("pairing").problem('only in ab can "pairing" be adaptive.')
    elif pairing == "adaptive" and scales:
        document.at("scales").problem("adaptive pairs are chosen by the votes on one scale alone.")
    elif blocks and (pairing == "adaptive" or staircase):
        document.at("blocks").problem("what the answers decide cannot be asked in blocks.")
    panel, environment = read_panel(document, folder), read_environment(document)
    if panel.screens("environment") and environment is None:
        document.at("panel").problem('screened_out: environment needs "environment": true.')
    sentences = _sentences(document, folder, scales, trials)
    return Test(
        name=name,
        title=document.take("title", str, REQUIRED, is_line, LINE),
        design=design,
        systems=systems,
        trials=number_trials([*trials, *others]),
        trials_per_rater=number,
        folder=folder,
        question=read_question(document, _question(design, trials, scales)),
        words=words,
        instructions=document.take("instructions", str, ""),
        consent=document.take("consent", str, ""),
        language=read_language(document),
        no_preference=no_preference,
        loudness=loudness,
        seed=seed,
        invited=document.take("invited", bool, False),
        panel=panel,
        raters=document.take("raters", int, None, at_least(1), "1 or more"),
        closes=read_closes(document),
        pairing=pairing,
        questions=(*read_demographics(document), *read_questions(document)),
        rules=read_rules(document),
        agree=agree,
        approval=document.take("approval", str, ""),
        strict=strict,
        environment=environment,
        break_every=document.take("break_every", int, None, at_least(1), "1 or more trials"),
        blocks=blocks,
        disclosed_after=document.choice("disclosure", get_args(Disclosure), "before") == "after",
        texts=read_texts(document, len(words), len(agree), scales, len(faults), design.reworded),
        scales=scales,
        comment=document.take("comment", bool, False),
        sentences=sentences,
        show_sentence=document.take("show_sentence", bool, False),
        statements=read_statements(document),
        guidelines=read_guidelines(document),
        faults=faults,
        headphones=read_headphones(document),
        show_others=document.take("show_others", bool, False),
        staircase=staircase,
        gain=gain,
    )


def _sentences(
    document: Value, folder: Path, scales: tuple[Scale, ...], trials: list[Trial]
) -> dict[str, str]:
    """Read the sentence of each stimulus, which transcripts are compared with, or raters read."""
    sentences = read_sentences(document, folder, {trial.stimulus for trial in trials})
    typed, visible = any(each.typed for each in scales), document.take("show_sentence", bool, False)
    if (typed or visible) and not document.has("sentences"):
        document.problem('"sentences" is missing: write sentences: and the pattern of text files.')
    if typed and visible:
        document.at("show_sentence").problem(
            "whoever reads a sentence cannot write down what they hear."
        )
    return sentences


def _question(design: Design, trials: list[Trial], scales: tuple[Scale, ...]) -> str:
    """Return the standard's question."""
    if scales:
        return scales[0].question
    alone = bool(trials) and trials[0].reference is None
    return design.unreferenced if alone and design.unreferenced else design.scale.question


def _systems_and_trials(
    document: Value, design: Design, folder: Path
) -> tuple[tuple[str, ...], list[Trial]]:
    """Read the names of the systems, and the trials of every stimulus that any of them has."""
    patterns: dict[str, Value] = document.take("systems", dict)
    systems = {name: Pattern(folder, value, name) for name, value in patterns.items()}
    reference = None
    if document.has("reference"):
        reference = Pattern(folder, document.at("reference"), REFERENCE)
        if design.reference == "none":
            document.at("reference").problem(f"{design.name} has no reference: leave it out.")
    elif design.reference == "open":
        document.problem(f'{design.name} needs "reference": the pattern of its files.')
    for name in {REFERENCE, *ANCHORS} & set(patterns):
        patterns[name].problem(f'a system cannot be called "{name}": that is another sound.')
    fewest = design.min_systems(reference is not None)
    if len(systems) < fewest:
        document.at("systems").problem(f"{design.name} needs {fewest} or more systems.")
    mentioned = document.take("mention_reference", bool, True)
    if not mentioned and (design.reference != "optional" or reference is None):
        document.at("mention_reference").problem(
            '"mention_reference" belongs to mushra\'s reference.'
        )
    if len(systems) > MAX_SYSTEMS:
        document.at("systems").problem(f"a test has {MAX_SYSTEMS} systems at most.")
    most = MAX_CONDITIONS - (1 + len(ANCHORS) if reference else 0)
    if design.together and len(systems) > most:
        document.at("systems").problem(
            f"{design.name} takes {most} systems at most: a trial shows all."
        )
    if document.problems.lines:
        return tuple(systems), []
    stimuli = sorted({name for pattern in systems.values() for name in pattern.stimuli})
    number = len(stimuli) * design.count(len(systems), reference is not None)
    if number > MAX_TRIALS:  # before they take memory
        document.at("systems").problem(f"this makes {number} trials: {MAX_TRIALS} are the most.")
        return tuple(systems), []
    return tuple(systems), [
        trial
        for stimulus in stimuli
        for trial in make_trials(
            design,
            folder,
            stimulus,
            {name: pattern.path(stimulus) for name, pattern in systems.items()},
            reference.path(stimulus) if reference else None,
            mentioned=mentioned,
        )
    ]


def _gain(document: Value, design: Design) -> tuple[int, int] | None:
    """Read the ends of the gain that raters set; None where they set none."""
    if not design.scale.adjusted:
        if document.has("gain"):
            document.at("gain").problem('"gain" belongs to adjustment.')
        return None
    ends = [each.cast(int, "gain") for each in document.take("gain", list, [])]
    if not document.has("gain"):
        return design.scale.bounds
    if not is_gain(ends):
        document.at("gain").problem(
            f'"gain" must be two whole numbers of dB, {MIN_GAIN} to {MAX_GAIN}, the second '
            f"{MIN_RANGE} or more above the first."
        )
        return design.scale.bounds
    return ends[0], ends[1]


def are_levels(levels: Mapping[str, float], systems: Collection[str]) -> bool:
    """Whether these can be the levels of a staircase with these systems."""
    if not all(map(isfinite, levels.values())):
        return False
    steps = [other - one for one, other in pairwise(levels.values())]
    in_order = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    return {*levels} == {*systems} and len(levels) >= MIN_LEVELS and in_order


def is_gain(ends: Sequence[int]) -> bool:
    """Whether these can be the ends of a gain, in dB."""
    inside = all(MIN_GAIN <= end <= MAX_GAIN for end in ends)
    return len(ends) == 2 and inside and ends[1] - ends[0] >= MIN_RANGE


def _staircase(
    document: Value, design: Design, systems: tuple[str, ...], trials: list[Trial]
) -> Staircase | None:
    """Read the staircase; None where there is none, or it cannot be read."""
    value = document.at("staircase")
    if not document.has("staircase") or not value.is_section(STAIRCASE_KEYS):
        return None
    if not design.scale.chance or (trials and REFERENCE not in trials[0].sounds):
        value.problem('a staircase belongs to abx with "reference", from which levels are told.')
    levels: dict[str, Value] = value.take("levels", dict)
    numbers = {name: each.cast(float, name) for name, each in levels.items()}
    if {*numbers} != {*systems} or len(numbers) < MIN_LEVELS:
        value.at("levels").problem(
            f"name every system with its level, {MIN_LEVELS} or more, from the easiest to tell "
            "from the reference to the hardest."
        )
    elif not are_levels(numbers, systems):
        value.at("levels").problem("levels must rise from the first to the last, or fall.")
    must_be = f"1 to {MAX_DOWN}"
    down = value.take("down", int, Staircase.down, lambda n: 1 <= n <= MAX_DOWN, must_be)
    most = f"a line of {MAX_UNIT} characters at most"
    unit = value.take("unit", str, "", lambda unit: is_line(unit) and len(unit) <= MAX_UNIT, most)
    return Staircase(numbers, unit, down)


def _practice(
    document: Value, design: Design, folder: Path, trials: list[Trial], seed: int
) -> list[Trial]:
    """Return as many of the trials as the test says, or the ones that it lists."""
    value = document.at("practice")
    if isinstance(value.content, list):
        return [
            trial for each in value.content for trial in _listed(each, "practice", design, folder)
        ]
    number = max(document.take("practice", int, 0, at_least(0), "0 or more"), 0)
    # The same for every rater, so that all start alike.
    drawn = random.Random(seed).sample(trials, min(number, len(trials)))
    return [replace(trial, kind="practice") for trial in drawn]


def _listed(value: Value, kind: Kind, design: Design, folder: Path) -> list[Trial]:
    """Read one listed trial, for practice or as a check, if it can be read; its sounds are called
    after their files.
    """
    if not isinstance(value.content, dict):
        value.problem("write sounds: and what belongs to them here.")
        return []
    value.only(TRIAL_KEYS)
    sounds = value.at("sounds")
    files = sounds.content if isinstance(sounds.content, list) else [sounds]
    number = 2 if design.paired else 1
    names = {normpath(str(each.content)) for each in files}
    fits = bool(files) if design.switched else len(names) == len(files) == number
    noun = f"{number} file{'s' * (number > 1)}"
    if design.scale.ranked:
        fits = MIN_RANKED <= len(names) == len(files) <= MAX_CONDITIONS
        noun = f"{MIN_RANKED} to {MAX_CONDITIONS} files"
    if not value.has("sounds") or not fits:
        sounds.problem(f'"sounds" must name {noun} in {design.name}.')
        return []
    systems = {str(each.content): inside(folder, each, "sounds") for each in files}
    reference = None
    if design.reference == "open" or (design.referenced and value.has("reference")):
        value.take("reference", str)
        reference = inside(folder, value.at("reference"), "reference")
    trial = make_trials(design, folder, next(iter(systems)), systems, reference)[0]
    if kind == "practice" and not value.has("expected") and not design.scale.chance:
        return [replace(trial, kind=kind)]
    near = design.near if kind == "practice" else 0.0
    tolerance = value.take("tolerance", float, near, at_least(0), "0 or more")
    expected = _expected(value, design, len(files))
    return [replace(trial, kind=kind, expected=expected, tolerance=tolerance)]


def _expected(value: Value, design: Design, sounds: int) -> float:
    """Read the tidy answer that the first of so many sounds should get."""
    if design.scale.chance:  # what is right is there to be found
        return 1.0
    if answers := design.expectations:
        return answers.get(value.choice("expected", answers, REQUIRED, ", "), 0.0)
    if design.scale.ranked:
        must_be = f"the place of the first sound, 1 to {sounds}"
        place = value.take("expected", int, REQUIRED, lambda at: 1 <= at <= sounds, must_be)
        return float(place)
    if not design.scale.answers and not design.scale.adjusted:
        value.problem("nothing can be expected of what raters write: add a scale with points.")
        return 0.0
    low, high = design.ends
    kind = int if design.scale.adjusted else float
    return value.take(
        "expected", kind, REQUIRED, lambda number: low <= number <= high, f"{low:g} to {high:g}"
    )


def _words(document: Value, design: Design, no_preference: bool) -> tuple[str, ...]:
    """Read the scale's words, those of the standard where there are none."""
    standard = [word for value, word in design.scale.answers if no_preference or value != SAME]
    words = document.lines("words")
    if words and not standard:
        document.at("words").problem(f"{design.name} has no words to answer by: leave them out.")
    elif words and len(words) != len(standard):
        document.at("words").problem(
            f'"words" must be {len(standard)}, for: {"; ".join(standard)}.'
        )
    return words or tuple(standard)


def _is_loudness(loudness: float) -> bool:
    return LOUDNESS[0] <= loudness <= LOUDNESS[1]
