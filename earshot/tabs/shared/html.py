"""The HTML that tabs show, from Jinja2 templates next to the modules that fill them."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from earshot.core.templates import environment
from earshot.tabs.shared.icons import icon

TABS: Final = Path(__file__).parents[1]


def render(name: str, /, **values: Any) -> Markup:
    """Fill the template of that path below earshot/tabs."""
    return Markup(_environment().get_template(name).render(values))


def macro(name: str, part: str, /, *values: Any) -> Markup:
    """Fill one macro of the template of that path below earshot/tabs."""
    return getattr(_environment().get_template(name).module, part)(*values)


def figures_in_bold(line: str) -> Markup:
    """Set off the figures of a line of numbers: "0.3 s of speech · 12 units"."""
    parts = [part.split(" ", 1) for part in line.split(" · ")]
    return Markup(" · ").join(Markup("<b>{}</b> {}").format(*part) for part in parts)


@cache
def _environment() -> Environment:
    return environment([TABS], icon=icon)
