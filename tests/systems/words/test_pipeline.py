"""Words pipeline: embeddings, neighbours, recognised words, refused recordings, old weights."""

import io
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import soundfile
import torch
from safetensors.torch import save_file

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import PHONEMES, numbers
from earshot.models.words.word_embedder import (
    WordEmbedder,
    config_from_dict,
)
from earshot.pretrained.checkpoint import read_config
from earshot.systems.words import Words
from earshot.systems.words.library import LibraryWord, Projection, WordLibrary
from earshot.systems.words.pronunciation import Pronunciation
from earshot.systems.words.spoken_word import CutNeededError, find_word

Say = Callable[..., np.ndarray]


@pytest.fixture(scope="module")
def words(tiny_checkpoints: Path) -> Words:
    return Words.from_pretrained(tiny_checkpoints / "words", "cpu")


@pytest.fixture(scope="module")
def say(tmp_path_factory: pytest.TempPathFactory) -> Say:
    """A text as espeak-ng says it, without silence around it (T,)."""
    path = tmp_path_factory.mktemp("speech") / "speech.wav"

    def say(text: str, *options: str) -> np.ndarray:
        subprocess.run(["espeak-ng", *options, "-w", path, text], check=True)
        waveform = load(path, SAMPLE_RATE).waveform
        loud = np.flatnonzero(np.abs(waveform) > 0.02)
        return waveform[loud[0] : loud[-1] + 1]

    return say


@pytest.fixture(scope="module")
def library(words: Words, say: Say) -> WordLibrary:
    """Three words, spoken and written, and one more that is written like another."""
    written = {"tree": "t ɹ i", "three": "θ ɹ i", "coffee": "k ɑ f i", "thrie": "θ ɹ i"}
    phonemes = [tuple(p.split()) for p in written.values()]
    spoken = list(written)[:3]
    vectors = np.concatenate(
        [
            words.embed_waveforms([find_word(recording(say(word))).waveform for word in spoken]),
            words.embed_phonemes(phonemes),
        ]
    )
    entries = [
        LibraryWord(f"{w}-{voice}", w, p, "English", voice, Path(f"{w}.ogg") if voice else None)
        for voice, some in (("espeak", spoken), (None, list(written)))
        for w, p in zip(some, phonemes, strict=False)
    ]
    projection = Projection(np.zeros(16), np.eye(16)[:, :2], -np.ones(2), np.ones(2))
    trust = {"pca": 0.8, "tsne": 0.9}
    return WordLibrary(entries, vectors, projection, np.zeros((7, 2)), trust, words.fingerprint)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def recording(*parts: np.ndarray) -> tuple[int, np.ndarray]:
    return SAMPLE_RATE, np.concatenate([silence(0.5), *parts, silence(0.5)])


def test_embed_audio_trims_to_the_word(words: Words, say: Say) -> None:
    word = say("elephant")
    spoken = words.embed_audio(recording(word))
    assert abs(spoken.start - 0.45) < 0.1
    assert abs(spoken.end - 0.55 - len(word) / SAMPLE_RATE) < 0.15
    assert len(spoken.waveform) == len(word) + SAMPLE_RATE
    assert spoken.vector.shape == (16,) and spoken.vector.dtype == np.float32
    assert np.isclose(np.linalg.norm(spoken.vector), 1)


def test_ensemble_cosine_is_mean_of_members(
    tiny_checkpoints: Path, tmp_path: Path, say: Say
) -> None:
    """And the fingerprint of an ensemble differs from those of its members."""
    for name in ("words", "other"):
        copytree(tiny_checkpoints / "words", tmp_path / name)
    torch.manual_seed(1)
    other = WordEmbedder(config_from_dict(read_config(tmp_path / "other")["network"]))
    save_file(other.state_dict(), tmp_path / "other" / "model.safetensors")
    alone = [Words.from_pretrained(tmp_path / name, "cpu") for name in ("words", "other")]
    config = {**alone[0].config, "ensemble_with": ["other"]}
    (tmp_path / "words" / "config.json").write_text(json.dumps(config))
    both = Words.from_pretrained(tmp_path / "words", "cpu")
    waveforms, phonemes = [say("tree"), say("water")], [("t", "ɹ", "i"), ("k", "æ", "t")]
    cosines = [w.embed_waveforms(waveforms) @ w.embed_phonemes(phonemes).T for w in (*alone, both)]
    np.testing.assert_allclose(cosines[2], (cosines[0] + cosines[1]) / 2, atol=1e-5)
    assert abs(cosines[0] - cosines[1]).max() > 0.01
    assert len({words.fingerprint for words in (*alone, both)}) == 3


@pytest.mark.parametrize("phrase", ["view glass", "smart mirror"])
def test_short_gap_leaves_phrase_one_word(words: Words, say: Say, phrase: str) -> None:
    first, second = map(say, phrase.split())
    spoken = words.embed_audio(recording(first, silence(0.12), second))
    assert spoken.end - spoken.start > (len(first) + len(second)) / SAMPLE_RATE


def test_embed_audio_uses_given_cut(words: Words, say: Say) -> None:
    two_words = recording(say("coffee"), silence(0.6), say("elephant"))
    spoken = words.embed_audio(two_words, (0.5, 1.0))
    assert (spoken.start, spoken.end) == (0.5, 1.0)
    alone = (SAMPLE_RATE, two_words[1][SAMPLE_RATE // 2 : SAMPLE_RATE])
    whole = words.embed_audio(alone, (0.0, 0.5))
    assert np.allclose(spoken.vector, whole.vector, atol=0.02)


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ((0.5, 0.55), "too short"),
        ((0.0, 3.5), "too long"),
        ((3.0, 9.0), "outside"),
        ((-1.0, 1.0), "outside"),
        ((1.0, 0.5), "start before the end"),
        ((float("nan"), 1.0), "outside"),
    ],
)
def test_embed_audio_with_unusable_cut_raises(
    words: Words, say: Say, cut: tuple[float, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        words.embed_audio(recording(say("elephant"), silence(3)), cut)


def test_embed_audio_proposes_longest_word(words: Words, say: Say) -> None:
    short, long = say("tea"), say("elephant")
    with pytest.raises(CutNeededError, match="2 parts.*one word in one go.*cut") as caught:
        words.embed_audio(recording(short, silence(0.6), long))
    error = caught.value
    start = 1.1 + len(short) / SAMPLE_RATE
    assert len(error.cuts) == 2 and error.proposed == error.cuts[1]
    assert abs(error.proposed[0] - start) < 0.2
    again = words.embed_audio((SAMPLE_RATE, error.recording), error.proposed)
    assert (again.start, again.end) == error.proposed


def test_embed_audio_proposes_short_cut(words: Words, say: Say) -> None:
    """The speech is too long for one word."""
    text = "the quick brown fox jumps over the lazy dog and " * 5
    speech = np.resize(say(text, "-s", "160"), 10 * SAMPLE_RATE)
    with pytest.raises(CutNeededError, match="too long for one word") as caught:
        words.embed_audio(recording(speech))
    assert all(end - start <= 3.0 + 1e-6 for start, end in caught.value.cuts)


def music() -> np.ndarray:
    time = np.arange(SAMPLE_RATE // 2) / SAMPLE_RATE
    chords = [(262, 330, 392), (294, 370, 440), (330, 415, 494), (262, 330, 392)]
    notes = [
        sum(np.sin(2 * np.pi * k * hz * time) / k for hz in chord for k in range(1, 6))
        for chord in chords
    ]
    return 0.1 * np.concatenate([note * np.exp(-3 * time) for note in notes]).astype(np.float32)


def test_embed_audio_without_speech_raises(words: Words, say: Say) -> None:
    scrap = say("ah")[800 : 800 + round(0.04 * SAMPLE_RATE)]
    noise = 0.1 * np.random.default_rng(0).standard_normal(2 * SAMPLE_RATE).astype(np.float32)
    for part, message in (
        (silence(1), "silent"),
        (scrap, "too little speech"),
        (noise, "no speech"),
        (music(), "no speech"),
    ):
        with pytest.raises(InputError, match=message):
            words.embed_audio(recording(part))
    with pytest.raises(InputError, match="too short"):
        words.embed_audio((SAMPLE_RATE, scrap))
    with pytest.raises(InputError, match="not numbers"):
        words.embed_audio((SAMPLE_RATE, np.full(SAMPLE_RATE, np.nan, np.float32)))
    with pytest.raises(InputError, match="no recording"):
        words.embed_audio(None)


def test_embed_audio_of_text_file_raises(words: Words, tmp_path: Path) -> None:
    path = tmp_path / "word.wav"
    path.write_text("This is not audio. " * 100)
    with pytest.raises(InputError, match="cannot be read as audio"):
        words.embed_audio(path)


@pytest.mark.parametrize("rate", [8_000, 192_000])
def test_embed_audio_accepts_stereo(words: Words, say: Say, rate: int) -> None:
    """Any rate will do."""
    import soxr

    waveform = soxr.resample(recording(say("elephant"))[1], SAMPLE_RATE, rate)
    file = io.BytesIO()
    soundfile.write(file, np.stack([waveform, 0.5 * waveform], axis=1), rate, format="WAV")
    spoken = words.embed_audio(file.getvalue())
    assert 0.3 < spoken.end - spoken.start < 1.2


def test_embed_text_gives_phonemes_and_vector(words: Words) -> None:
    written = words.embed_text(" tree ")
    assert written.spelling == "tree" and written.pronunciation.phonemes == ("t", "ɹ", "i")
    assert written.pronunciation.source == "dictionary"
    assert np.allclose(written.vector, words.embed_text("/tɹi/").vector, atol=1e-6)
    assert np.isclose(np.linalg.norm(written.vector), 1)
    with pytest.raises(InputError):
        words.embed_text("")


def test_nearest_starts_with_word_itself(words: Words, library: WordLibrary, say: Say) -> None:
    """This holds for spoken and for written words."""
    spoken = words.embed_audio(recording(say("coffee")))
    near = words.nearest(library, spoken.vector, "spoken", limit=2)
    assert near[0].word.spelling == "coffee" and near[0].word.voice == "espeak"
    assert near[0].cosine > 0.99 and near[0].cosine >= near[1].cosine
    written = words.nearest(library, words.embed_text("tree").vector, "written")
    assert len(written) == 4 and written[0].word.id == "tree-None"


def test_guess_counts_homophones_once(words: Words, library: WordLibrary, say: Say) -> None:
    """Words that sound the same are one guess, and something is left for words not here."""
    guesses = words.guess(library, words.embed_audio(recording(say("tree"))))
    assert {guess.spelling for guess in guesses} == {"tree", "three", "coffee"}
    shares = [guess.probability for guess in guesses]
    assert shares == sorted(shares)[::-1] and 0 < sum(shares) < 1


def test_guess_weighs_phonemes_that_english_lacks(
    words: Words, library: WordLibrary, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """English words keep their order; of two others with one cosine, that which was said wins."""
    spoken = words.embed_audio(recording(say("tree")))
    right, other = ("ħ", "a", "l"), ("q", "uː", "n")
    typed = [
        replace(
            words.embed_text("tree"),
            spelling="".join(phonemes),
            pronunciation=Pronunciation(phonemes, "IPA"),
            vector=spoken.vector,
        )
        for phonemes in (other, right)
    ]
    before = words.guess(library, spoken, typed)
    steps = np.full((9, len(PHONEMES)), -9.0)
    steps[[0, 2, 4, 6, 8], 0] = steps[[1, 3, 7], numbers(right)] = 0.0
    steps[5, 0] = 0.0
    monkeypatch.setattr(words, "_log_posteriors", lambda member, speech: steps)
    monkeypatch.setitem(words.config, "foreign_phonemes", {"weight": 0.04, "usual": -0.5})
    after = words.guess(library, spoken, typed)
    assert after[0].phonemes == right and after[0].probability > before[0].probability
    english = [
        [g.spelling for g in each if g.phonemes not in (right, other)] for each in (before, after)
    ]
    assert english[0] == english[1]


def test_guess_knows_words_beside_the_library(words: Words, library: WordLibrary, say: Say) -> None:
    spoken = words.embed_audio(recording(say("tree")))
    typed = replace(words.embed_text("snorkel"), vector=spoken.vector)
    guesses = words.guess(library, spoken, [typed])
    assert guesses[0].spelling == "snorkel"
    assert guesses[0].probability > words.guess(library, spoken)[0].probability
