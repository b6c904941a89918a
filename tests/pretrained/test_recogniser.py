"""The recogniser of the wheel: strictly loaded, with the states and logits of its own graphs, words
in order."""

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, match_loudness
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.models.recogniser import RecogniserStates
from earshot.pretrained import recogniser
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.recogniser import (
    MAX_TOKENS_PER_SECOND,
    PIECE_SECONDS,
    RecognisedWord,
    Transcriber,
    Transcript,
    _pieces,
)

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
        states = ours(waveform)
    assert len(states) == len(expected) == 6
    for one, other in zip(states, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_states_have_row_every_20_ms(states: RecogniserStates, waveform: torch.Tensor) -> None:
    before = states(waveform)
    assert before.shape == (1, waveform.shape[1] // 320, 2 * 288)
    # A tone that begins at 1 s changes the states most from there on.
    later = waveform.clone()
    later[:, SAMPLE_RATE:] += 0.3 * torch.sin(torch.arange(later.shape[1] - SAMPLE_RATE) / 3)
    change = (states(later) - before)[0, :, :288].norm(dim=1)
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


@pytest.fixture(scope="module")
def transcriber() -> Transcriber:
    return Transcriber.from_pretrained(device="cpu")


def transcript(text: str) -> Transcript:
    return Transcript(tuple(RecognisedWord(word, 1.0) for word in text.split()))


@pytest.mark.parametrize(
    ("example", "text"),
    [
        ("scot-digits.ogg", "Seven, three, nine, zero, two, five, eight, one."),
        ("woman-lighthouse.ogg", "The keeper of the old light house"),
    ],
)
def test_words_of_an_example_are_transcribed(
    transcriber: Transcriber, example: str, text: str
) -> None:
    result = transcriber(ASSETS / "examples" / example)
    assert result.text.startswith(text)
    assert all(0 < word.confidence <= 1 for word in result.words)
    assert result.confidence > 0.8


def test_logits_correlate_with_those_of_graph(transcriber: Transcriber) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = onnxruntime.InferenceSession(str(recogniser._file("decoder_model_merged.ort")))
    states = torch.sin(torch.arange(50 * 288).square() / 7e3).reshape(1, 50, 288)
    values = {
        "input_ids": np.array([[1, 450, 2000]]),
        "encoder_hidden_states": states.numpy(),
        "encoder_attention_mask": np.ones((1, 50), np.int64),
        "use_cache_branch": np.array([False]),
    }
    inputs = {
        each.name: values.get(each.name, np.zeros((1, 8, 0, 36), np.float32))
        for each in graph.get_inputs()
    }
    theirs = graph.run(["logits"], inputs)[0][0]
    none = dict.fromkeys(("attention_mask", "hidden_states", "attentions"))
    encoding = SimpleNamespace(last_hidden_state=states, **none)
    ours = transcriber._model(
        encoder_outputs=encoding, decoder_input_ids=torch.tensor([[1, 450, 2000]])
    ).logits[0]
    assert np.corrcoef(ours.numpy().ravel(), theirs.ravel())[0, 1] > 0.99


def test_vocabulary_is_that_of_the_model() -> None:
    vocabulary = recogniser.load_vocabulary()
    assert len(vocabulary) == recogniser.SIZES["vocab_size"]
    assert vocabulary[:4] == (b"<unk>", b"<s>", b"</s>", b"\x00")


def test_transcript_of_noise_is_bounded(transcriber: Transcriber) -> None:
    """It ends after as many tokens as speech could have."""
    noise = np.random.default_rng(0).normal(0, 0.1, 3 * SAMPLE_RATE).astype(np.float32)
    assert len(transcriber((SAMPLE_RATE, noise)).words) <= math.ceil(3 * MAX_TOKENS_PER_SECOND)


def test_silence_holds_no_words(transcriber: Transcriber) -> None:
    silence = np.zeros(SAMPLE_RATE, np.float32)
    result = transcriber(Speech(silence, SAMPLE_RATE, np.zeros((100, 80)), 0.0))
    assert result == Transcript(())
    assert result.confidence == 0


def test_what_is_no_sound_is_refused(transcriber: Transcriber) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        transcriber(b"no sound")


def test_long_recording_is_cut_in_pauses() -> None:
    """Nothing of it is lost."""
    waveform = np.random.default_rng(0).normal(size=60 * SAMPLE_RATE).astype(np.float32)
    for pause in (11.0, 20.5, 33.0, 44.0):
        waveform[round((pause - 0.2) * SAMPLE_RATE) : round((pause + 0.2) * SAMPLE_RATE)] = 0.0
    pieces = list(_pieces(waveform))
    np.testing.assert_array_equal(np.concatenate(pieces), waveform)
    cuts = np.cumsum([len(piece) / SAMPLE_RATE for piece in pieces])[:4]
    assert cuts == pytest.approx([11.0, 20.5, 33.0, 44.0], abs=0.2)
    assert max(map(len, pieces)) <= PIECE_SECONDS[1] * SAMPLE_RATE


def test_words_in_both_are_in_same_order() -> None:
    source = transcript("The keeper of the old lighthouse wrote a letter.")
    converted = transcript("the keeper of an old light house wrote letters")
    in_other, in_source = source.compare(converted)
    assert [w.text for w, both in zip(source.words, in_other, strict=True) if not both] == [
        "the",
        "lighthouse",
        "a",
        "letter.",
    ]
    assert [w.text for w, both in zip(converted.words, in_source, strict=True) if not both] == [
        "an",
        "light",
        "house",
        "letters",
    ]


def test_figures_are_compared_digit_by_digit() -> None:
    source, converted = (
        transcript("Seven, three, nine, zero at F2."),
        transcript("7.39. Literal at F two."),
    )
    in_other, in_source = source.compare(converted)
    assert in_other == (True, True, True, False, True, True)
    assert in_source == (True, False, True, True, True)
    assert transcript("doesn't -").compare(transcript("doesn\u2019t")) == ((True, True), (True,))


def test_other_decoder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(recogniser.FILES, "decoder_model_merged.ort", "0" * 64)
    recogniser.load_recogniser.cache_clear()
    with pytest.raises(CheckpointError, match="Install it again"):
        Transcriber.from_pretrained(device="cpu")


def test_unusable_hub_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot be loaded"):
        Transcriber.from_pretrained(tmp_path, device="cpu")
