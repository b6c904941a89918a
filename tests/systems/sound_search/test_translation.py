"""Queries in other languages: recognised by their words, and translated into English."""

import csv
import json
import re

import pytest

from earshot.systems.sound_search.query import parse
from earshot.systems.sound_search.translation import MAX_CHARACTERS, WORDS, translate
from training.sound_search.corpus import kinds
from training.sound_search.evaluate import TRANSLATED
from training.sound_search.test_set import QUERIES

TWO_SOUNDS = [
    ("de", "ein Hund bellt, dann klingelt ein Telefon"),
    ("fr", "un chien aboie, puis un téléphone sonne"),
    ("es", "un perro ladra, luego suena un teléfono"),
    ("zh", "狗叫，然后电话响"),
    ("ar", "ينبح كلب ثم يرن هاتف"),
]
UNKNOWN = ["собака лает", "犬が吠える", "개가 짖는다", "🐕🐕", "", "?!", "xyzzy", "\u202e\u200f"]


@pytest.mark.parametrize(("language", "text"), TWO_SOUNDS)
def test_two_sounds_in_order_are_understood(language: str, text: str) -> None:
    reading = translate(text)
    assert reading.language == language and reading.english in reading.notice
    compound = parse(reading.english)
    assert compound.links == ("then",)
    assert "dog" in compound.parts[0] and re.search("bark", compound.parts[0])
    assert "phone" in compound.parts[1] and re.search("ring", compound.parts[1])


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("TÜRKLINGEL", "doorbell"),
        ("Tuerklingel", "doorbell"),
        ("Kirchenglockenläuten", "church bells rings"),  # a compound
        ("bellende Hunde", "barks dog"),  # inflected
        ("El perro esta ladrando", "the dog is barks"),  # without its accent
        ("machine à laver", "washing machine"),  # a phrase
        ("L’orage", "the thunderstorm"),
        ("والكلاب", "and dog"),  # with "and" and the article
        ("كَلْبٌ", "dog"),  # with vowel signs
        ("\u202bكلب\u202c", "dog"),  # with marks of direction
        ("狗🐕叫", "dog calls"),
    ],
)
def test_words_are_found_in_their_forms(text: str, english: str) -> None:
    assert translate(text).english == english


def test_quoted_text_stays_one_sound() -> None:
    assert not parse(translate('"ein Hund bellt, dann klingelt ein Telefon"').english).links


@pytest.mark.parametrize("text", UNKNOWN)
def test_unrecognised_text_stays_as_it_is(text: str) -> None:
    assert translate(text).english == text and not translate(text).language


def test_english_stays_as_it_is() -> None:
    rows = [json.loads(line) for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    texts = [row["query"] for row in rows]
    for kind in kinds().values():
        texts += [kind["name"], kind["event"]]
    texts += ["Die, monster!", "an old man", "solo piano", "a dog barks\nand  it rains", "tic tac"]
    translations = [translate(text) for text in texts]
    assert not any(translation.language for translation in translations)
    assert [translation.english for translation in translations] == texts


@pytest.mark.parametrize("piece", ["hund", "hund ", "كلب", "狗", "ü", "🐕 ", "perro chien Hund "])
def test_long_text_translates_within_query_limit(piece: str) -> None:
    reading = translate(piece * (10_000 // len(piece)))
    assert not reading.language or len(reading.english) <= MAX_CHARACTERS


def test_every_line_has_all_languages() -> None:
    with WORDS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    assert len(rows) > 1000 and all(
        set(row) == {"en", "de", "fr", "es", "zh", "ar"} for row in rows
    )
    assert [row for row in rows if not row["en"] or row["en"] != row["en"].strip()] == []


def test_translated_queries_are_evaluation_queries() -> None:
    """There is one of each class and style."""
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    queries = {row["query"]: row for row in map(json.loads, lines)}
    with TRANSLATED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {(queries[r["en"]]["relevant_class"], queries[r["en"]]["style"]) for r in rows}
    assert len(rows) == len(kinds) == 150
    assert all(cell.strip() for row in rows for cell in row.values())


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("كلب ينبح", "کلب ینبح"),
        ("كلب ينبح", "ﻛﻠﺐ ﻳﻨﺒﺢ"),
        ("鸟叫", "鳥叫"),
        ("门铃", "門鈴"),
        ("猫", "貓"),
        ("dog barking", "ｄｏｇ　ｂａｒｋｉｎｇ"),
        ("fire in a flat office", "ﬁre in a ﬂat oﬃce"),
    ],
)
def test_letters_of_other_keyboards_are_the_same(usual: str, other: str) -> None:
    """meilisearch/charabia#382, fastfinge/eloquence_64#98: nothing, or something else, came."""
    assert translate(other) == translate(usual)
    assert translate(usual).english.isascii()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("un cane che abbaia", "Italian"),
        ("um cachorro latindo", "Portuguese"),
        ("een hond blaft", "Dutch"),
        ("köpek havlıyor", "Turkish"),
        ("собака лает", "Cyrillic"),
        ("犬が吠える", "Japanese"),
        ("개가 짖는다", "Korean"),
    ],
)
def test_language_that_is_not_known_is_named(text: str, language: str) -> None:
    translation = translate(text)
    assert translation.english == text and not translation.language
    assert language in translation.notice and "Spanish" in translation.notice


@pytest.mark.parametrize(
    "text", ["a dog barks", "el perro del vecino", "con", "come", "α wave", "a Russian says привет"]
)
def test_language_that_is_known_is_not_taken_for_another(text: str) -> None:
    assert not translate(text).other


@pytest.mark.parametrize(
    "text", ["cane toad", "em dash", "cane", "con artist", "gut punch", "de facto", "Llama"]
)
def test_one_or_two_words_that_are_english_too_are_english(text: str) -> None:
    translation = translate(text)
    assert translation.english == text and not translation.notice


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hund", "German"),
        ("der Hund", "German"),
        ("un chien", "French"),
        ("el perro", "Spanish"),
        ("cane abbaia", "Italian"),
        ("hond blaft", "Dutch"),
    ],
)
def test_two_words_suffice_for_a_language(text: str, language: str) -> None:
    assert language in translate(text).notice
