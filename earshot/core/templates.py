"""HTML from Jinja2 templates: what is put into one is escaped, unless it is Markup already."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def environment(folders: Sequence[Path], **names: Any) -> Environment:
    """Make the environment of templates in these folders; names: what every template can use."""
    result = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.globals |= names
    return result
