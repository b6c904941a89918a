"""Words put together from two recorded ones, and where phonemes are in a recording."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from media.audio.load import load
from media.text.phonemes import PHONEMES, from_arpabet, from_ipa, from_pinyin, numbers
from training.common.corpora import Item
from training.words.data.alignment import NEAREST, Aligner
from training.words.data.concatenation import Splices
from training.words.data.recordings import Recorded

CAT, DOG, BED = (tuple(numbers(from_arpabet(p))) for p in ("K AE T", "D AO G", "B EH D"))
STARTS = np.array([[0, 10, 20], [0, 12, 24], [0, 14, 28], [0, 11, 22], [0, 0, 0]], np.uint16)


def test_a_new_word_takes_the_beginning_of_one_and_the_end_of_another() -> None:
    takes = [(0, CAT, "a", 0), (1, DOG, "a", 0), (2, CAT, "b", 0), (3, DOG, "b", 0)]
    splices = Splices(takes, STARTS, [])
    rng = np.random.default_rng(0)
    for _ in range(30):
        word, parts = splices.draw(2, rng)
        for one, until, other, since in parts:
            assert (one < 2) == (other < 2)  # one talker
            first, second = ((CAT, DOG)[n % 2] for n in (one, other))
            i, j = (
                int(np.flatnonzero(STARTS[n] == f)[0]) for n, f in ((one, until), (other, since))
            )
            assert word == first[:i] + second[j:]


def test_words_to_be_kept_out_are_not_made() -> None:
    takes = [(0, CAT, "a", 0), (1, DOG, "a", 0)]
    spare = {CAT[:1] + DOG[1:], CAT[:2] + DOG[2:], DOG[:1] + CAT[1:], DOG[:2] + CAT[2:], CAT, DOG}
    with pytest.raises(LookupError):
        Splices(takes, STARTS, spare).draw(2, np.random.default_rng(0))
    heard = from_arpabet("B ER D"), from_arpabet("HH AW S")
    parts = [tuple(numbers(p)) for p in (from_arpabet("B ER T"), from_arpabet("HH AW D"), *heard)]
    splices = Splices([(n, p, "a", 0) for n, p in enumerate(parts[:2])], STARTS, [])
    for seed in range(40):
        try:
            word, _ = splices.draw(1, np.random.default_rng(seed))
        except LookupError:
            continue
        assert word not in parts[2:]


def test_unaligned_recordings_are_not_cut() -> None:
    with pytest.raises(ValueError):
        Splices([(4, BED, "a", 0)], STARTS, []).draw(1, np.random.default_rng(0))


def test_tones_stay_with_their_vowels() -> None:
    words = [tuple(numbers(from_pinyin(p))) for p in ("ma1 li4", "na3 mi2")]
    starts = np.array([[0, 10, 10, 20, 30, 30], [0, 10, 10, 20, 30, 30]], np.uint16)
    splices = Splices([(n, w, "a", 2) for n, w in enumerate(words)], starts, [])
    for seed in range(30):
        word, _ = splices.draw(1, np.random.default_rng(seed))
        kinds = [PHONEMES[n] in ("˥", "˥˩", "˨˩˦", "˧˥") for n in word]
        assert not kinds[0] and not any(a and b for a, b in zip(kinds, kinds[1:], strict=False))


def test_every_phoneme_has_an_english_neighbour() -> None:
    tones = {"˥", "˧˥", "˨˩˦", "˥˩"}
    assert set(NEAREST) == set(PHONEMES[1:]) - tones


@pytest.mark.parametrize(
    ("voice", "text", "phonemes"),
    [
        ("en-us", "speaker", from_arpabet("S P IY K ER")),
        ("ar", "مَدْرَسَة", from_ipa("madrasa")),
    ],
)
def test_phonemes_are_found_in_order(
    tmp_path: Path, voice: str, text: str, phonemes: tuple[str, ...]
) -> None:
    path = tmp_path / "word.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-s", "120", "-w", path, text], check=True)
    waveform = load(path, 16_000).waveform
    item = Item("test", path, "a", "train")
    starts = Aligner([phonemes]).starts(Recorded(item, waveform, phonemes))
    assert len(starts) == len(phonemes)
    assert starts == sorted(starts)
    assert 10 < starts[-1] < len(waveform) // 160
