"""MUSHRA without an open reference, warm-up with known answers, and questions about the rater."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study.design.spec import SpecError, load
from earshot.study.library import TestLibrary
from earshot.study.web.server import app, library

PAIR = ["fine/bird.wav", "rough/bird.wav"]
QUESTIONS = [
    {"ask": {"en": "Your age?", "de": "Ihr Alter?"}, "choices": ["18–29", "30–49", 50]},
    {"ask": "Tired?", "when": "between", "every": 2, "choices": ["yes", "no"]},
    {"ask": "Which headphones?", "when": "after"},
]


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def alone(folder: Path, **more: Any) -> Path:
    """A MUSHRA test whose YAML has this instead of its reference."""
    write_test(folder, "mushra", **more)
    file = folder / "test.yaml"
    spec = yaml.safe_load(file.read_text())
    if "mention_reference" not in more:
        del spec["reference"]
    file.write_text(yaml.safe_dump(spec))
    return folder


def test_mushra_without_reference_has_systems_alone(client: TestClient, tmp_path: Path) -> None:
    test = load(alone(tmp_path / "alone"))
    assert test.conditions == ("fine", "rough") and not test.referenced
    rater = Rater(client, "alone")
    trial = rater.session()["trials"][0]
    assert trial["sounds"] == 2 and not trial["referenced"]
    assert trial["question"] == "How good is the quality of each recording?"
    assert rater.answer(trial, [20, 80]).status_code == 200


def test_mushra_hides_reference_without_mention(client: TestClient, tmp_path: Path) -> None:
    """A reference that is not mentioned is among the sounds, and so are its anchors."""
    test = load(alone(tmp_path / "hidden", mention_reference=False))
    assert {*test.conditions} == {"fine", "rough", "reference", "anchor-3.5k", "anchor-7k"}
    open_one = load(write_test(tmp_path / "open", "mushra"))
    assert not test.referenced and test.fingerprint != open_one.fingerprint
    rater = Rater(client, "hidden")
    trial = rater.session()["trials"][0]
    assert trial["sounds"] == 5 and not trial["referenced"]
    assert rater.get("sound/0/4").status_code == 200
    assert rater.answer(trial, [1, 2, 3, 4, 5]).status_code == 200


def test_warm_up_tells_answer(client: TestClient, tmp_path: Path) -> None:
    """A check does not."""
    practice, plain = [{"sounds": [*PAIR], "expected": "first"} for _ in "ab"], {"sounds": [*PAIR]}
    write_test(tmp_path / "ab", "ab", practice=[practice[0], plain], attention=practice[1:])
    rater = Rater(client, "ab")
    lessons = [rater.answer(trial, "a").json()["lesson"] for trial in rater.session()["trials"]]
    assert lessons[0]["answer"] in ("a", "b")
    assert lessons[0]["right"] == (lessons[0]["answer"] == "a")
    assert lessons[1:] == [None] * (len(lessons) - 1)


def test_warm_up_of_mushra_tells_scores(
    client: TestClient, tests: TestLibrary, tmp_path: Path
) -> None:
    """By position it tells the first sound's score, and the hidden reference's, give or take
    some."""
    practice = {"sounds": ["rough/bird.wav"], "reference": "reference/bird.wav", "expected": 40}
    write_test(tmp_path / "mushra", "mushra", practice=[practice], trials=1)
    rater = Rater(client, "mushra")
    first, scored = rater.session()["trials"]
    stored = tests.open("mushra")
    resumed = tests.store.resume(stored.test, rater.token)
    assert resumed
    order = resumed.items[0].systems
    expected = [{"reference": 100, "rough/bird.wav": 40}.get(name) for name in order]
    near = [50 if value is None else value - 10 for value in expected]
    lesson = rater.answer(first, near).json()["lesson"]
    assert lesson == {"right": True, "answer": expected} and expected.count(None) == 2
    again = rater.answer(first, [50] * len(order), version=1)
    assert not again.json()["lesson"]["right"]
    assert rater.answer(scored, [50] * scored["sounds"]).status_code == 422  # plays of a reference
    assert rater.answer(scored, [50] * (scored["sounds"] - 1)).json()["lesson"] is None


def test_questions_are_asked_in_raters_language(
    client: TestClient, tests: TestLibrary, tmp_path: Path
) -> None:
    """Replies are exported, and shown nowhere else."""
    write_test(tmp_path / "acr", "acr", questions=QUESTIONS)
    rater = Rater(client, "acr", language="de")
    age, tired, which = rater.session()["questions"]
    assert age["ask"] == "Ihr Alter?" and age["choices"] == ["18–29", "30–49", "50"]
    assert (tired["when"], tired["every"], which["choices"]) == ("between", 2, [])
    replies = [(0, 0, 1), (1, 2, 0), (1, 4, 1), (2, 8, "Brand X, wired"), (0, 0, 2)]
    for question, trials, reply in replies:
        body = {"rater": rater.token, "question": question, "trials": trials, "reply": reply}
        assert rater.post("reply", **body).status_code == 200
    assert sorted(rater.session()["replied"]) == [[0, 0], [1, 2], [1, 4], [2, 8]]
    key = {"key": tests.open("acr").key}
    lines = client.get("/results/acr/answers.jsonl", params=key).text.splitlines()
    stored = {
        (each["question"], each["trials"]): each["reply"]
        for each in json.loads(lines[1])["rater"]["replies"]
    }
    assert stored == {(0, 0): 2, (1, 2): 0, (1, 4): 1, (2, 8): "Brand X, wired"}
    for trial in rater.session()["trials"]:
        rater.answer(trial, 4)
    seen = client.get("/results/acr/ratings.csv", params=key).text
    assert "Brand X" not in seen + client.get("/results/acr", params=key).text
    rater.post("withdraw", rater=rater.token)
    assert "Brand X" not in client.get("/results/acr/answers.jsonl", params=key).text


@pytest.mark.parametrize("reply", [3, -1, "30", "x" * 3000])
def test_reply_beyond_choices_is_refused(
    client: TestClient, tmp_path: Path, reply: int | str
) -> None:
    write_test(tmp_path / "acr", "acr", questions=QUESTIONS)
    rater = Rater(client, "acr")
    body = {"rater": rater.token, "question": 0, "trials": 0, "reply": reply}
    assert rater.post("reply", **body).status_code == 422
    assert rater.post("reply", **body | {"question": 9}).status_code == 422


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ({"when": "before"}, '"ask" is missing'),
        ({"ask": "Q", "when": "never"}, "before, after, between"),
        ({"ask": "Q", "when": "between", "every": 0}, "1 or more trials"),
        ({"ask": "Q", "choices": ["one"]}, "2 to 20"),
        ({"ask": "Q", "choices": {"en": ["a", "b"], "de": ["a"]}}, "as many in every language"),
    ],
)
def test_mistakes_in_questions_are_named(
    tmp_path: Path, question: dict[str, Any], what: str
) -> None:
    write_test(tmp_path / "t", "acr", questions=[question])
    with pytest.raises(SpecError, match=what):
        load(tmp_path / "t")
