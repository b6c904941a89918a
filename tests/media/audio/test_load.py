"""Decoding, checks and loudness, on files made here in the formats that visitors bring."""

import io
import wave
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from media.audio.decode import decode
from media.audio.load import load, loudness, match_loudness, to_int16, wav_bytes
from media.audio.samples import SAMPLE_RATES
from media.errors import InputError
from media.workers.audio import decode_audio

RATE = 48_000
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "frag_duration": "500000"}


def tone(seconds: float = 2.0, rate: int = RATE, level: float = 0.3) -> np.ndarray:
    return level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


def encode(
    waveform: np.ndarray, form: str, codec: str, rate: int = RATE, options: dict | None = None
) -> bytes:
    """A stereo file of the waveform (T,) in the container and codec."""
    buffer = io.BytesIO()
    samples = np.repeat(to_int16(waveform), 2)[None]
    frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="stereo")
    frame.sample_rate = rate
    with av.open(buffer, "w", format=form, options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "stereo"
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return buffer.getvalue()


def video(with_sound: bool) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="webm") as container:
        picture = container.add_stream("libvpx", rate=10)
        picture.width, picture.height, picture.pix_fmt = 32, 32, "yuv420p"
        sound = container.add_stream("libopus", rate=RATE, layout="mono") if with_sound else None
        for _ in range(20):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        if sound:
            frame = av.AudioFrame.from_ndarray(to_int16(tone())[None], format="s16", layout="mono")
            frame.sample_rate = RATE
            container.mux([*sound.encode(frame), *sound.encode(None)])
    return buffer.getvalue()


def is_tone(waveform: np.ndarray, rate: int = 16_000, level: float = 0.3) -> bool:
    """Whether the middle of the waveform is a 440 Hz tone of that level."""
    middle = waveform[len(waveform) // 4 : len(waveform) // 4 + rate // 2]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    frequency = np.argmax(spectrum) * rate / len(middle)
    return bool(abs(frequency - 440) < 4 and abs(np.sqrt(2 * np.mean(middle**2)) - level) < 0.03)


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
def test_load_of_any_common_format_gives_the_sound(form: str, codec: str, options: dict) -> None:
    recording = load(encode(tone(), form, codec, options=options))
    assert recording.waveform.dtype == np.float32
    assert recording.sample_rate == 16_000
    assert recording.seconds == pytest.approx(2.0, abs=0.06)
    assert is_tone(recording.waveform)
    assert recording.notices == ()


def test_load_of_a_vorbis_file_by_its_path_gives_the_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.ogg"
    soundfile.write(path, tone(), RATE, format="OGG", subtype="VORBIS")
    assert is_tone(load(path).waveform)
    assert is_tone(load(str(path)).waveform)


def test_load_of_a_video_gives_its_sound() -> None:
    recording = load(video(with_sound=True))
    assert is_tone(recording.waveform)
    assert recording.notices == ()


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "uint16", "int32", "float16", "float32", "float64"]
)
@pytest.mark.parametrize("channels", [0, 1, 2])
def test_load_of_an_array_of_any_type_gives_the_sound(dtype: str, channels: int) -> None:
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


def test_load_of_telephone_speech_notes_its_bandwidth() -> None:
    recording = load((8_000, tone(rate=8_000)))
    assert is_tone(recording.waveform)
    assert len(recording.notices) == 1 and "above 4 kHz" in recording.notices[0]


def test_load_of_two_channels_gives_their_mean() -> None:
    recording = load((16_000, np.stack([tone(rate=16_000), np.zeros(32_000)], axis=1)))
    assert is_tone(recording.waveform, level=0.15)


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


def test_load_of_full_scale_notes_no_clipping() -> None:
    assert load((16_000, tone(rate=16_000, level=1))).notices == ()


@pytest.mark.parametrize(
    ("form", "codec"),
    [
        ("wav", "pcm_s16le"),
        ("flac", "flac"),
        ("ogg", "libopus"),
        ("mp3", "libmp3lame"),
        ("adts", "aac"),
        ("webm", "libopus"),
    ],
)
def test_load_of_a_truncated_file_uses_the_rest_and_notes_it(form: str, codec: str) -> None:
    whole = encode(tone(4), form, codec)
    recording = load(whole[: len(whole) // 2])
    assert 0.9 < recording.seconds < 3
    assert is_tone(recording.waveform)
    assert len(recording.notices) == 1 and "damaged or ends early" in recording.notices[0]


def test_load_of_a_file_with_a_damaged_middle_uses_the_rest_and_notes_it() -> None:
    data = bytearray(encode(tone(4), "flac", "flac"))
    fifth = len(data) // 5
    data[2 * fifth : 3 * fifth] = bytes(fifth)
    recording = load(bytes(data))
    assert recording.seconds > 2
    assert "damaged" in recording.notices[0]


def test_load_of_a_wav_written_to_a_pipe_notes_nothing() -> None:
    data = bytearray(wav_bytes(tone(rate=16_000), 16_000))
    data[4:8] = data[40:44] = b"\xff" * 4
    assert load(bytes(data)).notices == ()


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        (None, "no recording yet"),
        (b"", "empty"),
        (b"This is a text and nothing else.\n" * 100, "cannot be read as audio"),
        (b"#EXTM3U\n#EXTINF:5,\nfile:///etc/passwd\n", "cannot be read as audio"),
        (bytes(1000), "cannot be read as audio"),
        (wav_bytes(np.zeros(0), 16_000), "cannot be read as audio|empty"),
        (encode(tone(), "mp4", "aac")[:5000], "cannot be read as audio"),
        (video(with_sound=False), "holds no sound"),
        ("http://localhost/a.wav", "no longer there"),
        ((16_000, np.zeros(0)), "empty"),
        ((16_000, np.zeros(800)), "too short"),
        ((16_000, np.zeros(16_000 * 61)), "longer than 60 s"),
        ((16_000, np.full(16_000, np.nan)), "not numbers"),
        ((16_000, np.array([np.inf, 0.1] * 8000)), "not numbers"),
        ((16_000, np.zeros((16_000, 2, 2))), "shape"),
        ((16_000, np.zeros(16_000, complex)), "integers or floats"),
        ((0, np.zeros(16_000)), "sampling rate of 0 Hz"),
        ((SAMPLE_RATES[1] + 1, np.zeros(400_000)), "sampling rate"),
    ],
)
def test_load_of_what_is_no_recording_says_what_to_do(audio: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(audio)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", ["secret.wav", "secret.mp3", "secret.m4a", "secret.webm"])
def test_load_of_text_named_as_audio_is_refused_without_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("not a sound\n" * 200)
    with pytest.raises(InputError, match="cannot be read as audio") as error:
        load(path)
    assert "secret" not in str(error.value)


def test_load_of_nan_in_a_file_is_refused() -> None:
    buffer = io.BytesIO()
    soundfile.write(buffer, np.full(16_000, np.nan), 16_000, format="WAV", subtype="FLOAT")
    with pytest.raises(InputError, match="not numbers"):
        load(buffer.getvalue())


def test_decode_audio_of_an_hour_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hour.wav"
    data = bytearray(wav_bytes(np.zeros(16_000), 16_000))
    data[40:44] = (2 * 16_000 * 3600).to_bytes(4, "little")
    data[4:8] = (2 * 16_000 * 3600 + 36).to_bytes(4, "little")
    path.write_bytes(data)
    with path.open("r+b") as file:
        file.truncate(44 + 2 * 16_000 * 3600)

    class Counted(io.FileIO):
        count = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(-1 if size is None else size)
            Counted.count += len(data)
            return data

    with (
        Counted(str(path)) as file,
        pytest.raises(InputError, match="longer than 60 s"),
    ):
        list(decode_audio(file, 60, mono=True))
    assert Counted.count < 2 * 16_000 * 90


def test_load_of_the_longest_recording_allows_padding() -> None:
    recording = load((16_000, np.zeros(round(16_000 * 60.1))))
    assert recording.seconds == 60


def test_load_with_other_limits_keeps_them() -> None:
    load((16_000, np.zeros(160)), min_seconds=0.01)
    with pytest.raises(InputError, match="longer than 1 s"):
        load(encode(tone(2), "webm", "libopus"), max_seconds=1)


def test_wav_bytes_with_a_comment_hold_it_and_the_same_sound() -> None:
    plain, tagged = wav_bytes(tone(), RATE), wav_bytes(tone(), RATE, comment="made by a test")
    with av.open(io.BytesIO(tagged)) as container:
        assert container.metadata["comment"] == "made by a test"
    np.testing.assert_array_equal(load(tagged).waveform, load(plain).waveform)
    assert int.from_bytes(tagged[4:8], "little") == len(tagged) - 8


def test_wav_bytes_loaded_again_are_the_same_sound() -> None:
    waveform = tone(rate=16_000).astype(np.float32)
    data = wav_bytes(waveform, 16_000)
    with wave.open(io.BytesIO(data)) as file:
        assert file.getparams()[:4] == (1, 2, 16_000, len(waveform))
    assert np.abs(load(data).waveform - waveform).max() < 1e-4


def test_to_int16_of_values_outside_clips() -> None:
    assert to_int16(np.array([-2.0, -1.0, 0.0, 1.0, 2.0])).tolist() == [
        -32767,
        -32767,
        0,
        32767,
        32767,
    ]


def test_loudness_of_the_standards_tone_is_the_standards() -> None:
    """BS.1770: a 997 Hz tone at full scale in one channel has -3.01 LKFS."""
    waveform = np.sin(2 * np.pi * 997 * np.arange(RATE * 5) / RATE)
    assert loudness(waveform, RATE) == pytest.approx(-3.01, abs=0.05)
    assert loudness(waveform[: RATE // 5], RATE) == pytest.approx(-3.01, abs=0.1)
    assert loudness(np.zeros(RATE), RATE) == -np.inf


def test_match_loudness_reaches_the_target_or_the_peak() -> None:
    waveform = tone(rate=16_000).astype(np.float32)
    matched = match_loudness(waveform, 16_000, -23)
    assert matched.dtype == np.float32
    assert loudness(matched, 16_000) == pytest.approx(-23, abs=0.05)
    assert np.abs(match_loudness(waveform, 16_000, 20)).max() == pytest.approx(10 ** (-1 / 20))
    assert not np.any(match_loudness(waveform, 16_000, -np.inf))
    assert not np.any(match_loudness(np.zeros(16_000), 16_000, -23))


def many_channels(seconds: int) -> bytes:
    """A small FLAC of silence that is large once decoded: 8 channels at 192 kHz."""
    buffer, rate = io.BytesIO(), 192_000
    with av.open(buffer, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=rate)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "7.1"
        for _ in range(seconds):
            silence = np.zeros((1, 8 * rate), np.int16)
            frame = av.AudioFrame.from_ndarray(silence, format="s16", layout="7.1")
            frame.sample_rate = rate
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def test_decode_of_more_samples_than_the_budget_is_refused() -> None:
    bomb = many_channels(42)
    assert len(bomb) < 200_000
    with pytest.raises(InputError, match="too many samples"):
        decode(bomb, 600)
    # Mixed to mono block by block, it is as small as any other.
    assert load(bomb, max_seconds=600).seconds == pytest.approx(42, abs=0.01)


@pytest.mark.parametrize("form", ["adts", "mp4"])
def test_load_of_eight_planar_channels_gives_their_mean(form: str) -> None:
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


def wav_header(format_tag: int, bits: int) -> bytes:
    """A WAV file that claims this format and so many bits a sample."""
    data = bytearray(wav_bytes(tone(0.5, 16_000), 16_000))
    data[20:22] = format_tag.to_bytes(2, "little")
    data[34:36] = bits.to_bytes(2, "little")
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [wav_header(1, 0), wav_header(0xFFFE, 16), wav_header(0x9999, 16), wav_header(1, 65_535)],
    ids=["no bits", "extensible", "unknown codec", "65535 bits"],
)
def test_load_of_a_wav_with_an_impossible_header_is_read_or_refused(data: bytes) -> None:
    try:
        assert load(data).seconds > 0
    except InputError as error:
        assert "audio" in str(error)
