from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from earshot.core.paths import ASSETS
from earshot.sound_index import descriptions
from earshot.sound_index.descriptions import Descriptions
from earshot.sound_index.index import read_index
from earshot.sound_index.sound import Sound

WIDTH = 384


def sentences(texts: Sequence[str]) -> np.ndarray:
    """Embed texts by the letters of their words: the same words have the same vector."""
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, hash(word) % WIDTH] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def sound(name: str, caption: str = "", kind: str = "", tags: tuple[str, ...] = ()) -> Sound:
    return Sound(name, Path(name), name, caption, kind, 1.0, name, "", tags)


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "_stored", lambda: ({}, np.zeros((0, WIDTH), np.float16)))


def cosines(sounds: Sequence[Sound], query: str) -> list[float]:
    return Descriptions(sounds, sentences).cosines(sentences([query])[0]).round(2).tolist()


def test_query_is_compared_with_all_that_is_written_of_a_sound() -> None:
    sounds = [
        sound("a.wav", "Somebody knocks. | zylophon tune"),
        sound("b.wav", kind="door_slam"),
        sound("c.wav", tags=("old bell",)),
        sound("my-steam-engine.v2.wav"),
        sound("07_014.wav"),
    ]
    for row, query in enumerate(["zylophon tune", "door slam", "old bell", "my steam engine v2"]):
        best = cosines(sounds, query)
        assert best[row] == 1 and np.argmax(best) == row
    assert cosines(sounds, "old bell")[3:] == [0, -1]  # a number is no name
    assert Descriptions(sounds, sentences).has_words.tolist() == [True, True, True, False, False]


def test_further_captions_count_and_lists_part_by_part() -> None:
    sounds = [
        sound("1.wav", "A pig grunts. | pig, oink, snuffling"),
        sound("2.wav", "A dog barks, then a door slams"),
        sound("3.wav", "A horse gallops past on grass."),
    ]
    assert cosines(sounds, "oink")[0] == 1
    assert cosines(sounds, "A dog barks")[1] < 1  # a sentence with a comma is no list
    assert {"oink", "snuffling", "gallops"} <= Descriptions(sounds, sentences).vocabulary


def test_letters_of_a_query_are_looked_for_in_all_words_of_a_sound() -> None:
    texts = ("barking dogs | a kennel", "a dog barks", "rain on a roof")
    descriptions = Descriptions([sound("1.wav", text) for text in texts], sentences)
    assert descriptions.shares("kennel").tolist() == [1, 0, 0]
    barks = descriptions.shares("the dog barked")
    assert barks[1] > barks[0] > 0.3 and barks[2] == 0
    assert descriptions.shares("?!").tolist() == [0, 0, 0]


def test_first_captions_are_compared_where_all_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(descriptions, "MAX_NEW", 1)
    assert cosines(
        [sound("1.wav", "a dog barks | woof"), sound("2.wav", "a dog barks")], "woof"
    ) == [0, 0]


def test_library_without_words_and_one_with_too_many_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cosines([sound("1.wav")], "rain") == [-1]
    assert cosines([], "rain") == []
    monkeypatch.setattr(descriptions, "MAX_NEW", 1)
    assert cosines([sound("rain.wav"), sound("snow.wav")], "rain") == [-1, -1]


def test_shipped_sounds_have_their_texts_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    stored, vectors = descriptions._stored()
    assert np.allclose(np.linalg.norm(vectors.astype(np.float32), axis=1), 1, atol=1e-2)
    _, library = read_index(ASSETS / "sounds.index", None)
    assert all(text in stored for each in library.sounds for text in descriptions._texts(each))
