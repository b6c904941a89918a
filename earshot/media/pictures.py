"""Arrays as pictures: images in data URIs, their axes, legible colours, and sounds as SVG."""

import base64
import io
from functools import cache
from typing import Final

import numpy as np
from PIL import Image

from earshot.media.audio.spectrum import hz_to_mel
from earshot.media.constants import NYQUIST

FREQUENCIES: Final = (500, 1_000, 2_000, 4_000, 8_000)  # Hz
SHOWN_RANGE: Final = 8.0  # nepers (70 dB) below the maximum that are shown
MIN_TOP: Final = -3.5  # log magnitude: silence stays dark instead of showing its noise floor
MAX_COLUMNS: Final = 400  # of a sound's picture
MIN_PEAK: Final = 0.1  # peak under which a waveform is not scaled up to the full height
SOUND: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 100" width="{width}" height="100" \
preserveAspectRatio="none"><style>path{{fill:#1b2430;opacity:.72}}\
@media(prefers-color-scheme:dark){{path{{fill:#e8e6e1}}}}</style><path d="M{outline}Z"/>\
<image y="34" width="{width}" height="66" preserveAspectRatio="none" href="{picture}"/></svg>
"""


def spectrogram_png(log_mel: np.ndarray) -> str:
    """Draw log_mel (S, M) in viridis as a data URI: one pixel for each frame and band, low bands
    below."""
    top = max(float(log_mel.max()), MIN_TOP)
    level = np.clip((log_mel - top) / SHOWN_RANGE + 1, 0, 1)
    image = Image.fromarray((level.T[::-1] * 255).astype(np.uint8))
    image.putpalette(_viridis())
    return _data_uri(image, "png")


def sound_svg(waveform: np.ndarray, log_mel: np.ndarray) -> str:
    """Draw a waveform (T,) above its spectrogram, log_mel (S, M), as an SVG that stretches, and
    whose ink is light where the reader's screen is dark."""
    step = -(-len(log_mel) // MAX_COLUMNS)
    columns = np.pad(log_mel, ((0, -len(log_mel) % step), (0, 0)), "edge")
    columns = columns.reshape(-1, step, log_mel.shape[1]).mean(axis=1)
    bucket = -(-len(waveform) // MAX_COLUMNS)
    peaks = np.pad(np.abs(waveform), (0, -len(waveform) % bucket)).reshape(-1, bucket).max(axis=1)
    heights = 15 * peaks / max(MIN_PEAK, float(peaks.max()))
    places = np.linspace(0, MAX_COLUMNS, len(peaks)).round(1)
    points = [f"{x:g},{16 - y:.1f}" for x, y in zip(places, heights, strict=True)]
    mirror = [f"{x:g},{16 + y:.1f}" for x, y in zip(places, heights, strict=True)][::-1]
    return SOUND.format(
        width=MAX_COLUMNS, outline=" ".join(points + mirror), picture=spectrogram_png(columns)
    )


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
