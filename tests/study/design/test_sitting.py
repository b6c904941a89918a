"""Questions about raters, the test of their room, breaks and blocks in a test's YAML."""

from pathlib import Path
from typing import Any

import pytest

from earshot.study.design.raters import RoomTest, Rules, demographics
from earshot.study.design.spec import SpecError, load
from earshot.study.web.rater_page import LANGUAGES
from tests.support.stimuli import make_folder


def test_sitting_is_read(tmp_path: Path) -> None:
    test = load(
        make_folder(
            tmp_path / "t",
            environment={"pairs": 6, "right": 5},
            break_every=3,
            blocks="systems",
            disclosure="after",
            demographics=["age", "hearing"],
            questions=[{"ask": "Which headphones?"}],
            rules={"least_seconds": 1, "most_seconds": 60.5, "most_minutes": 90},
        )
    )
    assert test.environment == RoomTest(6, 5) and test.break_every == 3 and test.blocks == "systems"
    assert test.disclosed_after
    age, hearing, own = test.questions
    assert age.wording("de")[0] == "Wie alt sind Sie?" and hearing.optional and not own.optional
    assert age.fits(None) and not own.fits(None)
    rules = test.rules
    assert (rules.least_seconds, rules.most_seconds, rules.most_minutes) == (1, 60.5, 90)


def test_unwritten_sitting_has_nothing(tmp_path: Path) -> None:
    """A test has no room, breaks, blocks or questions unless its YAML asks for them."""
    off = {"environment": False, "demographics": False, "rules": {"most_minutes": False}}
    for more in ({}, off):
        test = load(make_folder(tmp_path / "t", **more))
        assert (test.environment, test.break_every, test.blocks, test.questions) == (
            None,
            None,
            None,
            (),
        )
        assert test.rules == Rules() and not test.disclosed_after


def test_usual_ones_are_those_for_true(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t", environment=True, demographics=True))
    assert test.environment == RoomTest() and len(test.questions) == len(demographics())


@pytest.mark.parametrize("name", demographics())
def test_questions_are_asked_in_every_language(name: str) -> None:
    question = demographics()[name]
    assert {*question.ask} == {*(question.choices or {})} == {*LANGUAGES}
    assert len({len(words) for words in (question.choices or {}).values()}) == 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"environment": 3}, "write true here, or pairs and right"),
        ({"environment": {"pairs": 20}}, '"pairs" must be 2 to 10'),
        ({"environment": {"right": 5}}, '"right" must be 1 to as many as there are pairs'),
        ({"environment": {"rigth": 3}}, 'did you mean "right"'),
        ({"break_every": 0}, '"break_every" must be 1 or more'),
        ({"disclosure": "never"}, '"disclosure" must be before or after'),
        ({"blocks": "scales"}, '"blocks" must be systems'),
        ({"demographics": ["shoe size"]}, 'there is no "shoe size": there are age'),
        ({"demographics": "age"}, "write true here, or some of"),
        ({"rules": {"least_seconds": 0}}, '"least_seconds" must be more than 0'),
        ({"rules": {"least_seconds": 9, "most_seconds": 9}}, 'must be more than "least_seconds"'),
        ({"rules": {"most_minutes": 10**6}}, '"most_minutes" must be more than 0 and 10000'),
        (
            {"panel": {"link": ["ID"], "screened_out": {"environment": "CODE"}}},
            'screened_out: environment needs "environment": true',
        ),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, more: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        load(make_folder(tmp_path / "t", **more))


@pytest.mark.parametrize(("design", "more"), [("mushra", {}), ("ab", {"pairing": "adaptive"})])
def test_blocks_need_several_systems(tmp_path: Path, design: str, more: dict[str, Any]) -> None:
    """MUSHRA, whose trials have them all, and adaptive pairs go through none."""
    with pytest.raises(SpecError, match="blocks"):
        load(make_folder(tmp_path / "t", design, blocks="systems", **more))
