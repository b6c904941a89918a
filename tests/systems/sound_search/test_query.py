"""Queries that name several sounds, and where in a sound these lie; and what a query excludes."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.query import (
    MAX_PARTS,
    Compound,
    Link,
    as_text,
    correct_spelling,
    parse,
    split_unwanted,
)
from earshot.systems.sound_search.ranking import order_scores, place
from training.sound_search.test_set import QUERIES

SPLIT = {
    "a dog barks, then a door slams": (("a dog barks", "a door slams"), ("then",)),
    "a door slams after a dog barks": (("a dog barks", "a door slams"), ("then",)),
    "after the bell rings, a dog barks": (("the bell rings", "a dog barks"), ("then",)),
    "before the bell rings, a dog barks": (("a dog barks", "the bell rings"), ("then",)),
    "thunder followed by rain": (("thunder", "rain"), ("then",)),
    "rain while a clock ticks": (("rain", "a clock ticks"), ("with",)),
    "a dog barks while it rains": (("a dog barks", "it rains"), ("with",)),
    "the wind blows and the rain falls": (("the wind blows", "the rain falls"), ("with",)),
    "a dog barks and it rains": (("a dog barks", "it rains"), ("with",)),
    "a dog barks and a cat meows": (("a dog barks", "a cat meows"), ("with",)),
    "dog and rain": (("dog", "rain"), ("with",)),
    "knocking on a door while a dog barks": (("knocking on a door", "a dog barks"), ("with",)),
    "pouring into a glass, then rain": (("pouring into a glass", "rain"), ("then",)),
    "a man talks with rain in the background": (("a man talks", "rain"), ("with",)),
    "knock, then footsteps, then a door": (("knock", "footsteps", "a door"), ("then", "then")),
    '"bread and butter" and "salt, then pepper"': (
        ("bread and butter", "salt, then pepper"),
        ("with",),
    ),
}
ONE_SOUND = [
    "a dog barks",
    "lightning strikes and it rumbles in the distance",
    "a child giggles and giggles",
    "a cold drink after work",
    "a hen clucks and the chicks answer",
    "a lorry brakes and a cyclist shouts at it",
    "wrapping paper rustles as the box opens",
    "a crowd roars after the ball crosses its line",
    "someone is panting after a long run",
    "an old wooden door creaks as it opens slowly",
    "the tap is leaking, drip after drip",
    "a polite person before entering the boss's office",
    "bristles scrub back and forth in somebody's mouth",
    "the holiday begins: we lift off and the houses get small",
    '"a dog barks, then a door slams"',
    "then",
    "and and and",
    "  ",
]


@pytest.mark.parametrize(("text", "expected"), SPLIT.items(), ids=list(SPLIT))
def test_parse_names_several_sounds_in_order(
    text: str, expected: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    compound = parse(text)
    assert (compound.parts, compound.links) == expected


@pytest.mark.parametrize("text", ONE_SOUND)
def test_parse_leaves_one_sound_whole(text: str) -> None:
    compound = parse(text)
    assert not compound.links and len(compound.parts) == 1


def test_parse_splits_few_evaluation_queries() -> None:
    """Each names one sound, and many have "and", "as", "after" or "before" in them."""
    texts = [json.loads(line)["query"] for line in QUERIES.read_text().splitlines()]
    assert sum(bool(parse(text).links) for text in texts) <= 0.02 * len(texts)


def test_parse_refuses_fifty_sounds() -> None:
    """It says how many are possible."""
    with pytest.raises(InputError, match=f"names 50 sounds. Name {MAX_PARTS} at most"):
        parse(", then ".join(f"sound {number}" for number in range(50)))


def test_written_compound_parses_to_itself() -> None:
    parts = ("a dog barks", "rain", "a cat meows, then a bell rings")
    links: tuple[Link, ...] = ("then", "with")
    for order in itertools.permutations(parts):
        for first, second in itertools.product(links, repeat=2):
            compound = Compound(order, (first, second))
            assert parse(as_text(compound)) == compound


def test_edits_of_compound_change_one_thing() -> None:
    compound = Compound(("a", "b", "c"), ("then", "with"))
    assert compound.steps == ((0,), (1, 2))
    assert compound.toggled(0) == Compound(("a", "b", "c"), ("with", "with"))
    assert compound.swapped(0) == Compound(("b", "a", "c"), ("then", "with"))
    assert compound.without(0) == Compound(("b", "c"), ("with",))
    assert compound.without(2) == Compound(("a", "b"), ("then",))


def test_place_takes_best_pair_of_seconds() -> None:
    """The order of the parts is kept."""
    scores = np.array([[0.1, 0.8, 0.2, 0.9], [0.9, 0.1, 0.7, 0.1]])
    assert place(scores, ((0,), (1,))) == (1, 2)
    assert order_scores(scores, ((0,), (1,))) == pytest.approx(0.75)
    assert place(scores, ((1,), (0,))) == (0, 3)[::-1]
    assert place(scores, ((0, 1),)) == (3, 0)
    assert order_scores(scores, ((0, 1),)) == pytest.approx(0.9)


def test_sound_that_holds_one_of_two_scores_as_the_other() -> None:
    both, one = np.array([[[0.5, 0.4], [0.3, 0.4]], [[0.9, 0.9], [0.1, 0.0]]])
    assert order_scores(both, ((0, 1),)) > order_scores(one, ((0, 1),)) == pytest.approx(0.1)


def test_place_agrees_with_all_choices() -> None:
    """All choices of seconds that keep the order are tried."""
    rng = np.random.default_rng(0)
    steps = ((2,), (0, 1), (3,))
    many = rng.random((20, 4, 6))
    for scores, together in zip(many, order_scores(many, steps), strict=True):
        rows = [scores[list(step)].min(axis=0) for step in steps]

        def mean_at(times: tuple[int, ...], rows: list[np.ndarray] = rows) -> float:
            return sum(row[t] for row, t in zip(rows, times, strict=True)) / 3

        best = max(itertools.combinations(range(6), 3), key=mean_at)
        assert order_scores(scores, steps) == pytest.approx(mean_at(best)) == together
        assert place(scores, steps) == (best[1], best[1], best[0], best[2])


def test_too_short_sound_scores_worst_part() -> None:
    """It is too short for the order of its parts."""
    assert order_scores(np.array([[0.9], [0.2]]), ((0,), (1,))) == pytest.approx(0.2)
    assert place(np.array([[0.9], [0.2]]), ((0,), (1,))) == (0, 0)


@pytest.mark.parametrize(
    ("text", "searched", "unwanted"),
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
def test_unwanted_part_is_split_off(text: str, searched: str, unwanted: str) -> None:
    assert split_unwanted(text) == (searched, unwanted)


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
    """Two of them name what they exclude, and are split."""
    texts = [json.loads(line)["query"] for line in QUERIES.read_text().splitlines()]
    unwanted = [split_unwanted(text)[1] for text in texts]
    assert [text for text in unwanted if text] == ["doorbell", "electricity"]


def test_search_without_equals_but_not(tmp_path: Path) -> None:
    """The text "low without middle" finds what "low" finds with "middle" taken away."""
    index = SoundIndex.empty(FakeEncoder())
    index.add([write_tone(tmp_path / f"{word}.wav", word) for word in ("low", "middle", "high")])
    index.add([write_tone(tmp_path / "both.wav", "low", "middle")])
    search = SoundSearch(index.encoder)
    by_text, by_field = search(index, "low without middle"), search(index, "low", without="middle")
    assert [hit.sound.name for hit in by_text.hits] == [hit.sound.name for hit in by_field.hits]
    assert by_text.notices == ("Read as “low”, but not “middle”.",)
    german = search(index, "ein Hund bellt ohne Regen")
    assert german.compound.parts == ("a dog barks",)
    with pytest.raises(InputError, match="only takes away"):
        search(index, "not a dog")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("woodpeker", "woodpecker"),
        ("Churhc bells ring", "church bells ring"),
        ("a dog brking, then rian", "a dog barking, then rian"),  # four letters are too few
        ('"brking" dog', '"brking" dog'),
        ("rustlers", "rustlers"),  # a form of rustler
        ("beatboxing", "beatboxing"),
        ("ünlöü", "ünlöü"),
    ],
)
def test_word_that_no_dictionary_has_is_read_as_its_neighbour(text: str, expected: str) -> None:
    assert correct_spelling(text, {"woodpecker", "church", "barking", "rain"}) == expected
