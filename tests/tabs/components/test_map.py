"""The Map: positions, names, markers and legend."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from earshot.tabs.components.map import (
    COLORS,
    FAINT,
    HEIGHT,
    MARGIN,
    MARKER_SIZE,
    MIN_SIZE,
    WIDTH,
    Chart,
    Coloring,
    Layout,
    Point,
    QueryMarker,
    marker,
    show,
)

POINTS = [
    Point("a", 0.0, 0.0, "Rain <on> leaves", "weather", b"RIFF"),
    Point("b", 1.0, 0.5, "A dog", "animals"),
    Point("c", 0.5, 1.0, "Wind", "weather", b"RIFX"),
]
CHART = Chart("Three sounds", POINTS, ["animals", "weather", "music"], "More like this")


def test_chart_places_points_by_their_coordinates() -> None:
    places = [
        (float(x), float(y))
        for x, y in re.findall(r'data-x="([\d.]+)" data-y="([\d.]+)"', CHART.html())
    ]
    assert places[0][0] < places[2][0] < places[1][0]
    assert places[0][1] < places[1][1] < places[2][1]
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in places)


def test_chart_escapes_names() -> None:
    html = CHART.html()
    assert "Rain &lt;on&gt; leaves" in html and "<on>" not in html


def test_point_label_has_name_and_category() -> None:
    assert 'aria-label="A dog, animals"' in CHART.html()


def test_legend_lists_present_categories_only() -> None:
    legend = CHART.html().split("map-legend")[1].split("</figcaption>")[0]
    assert re.findall(r"</svg>(\w+)</span>", legend) == ["animals", "weather"]


def test_markers_of_categories_differ() -> None:
    """They differ in colour, and in shape as well."""
    markers = [marker(i) for i in range(3 * len(COLORS))]
    assert len(set(markers)) == len(markers)
    shapes = {re.sub(r'style="[^"]*"', "", mark) for mark in markers[: len(COLORS)]}
    assert len(shapes) == len(COLORS)


def test_points_of_rest_are_faint() -> None:
    chart = Chart("", POINTS, ["animals"], rest="weather")
    assert chart.html().count(f"fill:{FAINT}") == 3  # two points, and the legend
    legend = chart.html().split("map-legend")[1].split("</figcaption>")[0]
    assert re.findall(r"</svg>(\w+)</span>", legend) == ["animals", "weather"]


def test_chart_value_lists_files_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    value = CHART.value()
    contents = [Path(file["path"]).read_bytes() for file in value["files"]]
    assert contents == [b"RIFF", b"RIFX"]
    sounds = re.findall(r'data-id="(\w)"[^>]*data-sound="([^"]*)"', value["html"])
    assert sounds == [("a", "@file0"), ("b", ""), ("c", "@file1")]


def test_chart_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are served anew for each visitor, for they are deleted after a while."""
    chart = Chart("Sounds", POINTS, ["animals", "weather"])
    first = chart.value()
    monkeypatch.setattr(Chart, "_page", None)
    again = chart.value()
    assert again["html"] is first["html"] and len(again["files"]) == len(first["files"]) > 0


def test_chart_value_names_file_per_folder(tmp_path: Path) -> None:
    for name in ("a.wav", "b c#.wav"):
        (tmp_path / name).write_bytes(b"RIFF")
    points = [
        Point(str(i), 0, 0, "", "x", tmp_path / name)
        for i, name in enumerate(("a.wav", "b c#.wav", "a.wav"))
    ]
    value = Chart("Words", points, ["x"]).value()
    assert [file["path"] for file in value["files"]] == [str(tmp_path / "a.wav")]
    sounds = re.findall(r'data-sound="([^"]*)"', value["html"])
    assert sounds == ["@file0", "@file0/../b%20c%23.wav", "@file0"]


def test_marker_size_falls_with_more_points() -> None:
    def width(count: int) -> float:
        chart = Chart("", [Point(str(i), 0, 0, "", "x") for i in range(count)], ["x"])
        return float(re.findall(r'd="M\S+ 0a(\S+)', chart.html())[0])

    assert width(500) == MARKER_SIZE > width(1000) > width(5000) == MIN_SIZE


def test_query_marker_has_place_per_layout() -> None:
    assert 'data-places="[[0.5, 1.0]]"' in QueryMarker(0.5, 1.0, "“wind”").html()
    both = QueryMarker(0.5, 1.0, "“wind”", places=[(0.5, 1.0), (0.12345, 0.0)])
    assert 'data-places="[[0.5, 1.0], [0.1235, 0.0]]"' in both.html()


def test_looks_hold_every_layout_and_coloring() -> None:
    places = [(1.0, 1.0), (0.0, 0.0), (0.5, 0.5)]
    chart = Chart(
        "Three sounds",
        POINTS,
        ["animals", "weather"],
        layouts=[Layout("one", [(p.x, p.y) for p in POINTS]), Layout("other", places, "<b>2</b>")],
        colorings=[
            Coloring("kind", [p.category for p in POINTS], ["animals", "weather"]),
            Coloring("near", rest="others"),
            Coloring("own", ["mine", "others", "others"], ["mine"], "others"),
        ],
    )
    page = chart.html()
    assert re.findall(r'data-(?:layout|coloring)="\d" aria-pressed="(\w+)">(\w+)<', page) == [
        ("true", "one"),
        ("false", "other"),
        ("true", "kind"),
        ("false", "near"),
        ("false", "own"),
    ]
    looks = json.loads(unescape(re.findall(r'data-looks="([^"]*)"', page)[0]))
    first = [
        [float(x), float(y)] for x, y in re.findall(r'data-x="([\d.]+)" data-y="([\d.]+)"', page)
    ]
    assert looks["layouts"][0]["places"] == first
    assert looks["layouts"][1]["places"][1] == [MARGIN, MARGIN]
    assert looks["layouts"][1]["note"] == "<b>2</b>"
    assert [coloring["of"] for coloring in looks["colorings"]] == [[1, 0, 1], [], [0, -1, -1]]


def test_show_sends_points_only_with_chart() -> None:
    marked = QueryMarker(0.2, 0.2, "query", ["a"])
    assert "value" not in show(marked).constructor_args
    assert show(marked).constructor_args["highlighted"] == ["a"]
    assert "map-point" in show(None, CHART).constructor_args["value"]["html"]
