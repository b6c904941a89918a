"""HTML from Jinja2 templates, whose values are escaped unless they are Markup already; and QR codes
for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

MARGIN: Final = 4  # modules around a QR code


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


def qr_code(text: str) -> str:
    """Draw a text as a QR code: an SVG of one path on white, as large as its place."""
    import segno  # late, for raters' pages draw none

    code = segno.make(text, micro=False)
    side, _ = code.symbol_size(border=MARGIN)
    squares = "".join(
        f"M{x} {y}h1v1h-1z"
        for y, row in enumerate(code.matrix_iter(border=MARGIN))
        for x, is_dark in enumerate(row)
        if is_dark
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}">'
        f'<rect width="{side}" height="{side}" fill="#fff"/><path d="{squares}"/></svg>'
    )
