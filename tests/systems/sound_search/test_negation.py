"""What a query does not want: understood where it is meant, and only there."""

import json
from pathlib import Path

import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.negation import split_unwanted
from training.sound_search.test_set import QUERIES


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("not a dog", "", "a dog"),
        ("no music", "", "music"),
        ("rain without thunder", "rain", "thunder"),
        ("Rain with no wind", "Rain", "wind"),
        ("birds, but no crows", "birds", "crows"),
        ("a dog barks and no rain", "a dog barks", "rain"),
        ("rain, no thunder, no wind", "rain", "thunder and wind"),
        ("rain but not thunder, then a dog barks", "rain, then a dog barks", "thunder"),
        (
            "a dog barks, then a door slams, without music",
            "a dog barks, then a door slams",
            "music",
        ),
    ],
)
def test_unwanted_part_is_split_off(text: str, wanted: str, unwanted: str) -> None:
    assert split_unwanted(text) == (wanted, unwanted)


@pytest.mark.parametrize(
    "text",
    [
        "a car that is not starting",
        "a motor that does not start",
        "someone says no",
        "no one talks",
        "not",
        "without",
        '"not a dog"',
        'a door "no entry" slams',
        "a voice says “no thanks”",
        "a noise in the north",
    ],
)
def test_other_texts_stay_whole(text: str) -> None:
    assert split_unwanted(text) == (text, "")


def test_evaluation_queries_stay_whole() -> None:
    """Two of them name what is not wanted, and are split."""
    texts = [json.loads(line)["query"] for line in QUERIES.read_text().splitlines()]
    unwanted = [split_unwanted(text)[1] for text in texts]
    assert [text for text in unwanted if text] == ["doorbell", "electricity"]


def test_search_without_equals_but_not(tmp_path: Path) -> None:
    """The text "low without middle" finds what "low" finds with "middle" taken away."""
    index = SoundIndex.empty(FakeEncoder())
    index.add([write_tone(tmp_path / f"{word}.wav", word) for word in ("low", "middle", "high")])
    index.add([write_tone(tmp_path / "both.wav", "low", "middle")])
    search = SoundSearch(index.encoder)
    said, given = search(index, "low without middle"), search(index, "low", without="middle")
    assert [hit.sound.name for hit in said.hits] == [hit.sound.name for hit in given.hits]
    assert said.notices == ("Read as “low”, but not “middle”.",)
    german = search(index, "ein Hund bellt ohne Regen")
    assert german.compound.parts == ("a dog barks",)
    with pytest.raises(InputError, match="only takes away"):
        search(index, "not a dog")
