"""The analysis that a published data set has with it: the report, the rows that it counts, and the
same models for R, so that somebody else can compute all of it anew.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import pandas as pd
from pydantic import TypeAdapter

from earshot.core.errors import InputError
from earshot.core.paths import release
from earshot.study.analysis import Results, analyse
from earshot.study.analysis.report import page, paper
from earshot.study.design import Test
from earshot.study.design.raters import Panel
from earshot.study.storage.export import csv
from earshot.study.storage.raters import Conduct

FORMAT: Final = 1  # of a data set; a newer one than this version knows is refused
REPORT: Final = "analysis/report.html"
SCORED: Final = "analysis/scored.csv"
MODELS: Final = "analysis/models.R"
CIRCUMSTANCES: Final = "analysis/circumstances.json"
MALFORMED: Final = f"{CIRCUMSTANCES} is not as Earshot writes it."
VERSION: Final = re.compile(r"[\w.+-]{1,40}", re.ASCII)
MAX_COUNT: Final = 10**6  # of browsers that opened a page, and of looks
SCORED_COLUMNS: Final = ("scale", "rater", "stimulus", "system", "compared_with", "answer")


@dataclass(frozen=True)
class Circumstances:
    """The part of a report that no answer holds. earshot: the version that made it; opened and
    looks: see Conduct; sounds: how many there are, how long and at which rates; panel: whether
    raters came from one; notes: of a test that was frozen, whether it was changed since.
    """

    earshot: str
    opened: int | None
    looks: int
    sounds: str
    panel: bool
    notes: tuple[str, ...] = ()

    def json(self) -> bytes:
        """Write them as the file of a data set, with its format."""
        return json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, indent=2).encode()


def describe(test: Test, conduct: Conduct, notes: tuple[str, ...]) -> Circumstances:
    """Describe the circumstances of a test whose sounds are here."""
    panel = bool(test.panel.link)
    return Circumstances(release(), conduct.opened, conduct.looks, paper.sounds(test), panel, notes)


def with_circumstances(test: Test, circumstances: Circumstances) -> Test:
    """Return a test whose sounds are not here, as its report describes it."""
    panel = Panel(link=("PANEL",) if circumstances.panel else ())
    return replace(test, panel=panel, recordings=circumstances.sounds)


def files(
    test: Test, ratings: pd.DataFrame, conduct: Conduct, circumstances: Circumstances
) -> Mapping[str, bytes]:
    """Make the files of the analysis, by their paths in the data set."""
    results = analyse(test, ratings, conduct=conduct, notes=circumstances.notes)
    return {
        REPORT: page.page(results).encode(),
        SCORED: csv(_scored(results.by_scale)).encode(),
        MODELS: Path(__file__).with_name("models.R").read_bytes(),
        CIRCUMSTANCES: circumstances.json(),
    }


def _scored(by_scale: Sequence[Results]) -> pd.DataFrame:
    """Make the table of the answers that the report counts."""
    tables = [each.included.answers for each in by_scale]
    return (
        pd.concat(tables)
        .rename(columns={"other": "compared_with"})
        .reindex(columns=list(SCORED_COLUMNS))
    )


def read_circumstances(content: bytes) -> Circumstances:
    """Read the file of a data set. Raises InputError where it is none that this version knows."""
    try:
        values = json.loads(content)
        version, maker = values.pop("format"), str(values.get("earshot"))
        circumstances = TypeAdapter(Circumstances).validate_python(values)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(MALFORMED) from error
    if type(version) is not int or not VERSION.fullmatch(maker):
        raise InputError(MALFORMED)
    if version != FORMAT:
        raise InputError(
            f"it has format {version}, of Earshot {maker}; this is Earshot {release()}, which "
            f"knows format {FORMAT}: take the version that made it."
        )
    counts = (circumstances.looks, circumstances.opened or 0)
    if not all(0 <= n <= MAX_COUNT for n in counts) or values.keys() - vars(circumstances).keys():
        raise InputError(MALFORMED)
    return circumstances
