"""The snippets of docs/your_system.md are files that register what they say."""

import re
from pathlib import Path

import pytest

from earshot.cli import own_system
from earshot.core.paths import ROOT
from earshot.systems.registry import load_board

PAGE = ROOT / "docs" / "your_system.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)


@pytest.mark.parametrize(
    ("number", "systems"), [(0, ["pitch-shift"]), (1, ["mine", "theirs", "wavlm-9"])]
)
def test_snippet_registers_its_systems(number: int, systems: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SNIPPETS[number])
    board = load_board(tmp_path)
    assert board.faults == [] and [system.name for system in board.systems] == systems


def test_first_snippet_passes_its_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(SNIPPETS) == 2 and len(PAGE.read_text("utf-8").splitlines()) <= 120
    file = tmp_path / "my_vc.py"
    file.write_text(SNIPPETS[0])
    own_system.check([str(file)])
    assert "as lower" in capsys.readouterr().out
