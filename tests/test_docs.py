"""Documents: references to functions and files, pictures, and the length of the README."""

import importlib
import json
import re
from functools import reduce
from pathlib import Path

import gradio as gr
import pytest

from earshot.app import site
from earshot.core.paths import ASSETS, ROOT
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services

DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
REFERENCE = re.compile(r"`([\w/]+)\.py:([\w.]+)`")
# A file or a folder of ours, or a part of a test's name.
TEST = re.compile(r"`([\w/]+(?:\.py|/))`|`…([a-z0-9_]+)…?`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
MAX_WORDS = {"README.md": 900, "docs/scaling.md": 1000}


def references() -> list[tuple[str, str]]:
    text = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    return sorted(set(REFERENCE.findall(text)))


@pytest.mark.parametrize(("module", "name"), references())
def test_equation_reference_names_a_function(module: str, name: str) -> None:
    loaded = importlib.import_module(module.replace("/", "."))
    assert callable(reduce(getattr, name.split("."), loaded))


def test_equations_cover_every_paper_number() -> None:
    """Every number of an equation in the papers is covered."""
    text = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
    tjandra, rhodes = text.split("\n## ")[1:3]
    assert _numbers(tjandra) == set(range(1, 15))
    assert _numbers(rhodes) == set(range(1, 6))


def test_tests_of_promises_exist() -> None:
    """The document on reliability names files, most of them in tests, and parts of the names of
    tests in the file before."""
    lines = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").splitlines()
    missing, promises = [], 0
    for line in lines:
        tests = ""
        for name, part in TEST.findall(line):
            path = ROOT / "tests" / name if (ROOT / "tests" / name).exists() else ROOT / name
            if name and path.is_file():
                tests = " ".join(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
            if not path.exists() or part not in tests:
                missing.append(f"{name}{part} in {line[:60]}")
            promises += bool(part)
    assert promises > 100 and missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document_links_lead_to_files(document: Path) -> None:
    for link in LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / link).exists(), link


@pytest.mark.parametrize(("document", "most"), MAX_WORDS.items())
def test_document_is_short(document: str, most: int) -> None:
    """Numbers of its tables are words too; front matter and lines are not."""
    text = (ROOT / document).read_text(encoding="utf-8")
    body = text.split("---\n", 2)[2] if text.startswith("---\n") else text
    assert sum(any(map(str.isalnum, word)) for word in body.split()) <= most


@pytest.mark.slow
def test_pictures_show_every_tab(tmp_path: Path) -> None:
    """Fails when a tab was added or renamed after `python -m scripts.screenshots` was last run."""
    page = site.build(Services(device="cpu", tests=listening_tests.opened(tmp_path, None)))
    tabs = next(block for block in page.blocks.values() if isinstance(block, gr.Tabs))
    names_shown = json.loads((ASSETS / "screenshots" / "tabs.json").read_text())
    assert names_shown == [tab.label for tab in tabs.children if isinstance(tab, gr.Tab)]


def _numbers(section: str) -> set[int]:
    """The n of every Eq. (n) and of ranges Eq. (n)–(m) in the first column."""
    equations: set[int] = set()
    for row in re.findall(r"^\| (Eq\. [^|]*)\|", section, re.M):
        numbers = [int(n) for n in re.findall(r"\((\d+)\)", row)]
        equations |= set(range(numbers[0], numbers[-1] + 1))
    return equations
