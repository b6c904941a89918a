"""The doors by which speech leaves: what is signed there, what is bare, and what is labelled."""

from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.media.audio.speech import LABEL, Origin, Speech
from earshot.provenance import keys, manifest
from earshot.provenance.detection import detect
from earshot.provenance.manifest import encode_speech
from earshot.provenance.mark import NO_MARK, mark_speech
from earshot.study.design.draft import Draft, DraftItem
from earshot.study.design.spec import load as load_test
from earshot.study.sounds.stimuli import prepare
from earshot.systems.plugged import checked_speech
from earshot.systems.voice_conversion.live.process import LiveProcesses
from earshot.tabs.components.comparison import Comparison, Source, Take
from earshot.tabs.components.lanes import Waveform
from earshot.tabs.components.timeline import SoundLanes, TimelineSpec
from earshot.tabs.shared.services import Tickets
from earshot.tabs.voice_conversion.live.server import SIGN, LiveServer
from earshot.tabs.voice_conversion.view import read_finished
from tests.support.stimuli import make_folder

RATE = 16_000
RECORDING = np.resize(load(ASSETS / "examples" / "woman-lighthouse.ogg").waveform, 5 * RATE)
MEL = np.zeros((500, 80), np.float32)
CONVERTED = Speech(RECORDING, RATE, MEL, 0.1, Origin("continuous"))


def live() -> TestClient:
    server = LiveServer(LiveProcesses(Path("none")), Tickets(), 1)
    return TestClient(Starlette(routes=server.routes()))


def test_recording_of_live_is_signed() -> None:
    marked = wav_bytes(mark_speech(RECORDING, RATE, keys.installation_number()), RATE)
    answer = live().post(SIGN, content=marked)
    assert answer.status_code == 200
    report = manifest.read(answer.content)
    assert (report.state, dict(report.facts)["model"]) == ("own", "live conversion")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (wav_bytes(RECORDING, RATE), 204),
        (wav_bytes(mark_speech(RECORDING, RATE, 77), RATE), 204),
        (b"no sound", 422),
        (b"", 422),
        (bytes(8_000_001), 413),
    ],
    ids=["unmarked", "elsewhere", "no sound", "empty", "long"],
)
def test_nothing_else_is_signed(content: bytes, status: int) -> None:
    assert live().post(SIGN, content=content).status_code == status


def test_other_sites_get_no_signature() -> None:
    answer = live().post(SIGN, content=b"", headers={"Origin": "https://elsewhere.example"})
    assert answer.status_code == 403


def test_speech_of_plug_ins_carries_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NO_MARK, "0")
    speech, _ = checked_speech("Your own system", (RECORDING.copy(), RATE), 5.0, 0.1)
    result = detect(encode_speech(speech, ".wav"))
    assert (result.manifest.state, result.verdict) == ("own", "here")
    assert result.mark.installation == keys.installation_number()
    assert "by the model Your own system" in result.answers[0]


def test_players_of_converted_speech_are_labelled() -> None:
    lanes = SoundLanes.of(CONVERTED)
    spec = TimelineSpec("", lanes.lanes("Converted"), [lanes.file("Converted", "converted")])
    assert str(spec.html()).count(f'title="{LABEL}"') == 1  # read out with the button
    assert f"{LABEL}</span>" in spec.html()  # and seen
    source = SoundLanes.of(Speech(RECORDING, RATE, MEL, 0.0))
    plain = TimelineSpec("", source.lanes("Source"), [source.file("Source", "source")])
    assert LABEL not in plain.html()
    assert (example := read_finished()) and LABEL in example.timeline(answer=False).html()


def test_sounds_of_a_blind_vote_are_bare() -> None:
    take = Take("continuous", CONVERTED, {})
    comparison = Comparison(Source(b"", [Waveform.of("", RECORDING, RATE)]), [take])
    assert manifest.read(comparison.content(take)).state == "own"
    assert LABEL in comparison.timeline().html()
    report = manifest.read(comparison.content(take.bare()))
    assert (report.state, report.comment) == ("none", "")


def test_drafts_keep_the_signature(tmp_path: Path) -> None:
    """The test that a visitor downloads; what raters of it hear is bare, as below."""
    draft = Draft()
    draft.add(DraftItem("ours", encode_speech(CONVERTED, ".wav"), wav_bytes(RECORDING, RATE), {}))
    draft.write(tmp_path)
    states = {path.parent.name: manifest.read(path).state for path in tmp_path.rglob("*.wav")}
    assert states == {"ours": "own", "reference": "none"}


def test_raters_hear_bare_sounds(tmp_path: Path) -> None:
    """Signed sounds of a system, and those of another that are not: copies tell nothing."""
    folder = make_folder(tmp_path / "test", "ab")
    for name in ("one", "two", "three"):
        (folder / "ours" / f"{name}.wav").write_bytes(encode_speech(CONVERTED, ".wav"))
        (folder / "theirs" / f"{name}.wav").write_bytes(wav_bytes(RECORDING, RATE))
    files = {copy.path for copy in prepare(load_test(folder), tmp_path / "copies").values()}
    assert len(files) == 6
    assert len({path.stat().st_size for path in files}) == 1
    assert {manifest.read(path).state for path in files} == {"none"}
    assert not any(b"c2pa" in path.read_bytes() for path in files)
