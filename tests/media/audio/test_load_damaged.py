"""Files that end early, are damaged, or have a header that cannot be true."""

import pytest

from earshot.core.errors import InputError
from earshot.media.audio.load import load, wav_bytes
from tests.media.audio.recordings import encode, is_tone, tone


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
def test_load_of_truncated_file_notes_it(form: str, codec: str) -> None:
    """What is left of the file is used."""
    whole = encode(tone(4), form, codec)
    recording = load(whole[: len(whole) // 2])
    assert 0.9 < recording.seconds < 3
    assert is_tone(recording.waveform)
    assert len(recording.notices) == 1 and "damaged or ends early" in recording.notices[0]


def test_load_of_damaged_middle_notes_it() -> None:
    """The rest of the file is used."""
    data = bytearray(encode(tone(4), "flac", "flac"))
    fifth = len(data) // 5
    data[2 * fifth : 3 * fifth] = bytes(fifth)
    recording = load(bytes(data))
    assert recording.seconds > 2
    assert "damaged" in recording.notices[0]


def test_load_of_piped_wav_notes_nothing() -> None:
    """A program that writes to a pipe cannot tell the sizes in the header."""
    data = bytearray(wav_bytes(tone(rate=16_000), 16_000))
    data[4:8] = data[40:44] = b"\xff" * 4
    assert load(bytes(data)).notices == ()


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
def test_load_survives_impossible_wav_header(data: bytes) -> None:
    """The file is read, or refused as no audio."""
    try:
        assert load(data).seconds > 0
    except InputError as error:
        assert "audio" in str(error)
