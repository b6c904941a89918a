"""SpeechT5 as a baseline, on tiny networks of the real classes."""

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from transformers import (
    SpeechT5Config,
    SpeechT5ForSpeechToSpeech,
    SpeechT5HifiGan,
    SpeechT5HifiGanConfig,
)

from earshot.core.errors import InputError
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion, read_voice, read_voices

WIDTH = 24  # of the tiny networks' x-vectors


def save_tiny_speecht5(root: Path) -> tuple[Path, Path]:
    """The folders of a model and of a vocoder, seeded."""
    torch.manual_seed(0)
    config = SpeechT5Config(
        hidden_size=16,
        encoder_layers=1,
        encoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=16,
        conv_dim=(8, 8),
        conv_kernel=(10, 8),
        conv_stride=(5, 64),
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        speaker_embedding_dim=WIDTH,
        speech_decoder_prenet_units=16,
        speech_decoder_postnet_layers=2,
        speech_decoder_postnet_units=16,
    )
    SpeechT5ForSpeechToSpeech(config).save_pretrained(root / "model")
    generator = SpeechT5HifiGanConfig(
        upsample_initial_channel=16, resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1]]
    )
    SpeechT5HifiGan(generator).save_pretrained(root / "vocoder")
    return root / "model", root / "vocoder"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """model and vocoder, saved."""
    root = tmp_path_factory.mktemp("speecht5")
    save_tiny_speecht5(root)
    return root


@pytest.fixture(scope="module")
def pipeline(folder: Path) -> SpeechT5Conversion:
    return SpeechT5Conversion.from_pretrained(folder / "model", folder / "vocoder", "cpu")


@pytest.fixture
def speech() -> tuple[int, np.ndarray]:
    rng = np.random.default_rng(0)
    return SAMPLE_RATE, rng.normal(0, 0.1, SAMPLE_RATE).astype(np.float32)


def test_conversion_is_speech_of_similar_length(
    pipeline: SpeechT5Conversion, speech: tuple[int, np.ndarray]
) -> None:
    result = pipeline(speech, np.ones(WIDTH, np.float32))
    converted = result.converted
    assert converted.sample_rate == SAMPLE_RATE
    assert 0.3 < len(converted.waveform) / len(result.source.waveform) < 3
    assert converted.log_mel.shape[1] == 80
    assert np.isfinite(converted.waveform).all() and np.abs(converted.waveform).max() <= 1


def test_vector_of_another_width_is_refused(
    pipeline: SpeechT5Conversion, speech: tuple[int, np.ndarray]
) -> None:
    """The message says what a voice is."""
    with pytest.raises(InputError, match=f"an x-vector: {WIDTH} numbers"):
        pipeline(speech, np.ones(3, np.float32))


def test_read_voice_takes_row_of_table(tmp_path: Path) -> None:
    np.save(tmp_path / "voice.npy", np.ones((1, WIDTH)))
    assert read_voice(tmp_path / "voice.npy").shape == (WIDTH,)
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(InputError, match="no x-vector"):
        read_voice(tmp_path / "text.npy")


def test_read_voices_takes_speakers_first_vectors(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "vectors.zip", "w") as archive:
        for number, name in enumerate(("bdl_arctic-wav-b2", "bdl_arctic-wav-a1", "slt_arctic-x")):
            file = BytesIO()
            np.save(file, np.full(WIDTH, number))
            archive.writestr(f"spkrec-xvect/cmu_us_{name}.npy", file.getvalue())
    voices = read_voices(tmp_path / "vectors.zip", ["bdl", "slt"])
    assert {name: vector[0] for name, vector in voices.items()} == {"bdl": 1, "slt": 2}
    with pytest.raises(OSError, match="no speaker rms"):
        read_voices(tmp_path / "vectors.zip", ["rms"])


def test_folder_without_such_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no folder with such a model"):
        SpeechT5Conversion.from_pretrained(tmp_path, tmp_path, "cpu")
