"""The HTML of raters' and organisers' pages."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment

from earshot.core.templates import environment

FOLDERS: Final = [Path(__file__).parent / name for name in ("page", "results")]


def render(name: str, /, **values: Any) -> str:
    """Fill the template of that name."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return environment(FOLDERS)
