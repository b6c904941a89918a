"""What a visitor's choice of voices gives a model, and how a voice of their own comes to be."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion import Converter, Voice, VoiceConversion
from earshot.tabs.shared.services import OWN, Services
from earshot.tabs.voice_conversion import tab
from earshot.tabs.voice_conversion.own_voice import (
    OwnVoice,
    OwnVoicePanel,
    ReferenceVoice,
    VoiceVisit,
)
from earshot.tabs.voice_conversion.speaking import Speaking
from tests.support.own_voice import visit_with_voice
from tests.support.systems import labels

RATE = 16_000
Models = Callable[[str], Converter]


@pytest.fixture(scope="module")
def models(tiny_checkpoints: Path) -> Models:
    return partial(VoiceConversion.from_pretrained, device="cpu", checkpoints=tiny_checkpoints)


@pytest.fixture
def visit() -> VoiceVisit:
    return visit_with_voice()


def somebody(path: Path) -> Path:
    """A recording of 12 s of something like vowels, which is no reading of anything."""
    time = np.arange(12 * RATE) / RATE
    tones = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 20))
    waveform = 0.1 * tones * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time))
    path.write_bytes(wav_bytes(np.asarray(waveform, np.float32), RATE))
    return path


def test_own_voice_needs_reading(models: Models, tmp_path: Path) -> None:
    pipeline: Any = models("continuous")
    with pytest.raises(InputError, match="Choose “Your voice” first"):
        OwnVoice(pipeline, str(somebody(tmp_path / "somebody.wav")), None)


def test_recording_without_drawn_text_is_refused(models: Models, tmp_path: Path) -> None:
    pipeline: Any = models("continuous")
    with gr.Blocks():
        panel = OwnVoicePanel()
    panel.pipeline = lambda: pipeline
    visit, request = VoiceVisit(), SimpleNamespace(session_hash="stranger")
    with pytest.raises(InputError, match="Choose “Your voice” first"):
        panel.recorded(str(somebody(tmp_path / "somebody.wav")), visit, request)  # type: ignore[arg-type]
    assert visit.own is None


def functions(page: gr.Blocks) -> set[str]:
    return {str(function.name) for function in page.fns.values()}


def page(models: Models, allow_reference: bool) -> gr.Blocks:
    return tab.build(
        Offer(models, labels("voice_conversion")), Services(allow_reference=allow_reference)
    )


def test_page_takes_anybodys_recording_if_allowed(models: Models) -> None:
    """What is not laid out has no number by which a request could name it."""
    closed, opened = (page(models, allowed) for allowed in (False, True))
    assert functions(opened) - functions(closed) == {"uploaded", "opened"}
    labels = [
        {part.label for part in each.blocks.values() if isinstance(part, gr.Audio | gr.Checkbox)}
        for each in (closed, opened)
    ]
    assert labels[1] - labels[0] == {
        "The person in the recording has agreed that I speak in their voice",
        "A recording of the voice, 10 to 30 s",
    }


def test_anybodys_recording_is_in_no_api(models: Models) -> None:
    closed, opened = (page(models, allowed).get_api_info() for allowed in (False, True))
    assert closed == opened


def test_anybodys_voice_needs_their_agreement(models: Models, tmp_path: Path) -> None:
    pipeline: Any = models("continuous")
    speech = np.tile(load(ASSETS / "voices" / "Vera.ogg", RATE).waveform, 4)
    path = tmp_path / "somebody.wav"
    path.write_bytes(wav_bytes(speech, RATE))
    recording = str(path)
    for agreed in (False, None, "yes"):
        with pytest.raises(InputError, match="agreed"):
            ReferenceVoice(pipeline, recording, agreed)  # type: ignore[arg-type]
    visit = VoiceVisit(own=ReferenceVoice(pipeline, recording, True))
    assert Speaking(OWN, visit=visit).arguments(pipeline)[0] is visit.voice
    assert Speaking(OWN, visit=visit).label == "the voice of a recording"


def test_speaking_as_card_takes_name(models: Models) -> None:
    assert Speaking("TF2").arguments(models("units-64"))[0] == "TF2"
    assert (Speaking("TF2").label, Speaking("TF2").target) == ("Tessa", "TF2")


def test_speaking_as_own_takes_visits_voice(models: Models, visit: VoiceVisit) -> None:
    assert Speaking(OWN, visit=visit).arguments(models("continuous"))[0] is visit.voice


@pytest.mark.parametrize("visit", [None, VoiceVisit()])
def test_speaking_as_unmade_own_is_refused(models: Models, visit: VoiceVisit | None) -> None:
    """The message says what to do."""
    with pytest.raises(InputError, match="Read the lines"):
        Speaking(OWN, visit=visit).arguments(models("continuous"))


def test_speaking_blended_lies_between_the_voices(models: Models, visit: VoiceVisit) -> None:
    model: Any = models("continuous")
    blend = Speaking("TF2", OWN, 0.25, visit=visit)
    voice = blend.arguments(model)[0]
    assert isinstance(voice, Voice)
    ends = model.voices["TF2"].pitch_mean, visit.voice.pitch_mean
    assert voice.pitch_mean == pytest.approx(0.75 * ends[0] + 0.25 * ends[1])
    assert blend.label == "Tessa 75% + your voice 25%"
    assert blend.target == "TF2 75% + yours 25%"
    assert Speaking("TF2", OWN, 0.0, visit=visit).arguments(model)[0] == "TF2"


def test_speaking_blended_by_five_voices_raises(models: Models) -> None:
    """A model of five voices cannot blend them."""
    with pytest.raises(InputError, match="cannot blend"):
        Speaking("TF2", "SF1", 0.5).arguments(models("vqvae-64"))


def test_speaking_predicts_intonation_if_needed(models: Models) -> None:
    """Some models cannot keep that of the source."""
    speaking = Speaking("TF2", vocoder="griffin-lim", intonation="keep")
    assert speaking.arguments(models("units-64")) == ("TF2", "griffin-lim", "keep")
    assert speaking.arguments(models("vqvae-64")) == ("TF2", "griffin-lim", "predicted")


def test_visits_keep_voices_of_their_own(visit: VoiceVisit) -> None:
    assert VoiceVisit().own is None
    visit.clear()
    assert visit.own is None


def test_texts_of_network_are_few(visit: VoiceVisit) -> None:
    """Who draws thousands finds one that fits a recording of somebody else: 22 to 31 a second."""
    with gr.Blocks():
        panel = OwnVoicePanel()
        panel.cards = gr.HTML()
    requests: Any = [SimpleNamespace(session_hash=str(i), request=None) for i in range(40)]
    first = VoiceVisit()
    for handler in (panel.chosen, *[panel.forgotten] * 20):  # without a voice, none is drawn anew
        texts = {panel_text(handler, first, requests[0]) for _ in range(2)}
        assert texts == {str(first.reading and first.reading.text)}
    sessions = [VoiceVisit() for _ in requests]
    *_, update = [panel.chosen(OWN, *each) for each in zip(sessions, requests, strict=True)]
    drawn = [each.reading.text for each in sessions if each.reading]
    assert len(drawn) == 4 and len({*drawn}) == 4
    assert "Try again in ten minutes" in str(update[panel.message])
    while visit.own:  # who has read one gets another
        panel.texts.give_back("")
        panel.forgotten(visit, requests[0])
    assert visit.reading and visit.reading.text not in drawn


def panel_text(handler: Any, visit: VoiceVisit, request: Any) -> str:
    """The text to read that a handler of the panel shows."""
    handler(*([OWN] if handler.__name__ == "chosen" else []), visit, request)
    return visit.reading.text if visit.reading else ""


def test_voice_forgotten_while_fitted_stays_forgotten(visit: VoiceVisit) -> None:
    request: Any = SimpleNamespace(session_hash="one", request=None)

    def fit(voice: Voice, *_: object) -> Voice:
        panel.forgotten(visit, request)
        return voice

    pipeline: Any = SimpleNamespace(fit=fit)
    with gr.Blocks():
        panel = OwnVoicePanel()
        panel.pipeline, panel.cards = lambda: pipeline, gr.HTML()
    assert panel.visit not in panel.fitted(visit)
    assert visit.own is None
