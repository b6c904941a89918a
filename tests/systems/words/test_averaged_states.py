"""Averaged states of pretrained speech encoders, on tiny models of the real classes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    HubertConfig,
    HubertModel,
    MoonshineConfig,
    MoonshineModel,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2Model,
    WavLMConfig,
    WavLMModel,
)

from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.pretrained.speech_encoder import SpeechEncoder
from earshot.systems.words.comparison import AveragedStates

pytestmark = pytest.mark.slow

TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "conv_dim": (8, 8),
    "conv_kernel": (10, 8),
    "conv_stride": (5, 64),
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
}
KINDS: dict[str, tuple[Any, Any]] = {
    "hubert": (HubertConfig, HubertModel),
    "wavlm": (WavLMConfig, WavLMModel),
    "wav2vec2": (Wav2Vec2Config, Wav2Vec2Model),
}
RECOGNISER: dict[str, Any] = {
    "hidden_size": 16,
    "encoder_num_hidden_layers": 4,
    "decoder_num_hidden_layers": 1,
    "encoder_num_attention_heads": 2,
    "decoder_num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 8,
}


def save(folder: Path, kind: str = "hubert", normalized: bool = False) -> Path:
    """A tiny seeded model with its feature extractor, as from_pretrained wants them."""
    torch.manual_seed(0)
    if kind == "moonshine":
        MoonshineModel(MoonshineConfig(**RECOGNISER)).save_pretrained(folder)
    else:
        config, model = KINDS[kind]
        model(config(**TINY)).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(do_normalize=normalized).save_pretrained(folder)
    return folder


@pytest.fixture
def words() -> list[np.ndarray]:
    """Noise of three lengths, the first shorter than the convolutions need."""
    rng = np.random.default_rng(0)
    return [rng.normal(0, 0.1, size).astype(np.float32) for size in (200, 8000, 12_345)]


@pytest.mark.parametrize("kind", [*KINDS, "moonshine"])
def test_embed_waveforms_averages_states_of_layer(
    kind: str, words: list[np.ndarray], tmp_path: Path
) -> None:
    folder = save(tmp_path / kind, kind)
    encoder = SpeechEncoder.from_pretrained(f"{folder}:2", "cpu")
    vectors = AveragedStates(encoder).embed_waveforms(words)
    assert vectors.shape == (3, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    with torch.inference_mode():
        model = AutoModel.from_pretrained(folder).eval()
        model = model.get_encoder() if kind == "moonshine" else model
        states = model(torch.from_numpy(words[2])[None], output_hidden_states=True).hidden_states
    mean = states[2][0].mean(dim=0).numpy()
    np.testing.assert_allclose(vectors[2], mean / np.linalg.norm(mean), atol=1e-5)


def test_layers_stand_one_after_the_other(words: list[np.ndarray], tmp_path: Path) -> None:
    folder = save(tmp_path / "tiny", "moonshine")
    both = SpeechEncoder.from_pretrained(f"{folder}:3,4", "cpu")
    assert both.name.endswith("tiny:3,4")
    assert both.width == 32
    alone = [both.at(layer).states(words[2]) for layer in ("3", " 4 ")]
    np.testing.assert_array_equal(both.states(words[2]), np.hstack(alone))


def test_recogniser_states_come_every_384_samples(tmp_path: Path) -> None:
    encoder = SpeechEncoder.from_pretrained(str(save(tmp_path / "tiny", "moonshine")), "cpu")
    sound = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    assert encoder.hop == 384
    states, grid = encoder.states(sound), encoder.on_grid(sound)
    assert states.shape == (40, 16)
    assert grid.shape == (50, 16)
    # The first state is centred on sample 447.5; a second later lies the middle of state 40.5.
    np.testing.assert_array_equal(grid[[0, 1, 2, 3]], states[[0, 0, 1, 2]])


def test_installed_recogniser_is_known_by_name() -> None:
    encoder = SpeechEncoder.from_pretrained("moonshine-tiny:3,6", "cpu")
    sound = np.random.default_rng(0).normal(0, 0.1, 8_000).astype(np.float32)
    assert encoder.states(sound).shape == (19, 576)
    assert encoder.name == "moonshine-tiny:3,6"


def test_parts_are_equal_and_never_empty(words: list[np.ndarray], tmp_path: Path) -> None:
    encoder = SpeechEncoder.from_pretrained(str(save(tmp_path / "tiny")), "cpu")
    states, short = encoder.states(words[1]), encoder.states(words[0])
    whole, brief = AveragedStates(encoder, 4).means([words[1], words[0]])
    np.testing.assert_allclose(whole[:16], states[: len(states) // 4].mean(axis=0), atol=1e-6)
    assert len(short) == 5
    parts = [*short[:3], short[3:].mean(axis=0)]
    np.testing.assert_allclose(brief, np.concatenate(parts), atol=1e-6)
    alone = AveragedStates(encoder, 8).means([words[0]])[0].reshape(8, 16)
    np.testing.assert_array_equal(alone[[0, 7]], short[[0, 4]])


def test_model_of_normalized_waveforms_ignores_loudness(
    words: list[np.ndarray], tmp_path: Path
) -> None:
    folder = save(tmp_path / "tiny", normalized=True)
    view = AveragedStates(SpeechEncoder.from_pretrained(str(folder), "cpu"))
    loud, quiet = (view.embed_waveforms([gain * words[1]]) for gain in (1.0, 0.3))
    np.testing.assert_allclose(loud, quiet, atol=1e-3)


def test_default_layer_is_at_three_quarters(tmp_path: Path) -> None:
    """Without a layer, the one at three quarters of the depth is taken."""
    encoder = SpeechEncoder.from_pretrained(str(save(tmp_path / "tiny")), "cpu")
    assert encoder.layers == (3,)
    assert AveragedStates(encoder).name.endswith("tiny, layer 3")


@pytest.mark.parametrize("layer", ["0", "5", "last", "2,5"])
def test_unknown_layer_says_which_exist(layer: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "tiny")
    with pytest.raises(InputError, match=f"layers 1 to 4, and no layer {layer}"):
        SpeechEncoder.from_pretrained(f"{folder}:{layer}", "cpu")


def test_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
    )
    BertModel(config).save_pretrained(tmp_path / "bert")
    with pytest.raises(InputError, match="no HuBERT, WavLM, wav2vec 2.0 or Moonshine"):
        SpeechEncoder.from_pretrained(str(tmp_path / "bert"), "cpu")


def test_unknown_id_says_what_to_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is no network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    script = (
        "from earshot.pretrained.speech_encoder import SpeechEncoder\n"
        "try: SpeechEncoder.from_pretrained('nobody/no-model')\n"
        "except FileNotFoundError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert "nobody/no-model cannot be loaded" in run.stdout, run.stderr
    assert "Check its name and the network" in run.stdout
