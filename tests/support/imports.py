"""What a file of ours imports, which is read once for all tests."""

import ast
from functools import cache
from pathlib import Path

from earshot.core.paths import ROOT


@cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All import statements in a file, late ones included."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


@cache
def modules_imported(path: Path) -> set[str]:
    """Full names of the modules, and of the packages that give a name, that a file imports
    anywhere, late imports included.
    """
    names: set[str] = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name for name in below if _is_module(name)} or {node.module}
    return names


@cache
def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or path.is_dir()
