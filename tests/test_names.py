"""A name says what the value is, in Python and in JavaScript."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from earshot.core.paths import ROOT

# Participles that say how a value came about, and not what it is.
BARE = set("found said kept known shown wanted given asked made heard told".split())
MENTIONED = re.compile(rf"\b_*(?:{'|'.join(BARE)})_*\b", re.IGNORECASE)
FOLDERS = "earshot pipelines training synthetic benchmarks scripts deploy tests".split()
# What is no name of a script: comments, and what stands in quotation marks.
UNNAMED = re.compile(r"""//[^\n]*|/\*.*?\*/|"[^"\n]*"|'[^'\n]*'|`[^`]*`""", re.DOTALL)
SCRIPT = re.compile(r"\b(?:const|let) \w+ =|=> [{(]|\) =>")
SCRIPTED = re.compile(r"\b(?:const|let)\b|=>")  # what each text that SCRIPT finds has
IDENTIFIER = re.compile(r"(?<![\w$.-])[A-Za-z_]\w*(?![\w-])")


def names(tree: ast.AST) -> Iterator[str]:
    """Every name that a file gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def script_names(path: Path) -> set[str]:
    """Return the names in the JavaScript of a file, where it may have one that is in BARE: a
    script, a page, or texts of Python."""
    text = path.read_text()
    if not MENTIONED.search(text):
        return set()
    if path.suffix == ".py":
        if not SCRIPTED.search(text):
            return set()
        texts = [each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)]
        scripts = [each for each in texts if isinstance(each, str) and SCRIPT.search(each)]
    else:
        pattern = r"<script[^>]*>(.*?)</script>"
        scripts = [text] if path.suffix == ".js" else re.findall(pattern, text, re.DOTALL)
    return {name for script in scripts for name in IDENTIFIER.findall(UNNAMED.sub('""', script))}


def files(*endings: str) -> list[Path]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return [path for path in paths if path.suffix in endings]


def test_no_name_of_a_script_is_a_bare_participle() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files(".js", ".html", ".py")
        for name in script_names(path)
        if name.strip("_").lower() in BARE
    ] == []


def test_no_name_is_a_bare_participle() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files(".py")
        if MENTIONED.search(text := path.read_text())  # to parse all takes seconds
        for name in names(ast.parse(text))
        if name.strip("_").lower() in BARE
    ] == []
