"""The converter on untrained networks: its contract, its limits and its messages."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.recogniser import RecognisedWord, Transcript
from earshot.systems.voice_conversion import VoiceConversion, VQVAEConversion
from earshot.systems.voice_conversion import converter as noise
from earshot.systems.voice_conversion.converter import is_covered
from earshot.systems.voice_conversion.settings import MUTED, NO_SPEECH, VOICES
from earshot.systems.voice_conversion.units import codebook_colors

RATE = 16_000


@pytest.fixture(scope="module")
def converter(tiny_checkpoints: Path) -> VQVAEConversion:
    return VQVAEConversion.load(tiny_checkpoints / "vqvae-512", device="cpu")


def speech_like(seconds: float, rate: int = RATE) -> tuple[int, np.ndarray]:
    """Noise with syllables: loud and soft four times a second."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(0).normal(size=len(time))
    return rate, (0.1 * noise * (0.6 + 0.4 * np.sin(8 * np.pi * time))).astype(np.float32)


def test_conversion_lasts_as_long_as_source(converter: VQVAEConversion) -> None:
    result = converter(speech_like(1.234), target="S1")
    assert len(result.source.waveform) == len(result.converted.waveform)
    assert len(result.units.codes) * result.units.step == pytest.approx(1.234, abs=0.02)
    assert result.units.codes.min() >= MUTED
    assert result.units.codes.max() < 512
    assert result.converted.log_mel.shape == (124, 80)


def test_bit_rate_is_that_of_codes(converter: VQVAEConversion) -> None:
    result = converter(speech_like(1.0))
    assert result.bits_per_second == pytest.approx(9 * 50)  # log2(512) bits, 50 a second
    assert result.compression == pytest.approx(256_000 / 450)


def test_conversion_of_silence_is_silent(converter: VQVAEConversion) -> None:
    """A notice explains it."""
    for vocoder in VQVAEConversion.VOCODERS:
        result = converter((RATE, np.zeros(RATE, np.float32)), vocoder=vocoder)
        assert np.abs(result.converted.waveform).max() < 10 ** (-50 / 20)
        assert "silent" in result.notices[0]


def test_conversion_of_a_pause_is_silent(converter: VQVAEConversion) -> None:
    rate, waveform = speech_like(3.0)
    waveform[rate : 2 * rate] = 0.0
    converted = converter((rate, waveform)).converted.waveform
    pause = converted[round(1.2 * rate) : round(1.8 * rate)]
    assert np.abs(pause).max() < 10 ** (-50 / 20)


def test_units_do_not_depend_on_level(converter: VQVAEConversion) -> None:
    rate, waveform = speech_like(2.0)
    loud, quiet = (converter.encode((rate, g * waveform))[1].codes for g in (1.0, 0.1))
    assert (loud == quiet).mean() > 0.95


def test_source_loudness_is_kept_on_request(converter: VQVAEConversion) -> None:
    rate, waveform = speech_like(2.0)
    sources = 0.3 * waveform, 0.03 * waveform
    for source in sources:
        converted = converter((rate, source), loudness="source").converted
        assert loudness(converted.waveform, rate) == pytest.approx(loudness(source, rate), abs=0.1)
    levels = [converter((rate, source)).converted.waveform for source in sources]
    assert loudness(levels[0], rate) == pytest.approx(loudness(levels[1], rate), abs=0.5)


def test_conversion_at_another_loudness_is_refused(converter: VQVAEConversion) -> None:
    with pytest.raises(InputError, match="level, source"):
        converter(speech_like(1.0), loudness="loud")


@pytest.mark.parametrize("rate", [8_000, 44_100, 192_000])
def test_number_of_units_ignores_sampling_rate(converter: VQVAEConversion, rate: int) -> None:
    result = converter(speech_like(1.0, rate))
    assert len(result.units.codes) == pytest.approx(50, abs=1)


def test_repeated_speech_has_nearly_same_units(
    converter: VQVAEConversion,
) -> None:
    """It is encoded in windows."""
    rate, second = speech_like(2.0)
    many = converter.encode((rate, np.tile(second, 10)))[1].codes.reshape(10, -1)
    assert (many[3, 20:-20] == many[6, 20:-20]).mean() > 0.8


def test_decode_of_encode_equals_conversion(converter: VQVAEConversion) -> None:
    audio = speech_like(1.5)
    _, units, _ = converter.encode(audio)
    spoken = converter.decode(units, "SM1", "griffin-lim").waveform
    whole = converter(audio, "SM1", "griffin-lim").converted.waveform
    np.testing.assert_allclose(spoken, whole, atol=1e-5)


def test_content_of_other_encoder_is_refused(
    converter: VQVAEConversion, tiny_checkpoints: Path
) -> None:
    """Its vectors have another meaning, and may have other steps."""
    other = VQVAEConversion.load(tiny_checkpoints / "vqvae-64", device="cpu")
    content = other.encode_content(speech_like(1.0))
    assert len(other(content, "SF1").units.codes) == len(other.encode(speech_like(1.0))[1].codes)
    for use in (converter, converter.units):
        with pytest.raises(InputError, match="another model"):
            use(content)


def test_decode_of_muted_units_is_silent(converter: VQVAEConversion) -> None:
    _, units, _ = converter.encode(speech_like(1.0))
    codes = units.codes.copy()
    codes[10:30] = MUTED
    waveform = converter.decode(replace(units, codes=codes)).waveform
    cell = round(units.step * RATE)
    assert np.abs(waveform[11 * cell : 29 * cell]).max() == 0
    assert np.abs(waveform[: 9 * cell]).max() > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.array([512])}, "numbered 0 to 511"),
        ({"codes": np.array([-2])}, "numbered 0 to 511"),
        ({"codes": np.zeros(0, np.int64)}, "no units left"),
        ({"codes": np.zeros(3001, np.int64)}, "60 s"),
        ({"model": "vqvae-64"}, "another model"),
        ({"fingerprint": "other"}, "another model"),
    ],
)
def test_decode_of_invalid_units_raises(
    converter: VQVAEConversion, change: dict, message: str
) -> None:
    _, units, _ = converter.encode(speech_like(0.5))
    with pytest.raises(InputError, match=message):
        converter.decode(replace(units, **change))


def test_unknown_voice_or_vocoder_is_refused(converter: VQVAEConversion) -> None:
    with pytest.raises(InputError, match="SF1, TF2, SM1, TM3, S1"):
        converter(speech_like(0.5), target="HAL")
    with pytest.raises(InputError, match="neural or griffin-lim"):
        converter(speech_like(0.5), vocoder="magic")


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        (b"hello, this is text", "cannot be read as audio"),
        ((RATE, np.zeros(100, np.float32)), "too short"),
        ((RATE, np.zeros(61 * RATE, np.float32)), "60"),
        ((RATE, np.full(RATE, np.nan, np.float32)), "NaN"),
        (None, "no recording"),
    ],
)
def test_conversion_of_unusable_audio_raises(
    converter: VQVAEConversion, audio: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        converter(audio)  # type: ignore[arg-type]


def test_from_pretrained_of_missing_checkpoint_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        VoiceConversion.from_pretrained(tmp_path)


def test_weights_of_another_size_are_refused(tiny_checkpoints: Path, tmp_path: Path) -> None:
    for name in ("vqvae-64", "vqvae-128", "vocoder"):
        (tmp_path / name).mkdir()
        for file in (tiny_checkpoints / name).iterdir():
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
    wrong = tmp_path / "vqvae-64" / "model.safetensors"
    wrong.write_bytes((tmp_path / "vqvae-128" / "model.safetensors").read_bytes())
    with pytest.raises(CheckpointError, match="of another network"):
        VQVAEConversion.load(tmp_path / "vqvae-64")


def test_similar_vectors_have_similar_colors() -> None:
    codebook = np.random.default_rng(0).normal(size=(32, 8))
    codebook[1] = codebook[0] + 1e-6
    colors = codebook_colors(codebook)
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors])
    assert np.abs(rgb[0] - rgb[1]).max() < 16
    assert len(set(colors)) > 24


def test_from_pretrained_reads_names_before_renaming(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    for name in ("vqvae-128", "vocoder"):
        shutil.copytree(tiny_checkpoints / name, tmp_path / name)
    weights = tmp_path / "vqvae-128" / "model.safetensors"
    old = {
        name.replace("inverter.contour.", "inverter.melody."): weight
        for name, weight in load_file(weights).items()
    }
    assert any("melody" in name for name in old)
    save_file(old, weights)
    settings = tmp_path / "vqvae-128" / "config.json"
    config = json.loads(settings.read_text())
    config["vqvae"]["contrast"] = config["vqvae"].pop("contrastive_weight")
    settings.write_text(json.dumps(config))
    old_names = VQVAEConversion.load(tmp_path / "vqvae-128", "cpu")
    new_names = VQVAEConversion.load(tiny_checkpoints / "vqvae-128", "cpu")
    audio = speech_like(0.5)
    np.testing.assert_array_equal(
        old_names(audio).converted.waveform, new_names(audio).converted.waveform
    )


def sample(voice: str) -> np.ndarray:
    waveform = load(ASSETS / "voices" / f"{voice}.ogg", SAMPLE_RATE).waveform
    return waveform / np.sqrt(np.square(waveform).mean())


def in_babble(voice: str, snr: float) -> np.ndarray:
    """A voice with six of the others at a signal-to-noise ratio in dB."""
    speech, others = sample(voice), [sample(other) for other in VOICES if other != voice][:6]
    babble = sum(np.roll(np.resize(o, len(speech)), 7001 * n) for n, o in enumerate(others))
    return speech + babble / np.sqrt(np.square(babble).mean()) * 10 ** (-snr / 20)


@pytest.mark.parametrize("voice", VOICES)
def test_loud_babble_covers_words(voice: str) -> None:
    """Babble that is 10 dB softer does not."""
    assert is_covered(in_babble(voice, 0.0))
    assert not is_covered(in_babble(voice, 10.0))
    assert not is_covered(sample(voice))


@pytest.mark.parametrize(
    ("confidence", "words"), [(0.95, ""), (0.5, "A recogniser understands: “to be or”."), (0.0, "")]
)
def test_notice_of_words_has_what_is_understood(
    confidence: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speech without noise asks no recogniser; one that is sure is believed."""
    guessed = [RecognisedWord(word, confidence) for word in ("to", "be", "or") if confidence]
    calls = []
    monkeypatch.setattr(
        noise, "_transcriber", lambda: lambda sound: calls.append(sound) or Transcript((*guessed,))
    )
    assert noise.notice_of_words(sample("TF2")) == "" and not calls
    notice = noise.notice_of_words(in_babble("TF2", 5.0))
    assert notice == ("" if confidence > 0.9 else f"{noise.NOISE_NOTICE} {words}".strip())


def test_noise_and_tones_are_said_to_hold_no_speech() -> None:
    """Whatever a recogniser makes of them."""
    seconds = np.arange(3 * SAMPLE_RATE) / SAMPLE_RATE
    tone = 0.1 * np.sin(2 * np.pi * 440 * seconds)
    for sound in (tone, 0.1 * np.random.default_rng(0).standard_normal(len(seconds))):
        assert noise.notice_of_words(sound.astype(np.float32)) == NO_SPEECH


def test_level_tells_of_noise_where_there_is_no_recogniser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise FileNotFoundError

    monkeypatch.setattr(noise, "_transcriber", missing)
    assert noise.notice_of_words(in_babble("TF2", 0.0)) == noise.NOISE_NOTICE
    assert noise.notice_of_words(in_babble("TF2", 10.0)) == ""


def test_noise_is_named_where_the_level_tells_of_it() -> None:
    """Else a recogniser is unsure, of an echo or another language for all that is known."""
    assert noise.loses_words(0.5, 0.5, 15.0) and noise.loses_words(0.74, 0.5, 19.0)
    assert not noise.loses_words(0.9, 0.95, 19.0)
    assert "English only" in noise.UNSURE and "Noise covers" not in noise.UNSURE


def test_level_of_recording_does_not_matter() -> None:
    noisy = in_babble("TF2", 0.0)
    assert is_covered(0.001 * noisy) and is_covered(noisy / np.abs(noisy).max())


def test_silence_is_not_called_covered() -> None:
    """Neither is a single word."""
    noise = np.random.default_rng(0).standard_normal(SAMPLE_RATE)
    assert not is_covered(np.zeros(SAMPLE_RATE))
    assert not is_covered(noise[: SAMPLE_RATE // 2])
    assert is_covered(noise)
