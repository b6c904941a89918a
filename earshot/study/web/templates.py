"""The HTML of raters' and organisers' pages, by Jinja2: what is put into it is escaped."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDERS: Final = [Path(__file__).parent / name for name in ("page", "results")]


def render(name: str, /, **values: Any) -> str:
    """Fill the template of that name."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDERS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
