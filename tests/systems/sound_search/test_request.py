"""What people type: questions and commands as captions, how often and how long a sound is heard."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earshot.systems.sound_search import ranking
from earshot.systems.sound_search.query import Compound, as_text, parse, understand
from earshot.systems.sound_search.ranking import Hit, Occurrence, has_amounts, heard_in, occurrence
from earshot.systems.sound_search.request import amount_of, as_caption
from tests.support.sounds import write_sound


@pytest.mark.parametrize(
    ("typed", "caption"),
    [
        ("can you find me a dog that barks?", "a dog that barks"),
        ("play something with rain", "rain"),
        ("is there a siren?", "a siren"),
        ("Hey, could you play the sound of an engine for me?", "an engine"),
        ("I'd like to hear thunder, please", "thunder"),
        ("what does a fox sound like?", "a fox"),
        ("which recording has a helicopter in it?", "a helicopter"),
        ("do you have any church bells?", "church bells"),
        ("give me footsteps on gravel, then a door", "footsteps on gravel, then a door"),
    ],
)
def test_question_or_command_is_its_caption(typed: str, caption: str) -> None:
    assert as_caption(typed) == caption


@pytest.mark.parametrize(
    "text",
    [
        "guitar playing",
        "playing cards",
        "a child asks can you help me",
        "somebody is looking out of a window",
        "sound check",
        "a recording studio",
        "?",
        "",
        '"can you find me"',
    ],
)
def test_caption_stays_as_it_is(text: str) -> None:
    assert as_caption(text) == text


@pytest.mark.parametrize(
    ("typed", "sound", "count"),
    [
        ("three knocks", "knocks", 3),
        ("a single bark", "bark", 1),
        ("a phone that rings twice", "a phone that rings", 2),
        ("a dog barks three times", "a dog barks", 3),
        ("3 gunshots", "gunshots", 3),
    ],
)
def test_count_is_read(typed: str, sound: str, count: int) -> None:
    rest, amount = amount_of(typed)
    assert rest == sound
    assert amount is not None and amount.count == count


@pytest.mark.parametrize(
    ("typed", "sound", "seconds"),
    [
        ("a long siren", "a siren", (8.0, math.inf)),
        ("a very short click", "a click", (0.0, 1.0)),
        ("at least five seconds of rain", "rain", (5.0, math.inf)),
        ("rain for less than two minutes", "rain", (0.0, 120.0)),
        ("10 seconds of wind", "wind", (7.5, 12.5)),
        ("a train longer than 10 seconds", "a train", (10.0, math.inf)),
    ],
)
def test_duration_is_read(typed: str, sound: str, seconds: tuple[float, float]) -> None:
    rest, amount = amount_of(typed)
    assert rest == sound
    assert amount is not None and amount.seconds == seconds


@pytest.mark.parametrize(
    "text",
    ["two dogs barking", "one dog", "a cat meows", "all at once", "a long time ago", "twice", "3"],
)
def test_sources_and_phrases_are_not_counted(text: str) -> None:
    assert amount_of(text) == (text, None)


def test_amounts_and_exclusions_and_order_go_together() -> None:
    _, positive, unwanted = understand("can you find three knocks, then a long siren without rain?")
    compound = parse(positive)
    assert compound.captions == ("knocks", "a siren")
    assert [amount.name for amount in compound.amounts if amount] == ["3 times", "long"]
    assert unwanted == "rain"
    plain = compound.anyhow(0).anyhow(1)
    assert plain.parts == ("knocks", "a siren")
    assert parse(as_text(compound)) == compound
    assert Compound(("dog",)).amounts == (None,)


def test_number_in_quotes_is_part_of_the_sound() -> None:
    compound = parse('"three knocks", then a single bark')
    assert compound.captions == ("three knocks", "bark")
    assert compound.amounts[0] is None
    assert parse(as_text(compound.swapped(0))).captions == ("bark", "three knocks")


def test_better_amount_fits_better() -> None:
    counted, lasting = amount_of("three knocks")[1], amount_of("at least 4 seconds of rain")[1]
    assert counted and lasting
    assert counted.fit(3, 1) == 1 > counted.fit(2, 1) > counted.fit(9, 1)
    assert lasting.fit(1, 6) == 1 > lasting.fit(1, 3) > lasting.fit(1, 0)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_events_of_envelope_are_counted(count: int) -> None:
    levels = np.full(800, -60.0)
    for number in range(count):
        levels[50 + 120 * number : 90 + 120 * number] = -20
    measured = heard_in(levels, np.full(8, 0.5))
    assert measured.count == count
    assert measured.seconds == pytest.approx(0.4 * count)


def test_only_seconds_that_match_are_measured() -> None:
    levels = np.full(600, -60.0)
    levels[50:90] = levels[450:550] = -20
    scores = np.array([0.6, 0.5, 0.1, 0.0, 0.0, 0.0])
    assert heard_in(levels, scores) == (1, 0.4)
    assert heard_in(np.full(600, -20.0), np.full(6, 0.5)).seconds == pytest.approx(6.0)
    assert heard_in(np.full(600, -80.0), np.zeros(6)).count >= 0


def test_sound_that_cannot_be_read_is_not_measured(tmp_path: Path) -> None:
    write_sound(tmp_path / "a.wav", 1)
    assert occurrence(tmp_path / "a.wav", "a", np.ones(1)) is not None
    assert occurrence(tmp_path / "gone.wav", "b", np.ones(1)) is None


def test_sound_heard_more_often_is_no_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be read may hold any number."""
    sound: Any = SimpleNamespace(file=Path("knocks.wav"), content_hash="")
    hit = Hit(sound, 0.9, np.ones((1, 3), np.float32), (0.0,))
    for measured, is_met in ((Occurrence(2, 1.0), True), (Occurrence(3, 1.0), False), (None, True)):
        monkeypatch.setattr(ranking, "occurrence", lambda *_, measured=measured: measured)
        assert has_amounts(hit, parse("someone knocks twice")) is is_met
        assert has_amounts(hit, parse("someone knocks"))
