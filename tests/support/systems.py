"""The systems of a page, and pages with other ones."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from earshot.systems.registry import Board, System, load_board


def labels(task: str) -> Mapping[str, str]:
    """What the menu of a task calls its systems, by name."""
    return load_board().offer(task).labels


def replace_system(patch: pytest.MonkeyPatch, task: str, factory: Callable[..., Any]) -> None:
    """Let pages that are built now offer, for a task, what the factory makes, and nothing else."""
    others = [system for system in load_board().systems if system.task != task]
    systems = [*others, System(task, task, task, factory)]
    patch.setattr("earshot.app.site.load_board", lambda *_: Board(systems))
