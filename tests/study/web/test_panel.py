"""Raters of a panel: who they are, where they are sent, and previews of their organiser."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi.testclient import TestClient
from jwt.algorithms import RSAAlgorithm

from benchmarks.support.listening import Rater, write_test
from earshot.study import rater_links
from earshot.study.library import TestLibrary
from earshot.study.web.rater_requests import MAX_PREVIEWERS
from earshot.study.web.server import app, library

BACK = "https://panel.example/back?cc="
PANEL = {
    "link": ["PROLIFIC_PID", "STUDY_ID"],
    "complete": f"{BACK}DONE&study={{STUDY_ID}}",
    "screened_out": {"headphones": f"{BACK}PHONES"},
    "no_consent": f"{BACK}NO",
    "withdrawn": f"{BACK}GONE",
    "full": "FULL",
}
SIGNED = {"name": "prolific_token", "keys": "jwks.json", "audience": "https://ours.example"}
MEMBER = {"PROLIFIC_PID": "5f1e9ab2c03d", "STUDY_ID": "s1"}


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    write_test(tmp_path / "ab", "ab", panel=PANEL, raters=2)
    write_test(tmp_path / "open", "ab")
    return library(tmp_path, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def test_member_is_known_by_their_browser(
    client: TestClient, tests: TestLibrary, tmp_path: Path
) -> None:
    """Only keyed hashes of the member's numbers are stored."""
    claim = "a-secret-of-this-browser"
    first, again = (Rater(client, "ab", panel=MEMBER, claim=claim) for _ in range(2))
    other = Rater(client, "ab", panel=MEMBER | {"PROLIFIC_PID": "another"}, claim=claim)
    assert first.token == again.token != other.token
    back = client.get("/listen/ab/session", params=MEMBER | {"claim": claim}).json()
    assert back["rater"] == first.token
    key = tests.open("ab").key
    text = client.get("/results/ab/answers.jsonl", params={"key": key}).text
    assert rater_links.keyed_hash(key, "PROLIFIC_PID", "5f1e9ab2c03d") in text
    content = text.encode() + (tmp_path / "answers.db").read_bytes()
    content += (tmp_path / "answers.db-wal").read_bytes()
    assert not any(secret in content for secret in (b"5f1e9ab2c03d", b"DONE", claim.encode()))


@pytest.mark.parametrize("claim", [{}, {"claim": "the-secret-of-another-one"}])
def test_number_alone_gives_no_token(client: TestClient, claim: dict[str, str]) -> None:
    """Who knows a member's number needs the secret of their browser too."""
    first = Rater(client, "ab", panel=MEMBER, claim="a-secret-of-this-browser")
    reply = client.get("/listen/ab/session", params=MEMBER | claim)
    agreed = client.post("/listen/ab/consent", json={"panel": MEMBER, **claim})
    assert reply.status_code == agreed.status_code == 409
    assert "another browser" in reply.json()["detail"]
    assert first.token not in reply.text + agreed.text


def test_two_browsers_at_once_get_one_token(
    client: TestClient, tests: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second agrees after the first was looked for, and before it is enrolled."""
    enrol = tests.store.enrol

    def late(*arguments: Any) -> Any:
        monkeypatch.setattr(tests.store, "enrol", enrol)
        Rater(client, "ab", panel=MEMBER, claim="a-secret-of-this-browser")
        return enrol(*arguments)

    monkeypatch.setattr(tests.store, "enrol", late)
    body = {"panel": MEMBER, "claim": "the-secret-of-another-one"}
    assert client.post("/listen/ab/consent", json=body).status_code == 409


@pytest.mark.parametrize(
    "gap",
    [
        "{{%PROLIFIC_PID%}}",
        "${e://Field/PROLIFIC_PID}",
        "[PROLIFIC_PID]",
        "%PROLIFIC_PID%",
        "<PROLIFIC_PID>",
        "PROLIFIC_PID",
        "undefined",
        "null",
        " None ",
        "NaN",
        "ASSIGNMENT_ID_NOT_AVAILABLE",
    ],
)
def test_unfilled_gap_is_nobodys_number(client: TestClient, gap: str) -> None:
    """A link whose gap the panel has not filled is refused."""
    refused = client.post("/listen/ab/consent", json={"panel": {"PROLIFIC_PID": gap}})
    assert refused.status_code == 409 and "not complete" in refused.json()["detail"]
    reply = client.get("/listen/ab/session", params={"PROLIFIC_PID": gap})
    assert reply.status_code == 409 and "not complete" in reply.json()["detail"]
    own = client.post("/listen/open/consent", json={"rater": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert own.status_code == 404, "which is as long as a number of the organiser's"


def test_signed_number_lets_member_in(client: TestClient, tmp_path: Path) -> None:
    """It lets them come back, and it lets in nobody else."""
    private = rsa.generate_private_key(65537, 2048)
    public = json.loads(RSAAlgorithm.to_jwk(private.public_key()))
    folder = write_test(tmp_path / "signed", "ab", panel=PANEL | {"signed": SIGNED})
    (folder / "jwks.json").write_text(json.dumps({"keys": [public | {"kid": "1", "use": "sig"}]}))

    def sign(number: str, key: Any = private, seconds: int = 60, **more: Any) -> str:
        claims = {"aud": "https://ours.example", "exp": time.time() + seconds} | more
        claims |= {"prolific": {"PROLIFIC_PID": number}}
        return jwt.encode(claims, key, "RS256", {"kid": "1"})

    def come(signed: str | None) -> Any:
        body = {"panel": {"PROLIFIC_PID": "somebody else"}, "signed": signed}
        return client.post("/listen/signed/consent", json=body)

    tokens = [come(sign("5f1e")).json()["rater"] for _ in "ab"]
    assert tokens[0] == tokens[1] != come(sign("6a2f")).json()["rater"]
    params = {"PROLIFIC_PID": "5f1e", "prolific_token": sign("5f1e")}
    assert client.get("/listen/signed/session", params=params).json()["rater"] == tokens[0]
    other = rsa.generate_private_key(65537, 2048)
    wrong = [None, "", "a.b.c", sign("5f1e", other), sign("5f1e", seconds=-9)]
    for signed in [*wrong, sign("5f1e", aud="https://theirs.example"), sign("{{%PROLIFIC_PID%}}")]:
        refused = come(signed)
        assert refused.status_code == 409 and "panel" in refused.json()["detail"]


def test_member_who_withdraws_is_sent_back(client: TestClient) -> None:
    rater = Rater(client, "ab", panel=MEMBER)
    gone = rater.post("withdraw", rater=rater.token).json()
    assert gone["back"] == f"{BACK}GONE" and gone["outcome"] == "withdrawn"
    session = rater.session()
    assert session["outcome"] == "withdrawn" and session["back"] == f"{BACK}GONE"


def test_link_without_panels_number_is_refused(client: TestClient) -> None:
    for panel in ({}, {"PROLIFIC_PID": ""}, {"STUDY_ID": "s1"}):
        refused = client.post("/listen/ab/consent", json={"panel": panel})
        assert refused.status_code == 409 and "members of a panel" in refused.json()["detail"]
    long = client.post("/listen/ab/consent", json={"panel": {"PROLIFIC_PID": "x" * 300}})
    assert long.status_code == 422


def test_address_is_told_with_its_outcome(client: TestClient, tests: TestLibrary) -> None:
    """A rater does not know it before."""
    before = client.get("/listen/ab/session").json()
    assert before["decline"] == f"{BACK}NO" and before["back"] is None
    assert "DONE" not in str(before) and "PHONES" not in str(before)
    rater, key = Rater(client, "ab", panel=MEMBER), tests.open("ab").key
    rater.check(key)
    assert "DONE" not in str(rater.session())
    *rest, last = rater.session()["trials"]
    assert all(rater.answer(trial, "a").json()["back"] is None for trial in rest)
    done = rater.answer(last, "a").json()
    assert done["outcome"] == "complete" and done["back"] == PANEL["complete"]
    assert rater.session()["back"] == PANEL["complete"]


def test_failed_headphone_check_screens_out(client: TestClient, tests: TestLibrary) -> None:
    rater, key = Rater(client, "ab", panel=MEMBER), tests.open("ab").key
    trials = rater.session()["trials"]
    for attempt in range(2):
        rater.check(key, right=False, attempt=attempt)
    session = rater.session()
    assert session["outcome"] == "headphones" and session["back"] == f"{BACK}PHONES"
    assert rater.answer(trials[0], "a").status_code == 422


def test_full_test_refuses_newcomers_only(client: TestClient) -> None:
    raters = [Rater(client, "ab", panel={"PROLIFIC_PID": name}) for name in ("one", "two")]
    session = client.get("/listen/ab/session").json()
    assert session["outcome"] == "full" and session["back"] == "FULL"
    late = client.post("/listen/ab/consent", json={"panel": {"PROLIFIC_PID": "three"}})
    assert late.status_code == 410 and "full" in late.json()["detail"]
    assert all(rater.session()["outcome"] is None for rater in raters)


def test_test_closed_midway_loses_nothing(client: TestClient, tests: TestLibrary) -> None:
    """It is full before, and goes on when it is opened again."""
    key, test = tests.open("ab").key, tests.open("ab").test
    raters = [Rater(client, "ab", panel={"PROLIFIC_PID": name}) for name in ("one", "two")]
    for rater in raters:
        rater.check(key)
        assert rater.answer(rater.session()["trials"][0], "a").status_code == 200
    late = client.post("/listen/ab/consent", json={"panel": {"PROLIFIC_PID": "three"}})
    assert late.status_code == 410  # full
    assert client.post("/results/ab/close", params={"key": key}).status_code == 200
    for rater in raters:
        assert rater.answer(rater.session()["trials"][1], "b").status_code == 410
        session = rater.session()
        assert session["outcome"] == "closed" and session["back"] == "FULL"
        assert [trial["answered"] for trial in session["trials"]][:2] == [True, False]
    assert len(tests.store.ratings(test)) == 2
    client.post("/results/ab/reopen", params={"key": key})
    for rater in raters:
        *_, reply = [rater.answer(trial, "b").json() for trial in rater.session()["trials"][1:]]
        assert reply["outcome"] == "complete" and reply["back"] == PANEL["complete"]
    table = tests.store.ratings(test)
    assert len(table) == 2 * len(raters[0].session()["trials"]) and set(table["finished"]) == {True}


def test_preview_reaches_end_and_stores_nothing(client: TestClient, tests: TestLibrary) -> None:
    key = tests.open("ab").key
    rater = Rater(client, "ab", rater_links.preview_token(key))
    assert rater.session()["preview"] and rater.check(key)["passed"]
    reply: dict[str, Any] = {}
    for trial in rater.session()["trials"]:
        assert rater.get(f"sound/{trial['order']}/0").status_code == 200
        reply = rater.answer(trial, "a").json()
    assert reply["outcome"] == "complete" and reply["back"] == PANEL["complete"]
    assert tests.store.raters("ab") == 0 and tests.store.places(tests.get("ab").test).left == 2


def test_preview_begins_in_full_test(client: TestClient, tests: TestLibrary) -> None:
    """Among many it is forgotten."""
    key = tests.open("ab").key
    for name in ("one", "two"):
        Rater(client, "ab", panel={"PROLIFIC_PID": name})
    first, *_ = [Rater(client, "ab", rater_links.preview_token(key)) for _ in range(MAX_PREVIEWERS)]
    assert first.session()["outcome"] is None and first.session()["consented"]
    Rater(client, "ab", rater_links.preview_token(key))
    assert not first.session()["consented"] and tests.store.raters("ab") == 2


def test_preview_takes_this_tests_key(client: TestClient, tests: TestLibrary) -> None:
    forged = rater_links.preview_token(tests.open("open").key)
    refused = client.post("/listen/ab/consent", json={"rater": forged})
    assert refused.status_code == 409
    assert not client.get("/listen/ab/session", params={"rater": forged}).json()["preview"]
    short = f"{rater_links.PREVIEW_PREFIX}0123456789abcdef-"
    assert not client.get("/listen/ab/session", params={"rater": short}).json()["preview"]
