"""The lanes of a Timeline: sounds, units, scores, and a video with its words."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from earshot.media.pictures import frequency_ticks, viridis_colors
from earshot.tabs.components.lanes import MAX_CELLS, MAX_PICTURES, Heat, VideoStrip, Word, WordLane
from earshot.tabs.components.timeline import File, TimelineSpec


def cells(heat: Heat) -> list[tuple[float, str, str]]:
    """How wide each cell is, its colour, and what it says."""
    cells = re.findall(r'flex-grow:([\d.]+);background:(#\w+)" aria-label="([^"]+)"', heat.html())
    return [(float(width), color, label) for width, color, label in cells]


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


def grey(data_uri: str) -> float:
    """How light a picture is, from 0 to 255."""
    jpeg = base64.b64decode(data_uri.removeprefix("data:image/jpeg;base64,"))
    return float(np.asarray(Image.open(io.BytesIO(jpeg))).mean())


def places(words: WordLane) -> list[tuple[float, float, str]]:
    """From where to where each word's cell goes, in % of the lane, and what it says."""
    cells = re.findall(r'left:([\d.]+)%;width:([\d.]+)%;.*?aria-label="([^"]+)"', words.html())
    return [(float(left), float(left) + float(width), label) for left, width, label in cells]


@pytest.mark.parametrize("count", [5, 75, 750])
def test_video_strip_shows_evenly_spaced_pictures(count: int) -> None:
    crops = np.linspace(0, 255, count).astype(np.uint8)[:, None, None] * np.ones(
        (1, 8, 8), np.uint8
    )
    strip = VideoStrip.of("mouth", crops, count / 25)
    pictures = [grey(picture) for picture in strip.pictures]
    assert len(pictures) == min(count, MAX_PICTURES)
    middles = (np.arange(len(pictures)) + 0.5) / len(pictures) * 255
    assert pictures == pytest.approx(middles, abs=255 / count + 4)
    assert strip.html().count("<img") == len(pictures)


def test_words_lane_places_words_in_time() -> None:
    words = (Word("bin", 0.9, 0.4, 0.6), Word("blue", 0.25, 0.6, 0.8), Word("now", 1.0, 2.0, 2.1))
    (a, b, c) = places(WordLane("read", words, 4.0))
    assert a[:2] == pytest.approx((10.0, 15.0), abs=0.01)
    assert b[:2] == pytest.approx((15.0, 20.0), abs=0.01)
    assert c[:2] == pytest.approx((50.0, 52.5), abs=0.01)
    assert b[2] == "blue: a guess, 0.60 s"


def test_words_lane_colours_words_by_confidence() -> None:
    words = (Word("bin", 0.0, 0.4, 0.5), Word("<b>", 1.0, 0.7, 0.8))
    html = WordLane("read", words, 1.0).html()
    assert re.findall(r"background:(#\w+);color:(#\w+)", html) == [
        ("#440154", "#fff"),
        ("#fde725", "#000"),
    ]
    assert "&lt;b&gt;" in html and "<b><b>" not in html


def test_words_lane_without_words_is_empty() -> None:
    assert places(WordLane("read", (), 1.0)) == []


def test_timeline_plays_video_file_as_video() -> None:
    lane = WordLane("read", (), 1.0)
    tracks = [
        File("The lips", "lips.mp4", b"video"),
        File("Original audio", "original.wav", b"sound"),
    ]
    html = TimelineSpec("x", [lane], tracks).html()
    assert '<video playsinline controls preload="auto" src="@file0"></video>' in html
    assert '<audio controls preload="auto" src="@file1"></audio>' in html
    assert html.index("<video") < html.index("tl-lanes")
