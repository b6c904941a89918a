"""Measures of results: a table with a row for each, and their means by system with intervals that
know that results of one input, and of one target, belong together.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from earshot.core.errors import InputError
from earshot.media.text.table import FORMULA, csv_text, sheet
from earshot.media.text.table import Row as Cells

FILE: Final = "measures.csv"
LEVEL: Final = "95 %"
SECONDS = "seconds"
MIN_TARGETS: Final = 5  # from which they say something of others; fewer are those that are meant
TOLERANCE: Final = 0.3  # LU between sounds that count as equally loud
PRECISION, RIGHT = "average_precision", "first_right"  # of a ranking
LOUDNESS = "lufs"  # of a result, which says nothing of how good it is


class Kind(NamedTuple):
    """A kind of measure: its label, whether more of it is better, how many decimals it has, and
    whether it is a share, from 0 to 1."""

    label: str
    more_is_better: bool
    decimals: int
    is_share: bool = False


KINDS: Final = {
    SECONDS: Kind("Seconds taken", False, 2),
    "words_kept": Kind("Words kept", True, 2, is_share=True),
    "similarity": Kind("Similarity (SECS)", True, 3),
    "dnsmos": Kind("DNSMOS", True, 2),
    PRECISION: Kind("Average precision", True, 3, is_share=True),
    RIGHT: Kind("First is right", True, 2, is_share=True),
}


@dataclass(frozen=True)
class Measure:
    """A measure of one result: of a system, for an input and a target, in the file `name`.

    measure: what was measured, by its name in KINDS, or any other; judge and version: what measured
    it; error: why there is no value, or with an empty measure why there is no result.
    """

    system: str
    input: str
    target: str
    name: str
    measure: str
    value: float | None = None
    judge: str = ""
    version: str = ""
    error: str = ""


COLUMNS: Final = tuple(field.name for field in fields(Measure))
REQUIRED: Final = ("system", "measure", "value")


def as_csv(measures: Iterable[Measure]) -> bytes:
    """Write measures as a CSV file, a row each."""
    rows = (["" if cell is None else cell for cell in astuple(each)] for each in measures)
    return csv_text([COLUMNS, *rows]).encode("utf-8-sig", "replace")


def read(path: Path) -> list[Measure]:
    """Read the measures in a CSV file; columns that it lacks are empty. Raises InputError with the
    row where it holds something else."""
    try:
        table = sheet(path)
        missing = [name for name in REQUIRED if name not in table.columns]
        if missing:
            raise InputError(f"It has no column {' and no '.join(missing)}.")
        return [_measure(row) for row in table.rows(short=True)]
    except InputError as error:
        raise InputError(f"{path.name}: {error.message}") from error


def _measure(row: Cells) -> Measure:
    texts = {name: _plain(row.cells.get(name, "")) for name in COLUMNS if name != "value"}
    value = row.number("value", -1e12, 1e12) if row.cells["value"] else None
    return Measure(**texts, value=value)


def _plain(text: str) -> str:
    """Return a cell's text without the apostrophe that keeps a spreadsheet from running it."""
    return text[1:] if text.startswith("'") and FORMULA.match(text[1:]) else text


class Mean(NamedTuple):
    """The mean of a measure over the results of a system, and its interval; low and high are NaN
    where too few results say nothing of others."""

    value: float
    low: float
    high: float
    results: int

    def text(self, decimals: int) -> str:
        """Write the mean, and its interval in brackets."""
        mean = f"{self.value:.{decimals}f}"
        if math.isnan(self.low):
            return mean
        return f"{mean} [{self.low:.{decimals}f}, {self.high:.{decimals}f}]"


class Summary(NamedTuple):
    """The means of all measures: by system and measure; failures: results that are not there, by
    system; judges: what measured each measure, with its version; lufs: how loud all results are,
    None where that is unknown or differs."""

    systems: list[str]
    kinds: dict[str, Kind]
    means: dict[tuple[str, str], Mean]
    failures: Counter[str]
    judges: dict[str, str]
    inputs: int
    targets: int
    lufs: float | None

    def cell(self, system: str, measure: str) -> str:
        """Write the mean of a measure of a system; nothing where there is none."""
        mean = self.means.get((system, measure))
        return mean.text(self.kinds[measure].decimals) if mean else ""

    @property
    def note(self) -> str:
        """Explain the intervals in a sentence."""
        counts = [(self.inputs, "input"), (self.targets, "target")]
        inputs, targets = (f"{n} {noun}{'s' * (n > 1)}" for n, noun in counts)
        if all(math.isnan(mean.low) for mean in self.means.values()):
            return f"Means of {inputs} and {targets}, which are too few for intervals."
        if self.targets < MIN_TARGETS:
            return f"Means, with {LEVEL} intervals clustered by {inputs}, for {targets}."
        return f"Means, with {LEVEL} intervals clustered by {inputs} and {targets}."


def summarise(measures: Sequence[Measure], order: Sequence[str] = ()) -> Summary:
    """Average measures by system; order: systems that come first, in this order."""
    import pandas as pd  # late, and so is SciPy in what estimates

    from earshot.study.analysis.estimates import WHOLE_LINE, estimate_row, mean_of

    kinds = {name: KINDS.get(name, Kind(name, True, 3)) for name in _measured(measures)}
    systems = dict.fromkeys([*order, *(each.system for each in measures)])
    valued = [each for each in measures if each.value is not None and each.measure in kinds]
    targets = {each.target for each in valued}
    clusters = {name: name if len(targets) >= MIN_TARGETS else "" for name in targets}
    table: Any = pd.DataFrame(
        [(e.system, e.measure, e.input, clusters[e.target], e.value) for e in valued],
        columns=["system", "measure", "rater", "stimulus", "answer"],  # those that it clusters by
    )
    means = {}
    for (system, measure), own in table.groupby(["system", "measure"], sort=False):
        bounds = (0.0, 1.0) if kinds[measure].is_share else WHOLE_LINE
        row = estimate_row(mean_of(own, rounding=0.0), bounds)
        means[system, measure] = Mean(row["value"], row["low"], row["high"], len(own))
    failed = Counter(each.system for each in measures if not each.measure)
    judges = {each.measure: f"{each.judge} {each.version}".strip() for each in valued if each.judge}
    present = {each.system for each in measures}
    levels = [each.value for each in measures if each.measure == LOUDNESS and each.value]
    alike = levels and max(levels) - min(levels) < TOLERANCE
    return Summary(
        [system for system in systems if system in present],
        kinds,
        means,
        failed,
        judges,
        len({each.input for each in valued}),
        len(targets),
        round(max(levels), 1) if alike else None,
    )


def _measured(measures: Sequence[Measure]) -> list[str]:
    """List what was measured: what we know first."""
    names = dict.fromkeys(each.measure for each in measures if each.value is not None)
    return [name for name in {**KINDS, **names} if name in names and name not in ("", LOUDNESS)]


def as_markdown(summary: Summary, notes: Sequence[str] = ()) -> str:
    """Write the means as a table in Markdown, what measured them, and notes."""
    arrows = [
        f"{kind.label} {'↑' if kind.more_is_better else '↓'}" for kind in summary.kinds.values()
    ]
    head = ["System", *arrows, "Failures"]
    lines = [head, ["---", *("---:" for _ in head[1:])]]
    for system in summary.systems:
        cells = [summary.cell(system, measure) for measure in summary.kinds]
        lines.append([_escaped(system), *cells, str(summary.failures[system])])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    judges = "\n".join(
        f"- {summary.kinds[measure].label}: {judge}" for measure, judge in summary.judges.items()
    )
    parts = ["# Measures", table, summary.note, judges, *notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
