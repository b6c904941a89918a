"""Files as recorders, editors and tag programs write them: what is in them is read, and said."""

import io
import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from benchmarks.files import CASES, Case, by_soundfile, row
from benchmarks.other_files import KINDS, Kind
from benchmarks.other_files import row as row_of_other
from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.media.audio.load import load, wav_bytes
from earshot.media.audio.voice_activity import words
from earshot.media.video import frames
from earshot.media.workers.video import decode_video
from synthetic.videos import RATE, beep, encoded, onset, video_file

TONE = beep().astype(np.float32)
WAV = wav_bytes(TONE, RATE)
CODECS = {  # of what may stand behind, or before, bytes that are no sound
    "wav": "pcm_s16le",
    "aiff": "pcm_s16be",
    "flac": "flac",
    "ogg": "flac",
    "mp3": "libmp3lame",
    "mp4": "aac",
    "webm": "libopus",
}
OLDER_CODECS = {"au": "pcm_s16be", "caf": "pcm_s16le", "voc": "pcm_s16le", "w64": "pcm_s16le"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.container} {case.codec}")
def test_row_of_the_table_is_right(case: Case) -> None:
    """All containers and codecs of docs/reliability.md."""
    assert row(case).endswith("| yes |")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.what)
def test_row_of_other_table_is_right(kind: Kind) -> None:
    """All other kinds of docs/reliability.md."""
    assert row_of_other(kind).endswith("| yes |")


def check_beep(data: bytes, notices: int = 0, seconds: float = 3.0) -> None:
    """Check that the beep is there, in its time and at its level."""
    recording = load(data)
    assert recording.seconds == pytest.approx(seconds, abs=0.03)
    assert onset(recording.waveform, 16_000) == pytest.approx(1.0, abs=0.03)
    assert np.abs(recording.waveform).max() == pytest.approx(0.5, abs=0.08)
    assert len(recording.notices) == notices, recording.notices


def sizes(riff: int, data: int) -> bytes:
    """The WAV file with other sizes in its header."""
    return WAV[:4] + struct.pack("<I", riff) + WAV[8:40] + struct.pack("<I", data) + WAV[44:]


@pytest.mark.parametrize(
    ("riff", "data"),
    [(4088, 0), (0, 0), (len(WAV), len(WAV)), (2**31 - 1, 2**31 - 1), (2**32 - 1, 2**32 - 1)],
)
def test_wav_with_wrong_sizes_is_whole(riff: int, data: int) -> None:
    """island-io/mila#151 (0, never finished), llfbandit/record#96 (44 too many),
    google/oboe#2108 (the largest integer)."""
    check_beep(sizes(riff, data))


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "PCM_U8", "FLOAT", "DOUBLE"])
def test_big_endian_wav_is_read(subtype: str) -> None:
    """mackron/dr_libs#210, scipy/scipy#13387: RIFX, which was read as noise, without a word."""
    check_beep(by_soundfile("WAV", subtype, "BIG"))


def test_big_endian_wav_behaves_as_others() -> None:
    """mackron/dr_libs#210, streamproc/MediaStreamRecorder#44: it may be joined, and be cut."""
    whole = by_soundfile("WAV", "PCM_16", "BIG")
    assert load(2 * whole).seconds == pytest.approx(6.0, abs=0.02)
    assert "ends early" in load(whole[: len(whole) // 2]).notices[0]


@pytest.mark.parametrize(
    ("order", "between"),
    [("LITTLE", b""), ("LITTLE", b"LIST\4\0\0\0INFO"), ("BIG", b"LIST\0\0\0\4INFO")],
)
def test_wav_of_several_blocks_is_whole(order: str, between: bytes) -> None:
    """FFmpeg reads the last of them only."""
    whole = by_soundfile("WAV", "PCM_16", order)
    start = whole.index(b"data")
    several = whole + between + whole[start:]
    expected = load(whole)
    recording = load(several)
    assert recording.seconds == pytest.approx(2 * expected.seconds) and recording.notices == ()
    np.testing.assert_allclose(
        recording.waveform[: len(expected.waveform) - 500], expected.waveform[:-500], atol=1e-3
    )
    assert "ends early" in load(several[: -len(whole) // 4]).notices[0]
    assert load(2 * several).seconds > expected.seconds  # joined as well: the last block of each


def test_wav_behind_a_tag_of_mp3_is_read() -> None:
    """As programs for tags write them, which know MP3 only."""
    tag = b"ID3\4\0\0" + bytes([0, 0, 3, 16]) + bytes(400)
    check_beep(tag + WAV)
    assert "ends early" in load(tag + WAV[: len(WAV) // 2]).notices[0]


@pytest.mark.parametrize(("form", "codec"), CODECS.items())
def test_recording_behind_zeros_is_read(form: str, codec: str) -> None:
    """As a recorder leaves where it meant to write; it was called damaged."""
    recording = encoded(form, codec, beep())
    for zeros in (1, 512, 70_000):
        check_beep(bytes(zeros) + recording)
    if form == "wav":
        with pytest.raises(InputError):
            load(bytes(512) + recording[100:])


@pytest.mark.parametrize(("form", "codec"), CODECS.items())
@pytest.mark.parametrize("sent", [b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"], ids=repr)
def test_recording_behind_text_of_a_script_is_read(form: str, codec: str, sent: bytes) -> None:
    """As a page in PHP sends it whose file has a mark, or an empty line; it was called damaged."""
    check_beep(sent + encoded(form, codec, beep()))


@pytest.mark.parametrize(("form", "codec"), (CODECS | OLDER_CODECS).items())
def test_zeros_behind_recording_are_no_damage(form: str, codec: str) -> None:
    """As disks and recorders fill up the last block; it was called damaged."""
    recording = encoded(form, codec, beep())
    for zeros in (4099, 300_000):
        check_beep(recording + bytes(zeros))
    if form in ("wav", "ogg"):
        assert "ends early" in load(recording[: len(recording) // 2] + bytes(9000)).notices[0]


def test_tag_behind_mp4_is_no_damage() -> None:
    """Programs for tags write ID3 behind any file; it was called damaged."""
    recording = encoded("mp4", "aac", beep())
    check_beep(recording + b"TAG" + b"x" * 125)
    with pytest.raises(InputError, match="never finished"):
        load(recording[: len(recording) // 2] + b"TAG" + b"x" * 125)


@pytest.mark.parametrize(("form", "codec"), OLDER_CODECS.items())
@pytest.mark.parametrize("tag", [b"TAG" + b"x" * 125, b"APETAGEX" + b"x" * 24], ids=["ID3", "APE"])
def test_tag_behind_older_format_is_no_sound(form: str, codec: str, tag: bytes) -> None:
    """It was heard as a click behind an AU file, and a CAF file was called damaged."""
    check_beep(encoded(form, codec, beep()) + tag)


def test_au_of_unknown_or_older_length_is_heard() -> None:
    """Of a pipe, and of a recorder that wrote the header now and then: up to the last sound."""
    recording = encoded("au", "pcm_s16be", beep())
    check_beep(recording[:8] + struct.pack(">I", 2**32 - 1) + recording[12:])
    check_beep(recording[:8] + struct.pack(">I", 1000) + recording[12:], seconds=1.5)


def test_chunk_of_adobe_is_no_damage() -> None:
    """Audition and Premiere write _PMX behind the sound; it was taken for sound that is lost."""
    text = b"<?xpacket" + b" " * 99_991
    check_beep(WAV + b"_PMX" + struct.pack("<I", len(text)) + text)


def test_sinfonia_is_not_encrypted() -> None:
    """A title in which there is the name of the box of encryption."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mov") as container:
        container.metadata["title"] = "sinfonia 40"
        stream = container.add_stream("aac", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(TONE[None], format="fltp", layout="mono")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    check_beep(buffer.getvalue())


@pytest.mark.parametrize("name", [b"LIST", b"note"])
def test_odd_chunk_without_its_last_byte_is_passed(name: bytes) -> None:
    """The sound was looked for a byte too late, and not found."""
    odd = name + b"\5\0\0\0INFOx"
    check_beep(WAV[:12] + odd + WAV[12:])
    check_beep(WAV[:36] + odd + WAV[36:])
    check_beep(WAV[:36] + odd + b"\0" + WAV[36:])
    assert "ends early" in load(WAV[:36] + odd + WAV[36 : len(WAV) // 2]).notices[0]


@pytest.mark.parametrize("form", ["wav", "webm", "ogg", "mp4"])
def test_recording_that_ended_at_once_is_empty(form: str) -> None:
    """A head without sound, as of a recorder that was stopped as it began, is not damaged."""
    codec = {"wav": "pcm_s16le", "webm": "libopus", "ogg": "flac", "mp4": "aac"}[form]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form) as container:
        container.add_stream(codec, rate=RATE, layout="mono")
        container.start_encoding()
    with pytest.raises(InputError, match="The recording is empty"):
        load(buffer.getvalue())


def test_encrypted_recording_is_called_one() -> None:
    """Of a shop or a streaming service: FFmpeg makes noise of it, or says that it is damaged."""
    key = {"encryption_key": "00" * 16, "encryption_kid": "11" * 16}
    options = {"encryption_scheme": "cenc-aes-ctr", **key}
    encrypted = encoded("mp4", "aac", beep(), container_options=options)
    for content in (encrypted, b"\0\0\0\x1cftypaax " + encrypted[12:]):
        with pytest.raises(InputError, match="encrypted"):
            load(content)
    check_beep(encoded("mp4", "aac", beep()))


def test_w64_that_breaks_off_says_so() -> None:
    """Plachtaa/Seed-VC#59."""
    whole = by_soundfile("W64", "PCM_16")
    assert load(whole).notices == () and "ends early" in load(whole[:-150_000]).notices[0]


@pytest.mark.parametrize(
    ("form", "codec"),
    [("caf", "pcm_s16le"), ("voc", "pcm_u8"), ("voc", "pcm_s16le"), ("flv", "libmp3lame")],
)
def test_broken_off_older_format_says_so(form: str, codec: str) -> None:
    """Plachtaa/Seed-VC#59, in older formats: half of them passed for the whole."""
    whole = encoded(form, codec, np.tile(TONE, 2), 44_100)
    assert load(whole).notices == ()
    for end in (len(whole) // 2, len(whole) - 600):
        assert "ends early" in load(whole[:end]).notices[0]


def test_broken_off_fragmented_mp4_says_so() -> None:
    """Plachtaa/Seed-VC#59: the parts that had come by then passed for the whole."""
    fragments = {"movflags": "frag_keyframe+empty_moov", "frag_duration": "500000"}
    whole = video_file("mp4", [beep()], options=fragments)
    assert load(whole).notices == ()
    assert "ends early" in load(whole[: 2 * len(whole) // 3]).notices[0]


def test_rf64_wav_is_read() -> None:
    """godotengine/godot-proposals#14975: RF64, whose sizes have 64 bits."""
    buffer = io.BytesIO()
    soundfile.write(buffer, TONE, RATE, format="RF64")
    check_beep(buffer.getvalue())


@pytest.mark.parametrize("codec", ["adpcm_ima_wav", "adpcm_ms", "pcm_mulaw", "pcm_alaw", "g722"])
def test_wav_of_a_telephone_is_read(codec: str) -> None:
    """googleapis/nodejs-speech#621, rochars/wavefile#11: voicemail in IMA ADPCM and u-law."""
    check_beep(encoded("wav", codec, beep(), 16_000 if codec == "g722" else RATE))


def id3(size: int) -> bytes:
    """An ID3v2 tag of so many bytes, as of a cover."""
    packed = bytes((size >> shift) & 127 for shift in (21, 14, 7, 0))
    return b"ID3\x03\x00\x00" + packed + b"\xff\xfb" * (size // 2) + bytes(size % 2)


@pytest.mark.parametrize("before", [0, 1_700_000])
@pytest.mark.parametrize("after", [b"", id3(4000), b"TAG" + bytes(125), b"APETAGEX" + bytes(300)])
def test_mp3_between_tags_is_read(before: int, after: bytes) -> None:
    """MusicPlayerDaemon/MPD#2328 (a large cover), Zeugma440/atldotnet#282 (a tag at the end)."""
    head = id3(before) if before else b""
    check_beep(head + encoded("mp3", "libmp3lame", beep()) + after)


@pytest.mark.parametrize("after", [b"", b"TAG" + bytes(125)])
def test_flac_with_mp3_tags_is_read(after: bytes) -> None:
    """tinytag/tinytag#46, xiph/flac#523: ID3 before and behind a FLAC file."""
    check_beep(id3(4000) + encoded("flac", "flac", beep()) + after)


@pytest.mark.parametrize("frames_flag", [0, 1])
def test_mp3_with_wrong_table_is_whole(frames_flag: int) -> None:
    """JamesHeinrich/getID3#41: a Xing table with a length that is three times the file's."""
    data = bytearray(encoded("mp3", "libmp3lame", beep()))
    table = data.find(b"Xing") if b"Xing" in data[:4096] else data.find(b"Info")
    count = int.from_bytes(data[table + 8 : table + 12], "big")
    data[table + 8 : table + 12] = (3 * count).to_bytes(4, "big")
    if not frames_flag:
        data[table : table + 4] = b"Xing"
    check_beep(bytes(data))


def test_trimmed_mp4_follows_its_edit_list() -> None:
    """polimediaupv/paella#260, HandBrake/HandBrake#568: what was cut off was counted."""
    source, trimmed = io.BytesIO(video_file("mp4", [beep(5, at=3)])), io.BytesIO()
    with av.open(source, "r") as whole, av.open(trimmed, "w", format="mp4") as cut:
        stream = whole.streams.audio[0]
        copy = cut.add_stream_from_template(stream)
        for packet in whole.demux(stream):
            assert stream.time_base
            if packet.dts is None or packet.pts is None or packet.pts * stream.time_base < 1.97:
                continue
            shift = round(2 / stream.time_base)
            packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, copy
            cut.mux(packet)
    check_beep(trimmed.getvalue())


@pytest.mark.parametrize("channels", [2, 6, 16])
def test_sound_in_one_channel_is_as_loud(channels: int) -> None:
    """ThePandemoniumInstitute/botc-release#96 (a microphone at the left input of two),
    Nevcairiel/LAVFilters#598 (a voice in the centre): quieter, or “very quiet”, by the others."""
    samples = np.random.default_rng(0).standard_normal((len(TONE), channels)) * 1e-3
    samples[:, channels // 2] += TONE
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="FLOAT")
    for source in (file.getvalue(), (RATE, samples.astype(np.float32))):
        recording = load(source)
        assert onset(recording.waveform, 16_000) == pytest.approx(1.0, abs=0.01)
        assert np.abs(recording.waveform).max() == pytest.approx(0.5, abs=0.02)
        assert recording.notices == ()


def test_format_follows_content_not_name(tmp_path: Path) -> None:
    """jherby2k/AudioWorks#34: MP3 files that are called .wav."""
    path = tmp_path / "a.wav"
    path.write_bytes(encoded("mp3", "libmp3lame", beep()))
    assert load(path).seconds == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbf\r\n<HTML><head>", "a web page"),
        (b"<?xml version='1.0'?><Error/>", "a web page"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(99), "an archive"),
        (b"\x93NUMPY\1\0v\0{'descr': '<f4'}", "array of NumPy"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nhi", "subtitles"),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "a picture"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(999), "a picture"),
        (b"\2#!SILK_V3" + bytes(99), "WeChat"),
        (b"\0\5\x16\7\0\2\0\0Mac OS X        " + bytes(99), "macOS"),
        (b"SQLite format 3\0" + bytes(99), "Audacity"),
        (b"%PDF-1.7\n\x80", "a document"),
        ("{„error“: “expired”}".encode(), "it is text"),
        (bytes(9999), "nothing but zeros"),
    ],
)
def test_what_is_no_recording_is_named(content: bytes, message: str) -> None:
    """clld/apics#89, Xmader/musescore-dataset#3: what was downloaded was no sound; messages of
    WeChat, projects of Audacity, what a synchronised folder has for a file, or macOS beside it."""
    with pytest.raises(InputError, match=message):
        load(content)
    with pytest.raises(InputError, match=message):
        list(frames(content, 30))  # pyrefly: ignore[bad-argument-type]


def test_git_lfs_pointer_is_called_one() -> None:
    """CheyneyComputerScience/CREMA-D#3: “Invalid data found”, for a file that was never fetched."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:c6f94b\nsize 72862\n"
    with pytest.raises(InputError, match="git lfs pull"):
        load(pointer)


@pytest.mark.parametrize("offset", [0.1, -0.5])
def test_microphone_offset_does_not_hide_speech(offset: float) -> None:
    """nyumaya/nyumaya_audio_recognition#2, ebongard/renfield#1212: DC 32 dB over the room."""
    time = np.arange(16_000) / 16_000
    phase = 2 * np.pi * np.cumsum(120 + 40 * np.sin(7 * time)) / 16_000
    voice = sum(
        np.cos(k * phase) * np.exp(-(((120 * k - 900 - 600 * np.sin(9 * time)) / 500) ** 2))
        for k in range(1, 25)
    )
    sound = 0.01 * np.concatenate([np.zeros(8000), voice, np.zeros(8000)])
    sound += 1e-5 * np.random.default_rng(0).standard_normal(len(sound))
    [expected] = words(load((16_000, sound)).waveform)
    [segment] = words(load((16_000, sound + offset)).waveform)
    assert segment == pytest.approx(expected, abs=0.011)


def test_time_of_a_broadcast_may_wrap() -> None:
    """video-dev/hls.js#6892: MPEG-TS counts to 2^33, and begins again."""
    wrap = 2**33 / 90_000
    data = video_file("mpegts", [beep()], 3.0, sound_from=wrap - 2.5, picture_from=wrap - 2.5)
    recording = load(data)
    assert recording.seconds == pytest.approx(3.0, abs=0.1)
    assert onset(recording.waveform, 16_000) == pytest.approx(1.0, abs=0.06)
    assert recording.notices == ()


def test_album_cover_is_no_video(tmp_path: Path) -> None:
    """parshap/node-ffmetadata#20: the cover was taken for the picture."""
    path = tmp_path / "cover.mp3"
    path.write_bytes(encoded("mp3", "libmp3lame", beep(), cover=True))
    check_beep(path.read_bytes())
    with pytest.raises(InputError, match="cannot be read as video"):
        list(frames(path, 30))


def test_changing_rate_keeps_pitch_and_time() -> None:
    """Sendspin/sendspin-python-cli#180: after a change of the rate the pitch was wrong."""
    links = []
    for rate in (RATE, 22_050):
        buffer = io.BytesIO()
        time = np.arange(2 * rate) / rate
        sound = 0.5 * np.sin(2 * np.pi * 440 * time)
        soundfile.write(buffer, sound, rate, format="OGG", subtype="VORBIS")
        links.append(buffer.getvalue())
    recording = load(b"".join(links))
    assert recording.seconds == pytest.approx(4.0, abs=0.02)
    for part in (recording.waveform[8000:24_000], recording.waveform[40_000:56_000]):
        assert np.argmax(np.abs(np.fft.rfft(part))) == pytest.approx(440, abs=1)


def test_sphere_file_called_wav_is_read(tmp_path: Path) -> None:
    """zzw922cn/Automatic_Speech_Recognition#2, pytorch/audio#868: TIMIT is NIST SPHERE."""
    head = (
        "NIST_1A\n   1024\nchannel_count -i 1\nsample_rate -i 48000\nsample_n_bytes -i 2\n"
        f"sample_byte_format -s2 01\nsample_coding -s3 pcm\nsample_count -i {len(TONE)}\nend_head\n"
    )
    path = tmp_path / "SA1.WAV"
    path.write_bytes(head.encode().ljust(1024) + WAV[44:])
    assert load(path).seconds == 3.0
    check_beep(path.read_bytes())


@pytest.mark.parametrize(
    ("form", "codec"), [("wv", "wavpack"), ("voc", "pcm_u8"), ("au", "pcm_s16be")]
)
def test_older_formats_are_read(form: str, codec: str) -> None:
    """rabitt/pysox and libsndfile read them: WavPack, Creative's VOC, Sun's AU."""
    check_beep(encoded(form, codec, beep()))


def test_disk_without_permissions_takes_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OCR-D/core#1366: chmod is not permitted on CIFS, nor on exFAT."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    for content in (b"first", b"second"):
        write(tmp_path / "result", content)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"second"]


def test_recording_longer_than_its_header_says_so() -> None:
    """dancasimiro/WAV.jl#109, pasrom/meeting-transcriber#384: a recorder writes the header now and
    then, and ended before the last time."""
    size = 2 * RATE
    for riff in (size + 36, len(WAV) - 8):
        recording = load(sizes(riff, size))
        assert recording.notices or recording.seconds == pytest.approx(3.0, abs=0.1)
    tagged = WAV + b"LIST" + struct.pack("<I", 60_000) + bytes(60_000)
    check_beep(tagged[:4] + struct.pack("<I", len(tagged) - 8) + tagged[8:])


def test_mono_and_stereo_parts_are_all_heard() -> None:
    """mixxxdj/mixxx#568, MusicPlayerDaemon/MPD#1200: advertisements in podcasts."""
    time = np.arange(RATE) / RATE
    for form, codec in (("mp3", "libmp3lame"), ("adts", "aac")):
        parts = {}
        for layout, hz in (("mono", 440), ("stereo", 880)):
            buffer = io.BytesIO()
            options = {"write_xing": "0"} if form == "mp3" else {}
            with av.open(buffer, "w", format=form, options=options) as container:
                stream = container.add_stream(codec, rate=RATE, layout=layout)
                assert isinstance(stream, av.AudioStream)
                tone = np.round(16_000 * np.sin(2 * np.pi * hz * time)).astype(np.int16)
                samples = np.repeat(tone, 2 if layout == "stereo" else 1)[None]
                frame = av.AudioFrame.from_ndarray(samples, "s16", layout)
                frame.sample_rate = RATE
                container.mux([*stream.encode(frame), *stream.encode(None)])
            parts[layout] = buffer.getvalue()
        for order in (("mono", "stereo"), ("stereo", "mono", "stereo")):
            recording = load(b"".join(parts[layout] for layout in order))
            assert recording.seconds == pytest.approx(len(order), abs=0.2), (form, order)
            assert recording.notices == ()
            for number, layout in enumerate(order):
                part = recording.waveform[16_000 * number + 4000 :][:8000]
                hz = 2 * np.argmax(np.abs(np.fft.rfft(part)))
                assert hz == pytest.approx(440 if layout == "mono" else 880, abs=4)


def test_length_that_a_pipe_left_open_is_no_damage() -> None:
    """sonic-visualiser/sonic-visualiser#125: the header of WMA knows no length, and FFmpeg guesses
    it."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

    pipe = Pipe()
    with av.open(pipe, "w", format="asf") as container:
        stream = container.add_stream("wmav2", rate=44_100, layout="mono")
        assert isinstance(stream, av.AudioStream)
        stream.bit_rate = 96_000
        frame = av.AudioFrame.from_ndarray(beep(5.0).astype(np.float32)[None], "fltp", "mono")
        frame.sample_rate = RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])
    recording = load(pipe.getvalue())
    assert recording.notices == ()
    assert recording.seconds == pytest.approx(5.0, abs=0.1)


def video(form: str, codec: str, *sizes: tuple[int, int], cover: bool = False) -> bytes:
    """A video that is red at its left, green at its top, in one size after the other; cover: behind
    a picture that is not marked as what it is."""
    buffer, packets = io.BytesIO(), []
    with av.open(buffer, "w", format=form) as container:
        if cover:
            still = container.add_stream("mjpeg", rate=1)
            assert isinstance(still, av.VideoStream)
            still.width, still.height, still.pix_fmt = 32, 32, "yuvj420p"
            picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), "rgb24")
            packets += [*still.encode(picture), *still.encode(None)]
        stream = container.add_stream(codec, rate=25)
        assert isinstance(stream, av.VideoStream)
        for number, (width, height) in enumerate(sizes):
            encoder = stream if number == 0 else av.VideoCodecContext.create(codec, "w")
            assert isinstance(encoder, av.VideoStream | av.VideoCodecContext)
            encoder.width, encoder.height, encoder.pix_fmt = width, height, "yuv420p"
            if number:
                encoder.time_base = stream.codec_context.time_base
            image = np.zeros((height, width, 3), np.uint8)
            image[:, : width // 4, 0] = image[: height // 4, :, 1] = 255
            for k in range(11):
                frame = av.VideoFrame.from_ndarray(image, "rgb24") if k < 10 else None
                for packet in encoder.encode(frame):
                    packet.stream, packet.pts = stream, (packet.pts or 0) + 10 * number
                    packet.dts = packet.pts
                    packets.append(packet)
        container.mux(packets)
    return buffer.getvalue()


def images_of(data: bytes) -> list[np.ndarray]:
    return [image for _, image in decode_video(io.BytesIO(data), 30.0, 30.0, 640)]


def sides(image: np.ndarray) -> tuple[str, str]:
    """Where the picture is red, and where it is green."""
    red, green = (image[..., channel] > 128 for channel in (0, 1))
    right = red[:, image.shape[1] // 2 :].mean() > red[:, : image.shape[1] // 2].mean()
    below = green[image.shape[0] // 2 :].mean() > green[: image.shape[0] // 2].mean()
    return ("right" if right else "left", "below" if below else "above")


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ((1, 0, 0, 1), ("left", "above")),
        ((-1, 0, 0, 1), ("right", "above")),  # mirrored, as a front camera does
        ((1, 0, 0, -1), ("left", "below")),
        ((-1, 0, 0, -1), ("right", "below")),  # turned by 180 degrees
    ],
)
def test_mirrored_picture_is_mirrored(
    matrix: tuple[int, int, int, int], expected: tuple[str, str]
) -> None:
    """NextLevel/NextLevel#250: programs that read the rotation only turn the face upside down."""
    data = bytearray(video("mp4", "mpeg4", (64, 48)))
    place = data.index(b"tkhd") + 4 + 40
    a, b, c, d = (value << 16 for value in matrix)
    data[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    assert sides(images_of(bytes(data))[0]) == expected


def test_picture_in_front_of_video_is_passed() -> None:
    """mutagen#661: not every program marks a cover."""
    assert len(images_of(video("matroska", "mpeg4", (64, 48), cover=True))) == 10


@pytest.mark.parametrize(
    ("aspect", "shape"), [("4:3", (240, 426)), ("16:15", (240, 342)), ("99:1", (240, 320))]
)
def test_pixels_need_not_be_square(aspect: str, shape: tuple[int, int]) -> None:
    """streamyfin/streamyfin#1785, TNTwise/REAL-Video-Enhancer#236: faces of camcorders and of DVDs
    were narrow. Some files tell of pixels that no camera has."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(*map(int, aspect.split(":")))
        for _ in range(5):
            black = np.zeros((240, 320, 3), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(black, format="rgb24")))
        container.mux(stream.encode(None))
    pictures = [picture for _, picture in decode_video(buffer, 10, 30, 640)]
    assert {picture.shape[:2] for picture in pictures} == {shape}


def test_size_of_picture_may_change() -> None:
    """ant-media/Ant-Media-Server#5631, bvibber/OGVKit#132: WebRTC sends smaller ones over a slow
    network; mouths were smoothed over pixels of both."""
    images = images_of(video("webm", "libvpx", (64, 48), (32, 24), (128, 96)))
    assert len(images) == 30
    assert {image.shape for image in images} == {(48, 64, 3)}
    assert {sides(image) for image in images} == {("left", "above")}
