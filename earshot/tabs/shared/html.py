"""The HTML that tabs show: Jinja2 templates next to the modules that fill them, icons, arrays as
images in data URIs, and legible colours.
"""

import base64
import io
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from jinja2 import Environment
from markupsafe import Markup
from PIL import Image

from earshot.core.templates import environment
from earshot.media.audio.spectrum import hz_to_mel
from earshot.media.constants import NYQUIST

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
    "similar": '<path d="M3 9v6m4-9v12m4-8v4M15 7v10m3-7v4m3-6v8"/>',
}
FREQUENCIES = (500, 1_000, 2_000, 4_000, 8_000)  # Hz
SHOWN_RANGE = 8.0  # nepers (70 dB) below the maximum that are shown
MIN_TOP = -3.5  # log magnitude: silence stays dark instead of showing its noise floor
TABS: Final = Path(__file__).parents[1]


def icon(name: str) -> Markup:
    """Draw the icon as inline SVG, as large as the text and in its colour."""
    return Markup(
        f'<svg class="icon icon-{name}" viewBox="0 0 24 24" aria-hidden="true" fill="none" '
        f'stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">'
        f"{ICONS[name]}</svg>"
    )


def spectrogram_png(log_mel: np.ndarray) -> str:
    """Draw log_mel (S, M) in viridis as a data URI: one pixel for each frame and band, low bands
    below."""
    top = max(float(log_mel.max()), MIN_TOP)
    level = np.clip((log_mel - top) / SHOWN_RANGE + 1, 0, 1)
    image = Image.fromarray((level.T[::-1] * 255).astype(np.uint8))
    image.putpalette(_viridis())
    return _data_uri(image, "png")


def grey_jpeg(image: np.ndarray) -> str:
    """Write a grey image (H, W) uint8 as a data URI."""
    return _data_uri(Image.fromarray(image), "jpeg")


def frequency_ticks(nyquist: float = NYQUIST) -> list[tuple[str, float]]:
    """List labels in kHz with their position, 0 to 1, on a mel axis from 0 to nyquist (Hz)."""
    visible = [hz for hz in FREQUENCIES if hz < nyquist]
    places = hz_to_mel(np.array(visible)) / hz_to_mel(nyquist)
    labels = [f"{hz / 1000:g}" for hz in visible]
    return [*zip(labels, places.tolist(), strict=True), ("kHz", 0.95)]


def viridis_colors(levels: np.ndarray) -> list[str]:
    """Colour levels (N,), clipped to [0, 1], as "#rrggbb"."""
    table = np.frombuffer(_viridis(), np.uint8).reshape(-1, 3)
    rows = np.round(np.clip(levels, 0, 1) * 255).astype(int)
    return ["#" + table[row].tobytes().hex() for row in rows]


def ink_on(color: str) -> str:
    """Choose black or white, whichever contrasts more with color (#rrggbb): at least 4.5 : 1."""
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#fff"


def _data_uri(image: Image.Image, kind: str) -> str:
    file = io.BytesIO()
    image.save(file, kind, optimize=True)
    return f"data:image/{kind};base64," + base64.b64encode(file.getvalue()).decode()


@cache
def _viridis() -> bytes:
    # Imported late: matplotlib would slow down the start of the app.
    from matplotlib import colormaps

    table = colormaps["viridis"](np.arange(256))[:, :3]
    return (table * 255).round().astype(np.uint8).tobytes()


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
