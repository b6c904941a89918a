"""What a file of ours imports."""

import ast
from pathlib import Path

from earshot.core.paths import ROOT


def modules_imported(path: Path) -> set[str]:
    """Full names of the modules, and of the packages that give a name, that a file imports
    anywhere, late imports included.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name for name in below if _is_module(name)} or {node.module}
    return names


def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or path.is_dir()
