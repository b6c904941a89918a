"""SpeechT5 next to our conversion: what is heard, and what goes into a listening test."""

from pathlib import Path

import gradio as gr
import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.audio.load import wav_bytes
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.hub import HubPermission
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components import hub_picker
from earshot.tabs.components.hub_picker import HubModels
from earshot.tabs.components.timeline import SoundLanes
from earshot.tabs.voice_conversion import panels
from earshot.tabs.voice_conversion.panels import KIND, SPEECHT5, Baseline, BaselinePanel
from earshot.tabs.voice_conversion.view import ConversionResult

TONE = np.sin(np.arange(SAMPLE_RATE) / 9).astype(np.float32) / 4


class FakeBaseline:
    """Gives the voice's first number as the loudness."""

    def __call__(self, audio: bytes, voice: np.ndarray) -> object:
        assert audio.startswith(b"RIFF")
        return type("Made", (), {"converted": speech(TONE * voice[0])})


def speech(waveform: np.ndarray) -> Speech:
    return Speech(waveform, SAMPLE_RATE, features.log_mel(waveform), 0.1)


@pytest.fixture
def result() -> ConversionResult:
    """A conversion of a tone."""
    units = Units(np.zeros(50, int), 0.02, "units-64", "f")
    source = SoundLanes(wav_bytes(TONE / 2, SAMPLE_RATE), "wav", 1.0, "", (0.1, 0.2))
    ours = SoundLanes.of(speech(TONE))
    return ConversionResult(
        units, units, ("#000",), source, ours, "TF2", "Tessa", "griffin-lim", "1 unit"
    )


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch) -> BaselinePanel:
    monkeypatch.setattr(hub_picker, "fetch", lambda *_: Path())
    voices = {"bdl": np.array([1.0]), "slt": np.array([0.5])}

    def load(name: str, folder: Path) -> Baseline:
        return FakeBaseline(), voices  # type: ignore[return-value]

    with gr.Blocks():
        return BaselinePanel(HubModels(KIND, HubPermission(), load), gr.State(), None)


def test_convert_by_peer_makes_pair(panel: BaselinePanel, result: ConversionResult) -> None:
    """The pair is of one source, and goes into a listening test."""
    panel.load(SPEECHT5)
    pair = panel.convert(result, "slt")[panel.pair]
    ours, theirs = pair.draft_items()
    assert ours.stimulus == theirs.stimulus
    assert (ours.sound, theirs.system) == (result.converted.content, "SpeechT5 slt")
    assert theirs.sound != ours.sound and theirs.settings["model"] == SPEECHT5
    assert [track.name for track in pair.timeline().tracks] == ["Source", "Ours", "SpeechT5"]


def test_convert_by_peer_names_missing_steps(
    panel: BaselinePanel, result: ConversionResult
) -> None:
    with pytest.raises(InputError, match="Convert a recording first"):
        panel.convert(None, "bdl")
    with pytest.raises(InputError, match="not loaded. Load it first"):
        panel.convert(result, "bdl")
    panel.load(SPEECHT5)
    with pytest.raises(InputError, match="Choose one of bdl, slt"):
        panel.convert(result, "nobody")


def test_switched_off_baseline_panel_says_why() -> None:
    with gr.Blocks() as page:
        BaselinePanel(
            panels.baselines(HubPermission("They are switched off."), "cpu"), gr.State(), None
        )
    assert "They are switched off." in str(page.get_config_file())
