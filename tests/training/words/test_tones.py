"""Recorded Mandarin words with other tones."""

import numpy as np
import pytest

from earshot.media.text.phonemes import from_pinyin
from tests.support.word_arrays import rng
from training.common.zero_shot import zero_shot
from training.words import converted as tones
from training.words.converted import intonation_of, other_tones
from training.words.synthesis import sandhi

RATE = 16_000


def test_other_tones_differ() -> None:
    """Other tones are neither the same nor zero-shot nor two third tones."""
    drawn = [other_tones(["bei4", "jing3"], rng(seed)) for seed in range(300)]
    words = {" ".join(word) for word in drawn if word}
    assert len(words) == 13  # of 16: not itself, not 北京, not 3 3
    assert "bei4 jing3" not in words and not any(sandhi(word.split()) for word in words)
    assert not {from_pinyin(word) for word in words} & zero_shot("zh")


@pytest.mark.parametrize(
    ("tone", "shape"), [("1", "level"), ("2", "rising"), ("3", "dipping"), ("4", "falling")]
)
def test_intonation_of_syllable_follows_tone(
    tone: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The intonation has the shape of the tone."""
    monkeypatch.setattr(tones, "PITCH_SPREAD", 0.0)
    time = np.arange(8000) / RATE
    buzz = sum(np.sin(2 * np.pi * 150 * k * time) / k for k in range(1, 8))
    speech = np.concatenate([np.zeros(1600), 0.1 * buzz, np.zeros(1600)]).astype(np.float32)
    word = ["ma1", f"ma{tone}"]  # the second begins at frame 35
    starts = np.array([10, 13, 13, 35, 38, 38])
    intonation = intonation_of(speech, word, starts, rng())
    assert not intonation.voiced[:3].any() and intonation.voiced[8:28].all()
    first, middle, last = intonation.log_f0[[21, 28, 34]]
    shares = {
        "level": abs(last - first) < 0.3,
        "rising": last > first + 0.8,
        "dipping": middle < first - 0.2 and middle < last - 0.4,
        "falling": last < first - 1.5,
    }
    assert [name for name, holds in shares.items() if holds] == [shape]
    assert np.ptp(intonation.log_f0[8:16]) < 0.3  # the first tone of the first syllable
