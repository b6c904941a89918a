"""The Timeline: waveform, spectrogram, unit cells, time axis and files."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from earshot.media.audio import features
from earshot.media.pictures import frequency_ticks, ink_on, spectrogram_png
from earshot.systems.voice_conversion.settings import MUTED
from earshot.tabs.components import timeline
from earshot.tabs.components.lanes import (
    Heat,
    Spectrogram,
    UnitCells,
    VideoStrip,
    Waveform,
    WordLane,
)
from earshot.tabs.components.timeline import Action, File, TimelineSpec, time_ticks
from earshot.tabs.words.find import PlacesLane
from earshot.tabs.words.sounds import PhonemeLane

COLORS = ("#000000", "#ffffff", "#1f6f4a")


def pixels(data_uri: str) -> np.ndarray:
    """The picture as (rows, columns, RGB)."""
    png = base64.b64decode(data_uri.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def test_waveform_lane_shows_the_peak_envelope() -> None:
    waveform = np.zeros(16_000, np.float32)
    waveform[8_000] = -0.5
    lane = Waveform.of("x", waveform, 16_000)
    assert lane.seconds == 1.0
    assert len(lane.peaks) == 100
    assert np.flatnonzero(lane.peaks).tolist() == [50]
    assert lane.peaks[50] == 0.5
    assert "50,0.000" in lane.html() and "50,2.000" in lane.html()  # the height of the lane
    quiet = Waveform.of("x", 0.1 * waveform, 16_000)
    assert "50,0.500" in quiet.html()


def test_spectrogram_png_is_bright_at_tone() -> None:
    """Other frequencies are dark."""
    time = np.arange(16_000) / 16_000
    tone = (0.3 * np.sin(2 * np.pi * 2_000 * time)).astype(np.float32)
    picture = pixels(spectrogram_png(features.log_mel(tone)))
    assert picture.shape == (80, 100, 3)
    brightness = picture[:, 50].sum(axis=1)
    height = 1 - int(brightness.argmax()) / 80
    expected = dict(frequency_ticks())["2"]
    assert height == pytest.approx(expected, abs=0.03)
    assert brightness[5] < 0.5 * brightness.max()  # 7 kHz is dark


def test_spectrogram_png_runs_left_to_right() -> None:
    log_mel = np.full((10, 80), -12.0)
    log_mel[8:] = 0.0
    picture = pixels(spectrogram_png(log_mel)).sum(axis=2)
    assert (picture[:, 8:] > picture[:, :8].max()).all()


def test_spectrogram_png_of_silence_is_dark() -> None:
    dark = pixels(spectrogram_png(np.full((5, 80), -11.5)))
    assert (dark == dark[0, 0]).all()
    assert dark[0, 0].tolist() == [68, 1, 84]  # the foot of viridis


def test_frequency_ticks_agree_with_mel_filters() -> None:
    filters = features.mel_filters(features.N_FFT, features.N_MELS)
    for label, place in frequency_ticks()[:-1]:
        hertz = filters[int(place * 80)].argmax() * 16_000 / features.N_FFT
        assert hertz == pytest.approx(float(label) * 1000, rel=0.12)


def test_ink_on_any_colour_contrasts_enough() -> None:
    def luminance(color: str) -> float:
        rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    rng = np.random.default_rng(0)
    for rgb in rng.integers(0, 256, (500, 3)):
        color = "#" + bytes(rgb.astype(np.uint8)).hex()
        ink = 0.0 if ink_on(color) == "#000" else 1.0
        light, dark = max(ink, luminance(color)), min(ink, luminance(color))
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_unit_cells_number_runs_once() -> None:
    html = UnitCells("u", (2, 2, 2, 0, MUTED), 0.04, COLORS, selectable=True).html()
    assert re.findall(r"<b>(-?\d+)</b>", html) == ["2", "0"]
    assert re.findall(r"flex-grow:(\d+)", html) == ["3", "1", "1"]
    assert html.count('role="option"') == 5
    assert html.count('class="tl-muted"') == 1
    assert 'aria-label="unit 0, 0.12 s"' in html
    assert 'aria-label="muted, 0.16 s"' in html


def test_edited_unit_cells_say_so() -> None:
    html = UnitCells("u", (1, 2, 2), 0.04, COLORS, edited={2}).html()
    assert html.count("tl-edited") == 1
    assert 'aria-label="unit 2, edited, 0.08 s"' in html
    assert 'aria-label="unit 2, 0.04 s"' in html


def test_unselectable_unit_cells_take_no_focus() -> None:
    html = UnitCells("u", (1, 2), 0.04, COLORS).html()
    assert "option" not in html and "tabindex" not in html


def test_timeline_lanes_share_one_axis() -> None:
    lanes = [UnitCells("u", (1,) * 25, 0.04, COLORS), Spectrogram("s", "data:", 2.0)]
    spec = TimelineSpec("two", lanes, [])
    assert spec.seconds == 2.0
    assert re.findall(r'class="tl-span" style="width:([\d.]+)%', spec.html()) == [
        "50.0000",
        "100.0000",
    ]


def test_timeline_value_lists_files_by_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    lane = UnitCells("u", (1,), 0.04, COLORS)
    sound, note = File("Play <me>", "a.wav", b"sound"), File("Units", "u.json", b"{}")
    value = TimelineSpec("x", [lane], [sound], [note]).value()
    assert [Path(file["path"]).read_bytes() for file in value["files"]] == [b"sound", b"{}"]
    assert 'src="@file0"' in value["html"]
    assert 'href="@file1" download="u.json"' in value["html"]
    assert "Play &lt;me&gt;" in value["html"]


def test_actions_that_need_cells_start_disabled() -> None:
    lane = UnitCells("u", (1,), 0.04, COLORS, selectable=True)
    actions = [
        Action("mute", "Mute", key="m"),
        Action("replace", "Replace by", highest=63),
        Action("undo", "Undo", needs_cells=False, enabled=False),
        Action("speak", "Speak", event="submit", needs_cells=False),
    ]
    buttons = re.findall(
        r"<button[^>]*data-action[^>]*>", TimelineSpec("x", [lane], [], (), actions).html()
    )
    assert ["disabled" in button for button in buttons] == [True, True, True, False]
    assert 'data-event="submit"' in buttons[3]
    assert 'max="63"' in TimelineSpec("x", [lane], [], (), actions).html()


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(1.0, 0.2), (2.94, 0.5), (5.04, 1.0), (10.0, 2.0), (60.0, 10.0), (0.1, 0.02)],
)
def test_time_ticks_are_round(seconds: float, expected: float) -> None:
    ticks = time_ticks(seconds)
    assert ticks[0] == 0
    assert ticks[-1] <= seconds
    assert ticks[1] == pytest.approx(expected)


def test_html_numbers_files_from_first_file(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    path.write_bytes(b"RIFF")
    lane = UnitCells("u", (1,), 0.04, COLORS)
    spec = TimelineSpec("x", [lane], [File("Play", "a.wav", path)], [File("U", "u.json", b"{}")])
    html = spec.html(first_file=4)
    assert 'src="@file4"' in html and 'href="@file5"' in html
    assert 'preload="none"' in html, "what lies in a file is loaded when it is played"
    assert spec.files[0].data()["path"] == str(path)


def test_timeline_plays_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that are alike are told apart, so that each is heard."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    lane = UnitCells("u", (1,), 0.04, COLORS)
    sounds = [File(name, f"{name}.wav", b"sound") for name in ("Source", "Converted")]
    quiet = TimelineSpec("x", [lane], sounds)
    assert 'data-answer=""' in quiet.html(), "nothing starts by itself"
    answer = TimelineSpec("x", [lane], sounds, answer=[1, 0])
    assert 'data-answer="1 0"' in answer.html()
    assert answer.value()["html"] == answer.value()["html"]
    assert answer.value() != answer.value(), "it is heard again where it is shown again"


def test_timeline_action_can_be_pressed() -> None:
    actions = [Action("up", "Fits", needs_cells=False, icon="up", pressed=True)]
    html = TimelineSpec("x", [UnitCells("u", (1,), 0.04, COLORS)], [], (), actions).html()
    assert re.search('<button type="button" aria-pressed="true"[^>]*data-action="up"', html)
    assert "icon-up" in html


def test_style_of_lane_names_class() -> None:
    """A lane's CSS class is that of its type: a renamed type without its style has no height."""
    css = Path(timeline.__file__).with_name("timeline.css").read_text()
    lanes = {Heat, PhonemeLane, PlacesLane, Spectrogram, UnitCells, VideoStrip, Waveform, WordLane}
    styled = set(re.findall(r"\.tl-(\w+) \.tl-box", css)) - {"axis"}
    assert styled <= {lane.__name__.lower() for lane in lanes}
    assert {"wordlane", "videostrip", "placeslane", "phonemelane"} <= styled
