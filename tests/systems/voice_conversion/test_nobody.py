"""Nobody's voice: far from everybody's, new at each draw, evened, or refused."""

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earshot.cli.convert import main as convert
from earshot.core.errors import InputError
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import wav_bytes
from earshot.media.audio.speech import NOBODY, Origin, Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.nobody import (
    MAX_LIKE_SHIPPED,
    MAX_LIKE_SOURCE,
    Strangers,
    even_tempo,
)
from earshot.pretrained.voice import Nobody, Voice
from earshot.provenance.manifest import encode_speech, read
from earshot.systems.voice_conversion import AnyVoiceConversion, VQVAEConversion
from earshot.systems.voice_conversion.converter import LEFT_OUT
from earshot.systems.voice_conversion.live.networks import load_networks
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.session import LiveConversion
from earshot.systems.voice_conversion.settings import ANY_VOICE
from earshot.tabs.voice_conversion.speaking import Speaking


def talk(seconds: float) -> np.ndarray:
    """Something like syllables, in two phrases with a pause of a second between."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    pitch = 140 + 20 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    formant = 1 + np.sin(2 * np.pi * 2.3 * time)
    tones = sum(np.sin(k * phase) / k ** (1 + formant) for k in range(1, 15))
    loud = 0.5 - 0.5 * np.cos(2 * np.pi * 4 * time)
    pause = np.abs(time - seconds / 2) < 0.5
    noise = 1e-4 * np.random.default_rng(0).standard_normal(len(time))
    return (0.2 * tones * loud * ~pause + noise).astype(np.float32)


@pytest.fixture(scope="module")
def converter(tiny_checkpoints: Path) -> AnyVoiceConversion:
    return AnyVoiceConversion.load(tiny_checkpoints / "any-voice", device="cpu")


@pytest.fixture(scope="module")
def voices() -> list[Voice]:
    """Twelve people, of whom the last is the speaker."""
    random = np.random.default_rng(1)
    vectors = random.standard_normal((12, 128)).astype(np.float32)
    vectors -= vectors.mean(axis=1, keepdims=True)
    vectors /= vectors.std(axis=1, keepdims=True)
    return [Voice(str(n), vector, 4.5 + n / 10, 0.2) for n, vector in enumerate(vectors)]


def likeness(one: Voice, other: Voice) -> float:
    return float(one.vector @ other.vector) / len(one.vector)


def test_drawn_voice_is_far_from_shipped_and_own(voices: list[Voice]) -> None:
    strangers = Strangers.load(CHECKPOINTS / ANY_VOICE)
    assert strangers
    *shipped, own = voices
    for seed in range(5):
        voice = strangers.voice(Nobody(1.0, seed), shipped, own)
        assert max(likeness(voice, other) for other in shipped) <= MAX_LIKE_SHIPPED
        assert likeness(voice, own) <= MAX_LIKE_SOURCE
        assert 60 < np.exp(voice.pitch_mean) < 400 and 0.05 < voice.pitch_std < 1


def test_draws_differ_and_repeat_by_seed(voices: list[Voice]) -> None:
    strangers = Strangers.of(voices)
    one, same, other = (strangers.voice(Nobody(1.0, s), voices[:1], None) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.vector, same.vector)
    assert likeness(one, other) < 0.9
    assert Nobody() != Nobody()


def test_speaker_goes_with_strength(voices: list[Voice]) -> None:
    """And is unknown where too little was said: then all goes."""
    strangers, own = Strangers.of(voices), voices[-1]
    drawn = [strangers.voice(Nobody(s, 1), voices[:9], own) for s in (0.0, 0.2, 0.6, 1.0)]
    like = [likeness(voice, own) for voice in drawn]
    assert like == sorted(like, reverse=True) and like[0] > 0.99
    assert [voice.evened for voice in drawn] == [0.0, 0.2, 0.6, 1.0]
    assert likeness(strangers.voice(Nobody(0.0, 1), voices[:9], None), own) < 0.5


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan"), float("inf"), "much", None])
def test_strength_that_is_none(strength: Any) -> None:
    with pytest.raises(InputError, match="between 0"):
        Nobody(strength)


def test_tempo_is_evened() -> None:
    waveform = talk(6)
    content = np.random.default_rng(0).standard_normal((300, 32)).astype(np.float32)
    np.testing.assert_array_equal(even_tempo(waveform, content, 0.0, 3000), np.arange(300))
    indices = even_tempo(waveform, content, 1.0, 3000)
    assert (np.diff(indices) >= 0).all() and indices.max() < 300
    pause = np.count_nonzero(np.abs(indices - 150) < 25)
    assert 15 <= pause <= 25  # of 50 steps
    assert len(even_tempo(waveform, content, 1.0, 100)) == 100
    silence = np.zeros_like(waveform)
    np.testing.assert_array_equal(even_tempo(silence, content, 1.0, 3000), np.arange(300))


def test_conversion_keeps_words_alone(converter: AnyVoiceConversion) -> None:
    result = converter((SAMPLE_RATE, talk(4)), Nobody(1.0))
    origin = result.converted.origin
    assert origin and (origin.voice, origin.preserved) == (NOBODY, ("words",))
    assert len(result.units.codes) != 200  # 4 s


def test_metadata_of_source_goes_no_further(converter: AnyVoiceConversion, tmp_path: Path) -> None:
    """Nobody's speech has metadata of its own, and not that of its source."""
    waveform = talk(3)
    spectrogram = np.zeros((300, 80), np.float32)
    speech = Speech(waveform, SAMPLE_RATE, spectrogram, 0.1, Origin("continuous"))
    path = tmp_path / "signed.wav"
    path.write_bytes(encode_speech(speech, ".wav"))
    result = converter(path, Nobody())
    assert result.notices[-1] == LEFT_OUT
    other = converter(path, "TF2")
    files = [encode_speech(each.converted, ".wav") for each in (result, other)]
    assert [dict(read(file).facts)["voice"] for file in files] == ["nobody", "shipped"]
    assert [b"c2pa.opened" in file for file in files] == [False, True]


def test_models_of_five_voices_say_what_can(tiny_checkpoints: Path) -> None:
    model = VQVAEConversion.load(tiny_checkpoints / "vqvae-64", device="cpu")
    with pytest.raises(InputError, match="To speak as nobody, choose continuous"):
        model((SAMPLE_RATE, talk(1)), Nobody())


def test_checkpoint_without_strangers_says_so(converter: AnyVoiceConversion) -> None:
    other = copy(converter)
    other.networks = replace(converter.networks, strangers=None)
    with pytest.raises(InputError, match="knows no strangers"):
        other((SAMPLE_RATE, talk(1)), Nobody())


@pytest.mark.parametrize("timing", [0, -1])
def test_live_draws_again_once_it_knows_the_speaker(tiny_checkpoints: Path, timing: int) -> None:
    """After 5 s of them, however busy the machine is."""
    networks = load_networks(tiny_checkpoints / "any-voice")
    choice = Choice.from_document(Choice(Nobody(0.4, 7)).document())
    assert choice.voice == Nobody(0.4, 7)
    stream = LiveConversion(networks, choice, networks.timings[timing])
    stream.push(talk(3))
    first = stream._drawn_choice().voice
    stream.push(talk(4))
    second = stream._drawn_choice().voice
    assert isinstance(first, Voice) and isinstance(second, Voice)
    assert (first.kind, first.evened) == (second.kind, second.evened) == (NOBODY, 0.4)
    assert likeness(first, second) < 0.999


def test_page_draws_one_nobody_a_visit() -> None:
    """And blends nobody with anybody."""
    speaking = Speaking("nobody", "SM1", 0.5, strength=0.6)
    assert speaking.live().voice == speaking.live().voice == Nobody(0.6, speaking.seed)
    assert speaking.live().other is None and speaking.label == "nobody"
    with pytest.raises(InputError, match="between 0"):
        Speaking("TF2", strength=7)


def test_strength_of_other_voices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(talk(1), SAMPLE_RATE))
    for arguments, message in (
        (["--strength", "1"], "is that of --to nobody"),
        (["--to", "nobody", "--strength", "2"], "between 0"),
    ):
        with pytest.raises(SystemExit) as error:
            convert([str(path), "-o", str(tmp_path / "b.wav"), *arguments])
        assert message in str(error.value) + capsys.readouterr().err
