"""Whether a file was made here, in words: both layers, where they agree and where they do not."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earshot.cli import detect as command
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.media.audio.speech import REFERENCE, Origin, Speech
from earshot.media.encode import encode_audio
from earshot.provenance import detection, keys
from earshot.provenance.detection import detect, notices_of_mark
from earshot.provenance.manifest import encode_speech
from earshot.provenance.mark import mark_speech

RATE = 16_000
RECORDING = np.resize(load(ASSETS / "examples" / "woman-lighthouse.ogg").waveform, 5 * RATE)


def conversion(number: int | None = None) -> Speech:
    """A conversion as systems give it; number: of the installation in its mark, 0 for no mark."""
    number = keys.installation_number() if number is None else number
    waveform = mark_speech(RECORDING, RATE, number) if number else RECORDING
    return Speech(waveform, RATE, np.zeros((0, 80)), 0.1, Origin("continuous", "", REFERENCE))


def test_conversion_of_this_installation() -> None:
    result = detect(encode_speech(conversion(), ".wav"))
    assert result.verdict == "here"
    assert result.answers[0].startswith("Signed by this installation on ")
    assert "by the model continuous, in the voice of a recording" in result.answers[0]
    assert "mark of this installation" in result.answers[1]
    assert len(result.answers) == 2


def test_mark_outlives_the_metadata() -> None:
    """As FFmpeg re-encodes to Opus, and leaves all metadata out."""
    speech = conversion()
    result = detect(encode_audio(speech.waveform, RATE, ".opus", "", 24_000))
    assert (result.verdict, result.manifest.state, result.manifest.comment) == ("here", "none", "")


def test_another_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("XDG_STATE_HOME", str(tmp_path))
        content = encode_speech(conversion(), ".flac")
    result = detect(content)
    assert result.verdict == "elsewhere"
    assert "another Earshot’s" in result.answers[0] and "another" in result.answers[1]


def test_nothing_proves_nothing() -> None:
    result = detect(wav_bytes(RECORDING, RATE))
    assert result.verdict == "nothing"
    assert any("does not prove that it is a recording" in answer for answer in result.answers)


def test_note_alone_is_a_claim() -> None:
    result = detect(encode_audio(RECORDING, RATE, ".ogg"))
    assert result.verdict == "claimed"
    assert "anybody can write" in result.answers[1]


def test_short_sound_says_so() -> None:
    result = detect(wav_bytes(RECORDING[:RATE], RATE))
    assert "lasts 1.0 s" in result.answers[-1]


@pytest.mark.parametrize(
    ("number", "sentence"), [(0, "carries no mark"), (1, "and the mark of another")]
)
def test_layers_that_disagree(number: int, sentence: str) -> None:
    result = detect(encode_speech(conversion(number), ".wav"))
    assert result.answers[-1].startswith("The two disagree: ") and sentence in result.answers[-1]


def test_changed_sound(tmp_path: Path) -> None:
    content = bytearray(encode_speech(conversion(), ".wav"))
    content[9_000] ^= 1
    result = detect(bytes(content))
    assert result.verdict == "here"  # by its mark
    assert "does not fit" in result.answers[0]


def test_facts_of_a_stranger_are_not_repeated() -> None:
    speech = conversion()
    forged = replace(speech, origin=Origin("x", voice="<b>anybody</b>"))
    assert "anybody" not in " ".join(detect(encode_speech(forged, ".wav")).answers)


def test_input_that_is_marked_is_noticed() -> None:
    assert notices_of_mark(conversion()) == (detection.INPUT_MARK,)
    assert notices_of_mark(conversion(number=0)) == ()


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "converted.wav").write_bytes(encode_speech(conversion(), ".wav"))
    (tmp_path / "recording.wav").write_bytes(wav_bytes(RECORDING, RATE))
    command.main([str(tmp_path), "--json"])
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["verdict"] for each in documents] == ["here", "nothing"]
    assert documents[0]["metadata"]["facts"]["voice"] == "reference"
    assert documents[0]["mark"]["installation"] == keys.installation_number()
    command.main([str(tmp_path / "recording.wav")])
    assert "does not prove that it is a recording" in capsys.readouterr().out
    (tmp_path / "text.wav").write_text("no sound")
    with pytest.raises(SystemExit, match="1 of 3"):
        command.main([str(tmp_path)])
    assert "cannot be read as audio" in capsys.readouterr().err


def test_videos_are_searched() -> None:
    result = detect(ASSETS / "heads" / "ada.mp4")
    assert result.verdict == "nothing" and result.seconds > 2
