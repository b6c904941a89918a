"""What a test's YAML says about its panel, its places and its end."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from earshot.study.design.spec import SpecError, load
from tests.support.stimuli import make_folder

PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
NAMES = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"]


def write(folder: Path, **more: Any) -> Path:
    file = make_folder(folder) / "test.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | more, sort_keys=False))
    return file


def test_panel_of_prolific_is_read(tmp_path: Path) -> None:
    panel = {
        "link": NAMES,
        "complete": f"{PROLIFIC}C1&session={{SESSION_ID}}",
        "screened_out": {"headphones": f"{PROLIFIC}C2"},
        "no_consent": "NOCONSENT",
        "full": 1234567,
    }
    test = load(write(tmp_path / "t", panel=panel, raters=40, closes="2027-01-31T18:00Z"))
    assert test.panel.link == tuple(NAMES) and test.panel.screens("headphones")
    assert not test.panel.screens("attention") and test.panel.back("attention") is None
    assert test.panel.back("full") == test.panel.back("closed") == "1234567"
    assert test.raters == 40 and test.closes == datetime(2027, 1, 31, 18, tzinfo=UTC)


def test_test_without_panel_sends_nobody_anywhere(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t"))
    assert test.panel.link == () and test.panel.back("complete") is None
    assert test.raters is None and test.closes is None


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"panel": "prolific"}, "write link, signed, complete"),
        ({"panel": {"completed": "X"}}, 'did you mean "complete"'),
        ({"panel": {"complete": "javascript:alert(1)"}}, "must be an address"),
        ({"panel": {"complete": "https://a.example/ b"}}, "must be an address"),
        ({"panel": {"complete": "https://a.example/{PID}"}}, 'not among the names of "link"'),
        ({"panel": {"link": ["rater"]}}, "cannot be in a link"),
        ({"panel": {"link": ["A B"]}}, "cannot be in a link"),
        ({"panel": {"link": ["A", "A"]}}, "each once"),
        ({"panel": {"screened_out": "X"}}, "headphones, environment, attention"),
        ({"raters": 0}, "1 or more"),
        ({"closes": "tomorrow"}, "2027-01-31T18:00Z"),
        ({"closes": "2027-01-31T18:00"}, "a time with its zone"),
        ({"texts": {"German": {}}}, "no language"),
        ({"texts": {"de": {"words": ["gut"]}}}, '"words" must be 5'),
    ],
)
def test_load_names_mistake_in_panel(tmp_path: Path, more: dict[str, Any], what: str) -> None:
    """It names its line too."""
    with pytest.raises(SpecError, match=r"test.yaml, line \d+") as caught:
        load(write(tmp_path / "t", **more))
    assert what in str(caught.value)
