"""Patterns that any text reaches: each reads it once, for all others wait meanwhile."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from earshot.study.design.document import _quoted
from earshot.study.imports.toolkits import address_of
from earshot.study.library import parse_link
from tests.support.quickness import quickly


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse_link, "/results/a" * 100_000 + " b"),
        (parse_link, "/results/" * 100_000),
        (address_of, "?=" * 500_000 + "\n\nx"),
        (address_of, "?" * 1_000_000),
        (_quoted, "    - a: b: " + " " * 1_000_000 + "c"),
        (_quoted, "a: " + ": " * 500_000 + "#" * 500_000),
        (_quoted, "- " * 500_000),
    ],
)
def test_long_text_takes_linear_time(read: Callable[[str], object], text: str) -> None:
    with quickly(2), suppress(ValueError):
        read(text)


@pytest.mark.parametrize(
    ("link", "parts"),
    [
        ("https://a.b/results/test?key=k_-1", ("test", "k_-1")),
        ("Results: https://a.b/results/test?key=k&estimates=true \n", ("test", "k")),
        ("https://a.b/results/test/answers.csv", ("test", "")),
    ],
)
def test_link_to_results_is_read(link: str, parts: tuple[str, str]) -> None:
    assert parse_link(link) == parts


@pytest.mark.parametrize(
    ("cell", "clip"),
    [
        ("https://a.b/c/d.wav?sig=a/b&e=1", "https://a.b/c/d.wav"),
        ("https://a.b/c/d.wav#t=2,3", "https://a.b/c/d.wav"),
        ("c?/d.wav?sig=1", "c?/d.wav"),
        ("c/why?.wav", "c/why?.wav"),
    ],
)
def test_address_of_clip_has_no_signature(cell: str, clip: str) -> None:
    assert address_of(cell) == clip


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("  - content: Rate: how good?  # a note", "  - content: 'Rate: how good?' # a note"),
        ("name: It's this: that", "name: 'It''s this: that'"),
        ("name: a plain text # b: c", "name: a plain text # b: c"),
        ("name: 'a: b'", "name: 'a: b'"),
    ],
)
def test_lax_text_is_quoted(line: str, quoted: str) -> None:
    assert _quoted(line) == quoted
