"""A vocabulary from examples: recognition, rejection, limits."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.systems.words.library import MAX_EXAMPLES, MAX_NAME, MAX_WORDS, Vocabulary

LAMP, FAN, DOOR = np.eye(3, dtype=np.float32)
THRESHOLD = 0.6


@pytest.fixture
def vocabulary() -> Vocabulary:
    words = Vocabulary()
    words.add("lamp", LAMP)
    words.add("fan", FAN)
    return words


def near(vector: np.ndarray, cosine: float) -> np.ndarray:
    """A unit vector at this cosine from the vector, away from the words above."""
    return cosine * vector + np.sqrt(1 - cosine**2) * DOOR


def test_find_near_example_gives_word(vocabulary: Vocabulary) -> None:
    match = vocabulary.find(near(FAN, 0.9), THRESHOLD)
    assert match.name == "fan"
    assert [name for name, _ in match.cosines] == ["fan", "lamp"]
    assert match.cosines[0][1] == pytest.approx(0.9)


def test_find_below_the_threshold_gives_none(vocabulary: Vocabulary) -> None:
    match = vocabulary.find(near(FAN, 0.59), THRESHOLD)
    assert match.name is None and match.cosines[0][0] == "fan"


def test_find_uses_closest_of_several_examples(vocabulary: Vocabulary) -> None:
    vocabulary.add(" lamp ", DOOR)
    assert vocabulary.words == {"lamp": 2, "fan": 1}
    assert vocabulary.find(DOOR, THRESHOLD).name == "lamp"


def test_find_forgets_removed_or_cleared_words(vocabulary: Vocabulary) -> None:
    vocabulary.remove("fan")
    assert vocabulary.find(FAN, THRESHOLD).name is None
    vocabulary.clear()
    with pytest.raises(InputError, match="Record some first"):
        vocabulary.find(FAN, THRESHOLD)


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "no name"), (" \n", "no name"), ("?!", "no name"), ("x" * (MAX_NAME + 1), "long")],
)
def test_add_with_an_unusable_name_raises(vocabulary: Vocabulary, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        vocabulary.add(name, LAMP)
    assert vocabulary.words == {"lamp": 1, "fan": 1}


def test_add_beyond_the_limits_raises(vocabulary: Vocabulary) -> None:
    for _ in range(MAX_EXAMPLES - 1):
        vocabulary.add("lamp", LAMP)
    with pytest.raises(InputError, match="already"):
        vocabulary.add("lamp", LAMP)
    for number in range(MAX_WORDS - 2):
        vocabulary.add(f"word {number}", DOOR)
    with pytest.raises(InputError, match="room"):
        vocabulary.add("one more", DOOR)
    vocabulary.add("fan", FAN)
