"""What is asked for: chips that change the text, votes, and the query's name."""

from dataclasses import replace

import pytest

from earshot.tabs.sound_search.query import Search, chips_html, edited_text

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("action", "number", "text"),
    [
        ("link", 0, "a dog barks together with a bell rings"),
        ("swap", 0, "a bell rings, then a dog barks"),
        ("drop", 1, "a dog barks"),
        ("whole", 0, '"a dog barks, then a bell rings"'),
        ("drop", 7, "a dog barks, then a bell rings"),
        ("link", None, "a dog barks, then a bell rings"),
        (None, "x", "a dog barks, then a bell rings"),
    ],
)
def test_edited_chip_changes_the_text(action: object, number: object, text: str) -> None:
    assert edited_text("a dog barks, then a bell rings", action, number) == text


def test_chips_are_for_several_sounds() -> None:
    """Their text is escaped."""
    assert chips_html("a dog barks") == ""
    html = chips_html("a <b>dog</b> barks, then a bell rings")
    assert "a &lt;b&gt;dog&lt;/b&gt; barks" in html and html.count("chip-part") == 2


def test_chips_show_what_is_not_wanted() -> None:
    html = chips_html("rain without thunder <b>")
    assert "rain" in html and "not thunder &lt;b&gt;" in html
    assert chips_html("not a dog") == ""
    text = "a dog barks, then a bell rings, without music"
    assert edited_text(text, "swap", 0) == "a bell rings, then a dog barks, without music"


def test_same_vote_again_removes_it() -> None:
    query = Search("rain").voted("x", 1).voted("y", -1)
    assert dict(query.votes) == {"x": 1, "y": -1}
    assert dict(query.voted("x", -1).votes) == {"x": -1, "y": -1}
    assert dict(query.voted("x", 1).votes) == {"y": -1}
    other = replace(query, text="wind")
    assert not other.votes and replace(other, text="rain").votes == query.votes


def test_query_of_different_recordings_differs() -> None:
    assert Search("rain").query == "rain"
    first, second = (Search(like=f"/tmp/{h}/audio.wav", like_name="your recording") for h in "ab")
    assert first.query != second.query
    assert Search("dog", "x1", "Rain", "wind").name == "“dog” and like “Rain”, but not “wind”"


def test_chips_show_how_often_and_how_long() -> None:
    text = "can you find me three knocks, then a long siren?"
    html = chips_html(text)
    assert "3 times" in html and "long" in html and "can you" not in html
    assert chips_html("a single bark")
    assert edited_text(text, "anyhow", 0) == "knocks, then a long siren"
    assert edited_text("a single bark", "anyhow", 0) == "bark"
    for number in (7, -1, None, True):
        edited_text("a single bark", "anyhow", number)
