"""The table of measures: what is written is read again, and means have intervals that know what
belongs together."""

from pathlib import Path

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.exports.measures import Measure, as_csv, as_markdown, read, summarise


def table(values: np.ndarray, system: str = "ours", measure: str = "similarity") -> list[Measure]:
    """Measures by input (rows) and target (columns)."""
    return [
        Measure(system, f"input {i}", f"target {j}", f"{i}__{j}", measure, float(value))
        for (i, j), value in np.ndenumerate(values)
    ]


def test_measures_come_back_as_written(tmp_path: Path) -> None:
    measures = [
        Measure("=ours|x", "a, b", "TF2", "a, b__TF2", "words_kept", 0.123456789, "Judge", "1.0"),
        Measure("ours", "ü", "clip", "ü__clip", "", None, error="It has “NaN”.\nEnd"),
    ]
    (tmp_path / "measures.csv").write_bytes(as_csv(measures))
    assert read(tmp_path / "measures.csv") == measures


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system,value\nours,1\n", "no column measure"),
        ("system,measure,value\nours,x,inf\n", "Row 2: value"),
        ("<html>", "web page"),
    ],
)
def test_table_that_is_none_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "measures.csv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read(tmp_path / "measures.csv")


def test_interval_is_wider_where_inputs_differ() -> None:
    """Twenty results of four inputs say less than twenty of their own."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(0.7, 0.1, (4, 1)) + rng.normal(0, 0.01, (4, 5))
    clustered = summarise(table(inputs)).means["ours", "similarity"]
    alone = summarise(table(inputs.reshape(20, 1))).means["ours", "similarity"]
    assert clustered.value == pytest.approx(inputs.mean())
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)


def test_two_targets_are_those_that_are_meant() -> None:
    """Two of them say nothing of others, and would leave one degree of freedom."""
    values = np.random.default_rng(0).normal(0.7, 0.05, (20, 2))
    summary = summarise(table(values))
    mean = summary.means["ours", "similarity"]
    assert mean.high - mean.low < 0.06
    assert summary.note.endswith("clustered by 20 inputs, for 2 targets.")


def test_interval_of_a_share_stays_within_it() -> None:
    mean = summarise(table(np.array([[1.0], [0.9], [1.0]]), measure="words_kept")).means
    assert 0 < mean["ours", "words_kept"].low < 0.97 < mean["ours", "words_kept"].high <= 1


def test_one_result_has_no_interval() -> None:
    summary = summarise(table(np.array([[0.5]])))
    assert summary.cell("ours", "similarity") == "0.500"


def test_failures_are_counted_and_said() -> None:
    rows = table(np.array([[0.5], [0.6]]))
    summary = summarise([*rows, Measure("bad|one", "a", "b", "a__b", "", error="It is silent.")])
    text = as_markdown(summary, ["All are at -23 LUFS."])
    assert "| bad\\|one |  | 1 |" in text and "| ours | 0.550" in text
    assert text.endswith("All are at -23 LUFS.\n")
