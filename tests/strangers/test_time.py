"""Time is the file's: what begins late, stops, is joined or has several tracks."""

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.media.audio.load import load
from earshot.media.video import frames
from synthetic.videos import RATE, beep, onset, video_file

TOLERANCE = 0.02  # seconds
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
CONTAINERS = ["mp4", "mov", "matroska", "webm", "mpegts"]


@pytest.mark.parametrize(
    ("form", "options"),
    [*((form, {}) for form in (*CONTAINERS, "ogg", "adts")), ("mp4", FRAGMENTED)],
)
def test_priming_and_padding_are_no_sound(form: str, options: dict) -> None:
    """Xiph and ISO tell what encoders add; what ADTS and MPEG-TS cannot tell is at most 43 ms."""
    recording = load(video_file(form, [beep()], options=options))
    silent_about_it = 0.05 if form in ("adts", "mpegts", "matroska") or options else TOLERANCE
    assert recording.seconds == pytest.approx(3.0, abs=silent_about_it)
    assert onset(recording.waveform, 16_000) == pytest.approx(1.0, abs=silent_about_it)
    assert recording.notices == ()


@pytest.mark.parametrize("form", CONTAINERS)
def test_sound_beginning_late_keeps_its_time(form: str) -> None:
    """McCloudS/subgen#305: a word at 17.84 s was reported at 13.77 s."""
    recording = load(video_file(form, [beep()], picture_seconds=7.07, sound_from=4.07))
    assert onset(recording.waveform, 16_000) == pytest.approx(5.07, abs=0.04)
    assert recording.seconds == pytest.approx(7.07, abs=0.06)
    assert recording.notices == ()


@pytest.mark.parametrize("form", CONTAINERS)
def test_sound_lasts_as_long_as_picture(form: str) -> None:
    """McCloudS/subgen#305: a conversion of 5 s did not fit its video of 7 s any more."""
    assert load(video_file(form, [beep()], 7.0)).seconds == pytest.approx(7.0, abs=0.1)


@pytest.mark.parametrize("form", [*CONTAINERS, "ogg"])
def test_time_gap_is_silent_and_told(form: str) -> None:
    """SYSTRAN/faster-whisper#128: after a gap of 10 s everything was 10 s early."""
    recording = load(video_file(form, [beep(4, at=2.5)], 4.0 * (form != "ogg"), gap=(2.0, 10.0)))
    assert onset(recording.waveform, 16_000) == pytest.approx(12.5, abs=0.04)
    assert recording.seconds == pytest.approx(14.0, abs=0.1)
    assert recording.notices == ("The recording has gaps, 10.0 s in all: they are silent.",)


@pytest.mark.parametrize("form", [*CONTAINERS, "ogg", "mp3", "wav", "flac"])
def test_joined_recordings_are_read_whole(form: str) -> None:
    """streamproc/MediaStreamRecorder#44: of two recordings in one file the second was lost."""
    if form in ("mp3", "wav", "flac"):
        buffer = io.BytesIO()
        soundfile.write(buffer, beep(), RATE, format=form)
        one, other = buffer.getvalue(), buffer.getvalue()
    else:
        one, other = video_file(form, [beep()]), video_file(form, [beep(hz=600)])
    recording = load(one + other)
    assert recording.seconds == pytest.approx(6.0, abs=0.12)
    assert onset(recording.waveform[48_000:], 16_000) == pytest.approx(1.0, abs=0.12)
    assert recording.notices == ()


def test_chained_ogg_is_read_whole() -> None:
    """xiph/vorbis-tools: a stream of songs is a chain, each link with channels of its own."""
    links = []
    for channels in (1, 2):
        buffer = io.BytesIO()
        sound = np.repeat(beep()[:, None], channels, axis=1)
        soundfile.write(buffer, sound, RATE, format="OGG", subtype="VORBIS")
        links.append(buffer.getvalue())
    recording = load(b"".join(links))
    assert recording.seconds == pytest.approx(6.0, abs=TOLERANCE)
    assert onset(recording.waveform[48_000:], 16_000) == pytest.approx(1.0, abs=TOLERANCE)
    assert recording.notices == ()


@pytest.mark.parametrize("form", ["mp4", "mov", "matroska"])
@pytest.mark.parametrize(("default", "seconds"), [(None, 1), (1, 1), (2, 2)])
def test_default_or_audible_track_is_taken(form: str, default: int | None, seconds: int) -> None:
    """SubtitleEdit/subtitleedit#6110: of two tracks the first was taken, which was silent."""
    recording = load(video_file(form, [np.zeros(3 * RATE), beep(), beep(at=2)], default=default))
    assert onset(recording.waveform, 16_000) == pytest.approx(seconds, abs=0.03)
    assert recording.notices == (f"Of 3 audio tracks, number {seconds + 1} was used.",)


@pytest.mark.parametrize("form", ["mp4", "webm", "matroska", "mpegts"])
def test_picture_beginning_late_keeps_its_time(form: str, tmp_path: Path) -> None:
    """webadderallorg/Recordly#809: words were 2 s early where the picture began at 2 s."""
    path = tmp_path / f"late.{form}"
    path.write_bytes(video_file(form, [beep(5)], 3.0, picture_from=2.0))
    times = [frame.time for frame in frames(path, 30)]
    assert times[0] == pytest.approx(2.0, abs=0.03)
    assert len(times) == 75
    assert times[-1] == pytest.approx(4.96, abs=0.03)


@pytest.mark.parametrize("form", ["webm", "matroska", "mpegts", "mp4"])
def test_joined_videos_are_read_whole(form: str, tmp_path: Path) -> None:
    """w3c/mediacapture-record#195: 81 of 162 pictures were read, and nothing was said."""
    one = video_file(form, [beep(2)], 2.0)
    path = tmp_path / "two"
    path.write_bytes(one + one)
    times = [frame.time for frame in frames(path, 30)]
    assert len(times) == 100
    assert np.all(np.diff(times) > 0.01)
    assert times[-1] == pytest.approx(3.96, abs=0.15)
