"""Signed metadata: what is written, and what is read from files that are whole, changed, damaged or
hostile."""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import c2pa
import numpy as np
import pytest

from earshot.media.audio.load import decode_mono
from earshot.media.audio.speech import MADE_BY, REFERENCE, Origin, Speech
from earshot.media.encode import encode_audio
from earshot.media.workers import manifest as worker
from earshot.provenance import keys, manifest
from earshot.provenance.manifest import encode_speech, of_input, read

RATE = 16_000
ORIGIN = Origin("continuous", "ab" * 32, REFERENCE, ("words", "timing"))
WAVEFORM = (0.1 * np.sin(np.arange(RATE) / 7)).astype(np.float32)
SPEECH = Speech(WAVEFORM, RATE, np.zeros((100, 80), np.float32), 0.1, ORIGIN)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """In another installation, of which undo() ends."""
    with monkeypatch.context() as context:
        context.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
        yield context


@pytest.mark.parametrize("ending", [".wav", ".mp3", ".flac", ".m4a"])
def test_speech_is_signed(ending: str) -> None:
    report = read(encode_speech(SPEECH, ending))
    assert (report.state, report.generator, report.comment) == ("own", "Earshot", MADE_BY)
    assert dict(report.facts) == {
        "model": "continuous",
        "weights_sha256": "ab" * 32,
        "voice": "reference",
        "preserved": "words, timing",
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report.when)


def test_c2pa_itself_finds_it_valid() -> None:
    """As a reader that knows nothing of us does."""
    document = json.loads(
        c2pa.Reader("audio/wav", io.BytesIO(encode_speech(SPEECH, ".wav"))).json()
    )
    assert document["validation_state"] == "Valid"
    assert [each["code"] for each in document["validation_status"]] == [
        "signingCredential.untrusted"
    ]
    (action,) = document["manifests"][document["active_manifest"]]["assertions"][-1]["data"][
        "actions"
    ]
    assert action["digitalSourceType"].endswith("compositeWithTrainedAlgorithmicMedia")


def test_sound_is_that_of_the_unsigned_file() -> None:
    content = decode_mono(encode_speech(SPEECH, ".wav"), 10.0)
    assert np.abs(content.waveform - WAVEFORM).max() < 1e-4


@pytest.mark.parametrize("ending", [".ogg", ".opus"])
def test_ogg_has_the_comment_alone(ending: str) -> None:
    report = read(encode_speech(SPEECH, ending))
    assert (report.state, report.comment) == ("none", MADE_BY)


def test_recordings_are_bare() -> None:
    report = read(encode_speech(replace(SPEECH, origin=None), ".wav"))
    assert (report.state, report.comment) == ("none", "")


def test_another_installation(elsewhere: pytest.MonkeyPatch) -> None:
    content = encode_speech(SPEECH, ".wav")
    assert read(content).state == "own"
    elsewhere.undo()
    assert read(content).state == "other"


def test_another_program(elsewhere: pytest.MonkeyPatch) -> None:
    """Whoever signs with a key of their own is not taken for an Earshot."""
    own = keys.installation()
    info = c2pa.C2paSignerInfo(b"es256", own.chain, own.key, None)
    action = {"action": "c2pa.created", "digitalSourceType": manifest.CONVERTED}
    definition = {
        "claim_generator_info": [{"name": "Other <b>" + "x" * 9000}],
        "assertions": [{"label": "c2pa.actions", "data": {"actions": [action]}}],
    }
    source, signed = io.BytesIO(encode_audio(WAVEFORM, RATE, ".wav", "")), io.BytesIO()
    c2pa.Builder(definition).sign(c2pa.Signer.from_info(info), "audio/wav", source, signed)
    elsewhere.undo()
    report = read(signed.getvalue())
    assert (report.state, len(report.generator)) == ("stranger", worker.MAX_TEXT)
    assert "signed by Other" in of_input(signed.getvalue())[1][0]


def test_nothing_is_fetched() -> None:
    """A manifest that lies at an address is not asked for there."""
    own, source = keys.installation(), io.BytesIO(encode_audio(WAVEFORM, RATE, ".wav", ""))
    builder, file = c2pa.Builder(manifest._manifest(ORIGIN, False)), io.BytesIO()
    builder.set_no_embed()
    builder.set_remote_url("http://127.0.0.1:9/c2pa")
    info = c2pa.C2paSignerInfo(b"es256", own.chain, own.key, None)
    builder.sign(c2pa.Signer.from_info(info), "audio/wav", source, file)
    assert b"127.0.0.1" in file.getvalue()
    assert read(file.getvalue()).state in ("none", "unreadable")


def test_changed_sound_is_invalid() -> None:
    content = bytearray(encode_speech(SPEECH, ".wav"))
    content[5_000] ^= 1
    report = read(bytes(content))
    assert report.state == "invalid"
    archive, notices = of_input(bytes(content))
    assert not archive and "does not fit" in notices[0]


@pytest.mark.parametrize("size", [-100, -1_000, 33_000])
def test_truncated(size: int) -> None:
    assert read(encode_speech(SPEECH, ".wav")[:size]).state in ("unreadable", "none", "invalid")


@pytest.mark.parametrize("seed", range(4))
def test_damaged_manifests(seed: int) -> None:
    """Bytes anywhere in the metadata are changed: it is invalid, and the app goes on."""
    content = bytearray(encode_speech(SPEECH, ".wav"))
    rng = np.random.default_rng(seed)
    for place in rng.integers(2 * RATE + 200, len(content), 20):
        content[place] ^= int(rng.integers(1, 256))
    assert read(bytes(content)).state in ("invalid", "unreadable", "none")


@pytest.mark.parametrize("size", [0, 2**31 - 1, 2**32 - 1, 30_000_000])
def test_hostile_sizes(size: int) -> None:
    """A chunk, and boxes in it, that say that they are larger than any memory, or that are."""
    chunk = b"C2PA" + size.to_bytes(4, "little")
    box = (8 + 30_000_000).to_bytes(4, "big") + b"jumb" + b"\x00\x00\x00\x10jumb" * 3 + b"c2pa"
    filling = bytes(30_000_000) if size == 30_000_000 else b""
    content = encode_audio(WAVEFORM, RATE, ".wav", "") + chunk + box + filling
    assert read(content).state in ("unreadable", "none", "invalid")


@pytest.mark.parametrize(
    "content", [b"", b"c2pa", b"RIFFc2pa", b"ID3c2pa" * 1000, b"\0\0\0\x18ftypc2pa"]
)
def test_what_is_no_sound(content: bytes) -> None:
    assert read(content).state in ("none", "unreadable")


def test_source_becomes_an_ingredient(elsewhere: pytest.MonkeyPatch) -> None:
    source = encode_speech(SPEECH, ".flac")
    elsewhere.undo()
    archive, (notice,) = of_input(source)
    assert "another installation" in notice
    origin = replace(ORIGIN, ingredient=archive)
    content = encode_speech(replace(SPEECH, origin=origin), ".mp3")
    assert read(content).state == "own"
    document = json.loads(c2pa.Reader("audio/mpeg", io.BytesIO(content)).json())
    active = document["manifests"][document["active_manifest"]]
    assert [each["relationship"] for each in active["ingredients"]] == ["parentOf"]
    assert len(document["manifests"]) == 2
    assert "title" not in active["ingredients"][0]  # no name of a file


def test_broken_ingredient_is_left_out() -> None:
    content = encode_speech(replace(SPEECH, origin=replace(ORIGIN, ingredient=b"none")), ".wav")
    assert read(content).state == "own"


def test_without_c2pa(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "INSTALLED", False)
    report = read(encode_speech(SPEECH, ".wav"))
    assert (report.state, report.comment) == ("none", MADE_BY)
    assert of_input(encode_speech(SPEECH, ".wav")) == (b"", (manifest.TAGGED,))


def test_reader_without_c2pa(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ImportError

    monkeypatch.setattr(worker, "_verified", missing)
    content = io.BytesIO(encode_speech(SPEECH, ".wav"))
    ((header, archive),) = worker.read_manifest(content, "", True)
    assert (header["state"], header["comment"], archive.size) == ("unknown", MADE_BY, 0)


def test_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(keys.KEY, str(tmp_path / "lost.key"))
    monkeypatch.setenv(keys.CHAIN, str(tmp_path / "lost.pem"))
    report = read(encode_speech(SPEECH, ".wav"))
    assert (report.state, report.comment) == ("none", MADE_BY)
