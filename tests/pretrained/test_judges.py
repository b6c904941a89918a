"""Judges of speech: measures of a conversion."""

import numpy as np
import pytest

from earshot.pretrained import judges
from earshot.pretrained.recogniser import RecognisedWord, Transcript


def test_dnsmos_of_no_audio_raises() -> None:
    if not judges.has_dnsmos():
        pytest.skip("speechmos is not installed")
    with pytest.raises(ValueError, match="no audio to measure"):
        judges.dnsmos([])


def test_judge_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "find_spec", lambda name: None)
    missing = {judge.measure: judge.missing for judge in judges.judges()}
    assert missing["similarity"] == "resemblyzer is not installed"
    assert missing["words_kept"] == ""  # its recogniser comes with the app


def test_similarity_is_the_cosine_of_voices(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {4: np.array([1.0, 0.0]), 5: np.array([0.6, 0.8])}
    monkeypatch.setattr(judges, "embed", lambda waves: np.stack([vectors[len(w)] for w in waves]))
    similarity = next(each for each in judges.judges() if each.measure == "similarity")
    assert similarity.score(np.zeros(4), None, np.zeros(5)) == pytest.approx(0.6)
    assert similarity.score(np.zeros(4), np.zeros(4), None) is None


def test_words_kept_are_those_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {4: "seven three nine zero", 5: "Seven, three five zero!"}

    def transcribe(audio: tuple[int, np.ndarray]) -> Transcript:
        return Transcript(tuple(RecognisedWord(w, 1.0) for w in texts[len(audio[1])].split()))

    monkeypatch.setattr(judges, "_transcriber", lambda: transcribe)
    words = next(each for each in judges.judges() if each.measure == "words_kept")
    source, result = np.zeros(4, np.float32), np.zeros(5, np.float32)
    assert words.score(result, source, None) == 0.75
    assert words.score(result, None, None) is None
