"""What a visitor's choice of voices gives a model."""

from pathlib import Path

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.pipelines.voice_conversion import Voice
from earshot.pipelines.voice_conversion.converters import Converters
from earshot.tabs.voice_conversion.targets import OWN, Speaking, Target, VoiceVisit


@pytest.fixture(scope="module")
def models(tiny_checkpoints: Path) -> Converters:
    return Converters(tiny_checkpoints, "cpu")


@pytest.fixture
def visit() -> VoiceVisit:
    vector = np.linspace(-1, 1, 8).astype(np.float32)
    return VoiceVisit(voice=Voice("your voice", vector, 5.0, 0.2))


def test_target_of_a_card_is_its_name(models: Converters) -> None:
    assert Target("TF2").of(models("units-64")) == "TF2"
    assert Target("TF2").label == "TF2"


def test_target_of_the_own_card_is_the_voice_of_the_visit(
    models: Converters, visit: VoiceVisit
) -> None:
    assert Target(OWN, visit=visit).of(models("continuous")) is visit.voice


@pytest.mark.parametrize("visit", [None, VoiceVisit()])
def test_target_of_the_own_card_before_it_was_made_says_what_to_do(
    models: Converters, visit: VoiceVisit | None
) -> None:
    with pytest.raises(InputError, match="Read the lines"):
        Target(OWN, visit=visit).of(models("continuous"))


def test_target_blended_lies_between_the_voices(models: Converters, visit: VoiceVisit) -> None:
    model = models("continuous")
    blend = Target("TF2", OWN, 0.25, visit)
    voice = blend.of(model)
    assert isinstance(voice, Voice) and visit.voice
    ends = model.voices["TF2"].pitch_mean, visit.voice.pitch_mean  # type: ignore[index]
    assert voice.pitch_mean == pytest.approx(0.75 * ends[0] + 0.25 * ends[1])
    assert blend.label == "TF2 75% + your voice 25%"
    assert Target("TF2", OWN, 0.0, visit).of(model) == "TF2"


def test_target_blended_by_a_model_of_five_voices_raises(models: Converters) -> None:
    with pytest.raises(InputError, match="cannot blend"):
        Target("TF2", "SF1", 0.5).of(models("vqvae-64"))


def test_speaking_predicts_the_intonation_where_a_model_cannot_keep_it(
    models: Converters,
) -> None:
    speaking = Speaking(Target("TF2"), "griffin-lim", "keep")
    assert speaking.choices(models("units-64")) == ("TF2", "griffin-lim", "keep")
    assert speaking.choices(models("vqvae-64")) == ("TF2", "griffin-lim", "predicted")


def test_visits_keep_voices_of_their_own(visit: VoiceVisit) -> None:
    other = VoiceVisit()
    assert other.voice is None
    visit.clear()
    assert visit.voice is None
