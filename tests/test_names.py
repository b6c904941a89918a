"""A name says what the value is."""

import ast
from collections.abc import Iterator

from earshot.core.paths import ROOT

# Participles that say how a value came about, and not what it is.
BARE = set("found said kept known shown wanted given asked made heard told".split())
FOLDERS = "earshot pipelines training synthetic benchmarks scripts deploy tests".split()


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


def test_no_name_is_a_bare_participle() -> None:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        for name in names(ast.parse(path.read_text()))
        if name.strip("_").lower() in BARE
    ] == []
