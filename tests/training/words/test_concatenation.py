"""Words concatenated from two recorded ones, and forced alignment of phonemes."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from earshot.media.audio.load import load
from earshot.media.text.phonemes import PHONEMES, from_arpabet, from_ipa, from_pinyin, numbers
from training.common.corpora import Item
from training.words.concatenation import Concatenations, Utterance, Word
from training.words.recordings import CLOSEST_PHONE, Aligner, RecordedWord, unrecorded_words

CAT, DOG, BED = (tuple(numbers(from_arpabet(p))) for p in ("K AE T", "D AO G", "B EH D"))
STARTS = np.array([[0, 10, 20], [0, 12, 24], [0, 14, 28], [0, 11, 22], [0, 0, 0]], np.uint16)


def utterances(*words: Word, speaker: str = "a", language: int = 0) -> list[Utterance]:
    return [Utterance(n, word, speaker, language) for n, word in enumerate(words)]


def test_concatenations_join_words_of_one_speaker() -> None:
    """The start of a word is joined to the end of another."""
    recordings = [Utterance(n, (CAT, DOG)[n % 2], "ab"[n // 2], 0) for n in range(4)]
    concatenations = Concatenations(recordings, STARTS, [])
    rng = np.random.default_rng(0)
    for _ in range(30):
        word, drawn = concatenations.draw(2, rng)
        for parts in drawn:
            assert (parts.first < 2) == (parts.second < 2)  # one speaker
            first, second = ((CAT, DOG)[n % 2] for n in (parts.first, parts.second))
            i = int(np.flatnonzero(STARTS[parts.first] == parts.end)[0])
            j = int(np.flatnonzero(STARTS[parts.second] == parts.start)[0])
            assert word == first[:i] + second[j:]


def test_concatenations_give_no_excluded_words() -> None:
    """Zero-shot words are never given either."""
    excluded = {
        CAT[:1] + DOG[1:],
        CAT[:2] + DOG[2:],
        DOG[:1] + CAT[1:],
        DOG[:2] + CAT[2:],
        CAT,
        DOG,
    }
    with pytest.raises(LookupError):
        Concatenations(utterances(CAT, DOG), STARTS, excluded).draw(2, np.random.default_rng(0))
    zero_shot = from_arpabet("B ER D"), from_arpabet("HH AW S")
    parts = [
        tuple(numbers(p)) for p in (from_arpabet("B ER T"), from_arpabet("HH AW D"), *zero_shot)
    ]
    concatenations = Concatenations(utterances(*parts[:2]), STARTS, [])
    for seed in range(40):
        try:
            word, _ = concatenations.draw(1, np.random.default_rng(seed))
        except LookupError:
            continue
        assert word not in parts[2:]


def test_concatenations_without_alignment_draw_nothing() -> None:
    with pytest.raises(LookupError, match="No two recorded words"):
        Concatenations([Utterance(4, BED, "a", 0)], STARTS, []).draw(1, np.random.default_rng(0))


def test_unrecorded_words_join_two_recordings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unrecorded word is cut from two recordings of a speaker."""
    monkeypatch.setattr(Aligner, "starts", lambda _, word: [0, 10, 20])
    phonemes = {"a": ("K AE T", "D AO G"), "b": ("B EH D", "D AO G")}
    recordings = [
        RecordedWord(Item("test", Path(), speaker, "val"), np.full(4800, value, np.float32), word)
        for value, (speaker, word) in enumerate(
            (speaker, from_arpabet(phones))
            for speaker, words in phonemes.items()
            for phones in words
        )
    ]
    recorded = [word.phonemes for word in recordings]
    unrecorded = unrecorded_words(recordings, recorded, 20)
    for word in unrecorded:
        values = np.unique(word.waveform).astype(int).tolist()
        assert {recordings[value].item.speaker for value in values} == {word.item.speaker}
        first, second = (recordings[int(word.waveform[end])] for end in (0, -1))
        assert word.phonemes not in recorded
        assert word.phonemes[0] == first.phonemes[0] and word.phonemes[-1] == second.phonemes[-1]
        # As long as the first up to its cut, and the second from its cut.
        assert len(word.waveform) in (4800, 4800 - 1600, 4800 + 1600)
    again = unrecorded_words(recordings, recorded, 20)
    assert [word.phonemes for word in again] == [word.phonemes for word in unrecorded]


def test_concatenations_keep_tones_with_their_vowels() -> None:
    words = [tuple(numbers(from_pinyin(p))) for p in ("ma1 li4", "na3 mi2")]
    starts = np.array([[0, 10, 10, 20, 30, 30], [0, 10, 10, 20, 30, 30]], np.uint16)
    concatenations = Concatenations(utterances(*words, language=2), starts, [])
    for seed in range(30):
        word, _ = concatenations.draw(1, np.random.default_rng(seed))
        kinds = [PHONEMES[n] in ("˥", "˥˩", "˨˩˦", "˧˥") for n in word]
        assert not kinds[0] and not any(a and b for a, b in zip(kinds, kinds[1:], strict=False))


def test_alignment_maps_every_phoneme() -> None:
    """Every phoneme has an English phone."""
    tones = {"˥", "˧˥", "˨˩˦", "˥˩"}
    assert set(CLOSEST_PHONE) == set(PHONEMES[1:]) - tones


@pytest.mark.parametrize(
    ("voice", "text", "phonemes"),
    [
        ("en-us", "speaker", from_arpabet("S P IY K ER")),
        ("ar", "مَدْرَسَة", from_ipa("madrasa")),
    ],
)
def test_aligner_returns_starts_in_order(
    tmp_path: Path, voice: str, text: str, phonemes: tuple[str, ...]
) -> None:
    path = tmp_path / "word.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-s", "120", "-w", path, text], check=True)
    waveform = load(path, 16_000).waveform
    item = Item("test", path, "a", "train")
    starts = Aligner([phonemes]).starts(RecordedWord(item, waveform, phonemes))
    assert len(starts) == len(phonemes)
    assert starts == sorted(starts)
    assert 10 < starts[-1] < len(waveform) // 160
