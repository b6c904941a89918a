"""The form of three steps, and the YAML that it changes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earshot.study.design.folder import describe
from earshot.study.design.form import Form
from earshot.study.design.spec import load
from tests.support.stimuli import make_folder

OWN = """\
# Ours.
title: Old
design: acr
systems:
  ours: ours/*.wav
  theirs: theirs/*.wav
agree:
- I am 18.
- I have headphones.

instructions: |
  One.

  Two.
# About raters.
demographics: [age]
raters: 10
rules: {headphones: false}
"""


def written(folder: Path, yaml: str) -> Path:
    make_folder(folder)
    (folder / "test.yaml").write_text(yaml, encoding="utf-8")
    return folder


def test_form_reads_a_test(tmp_path: Path) -> None:
    form = Form.of(load(written(tmp_path / "t", OWN)))
    assert (form.title, form.design, form.question, form.trials) == ("Old", "acr", "", 6)
    assert form.agree == "I am 18.\nI have headphones." and form.raters == 10
    assert form.instructions == "One.\n\nTwo."


@pytest.mark.parametrize(
    "change",
    [
        {"title": 'New: "quoted" # 1'},
        {"question": "Is it good?"},
        {"trials": 3},
        {"instructions": "Listen.\n\nThen answer."},
        {"consent": "We ask. Write to us."},
        {"agree": "I am 21."},
        {"agree": ""},
        {"approval": "No. 7"},
        {"raters": None},
        {"raters": 40, "title": "Both", "design": "ab", "trials": 2},
    ],
)
def test_form_changes_only_what_differs(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = written(tmp_path / "t", OWN)
    before = load(folder)
    form = replace(Form.of(before), **change)
    yaml = form.into(OWN, Form.of(before))
    after = load(written(folder, yaml))
    assert Form.of(after) == form
    assert after.questions == before.questions and after.rules == before.rules
    assert yaml.startswith("# Ours.\n") and "# About raters.\n" in yaml


def test_unchanged_form_changes_nothing(tmp_path: Path) -> None:
    form = Form.of(load(written(tmp_path / "t", OWN)))
    assert form.into(OWN, form) == OWN


def test_form_reads_back_what_it_describes(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    form = Form("ccr", "A title", "Which?", 3, "Do.", "We ask.", "I am 18.", "No. 7", 12)
    (folder / "test.yaml").write_text(describe(folder, form), encoding="utf-8")
    assert Form.of(load(folder)) == form
