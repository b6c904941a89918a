"""The recogniser of the wheel: strictly loaded, with the states of its own graph."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.models.recogniser import RecogniserStates
from earshot.pretrained import recogniser
from earshot.pretrained.checkpoint import CheckpointError

LAYERS = (3, 6)


@pytest.fixture(scope="module")
def states() -> RecogniserStates:
    return recogniser.load_states(LAYERS, device="cpu")


@pytest.fixture(scope="module")
def waveform() -> torch.Tensor:
    speech = load(ASSETS / "examples" / "scot-digits.ogg", SAMPLE_RATE).waveform
    levelled = match_loudness(speech, SAMPLE_RATE, -23.0)
    return torch.from_numpy(levelled[: len(levelled) // 640 * 640])[None]


def test_states_correlate_with_those_of_graph(
    states: RecogniserStates, waveform: torch.Tensor
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = onnxruntime.InferenceSession(str(recogniser._file("encoder_model.ort")))
    padded = torch.nn.functional.pad(waveform, (448, 448 + 384)).numpy()
    inputs = {graph.get_inputs()[0].name: padded}
    if len(graph.get_inputs()) > 1:
        inputs[graph.get_inputs()[1].name] = np.ones(padded.shape, np.int64)
    theirs = graph.run(None, inputs)[0][0]
    ours = states.encoder(torch.from_numpy(padded))[-1][0].numpy()
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.998


@pytest.mark.parametrize("sizes", [{}, {"hidden_size": 416, "partial_rotary_factor": 0.62}])
def test_encoder_equals_that_of_transformers(
    waveform: torch.Tensor, sizes: dict[str, float], tmp_path: Path
) -> None:
    """Of Moonshine tiny, and of a model of the hub with the sizes of Moonshine base."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.MoonshineConfig(**recogniser.SIZES | sizes)
    transformers.MoonshineModel(config).save_pretrained(tmp_path)
    theirs = recogniser.load_encoder(str(tmp_path)).eval()
    ours = recogniser.load_states(LAYERS, tmp_path, "cpu").encoder
    with torch.no_grad():
        expected = theirs(waveform, output_hidden_states=True).hidden_states[1:]
        found = ours(waveform)
    assert len(found) == len(expected) == 6
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_states_have_row_every_20_ms(states: RecogniserStates, waveform: torch.Tensor) -> None:
    found = states(waveform)
    assert found.shape == (1, waveform.shape[1] // 320, 2 * 288)
    # A tone that begins at 1 s changes the states most from there on.
    later = waveform.clone()
    later[:, SAMPLE_RATE:] += 0.3 * torch.sin(torch.arange(later.shape[1] - SAMPLE_RATE) / 3)
    change = (states(later) - found)[0, :, :288].norm(dim=1)
    assert change[50:].mean() > 1.5 * change[:48].mean()


def test_states_of_two_threads_are_separate(
    states: RecogniserStates, waveform: torch.Tensor
) -> None:
    """One forward pass runs in the middle of another, as for two visitors."""
    alone, other, began = states(waveform), waveform.flip(1), []
    with ThreadPoolExecutor() as pool:

        def meanwhile(*_: object) -> None:
            if not began:
                began.append(True)
                assert not torch.equal(pool.submit(states, other).result(), alone)

        hook = states.encoder.layers[4].register_forward_hook(meanwhile)
        try:
            torch.testing.assert_close(states(waveform), alone)
        finally:
            hook.remove()
    assert began


def test_faster_speech_keeps_grid_of_states(
    states: RecogniserStates, waveform: torch.Tensor
) -> None:
    faster = torch.nn.functional.interpolate(waveform[None], scale_factor=25 / 28)[0]
    there, here = states(faster, 28 / 25), states(waveform)
    assert abs(there.shape[1] - here.shape[1]) <= 1
    n = min(there.shape[1], here.shape[1])
    aligned = torch.cosine_similarity(there[0, :n], here[0, :n]).mean()
    shifted = torch.cosine_similarity(there[0, : n - 10], here[0, 10:n]).mean()
    assert aligned > shifted + 0.05


def test_other_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recogniser.FILES, "encoder_model.ort", "0" * 64)
    with pytest.raises(CheckpointError, match="Install it again"):
        recogniser._file("encoder_model.ort")


def test_missing_wheel_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recogniser, "PACKAGE", "no_such_package")
    with pytest.raises(FileNotFoundError, match="pip install moonshine-voice"):
        recogniser._file("encoder_model.ort")
