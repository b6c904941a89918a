"""The heat strip: a score per second, in viridis."""

import re

import numpy as np
import pytest

from earshot.tabs.components.lanes import MAX_CELLS, Heat
from earshot.tabs.shared.html import frequency_ticks, viridis_colors


def cells(heat: Heat) -> list[tuple[float, str, str]]:
    """How wide each cell is, its colour, and what it says."""
    found = re.findall(r'flex-grow:([\d.]+);background:(#\w+)" aria-label="([^"]+)"', heat.html())
    return [(float(width), color, label) for width, color, label in found]


def test_heat_has_one_cell_per_second() -> None:
    """The cells go from dark to bright, as the scores do."""
    heat = Heat("Where", (0.0, 0.5, 1.0), 2.5, low=0.0, high=1.0)
    widths, colors, labels = zip(*cells(heat), strict=True)
    assert widths == (1, 1, 0.5)
    assert colors == ("#440154", "#21918c", "#fde725")
    assert labels == ("0 to 1 s: 0.00", "1 to 2 s: 0.50", "2 to 2.5 s: 1.00")


def test_heat_scale_is_given_not_fitted() -> None:
    (_, color, _), *_ = cells(Heat("Where", (0.2, 0.2), 2.0, low=-1.0, high=0.2))
    assert color == "#fde725"
    (_, flat, _), *_ = cells(Heat("Where", (0.2,), 1.0, low=0.2, high=0.2))
    assert flat == "#440154"


def test_heat_of_hour_keeps_maxima() -> None:
    scores = np.zeros(3600)
    scores[1234] = 0.9
    strip = cells(Heat("Where", tuple(scores), 3600.0, low=0.0, high=1.0))
    assert len(strip) <= MAX_CELLS
    assert sum(width for width, _, _ in strip) == 3600
    assert [label for _, _, label in strip if "0.90" in label] == ["1230 to 1245 s: 0.90"]


def test_viridis_colors_beyond_scale_are_ends() -> None:
    assert viridis_colors(np.array([-1.0, 2.0])) == ["#440154", "#fde725"]


@pytest.mark.parametrize("nyquist", [8_000.0, 16_000.0])
def test_frequency_ticks_rise_below_nyquist(nyquist: float) -> None:
    labels, places = zip(*frequency_ticks(nyquist), strict=True)
    assert list(places) == sorted(places) and places[-1] < 1
    assert ("8" in labels) == (nyquist > 8_000)
