"""Sounds of every format, type, rate and number of channels, and what is noted about them."""

import io
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from earshot.media.audio.load import load
from earshot.media.workers import audio
from tests.media.audio.recordings import RATE, encode, is_tone, tone, video

FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "frag_duration": "500000"}


@pytest.mark.parametrize(
    ("form", "codec", "options"),
    [
        ("wav", "pcm_s16le", {}),
        ("wav", "pcm_u8", {}),
        ("wav", "pcm_s24le", {}),
        ("wav", "pcm_f32le", {}),
        ("aiff", "pcm_s16be", {}),
        ("flac", "flac", {}),
        ("ogg", "libopus", {}),
        ("mp3", "libmp3lame", {}),
        ("mp4", "aac", {}),
        ("mp4", "aac", FRAGMENTED),
        ("adts", "aac", {}),
        ("webm", "libopus", {}),
        ("webm", "libopus", {"live": "1"}),
    ],
)
def test_load_of_common_format_gives_sound(form: str, codec: str, options: dict) -> None:
    recording = load(encode(tone(), form, codec, options=options))
    assert recording.waveform.dtype == np.float32
    assert recording.sample_rate == 16_000
    assert recording.seconds == pytest.approx(2.0, abs=0.06)
    assert is_tone(recording.waveform)
    assert recording.notices == ()


def test_load_of_vorbis_path_gives_sound(tmp_path: Path) -> None:
    """The path may be text, too."""
    path = tmp_path / "a.ogg"
    soundfile.write(path, tone(), RATE, format="OGG", subtype="VORBIS")
    assert is_tone(load(path).waveform)
    assert is_tone(load(str(path)).waveform)


def test_load_of_video_gives_its_sound() -> None:
    recording = load(video(with_sound=True))
    assert is_tone(recording.waveform)
    assert recording.notices == ()


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "uint16", "int32", "float16", "float32", "float64"]
)
@pytest.mark.parametrize("channels", [0, 1, 2])
def test_load_of_any_array_gives_sound(dtype: str, channels: int) -> None:
    """Its numbers may be of any type, with or without channels."""
    samples = tone()
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        half = (limits.max - limits.min + 1) // 2
        samples = samples * (half - 1) + (half if limits.min == 0 else 0)
    samples = samples.astype(dtype)
    if channels:
        samples = np.repeat(samples[:, None], channels, axis=1)
    recording = load((RATE, samples))
    assert recording.seconds == 2.0
    assert is_tone(recording.waveform)
    assert recording.notices == ()


@pytest.mark.parametrize("rate", [11_025, 16_000, 22_050, 44_100, 192_000])
def test_load_of_any_sampling_rate_resamples(rate: int) -> None:
    recording = load((rate, tone(rate=rate)), sample_rate=24_000)
    assert recording.sample_rate == 24_000
    assert recording.seconds == pytest.approx(2.0, abs=1e-3)
    assert is_tone(recording.waveform, 24_000)


def test_load_of_telephone_speech_notes_bandwidth() -> None:
    recording = load((8_000, tone(rate=8_000)))
    assert is_tone(recording.waveform)
    assert len(recording.notices) == 1 and "above 4 kHz" in recording.notices[0]


def test_load_of_two_channels_gives_mean() -> None:
    channels = [tone(rate=16_000), tone(rate=16_000, level=0.1)]
    assert is_tone(load((16_000, np.stack(channels, axis=1))).waveform, level=0.2)


@pytest.mark.parametrize(("seconds", "track"), [(5.0, 3), (0.0, 1)])
def test_search_for_a_track_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, track: int
) -> None:
    """A hundred silent tracks would keep the decoder for minutes: the first is taken then."""
    monkeypatch.setattr(audio, "MAX_SEARCH", seconds)
    path = tmp_path / "a.mka"
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("pcm_s16le", rate=RATE, layout="mono") for _ in range(3)]
        for number, stream in enumerate(streams):
            samples = np.full((1, RATE), 5000 * (number == 2), np.int16)
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate = RATE
            for packet in [*stream.encode(frame), *stream.encode(None)]:
                container.mux(packet)
    with path.open("rb") as file:
        header, _ = [*audio.decode_audio(file, 60, mono=True)][-1]
    assert (header["track"], header["tracks"]) == (track, 3)


def test_load_of_an_offset_removes_it() -> None:
    recording = load((16_000, tone(rate=16_000) + 0.4))
    assert abs(recording.waveform.mean()) < 1e-4
    assert is_tone(recording.waveform)


def test_load_of_silence_notes_it() -> None:
    for samples in (np.zeros(16_000, np.int16), np.full(16_000, 0.5)):
        recording = load((16_000, samples))
        assert np.abs(recording.waveform).max() < 1e-6
        assert len(recording.notices) == 1 and "silent" in recording.notices[0]


def test_load_of_quiet_sound_notes_it() -> None:
    recording = load((16_000, tone(rate=16_000, level=0.01)))
    assert len(recording.notices) == 1 and "very quiet" in recording.notices[0]


@pytest.mark.parametrize(("form", "codec"), [("wav", "pcm_s16le"), ("mp3", "libmp3lame")])
def test_load_of_clipped_sound_notes_it(form: str, codec: str) -> None:
    recording = load(encode(np.clip(tone(level=20), -1, 1), form, codec))
    assert len(recording.notices) == 1 and "clipped" in recording.notices[0]
    assert np.abs(recording.waveform).max() <= 1


def test_load_at_full_scale_notes_nothing() -> None:
    assert load((16_000, tone(rate=16_000, level=1))).notices == ()


@pytest.mark.parametrize("form", ["adts", "mp4"])
def test_load_of_eight_channels_gives_mean(form: str) -> None:
    """They are planar, as AAC has them."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form) as container:
        stream = container.add_stream("aac", rate=RATE, layout="7.1")
        assert isinstance(stream, av.AudioStream)
        samples = np.repeat(tone()[None].astype(np.float32), 8, axis=0)
        for start in range(0, samples.shape[1] - 1024, 1024):
            packed = np.ascontiguousarray(samples[:, start : start + 1024].T).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(packed, format="flt", layout="7.1")
            frame.sample_rate, frame.pts = RATE, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    # The encoder leaves nothing at 440 Hz in the eighth channel, which is for low effects only.
    assert is_tone(load(buffer.getvalue()).waveform, level=0.27)
