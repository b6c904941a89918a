"""Synthetic heads: the tracker finds the face, the mouth follows the phones."""

import csv
from pathlib import Path

import av
import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import grid_phones
from earshot.media.video import frames
from earshot.media.video.face import track_face
from earshot.media.video.lips import crop_mouth
from synthetic.heads import HEADS
from synthetic.heads.__main__ import SENTENCES, unseen_sentences
from synthetic.heads.mouth import Pose, poses
from synthetic.heads.speaker import SPEAKERS, UNSEEN_SPEAKERS
from synthetic.heads.speech import Phone
from synthetic.heads.video import RATE, RenderedVideo, render, write

pytestmark = pytest.mark.slow

MAX_VIDEO_BYTES = 250_000


def mouth_at(sounds: str, number: int) -> Pose:
    """The mouth in the middle of one of some phones, 0.12 s each, between silences."""
    phones = [Phone(name, 0.5 + 0.12 * i, 0.62 + 0.12 * i) for i, name in enumerate(sounds.split())]
    times = np.arange(0, phones[-1].end + 0.5, 0.01)
    return poses(phones, times)[round((0.5 + 0.12 * (number + 0.5) - 0.03) * 100)]


def test_poses_show_viseme_of_each_phone() -> None:
    for sounds in ("AA B AA", "UW P IY", "AE M AY"):
        assert mouth_at(sounds, 1).opening < 0 < mouth_at(sounds, 2).opening
    assert mouth_at("EH F AO", 1).tuck > 0.6 > 0.2 > mouth_at("EH S AO", 1).tuck
    assert mouth_at("B UW T", 1).rounding > 0.6 > 0.1 > mouth_at("B IY T", 1).rounding
    assert mouth_at("T AA T", 1).jaw > mouth_at("T EH T", 1).jaw > mouth_at("T IY T", 1).jaw
    # Consonants that do not use the lips take the shape of the vowel next to them.
    assert mouth_at("UW T UW", 1).rounding > 0.5 > 0.1 > mouth_at("IY T IY", 1).rounding


@pytest.fixture(scope="module")
def video() -> RenderedVideo:
    return render(SPEAKERS[0], "bin white at f five now", seed=1)


def test_rendered_mouth_moves_with_the_audio(video: RenderedVideo) -> None:
    assert len(video.poses) == len(video.bearings) == len(video.waveform) * RATE // SAMPLE_RATE
    assert 2 < len(video.poses) / RATE < 4
    loud = np.flatnonzero(np.abs(video.waveform) > 0.02) / SAMPLE_RATE
    moving = np.flatnonzero([pose.jaw > 0.03 for pose in video.poses]) / RATE
    assert abs(moving[0] - loud[0]) < 0.15 and abs(moving[-1] - loud[-1]) < 0.25
    with pytest.raises(KeyError):
        render(SPEAKERS[0], "bin white at f five tomorrow")


def test_tracked_lip_gap_follows_rendered_one(video: RenderedVideo) -> None:
    seen = track_face(video.frames(20, 55))
    assert seen.faces == 1
    assert np.isfinite(seen.points).mean() > 0.97
    outline = crop_mouth(seen).outline
    gaps = outline[:, 14, 1] - outline[:, 13, 1]
    predicted = [max(pose.opening, 0) for pose in video.poses[20:55]]
    assert np.corrcoef(gaps, predicted)[0, 1] > 0.8


def test_y4m_has_frames_only(video: RenderedVideo, tmp_path: Path) -> None:
    """A video for a fake camera has the frames and no audio."""
    short = RenderedVideo(
        video.speaker, video.waveform, video.poses[:3], video.bearings[:3], video.rate
    )
    write(tmp_path / "camera.y4m", short)
    with av.open(str(tmp_path / "camera.y4m")) as container:
        assert container.streams.video[0].average_rate == RATE
        pictures = [picture.to_ndarray(format="rgb24") for picture in container.decode(video=0)]
    rendered = [image for _, image in short.frames()]
    assert np.abs(np.array(pictures, float) - rendered).mean() < 3
    with pytest.raises(InputError):
        load(tmp_path / "camera.y4m")


def test_example_videos_are_of_grammar() -> None:
    """One by each speaker, each listed, small, with sound, and with a sentence of the grammar."""
    with open(HEADS / "heads.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    speakers = {speaker.name: "yes" for speaker in SPEAKERS}
    speakers |= {speaker.name: "no" for speaker in UNSEEN_SPEAKERS}
    assert {row["speaker"]: row["in_training"] for row in rows} == speakers
    sentences = SENTENCES | unseen_sentences()
    assert {row["speaker"]: row["sentence"] for row in rows} == sentences
    assert {HEADS / row["file"] for row in rows} == set(HEADS.glob("*.mp4"))
    for row in rows:
        path = HEADS / row["file"]
        assert grid_phones(row["sentence"]) and row["licence"] == "CC0-1.0"
        assert path.stat().st_size <= MAX_VIDEO_BYTES
        times = np.array([time for time, _ in frames(path, 5)])
        assert np.allclose(np.diff(times), 1 / RATE, atol=1e-3)
        sound = load(path, SAMPLE_RATE)
        assert abs(len(sound.waveform) / SAMPLE_RATE - len(times) / RATE) < 0.15
        assert not sound.notices
