"""The recogniser's decoder: strictly loaded, with its own graph's logits, words in order."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained import recogniser
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.transcription import (
    PIECE,
    TOKENS_PER_SECOND,
    HeardWord,
    Transcriber,
    Transcript,
    _pieces,
)

LIGHTHOUSE = ASSETS / "examples" / "woman-lighthouse.ogg"


@pytest.fixture(scope="module")
def transcriber() -> Transcriber:
    return Transcriber.from_pretrained(device="cpu")


def transcript(text: str) -> Transcript:
    return Transcript(tuple(HeardWord(word, 1.0) for word in text.split()))


@pytest.mark.parametrize(
    ("example", "text"),
    [
        ("scot-digits.ogg", "Seven, three, nine, zero, two, five, eight, one."),
        ("woman-lighthouse.ogg", "The keeper of the old light house"),
    ],
)
def test_words_of_an_example_are_heard(transcriber: Transcriber, example: str, text: str) -> None:
    heard = transcriber(ASSETS / "examples" / example)
    assert heard.text.startswith(text)
    assert all(0 < word.confidence <= 1 for word in heard.words)
    assert heard.confidence > 0.8


def test_logits_correlate_with_those_of_graph(transcriber: Transcriber) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = onnxruntime.InferenceSession(str(recogniser._file("decoder_model_merged.ort")))
    states = torch.sin(torch.arange(50 * 288).square() / 7e3).reshape(1, 50, 288)
    given = {
        "input_ids": np.array([[1, 450, 2000]]),
        "encoder_hidden_states": states.numpy(),
        "encoder_attention_mask": np.ones((1, 50), np.int64),
        "use_cache_branch": np.array([False]),
    }
    inputs = {
        each.name: given.get(each.name, np.zeros((1, 8, 0, 36), np.float32))
        for each in graph.get_inputs()
    }
    theirs = graph.run(["logits"], inputs)[0][0]
    none = dict.fromkeys(("attention_mask", "hidden_states", "attentions"))
    heard = SimpleNamespace(last_hidden_state=states, **none)
    ours = transcriber._model(
        encoder_outputs=heard, decoder_input_ids=torch.tensor([[1, 450, 2000]])
    ).logits[0]
    assert np.corrcoef(ours.numpy().ravel(), theirs.ravel())[0, 1] > 0.99


def test_vocabulary_is_that_of_the_model() -> None:
    vocabulary = recogniser.load_vocabulary()
    assert len(vocabulary) == recogniser.SIZES["vocab_size"]
    assert vocabulary[:4] == (b"<unk>", b"<s>", b"</s>", b"\x00")


def test_transcript_of_noise_is_bounded(transcriber: Transcriber) -> None:
    """It ends after as many tokens as speech could have."""
    noise = np.random.default_rng(0).normal(0, 0.1, 3 * SAMPLE_RATE).astype(np.float32)
    assert len(transcriber((SAMPLE_RATE, noise)).words) <= math.ceil(3 * TOKENS_PER_SECOND)


def test_silence_holds_no_words(transcriber: Transcriber) -> None:
    silence = np.zeros(SAMPLE_RATE, np.float32)
    heard = transcriber(Speech(silence, SAMPLE_RATE, np.zeros((100, 80)), 0.0))
    assert heard == Transcript(())
    assert heard.confidence == 0


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
    assert max(map(len, pieces)) <= PIECE[1] * SAMPLE_RATE


def test_words_kept_are_in_same_order() -> None:
    source = transcript("The keeper of the old lighthouse wrote a letter.")
    converted = transcript("the keeper of an old light house wrote letters")
    kept, found = source.kept_in(converted)
    assert [w.text for w, k in zip(source.words, kept, strict=True) if not k] == [
        "the",
        "lighthouse",
        "a",
        "letter.",
    ]
    assert [w.text for w, k in zip(converted.words, found, strict=True) if not k] == [
        "an",
        "light",
        "house",
        "letters",
    ]


def test_figures_are_compared_digit_by_digit() -> None:
    def heard(text: str) -> Transcript:
        return Transcript(tuple(HeardWord(word, 1.0) for word in text.split()))

    source, converted = heard("Seven, three, nine, zero at F2."), heard("7.39. Literal at F two.")
    kept, found = source.kept_in(converted)
    assert kept == (True, True, True, False, True, True)
    assert found == (True, False, True, True, True)
    assert heard("doesn't -").kept_in(heard("doesn\u2019t")) == ((True, True), (True,))


def test_other_decoder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(recogniser.FILES, "decoder_model_merged.ort", "0" * 64)
    recogniser.load_recogniser.cache_clear()
    with pytest.raises(CheckpointError, match="Install it again"):
        Transcriber.from_pretrained(device="cpu")


def test_unusable_hub_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot be loaded"):
        Transcriber.from_pretrained(tmp_path, device="cpu")
