"""Rules of exclusion in a test's YAML."""

from dataclasses import replace
from pathlib import Path

import pytest

from earshot.study.design.raters import Rules
from earshot.study.design.spec import SpecError, load
from tests.support.stimuli import make_folder


def written(folder: Path, rules: str) -> Path:
    make_folder(folder)
    file = folder / "test.yaml"
    file.write_text(file.read_text() + f"\nrules: {rules}\n")
    return folder


def test_unwritten_rules_are_usual_ones(tmp_path: Path) -> None:
    assert load(make_folder(tmp_path / "t")).rules == Rules()


def test_rules_that_are_written_hold(tmp_path: Path) -> None:
    folder = written(tmp_path / "t", "{failed_checks: 0.5, too_fast: false, headphones: false}")
    usual = Rules()
    assert load(folder).rules == replace(usual, failed_checks=0.5, too_fast=None, headphones=False)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("{failed_checks: 2}", '"failed_checks" must be from 0 to less than 1, or false'),
        ("{too_slow: 1}", 'there is no "too_slow": did you mean "too_fast"'),
        ("{fewest: 1}", '"fewest" must be 2 raters or more'),
        ("strict", "write failed_checks, too_fast"),
    ],
)
def test_rules_that_mean_nothing_are_refused(tmp_path: Path, rules: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        load(written(tmp_path / "t", rules))
