"""What is no recording, or too long or too large to be one, is refused with what to do."""

import io
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from earshot.core.errors import InputError
from earshot.media.audio.load import decode, load, wav_bytes
from earshot.media.samples import SAMPLE_RATES
from earshot.media.workers.audio import decode_audio
from tests.media.audio.recordings import encode, tone, video


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
        ("/", "is a folder"),
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
def test_load_refuses_what_is_no_recording(audio: object, message: str) -> None:
    """The message says what to do."""
    with pytest.raises(InputError, match=message):
        load(audio)  # pyrefly: ignore[bad-argument-type]


@pytest.mark.parametrize("name", ["secret.wav", "secret.mp3", "secret.m4a", "secret.webm"])
def test_load_refuses_text_named_as_audio(tmp_path: Path, name: str) -> None:
    """The message does not give away the name of the file."""
    path = tmp_path / name
    path.write_text("not a sound\n" * 200)
    with pytest.raises(InputError, match="cannot be read as audio") as error:
        load(path)
    assert "secret" not in str(error.value)


def test_load_refuses_file_with_nan() -> None:
    buffer = io.BytesIO()
    soundfile.write(buffer, np.full(16_000, np.nan), 16_000, format="WAV", subtype="FLOAT")
    with pytest.raises(InputError, match="not numbers"):
        load(buffer.getvalue())


def test_decode_audio_refuses_hour_unread(tmp_path: Path) -> None:
    """It reads little more of the file than the limit allows."""
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


def test_load_of_longest_recording_allows_padding() -> None:
    recording = load((16_000, np.zeros(round(16_000 * 60.1))))
    assert recording.seconds == 60


def test_load_with_other_limits_keeps_them() -> None:
    load((16_000, np.zeros(160)), min_seconds=0.01)
    with pytest.raises(InputError, match="longer than 1 s"):
        load(encode(tone(2), "webm", "libopus"), max_seconds=1)


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


def test_decode_refuses_samples_beyond_budget() -> None:
    bomb = many_channels(42)
    assert len(bomb) < 200_000
    with pytest.raises(InputError, match="too many samples"):
        decode(bomb, 600)
    # Mixed to mono block by block, it is as small as any other.
    assert load(bomb, max_seconds=600).seconds == pytest.approx(42, abs=0.01)
