"""The HTML that tabs show: Jinja2 templates next to the modules that fill them, and icons."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from earshot.core.templates import environment

THUMB = "M7 20V11l4-7.5c1.4 0 2.4 1 2.4 2.4v3.6h4.7a2 2 0 0 1 2 2.3l-1 6.4a2 2 0 0 1-2 1.8zH4v-9h3"
ICONS = {
    "play": '<path d="M7 4.8v14.4L19 12z" fill="currentColor"/>',
    "pause": '<path d="M7 5h3.4v14H7zM13.6 5H17v14h-3.4z" fill="currentColor"/>',
    "download": '<path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 19.5h14"/>',
    "plus": '<path d="M12 6v12M6 12h12"/>',
    "minus": '<path d="M6 12h12"/>',
    "up": f'<path d="{THUMB}"/>',
    "down": f'<path transform="rotate(180 12 12)" d="{THUMB}"/>',
    "area": '<circle cx="12" cy="12" r="8" stroke-dasharray="3 3.3"/>',
    "keep": '<path d="M7 4h10v16l-5-4.2L7 20z"/>',
    "synthetic": '<path d="M3 10v4m4-8v12m4-9v6"/><path d="M18 4l1.6 4.4L24 10l-4.4 1.6L18 16'
    '-1.6-4.4L12 10l4.4-1.6z" fill="currentColor" stroke="none"/>',
    "similar": '<path d="M3 9v6m4-9v12m4-8v4M15 7v10m3-7v4m3-6v8"/>',
}
TABS: Final = Path(__file__).parents[1]


def icon(name: str) -> Markup:
    """Draw the icon as inline SVG, as large as the text and in its colour."""
    return Markup(
        f'<svg class="icon icon-{name}" viewBox="0 0 24 24" aria-hidden="true" fill="none" '
        f'stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">'
        f"{ICONS[name]}</svg>"
    )


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
