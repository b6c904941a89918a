"""The talking heads: a face that trackers find, a mouth that does what is said, and the films."""

import csv
from pathlib import Path

import av
import numpy as np
import pytest

from media.audio.features import SAMPLE_RATE
from media.audio.load import load
from media.errors import InputError
from media.text.grammar import grid_phones
from media.video import frames
from media.video.face import look
from media.video.lips import LIPS, follow
from synthetic.heads import HEADS
from synthetic.heads.film import RATE, Film, render, write
from synthetic.heads.mouth import Pose, poses
from synthetic.heads.speech import Phone
from synthetic.heads.talker import TALKERS

MOST_BYTES = 250_000


def mouth_at(sounds: str, number: int) -> Pose:
    """The mouth in the middle of one of some phones, 0.12 s each, between silences."""
    phones = [Phone(name, 0.5 + 0.12 * i, 0.62 + 0.12 * i) for i, name in enumerate(sounds.split())]
    times = np.arange(0, phones[-1].end + 0.5, 0.01)
    return poses(phones, times)[round((0.5 + 0.12 * (number + 0.5) - 0.03) * 100)]


def test_the_mouth_does_what_is_said() -> None:
    for sounds in ("AA B AA", "UW P IY", "AE M AY"):
        assert mouth_at(sounds, 1).opening < 0 < mouth_at(sounds, 2).opening
    assert mouth_at("EH F AO", 1).tuck > 0.6 > 0.2 > mouth_at("EH S AO", 1).tuck
    assert mouth_at("B UW T", 1).rounding > 0.6 > 0.1 > mouth_at("B IY T", 1).rounding
    assert mouth_at("T AA T", 1).jaw > mouth_at("T EH T", 1).jaw > mouth_at("T IY T", 1).jaw
    # Consonants that do not use the lips take the shape of the vowel beside them.
    assert mouth_at("UW T UW", 1).rounding > 0.5 > 0.1 > mouth_at("IY T IY", 1).rounding


@pytest.fixture(scope="module")
def film() -> Film:
    return render(TALKERS[0], "bin white at f five now", seed=1)


def test_a_sentence_is_rendered(film: Film) -> None:
    assert len(film.poses) == len(film.bearings) == len(film.waveform) * RATE // SAMPLE_RATE
    assert 2 < len(film.poses) / RATE < 4
    loud = np.flatnonzero(np.abs(film.waveform) > 0.02) / SAMPLE_RATE
    moving = np.flatnonzero([pose.jaw > 0.03 for pose in film.poses]) / RATE
    assert abs(moving[0] - loud[0]) < 0.15 and abs(moving[-1] - loud[-1]) < 0.25
    with pytest.raises(KeyError):
        render(TALKERS[0], "bin white at f five tomorrow")


def test_the_tracker_sees_the_mouth_that_was_drawn(film: Film) -> None:
    seen = look(film.frames(20, 55))
    assert seen.faces == 1
    assert np.isfinite(seen.points).mean() > 0.97
    points = follow(seen).points
    gaps = points[:, LIPS.index(14), 1] - points[:, LIPS.index(13), 1]
    drawn = [max(pose.opening, 0) for pose in film.poses[20:55]]
    assert np.corrcoef(gaps, drawn)[0, 1] > 0.8


def test_a_film_for_a_fake_camera(film: Film, tmp_path: Path) -> None:
    short = Film(film.talker, film.waveform, film.poses[:3], film.bearings[:3], film.rate)
    write(tmp_path / "camera.y4m", short)
    with av.open(str(tmp_path / "camera.y4m")) as container:
        assert container.streams.video[0].average_rate == RATE
        pictures = [picture.to_ndarray(format="rgb24") for picture in container.decode(video=0)]
    painted = [image for _, image in short.frames()]
    assert np.abs(np.array(pictures, float) - painted).mean() < 3
    with pytest.raises(InputError):
        load(tmp_path / "camera.y4m")


def test_the_films_are_there() -> None:
    """One by each talker, each listed, small, with sound, and with a sentence of the grammar."""
    with open(HEADS / "heads.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["talker"] for row in rows] == [talker.name for talker in TALKERS]
    assert {HEADS / row["file"] for row in rows} == set(HEADS.glob("*.mp4"))
    for row in rows:
        path = HEADS / row["file"]
        assert grid_phones(row["sentence"]) and row["licence"] == "CC0-1.0"
        assert path.stat().st_size <= MOST_BYTES
        times = np.array([time for time, _ in frames(path, 5)])
        assert np.allclose(np.diff(times), 1 / RATE, atol=1e-3)
        sound = load(path, SAMPLE_RATE)
        assert abs(len(sound.waveform) / SAMPLE_RATE - len(times) / RATE) < 0.15
        assert not sound.notices
