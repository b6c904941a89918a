"""A video's lanes: pictures and words at their times."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from earshot.tabs.components.lanes import MAX_PICTURES, VideoStrip, Word, WordLane
from earshot.tabs.components.timeline import File, TimelineSpec


def grey(data_uri: str) -> float:
    """How light a picture is, from 0 to 255."""
    jpeg = base64.b64decode(data_uri.removeprefix("data:image/jpeg;base64,"))
    return float(np.asarray(Image.open(io.BytesIO(jpeg))).mean())


def places(words: WordLane) -> list[tuple[float, float, str]]:
    """From where to where each word's cell goes, in % of the lane, and what it says."""
    found = re.findall(r'left:([\d.]+)%;width:([\d.]+)%;.*?aria-label="([^"]+)"', words.html())
    return [(float(left), float(left) + float(width), label) for left, width, label in found]


@pytest.mark.parametrize("count", [5, 75, 750])
def test_video_strip_shows_evenly_spaced_pictures(count: int) -> None:
    crops = np.linspace(0, 255, count).astype(np.uint8)[:, None, None] * np.ones(
        (1, 8, 8), np.uint8
    )
    strip = VideoStrip.of("mouth", crops, count / 25)
    shown = [grey(picture) for picture in strip.pictures]
    assert len(shown) == min(count, MAX_PICTURES)
    middles = (np.arange(len(shown)) + 0.5) / len(shown) * 255
    assert shown == pytest.approx(middles, abs=255 / count + 4)
    assert strip.html().count("<img") == len(shown)


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
