"""Every pipeline whole in half precision: on a GPU where there is one, and on the CPU, where the
same types meet."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.paths import ASSETS
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet
from earshot.pretrained.speech_encoder import SpeechEncoder
from earshot.sound_index.embedding import SoundEncoder
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.sound_search.encoder import ClapEncoder, EarshotEncoder
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion
from earshot.systems.words import Words
from tests.systems.sound_search.test_clap_encoder import save_tiny_clap
from tests.systems.voice_conversion.test_speecht5 import WIDTH, save_tiny_speecht5
from tests.systems.words.test_averaged_states import save as save_speech_model

pytestmark = pytest.mark.slow

NOISE = np.random.default_rng(0).normal(0, 0.1, 2 * SAMPLE_RATE).astype(np.float32)
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    ),
]
Outputs = Iterator[np.ndarray]


def units(ours: Path, theirs: Path, device: str) -> Outputs:
    convert = VoiceConversion.from_pretrained(ours / "vqvae-64", device)
    yield convert((SAMPLE_RATE, NOISE), "TF2", "neural").converted.log_mel


def any_voice(ours: Path, theirs: Path, device: str) -> Outputs:
    convert = VoiceConversion.from_pretrained(ours / "any-voice", device)
    yield convert((SAMPLE_RATE, NOISE), "TF2", "neural").converted.log_mel


def words(ours: Path, theirs: Path, device: str) -> Outputs:
    embed = Words.from_pretrained(ours / "words", device)
    yield embed.embed_waveforms([NOISE])
    yield embed.embed_phonemes([from_arpabet("K AE T")])
    yield from embed.log_posteriors(NOISE)


def sounds(ours: Path, theirs: Path, device: str) -> Outputs:
    return _sounds(EarshotEncoder.from_pretrained(ours / "sound-cnn", device))


def lips(ours: Path, theirs: Path, device: str) -> Outputs:
    read = LipToSpeech.from_pretrained(ours / "lip-to-speech", device)
    result = read(ASSETS / "heads" / "ada.mp4")
    yield result.speech.log_mel
    yield result.predicted_mel


def clap(ours: Path, theirs: Path, device: str) -> Outputs:
    return _sounds(ClapEncoder.from_pretrained(save_tiny_clap(theirs), device))


def speech_model(ours: Path, theirs: Path, device: str) -> Outputs:
    encoder = SpeechEncoder.from_pretrained(str(save_speech_model(theirs / "tiny")), device)
    yield encoder.states(NOISE)


def speecht5(ours: Path, theirs: Path, device: str) -> Outputs:
    convert = SpeechT5Conversion.from_pretrained(*save_tiny_speecht5(theirs), device)
    yield convert((SAMPLE_RATE, NOISE), np.ones(WIDTH, np.float32)).converted.log_mel


def _sounds(encoder: SoundEncoder) -> Outputs:
    embedding = encoder.embed_audio(encoder.segments(NOISE))
    yield embedding.vectors
    yield embedding.per_second
    yield encoder.embed_text(["rain"])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "run", [units, any_voice, words, sounds, lips, clap, speech_model, speecht5]
)
def test_pipeline_runs_whole_in_half_precision(
    run: Callable[[Path, Path, str], Outputs], device: str, tiny_checkpoints: Path, tmp_path: Path
) -> None:
    exact = list(run(tiny_checkpoints, tmp_path, "cpu"))
    with torch.autocast(device, torch.float16):
        half = list(run(tiny_checkpoints, tmp_path, device))
    for one, other in zip(exact, half, strict=True):
        assert other.dtype == one.dtype == np.float32
        assert np.isfinite(other).all()
        if run is not speecht5:  # which chooses its length
            assert other.shape == one.shape
            assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.95
