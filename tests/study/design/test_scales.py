"""Several scales on one trial, sentences, transcripts and comments, as YAML writes them."""

from pathlib import Path
from typing import Any

import pytest

from earshot.core.errors import InputError
from earshot.study.design import DESIGNS, Item, Test, spec
from earshot.study.design.scales import MAX_COMMENT, MAX_SENTENCE, STANDARD, words_in
from earshot.study.design.spec import SpecError
from earshot.study.storage.answers import check, errors_in, expected, rating_rows
from tests.support.stimuli import make_folder
from tests.support.studies import any_answer

SENTENCES = dict.fromkeys(("one", "two", "three"), "The old cat sat.")
SCALES: dict[str, Any] = {
    "similarity": None,
    "naturalness": {"points": 7},
    "pleasant": {"question": "How pleasant?", "points": 11, "ends": ["Not at all", "Very"]},
    "transcription": None,
}


def load_test(folder: Path, design: str = "smos", **more: Any) -> Test:
    return spec.load(make_folder(folder / "t", design, **more))


@pytest.fixture
def test(tmp_path: Path) -> Test:
    return load_test(tmp_path, scales=SCALES, comment=True, sentences=SENTENCES)


def test_scales_have_their_points_and_words(test: Test) -> None:
    similar, natural, pleasant, typed = test.rated
    assert similar.answers == DESIGNS["smos"].scale.answers and similar.bounds == (1, 5)
    assert natural.numbers == (7, 6, 5, 4, 3, 2, 1)
    assert natural.answers[0][1] == "Completely natural" and natural.answers[1][1] == ""
    assert pleasant.numbers == (*range(10, -1, -1),) and pleasant.bounds == (0, 10)
    assert natural.differences == (0.3, 0.45, 0.75), "of seven points as of five"
    assert (pleasant.answers[0][1], pleasant.answers[-1][1]) == ("Very", "Not at all")
    assert typed.typed and test.by_name and test.checked == similar
    assert test.question == similar.question


def test_test_without_scales_is_unchanged(tmp_path: Path) -> None:
    """A comment leaves its fingerprint as it was, and a scale does not."""
    plain, with_comment = (
        load_test(tmp_path / "a", "acr"),
        load_test(tmp_path / "b", "acr", comment=True),
    )
    assert not plain.by_name and plain.rated[0].name == "acr"
    assert plain.rated[0].answers == plain.scale
    assert with_comment.by_name and plain.fingerprint == with_comment.fingerprint
    scaled = load_test(tmp_path / "c", "acr", scales={"naturalness": None})
    assert scaled.fingerprint != plain.fingerprint


def test_words_name_points_from_best(tmp_path: Path) -> None:
    words = ["A", "B", "C", "D", "E"]
    test = load_test(tmp_path, "acr", scales={"x": {"question": "How?", "words": words}})
    assert test.rated[0].answers == ((5, "A"), (4, "B"), (3, "C"), (2, "D"), (1, "E"))


def test_scales_of_pairs_have_the_answers_of_the_design(tmp_path: Path) -> None:
    (scale,) = load_test(
        tmp_path, "ab", no_preference=False, scales={"clear": {"question": "Which?"}}
    ).rated
    assert scale.answers == (("a", "A"), ("b", "B")) and scale.null == 0.5


def test_sentences_are_read_from_files(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", "acr", show_sentence=True, sentences="said/*.txt")
    (folder / "said").mkdir()
    for name in SENTENCES:
        (folder / "said" / f"{name}.txt").write_text(f"\ufeffThis is\n{name}. ")
    assert spec.load(folder).sentences == {name: f"This is {name}." for name in SENTENCES}


@pytest.mark.parametrize(
    ("design", "more", "what"),
    [
        ("ccr", {"scales": {"naturalness": None}}, "ccr has one scale"),
        ("ab", {"scales": {"clear": None}}, "write question, words, guidelines here"),
        ("ab", {"scales": {"clear": {"words": ["A", "=", "B"]}}}, '"question" is missing'),
        ("ab", {"scales": {"clear": {"question": "?", "words": ["A"]}}}, '"words" must be 3'),
        ("mushra", {"scales": {"noise": {"question": "?", "points": 7}}}, 'no "points"'),
        ("ab", {"scales": {"x": {"question": "?"}}, "pairing": "adaptive"}, "one scale alone"),
        ("acr", {"scales": {"similarity": None}}, "asks about a reference"),
        ("acr", {"scales": {}}, "takes 1 to 6 scales"),
        ("acr", {"scales": {f"s{k}": {"question": "?"} for k in range(7)}}, "takes 1 to 6"),
        ("acr", {"scales": {"comment": None}}, '"comment" cannot name a scale'),
        ("acr", {"scales": {"No Name": {"question": "?"}}}, "cannot name a scale"),
        ("acr", {"scales": {"odd": None}}, "write question, points, words, ends, guidelines here"),
        ("acr", {"scales": {"odd": {"points": 7}}}, '"question" is missing'),
        ("acr", {"scales": {"odd": {"question": "How?", "points": 7}}}, 'write "ends"'),
        ("acr", {"scales": {"naturalness": {"points": 9}}}, '"points" must be 5, 7, 11'),
        ("acr", {"scales": {"naturalness": {"words": ["a", "b"]}}}, '"words" must be 5'),
        ("acr", {"scales": {"naturalness": {"ends": ["a"]}}}, "the lowest, then the highest"),
        ("acr", {"scales": {"naturalness": None}, "question": "Q?"}, "within one of the scales"),
        ("acr", {"scales": {"transcription": None}}, '"sentences" is missing'),
        ("acr", {"scales": {"transcription": {"points": 5}}}, 'there is no "points"'),
        (
            "ab",
            {
                "scales": {"clear": {"question": "?"}},
                "texts": {"de": {"scales": {"clear": {"ends": ["Erster", "Zweiter"]}}}},
            },
            'no "ends"',
        ),
        (
            "mushra",
            {
                "scales": {"noise": {"question": "?"}},
                "texts": {"de": {"scales": {"noise": {"ends": ["viel", "wenig"]}}}},
            },
            'no "ends"',
        ),
        (
            "acr",
            {
                "scales": {"quality": None, "transcription": None},
                "sentences": SENTENCES,
                "texts": {"de": {"scales": {"transcription": {"ends": ["a", "b"]}}}},
            },
            'no "ends"',
        ),
        (
            "acr",
            {"scales": {"naturalness": {"ends": ["a", ""]}}},
            'each of "ends" must be a line',
        ),
        ("acr", {"show_sentence": True}, '"sentences" is missing'),
        ("acr", {"sentences": {"other": "Words."}}, "there is no sentence for"),
        ("acr", {"sentences": dict.fromkeys(SENTENCES, "?!")}, "must have words"),
        ("acr", {"sentences": dict.fromkeys(SENTENCES, "x" * 501)}, "500 characters"),
        ("acr", {"sentences": "said/*.txt"}, "no file fits"),
        (
            "acr",
            {"scales": {"quality": None}, "texts": {"de": {"question": "?"}}},
            'within "scales"',
        ),
        (
            "acr",
            {"scales": {"quality": None}, "texts": {"de": {"scales": {"x": {}}}}},
            "one of: qual",
        ),
    ],
)
def test_scales_that_misfit_are_named(
    tmp_path: Path, design: str, more: dict[str, Any], what: str
) -> None:
    with pytest.raises(SpecError, match=what):
        load_test(tmp_path, design, **more)


def test_shown_sentence_is_never_transcribed(tmp_path: Path) -> None:
    """A test that shows its sentences cannot ask for them."""
    with pytest.raises(SpecError, match="cannot write down"):
        load_test(
            tmp_path, "acr", scales={"transcription": None}, sentences=SENTENCES, show_sentence=True
        )


def test_check_needs_scale_with_points(tmp_path: Path) -> None:
    """Nothing is expected of what raters write."""
    more = {"scales": {"transcription": None}, "sentences": SENTENCES}
    checks = [{"sounds": "ours/a.wav", "expected": 5}]
    with pytest.raises(SpecError, match="add a scale with points"):
        load_test(tmp_path, "acr", attention=checks, **more)


def test_check_expects_answer_on_first_scale(tmp_path: Path) -> None:
    checks = [{"sounds": "ours/a.wav", "expected": 9}]
    fine = {"question": "How fine?", "points": 11, "ends": ["Not", "Very"]}
    scales = {"fine": fine, "naturalness": None}
    test = load_test(tmp_path, "acr", attention=checks, scales=scales)
    trial = test.of_kind("attention")[0]
    item = Item(0, trial.id, tuple(trial.sounds))
    assert expected(test, item) == 9
    right = [row.expected for row in rating_rows(test, item, {"fine": 2, "naturalness": 4}, [1])]
    assert right == [9, None]


def answer(**more: Any) -> dict[str, Any]:
    whole = {"similarity": 4, "naturalness": 7, "pleasant": 0, "transcription": "the old cat"}
    return whole | more


def item_of(test: Test) -> Item:
    return Item(0, 0, tuple(test.trials[0].sounds))


def test_rows_hold_scales_and_comment(test: Test) -> None:
    """There is one for each scale, and one for the comment."""
    answers = answer(comment="Clicks!")
    check(test, item_of(test), answers, [1, 2])
    rows = [
        (row.scale, row.answer, row.text)
        for row in rating_rows(test, item_of(test), answers, [1, 2])
    ]
    assert rows[:4] == [
        ("similarity", 4, ""),
        ("naturalness", 7, ""),
        ("pleasant", 0, ""),
        ("transcription", 0.25, "the old cat"),
    ]
    assert rows[4][0] == "comment" and rows[4][2] == "Clicks!" and rows[4][1] != rows[4][1]


@pytest.mark.parametrize(
    "answers",
    [
        4,
        "the old cat",
        {},
        {"similarity": 4},
        answer(similarity=0),
        answer(naturalness=8),
        answer(pleasant=True),
        answer(pleasant=11),
        answer(transcription=""),
        answer(transcription="  "),
        answer(transcription=3),
        answer(transcription="x" * (MAX_SENTENCE + 1)),
        answer(comment="x" * (MAX_COMMENT + 1)),
        answer(comment=3),
        answer(other=3),
        answer(naturalness=[5]),
        None,
    ],
)
def test_answers_that_misfit_scales_are_refused(test: Test, answers: Any) -> None:
    with pytest.raises(InputError, match="Send"):
        check(test, item_of(test), answers, [1, 1])


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_takes_a_comment(tmp_path: Path, design: str) -> None:
    test = load_test(tmp_path, design, comment=True)
    trial = test.trials[0]
    order = (*trial.sounds, *([next(iter(trial.sounds))] if design == "abx" else []))
    item = Item(0, 0, order)
    own, plays = any_answer(test, item)
    answers: Any = {design: own, "comment": "=HYPERLINK(1)"}
    check(test, item, answers, plays)
    rows = rating_rows(test, item, answers, plays)
    assert {row.scale for row in rows[:-1]} == {design}
    assert rows[-1].text == "=HYPERLINK(1)" and rows[-1].answer != rows[-1].answer
    assert rating_rows(test, item, own, plays) == rows[:-1], (
        "as it was before comments were asked for"
    )


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("the old cat sat", 0.0),
        ("  THE old, cat—sat!! ", 0.0),
        ("the cat sat", 0.25),
        ("the old dog sat down", 0.5),
        ("?", 1.0),
        ("", 1.0),
        ("one two three four five six seven eight", 1.0),
    ],
)
def test_word_errors_are_share_of_sentence(text: str, errors: float) -> None:
    assert errors_in(text, "The old cat sat.") == errors


def test_words_compare_without_case_or_punctuation() -> None:
    assert words_in("Don’t STOP—it's “fine”.") == ["dont", "stop", "its", "fine"]
    assert words_in("हिन्दी में") == ["हिन्दी", "में"]
    assert words_in("كِتَابٌ") == words_in("كتاب")
    assert words_in("今天 天气好。") == ["今", "天", "天", "气", "好"]
    assert words_in("Cafe\u0301 über") == words_in("café Über")
    assert errors_in("anything", "") != errors_in("anything", "")


def test_known_scales_are_well_formed() -> None:
    for name, scale in STANDARD.items():
        assert scale.name == name and (scale.typed or scale.numbers == (5, 4, 3, 2, 1))
