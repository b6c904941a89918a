"""Videos as stimuli: what is taken, what is refused with which sentence, and the copies of both."""

import io
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from earshot.core.errors import InputError
from earshot.study.design import REFERENCE, spec
from earshot.study.sounds import pictures
from earshot.study.sounds.copies import Copy
from earshot.study.sounds.pictures import read_picture
from earshot.study.sounds.stimuli import check, prepare
from tests.support.videos import RATE, moving_pattern, turned, write_clip, write_video_test

FRAMES = 20


@pytest.fixture(scope="module")
def pattern() -> np.ndarray:
    return moving_pattern(FRAMES)


def frame_times(path: Path | io.BytesIO) -> list[float]:
    with av.open(path if isinstance(path, io.BytesIO) else str(path), "r") as container:
        return [float(frame.time or 0) for frame in container.decode(video=0)]


@pytest.mark.parametrize(
    ("ending", "codec"),
    [
        (".mp4", "libx264"),
        (".mov", "libx264"),
        (".mkv", "libx264"),
        (".webm", "libvpx"),
        (".webm", "libvpx-vp9"),
    ],
)
def test_copies_hold_picture_and_sound_without_tags(
    tmp_path: Path, pattern: np.ndarray, ending: str, codec: str
) -> None:
    """Frames that others are made from come first, as in the file."""
    path = write_clip(tmp_path / f"a{ending}", pattern, codec=codec)
    read = read_picture(path)
    assert read
    picture, content = read
    copy = content.tobytes()
    assert picture.name.endswith(".mp4" if codec == "libx264" else ".webm")
    assert picture.size == len(copy) and b"better system" in path.read_bytes()
    for trace in (b"better system", b"x264", b"Lavc"):
        assert trace not in copy
    assert np.allclose(frame_times(io.BytesIO(copy)), frame_times(path), atol=0.002)
    with av.open(io.BytesIO(copy), "r") as container:
        assert len(container.streams.video) == 1 and not container.streams.audio


def test_same_picture_with_other_sound_is_one(tmp_path: Path) -> None:
    test = spec.load(write_video_test(tmp_path / "t", "ab", shared=True))
    copies = prepare(test, tmp_path / "t" / "prepared")
    for trial in test.trials:
        fine, rough = (copies[trial.sounds[system]] for system in ("fine", "rough"))
        assert fine.picture == rough.picture and fine.path != rough.path
        lengths = [len(soundfile.read(copy.path)[0]) for copy in (fine, rough)]
        assert lengths[0] == lengths[1] == pytest.approx(FRAMES / 25 * RATE, abs=0.01 * RATE)
    assert len({copy.picture for copy in copies.values()}) == 2  # one of each stimulus
    files = {path.suffix for path in (tmp_path / "t" / "prepared").iterdir()}
    assert files == {".flac", ".mp4", ".json"}
    assert prepare(test, tmp_path / "t" / "prepared") == copies


def test_turned_picture_is_another(tmp_path: Path, pattern: np.ndarray) -> None:
    path = write_clip(tmp_path / "a.mp4", pattern)
    (tmp_path / "b.mp4").write_bytes(turned(path.read_bytes()))
    upright, aside = read_picture(path), read_picture(tmp_path / "b.mp4")
    assert upright and aside and upright[0].name != aside[0].name
    with av.open(io.BytesIO(aside[1].tobytes()), "r") as container:
        assert next(container.decode(video=0)).rotation == -90


def test_mirrored_picture_is_another(tmp_path: Path, pattern: np.ndarray) -> None:
    """PyAV takes one that is flipped from top to bottom for one that is turned by 180 degrees."""
    path = write_clip(tmp_path / "a.mp4", pattern)
    names = []
    for number, matrix in enumerate([(-1, 0, 0, -1), (-1, 0, 0, 1), (1, 0, 0, -1)]):
        other = tmp_path / f"{number}.mp4"
        other.write_bytes(turned(path.read_bytes(), matrix))
        read = read_picture(other)
        assert read
        names.append(read[0].name)
    assert len(set(names)) == 3


def test_uneven_frame_times_stay(tmp_path: Path, pattern: np.ndarray) -> None:
    """As of a webcam: the first frame, which comes late, is seen from the beginning."""
    times = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.09, FRAMES))
    path = write_clip(tmp_path / "a.webm", pattern, times=times, codec="libvpx")
    read = read_picture(path)
    assert read
    copied_times = frame_times(io.BytesIO(read[1].tobytes()))
    assert copied_times[0] == 0 and np.allclose(copied_times[1:], times[1:], atol=0.002)


def test_anchor_of_mushra_has_picture_of_reference(tmp_path: Path) -> None:
    folder = write_video_test(tmp_path / "t", "mushra", shared=False)
    test = spec.load(folder)
    copies = prepare(test, folder / "prepared")
    for trial in test.trials:
        reference, anchor = (copies[trial.sounds[name]] for name in (REFERENCE, "anchor-3.5k"))
        assert anchor.picture == reference.picture and anchor.path != reference.path
        assert copies[trial.sounds["fine"]].picture != reference.picture


def silent(path: Path, pattern: np.ndarray) -> None:
    write_clip(path, pattern, frequency=0)


def cut(path: Path, pattern: np.ndarray) -> None:
    content = write_clip(path, pattern).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def joined(path: Path, pattern: np.ndarray) -> None:
    path.write_bytes(2 * write_clip(path, pattern).read_bytes())


def scrambled(path: Path, pattern: np.ndarray) -> None:
    content = bytearray(write_clip(path, pattern).read_bytes())
    start = content.index(b"mdat") + 600
    content[start : start + 400] = bytes(range(200)) * 2
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path, _: path.write_text("I am no video.\n" * 99), "cannot be read as video"),
        (lambda path, _: path.touch(), "is empty"),
        (lambda path, _: path.write_text("<!doctype html><p>Log in"), "it is a web page"),
        (cut, "never finished"),
        (joined, "Two recordings lie in this file"),
        (scrambled, "damaged or cut off"),
        (silent, "holds no sound"),
        (lambda path, few: write_clip(path, few[:1]), "single picture"),
        (lambda path, few: write_clip(path, few, codec="libx265"), "HEVC (H.265), which not every"),
        (lambda path, few: write_clip(path, few, pixels="yuv444p"), "H.264 with pixels of yuv444p"),
        (lambda path, few: write_clip(path, few, codec="mpeg4"), "MPEG-4, which not every browser"),
        (
            lambda path, few: write_clip(path, np.zeros((2, 1088, 7680, 3), np.uint8)),
            "7680 × 1088 pixels: 1920 to a side are the most",
        ),
        (
            lambda path, few: write_clip(
                path, few, times=3600 * np.arange(len(few)) / 6, seconds=1
            ),
            "longer than 60 s",
        ),
        (
            lambda path, few: write_clip(path, few, times=np.arange(len(few)) / 120),
            "more than 60 pictures a second",
        ),
    ],
)
def test_check_names_problem_of_video(
    tmp_path: Path, pattern: np.ndarray, make: Callable[[Path, np.ndarray], object], sentence: str
) -> None:
    """A hostile file gets a sentence that says what to do, of that file alone."""
    folder = write_video_test(tmp_path / "t", "acr", shared=True)
    path = folder / "fine" / "bird.mp4"
    path.unlink()
    make(path, pattern)
    problems = check(spec.load(folder))
    assert len(problems) == 1, problems
    assert problems[0].startswith("fine/bird.mp4: ") and sentence in problems[0]


def test_check_names_av1(tmp_path: Path, pattern: np.ndarray) -> None:
    # As root, the encoder lets the thread that calls it go before all other programs for good.
    with ThreadPoolExecutor(1) as thread:
        path = thread.submit(write_clip, tmp_path / "a.webm", pattern, codec="libsvtav1").result()
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    with pytest.raises(
        InputError, match=r"AV1, which not every browser plays\. Export it as H\.264"
    ):
        read_picture(path)


def test_sound_among_videos_is_named(tmp_path: Path) -> None:
    """A file without a picture is a sound, whatever its name says."""
    folder = write_video_test(tmp_path / "t", "acr", shared=True)
    for system in ("fine", "rough"):
        write_clip(folder / system / "bird.mp4", None, seconds=0.5)
    lines = check(spec.load(folder))
    assert lines == [
        f"{system}/bird.mp4: It has no picture, and others have one. Use videos throughout, or "
        "sounds."
        for system in ("fine", "rough")
    ]
    for system in ("fine", "rough"):
        write_clip(folder / system / "cat.mp4", None, seconds=0.5)
    assert check(spec.load(folder)) == []


def test_pictures_of_trial_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that differ are too much for a phone sooner than one that all share."""
    apart = spec.load(write_video_test(tmp_path / "apart", "mushra", shared=False, trials=1))
    shared = spec.load(write_video_test(tmp_path / "shared", "mushra", shared=True, trials=1))
    size = next(iter(prepare(shared, tmp_path / "copies").values())).picture
    assert size
    monkeypatch.setattr(pictures, "MAX_TRIAL_BYTES", 1.5 * size.size)
    monkeypatch.setattr(pictures, "MAX_PIXEL_RATE", 1.5 * 160 * 120 * 25)
    assert check(shared) == []
    problems = check(apart)
    assert len(problems) == 4
    assert "which a phone does not hold" in problems[0] and "bird" in problems[0]
    assert "run at once" in problems[1] and "strict: false" in problems[1]


def test_lost_picture_is_noticed(tmp_path: Path) -> None:
    test = spec.load(write_video_test(tmp_path / "t", "acr", shared=True))
    copy: Copy = next(iter(prepare(test, tmp_path / "copies").values()))
    assert copy.whole() and copy.picture_path
    copy.picture_path.unlink()
    assert not copy.whole()
    prepare(test, tmp_path / "copies")
    assert copy.whole()
