"""What only authors know and reviewers ask: read from the YAML, missed by check, answered in the
report."""

from dataclasses import replace
from pathlib import Path

import pytest

from earshot.study.__main__ import main
from earshot.study.analysis import analyse
from earshot.study.analysis.report import paper
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.design import REFERENCE
from earshot.study.design.spec import SpecError, load
from earshot.study.design.statements import MAX_STATEMENT, STATEMENTS, reviewer_gaps
from earshot.study.storage.export import described
from tests.study.analysis.made import make_test, rate
from tests.support.stimuli import make_folder

WHOLE = {name: f"This is the {name}." for name in STATEMENTS}


def test_statements_are_read(tmp_path: Path) -> None:
    """An empty one is none, and a test without them is described as ever."""
    test = load(make_folder(tmp_path / "t", statements={"claim": "Ours is better.", "use": ""}))
    assert test.statements == {"claim": "Ours is better."}
    assert described(test)["statements"] == test.statements
    bare = load(make_folder(tmp_path / "t"))
    assert bare.statements == {} and "statements" not in described(bare)
    assert bare.fingerprint == test.fingerprint


@pytest.mark.parametrize(
    "statements", [[], "text", {"clam": "x"}, {"claim": 3}, {"claim": "x" * (MAX_STATEMENT + 1)}]
)
def test_other_statements_are_refused(tmp_path: Path, statements: object) -> None:
    with pytest.raises(SpecError, match="line"):
        load(make_folder(tmp_path / "t", statements=statements))


def test_webmushra_may_state_too(tmp_path: Path) -> None:
    file = tmp_path / "mushra.yaml"
    pages = "[{type: mushra, id: a, reference: r.wav, stimuli: {ours: a.wav}}]"
    file.write_text(f"testname: T\nstatements: {{claim: Ours is better.}}\npages: {pages}\n")
    assert load(file).statements == {"claim": "Ours is better."}


def test_check_names_what_a_reviewer_will_miss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a hint: the test is ready all the same."""
    folder = make_folder(tmp_path / "t", statements={"claim": "Ours is better."}, loudness=-23)
    main(["check", str(folder)])
    streams = capsys.readouterr()
    assert streams.out.startswith("t is ready")
    assert "What a reviewer will miss" in streams.err and '"payment" below' in streams.err
    assert '"claim"' not in streams.err and "loudness" not in streams.err


@pytest.mark.parametrize(("design", "advised"), [("acr", True), ("adjustment", False)])
def test_one_loudness_is_not_advised_where_levels_are_asked(
    design: str, advised: bool, tmp_path: Path
) -> None:
    gaps = [*reviewer_gaps(load(make_folder(tmp_path / "t", design)))]
    assert advised == any("loudness" in gap for gap in gaps)


def test_nothing_is_missed_in_a_whole_test() -> None:
    test = replace(
        make_test("mushra", checks=1),
        instructions="Listen.",
        consent="Yes?",
        approval="2026-1",
        loudness=-23.0,
        raters=20,
        statements=WHOLE,
    )
    assert list(reviewer_gaps(test)) == [
        "who the raters are: write demographics: true, or questions of your own"
    ]


def test_reviewer_is_answered_item_by_item() -> None:
    """What the author has not stated is named with its place in the YAML."""
    test = make_test("mushra", stimuli=3)
    table = rate(test, 6, lambda rater, system, *_: 99.0 if system == REFERENCE else 50.0 + rater)
    results = analyse(
        replace(test, statements={"claim": "Ours is better.", "payment": "€ 5"}), table
    )
    rows = {row[0]: row[1:] for row in paper.reviewer_checklist(results).rows}
    assert rows["Does the test bear on what is claimed?"][0] == "Ours is better."
    answer, place = rows["What are the systems and baselines?"]
    assert answer.startswith("not known to Earshot: the author states what each system")
    assert place == "test.yaml, statements: systems"
    assert rows["How good could it have been?"][0].startswith("reference, anchor")
    assert rows["Were there enough of them?"][0] == "6 kept of 6 raters; ratings of a system: 18"
    assert ["Payment", "€ 5"] in paper.checklist(results).rows
    assert "payment: € 5" in paper.paragraph(results)
    assert "arXiv 2503.03250" in page(results) and document(results).startswith(b"%PDF")


def test_each_place_is_a_heading_of_the_report() -> None:
    test = make_test("acr", stimuli=3)
    results = analyse(test, rate(test, 6, lambda rater, *_: 3.0 + rater % 2))
    html = page(results)
    for row in paper.reviewer_checklist(results).rows:
        assert row[2].startswith(("here", "test.yaml")) or f"<h2>{row[2]}</h2>" in html


def test_ratings_of_others_leave_unknown_what_we_did_not_see() -> None:
    test = replace(make_test("acr", stimuli=3), source="webMUSHRA")
    results = analyse(test, rate(test, 6, lambda rater, *_: 3.0 + rater % 2))
    rows = {row[0]: row[1] for row in paper.reviewer_checklist(results).rows}
    for name in ("Was the order of sounds random?", "Were all sounds equally loud?"):
        assert rows[name] == paper.UNKNOWN
