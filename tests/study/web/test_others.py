"""How a rater's answers to each scale lie among others': shown to those who have
finished, where the author says so, and nobody else's single answers."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study.design.designs import ACR
from earshot.study.library import TestLibrary
from earshot.study.storage.answers import MIN_OTHERS, among_others
from earshot.study.web.server import app, library

SCALE = ACR.scale
SCALES = ("naturalness", "quality")


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    scales = dict.fromkeys(SCALES)
    write_test(tmp_path / "seen", "acr", practice=0, show_others=True, scales=scales)
    write_test(tmp_path / "unseen", "acr", practice=0)
    return library(tmp_path, min_time=0)


def take(client: TestClient, name: str, value: int, trials: int = 8) -> Rater:
    """Answer by the value; on the second scale, by its opposite."""
    rater, answer = Rater(client, name), dict(zip(SCALES, (value, 6 - value), strict=True))
    for trial in rater.session()["trials"][:trials]:
        assert rater.answer(trial, answer if trial["scales"] else value).status_code == 200
    return rater


def test_only_who_has_finished_sees_the_others(tests: TestLibrary) -> None:
    with TestClient(app(tests)) as client:
        first = take(client, "seen", 1)
        assert client.get("/listen/seen/session").json()["show_others"]
        assert not client.get("/listen/unseen/session").json()["show_others"]
        assert first.get("others").json() == {}, "alone there are no others"
        for _ in range(MIN_OTHERS - 1):
            take(client, "seen", 4)
        assert first.get("others").json() == {}, "few others could be known by their answers"
        take(client, "seen", 4)
        by_scale = first.get("others").json()
        natural, quality = (by_scale[name] for name in SCALES)
        assert natural["apart"]["own"] == 3 and len(natural["apart"]["others"]) == MIN_OTHERS
        assert natural["higher"]["own"] == -3 and natural["higher"]["others"] == [0.6] * MIN_OTHERS
        assert quality["apart"] == natural["apart"] and quality["higher"]["own"] == 3
        assert first.get("others").headers["cache-control"] == "private, no-store"
        unfinished = take(client, "seen", 5, trials=3)
        assert unfinished.get("others").json() == {}, "not before the last answer"
        assert first.get("others").json() == by_scale, "nor are the unfinished counted"
        for stranger in ("x" * 20, "", "🦻", "a" * 500):
            reply = client.get("/listen/seen/others", params={"rater": stranger})
            assert reply.status_code in (200, 403, 404, 422) and "apart" not in reply.text
        assert client.get("/listen/seen/others").status_code == 422
        left = take(client, "seen", 5)
        left.post("withdraw", rater=left.token)
        assert "apart" not in left.get("others").text
        hidden = [take(client, "unseen", 3) for _ in range(MIN_OTHERS + 1)]
        assert hidden[-1].get("others").json() == {}, "where the author has not said so"


def test_places_are_compared_by_the_sound_and_without_checks() -> None:
    rows = [
        {"rater": f"r{r}", "trial": t, "system": s, "answer": float(r == 0), "kind": kind}
        for r in range(MIN_OTHERS + 1)
        for t, s, kind in ((0, "a", "trial"), (1, "b", "trial"), (2, "b", "attention"))
    ]
    table = pd.DataFrame(rows).assign(finished=True, scale=SCALE.name)
    lines = among_others(table, "r0", SCALE)
    assert lines and lines["apart"]["own"] == 1 and lines["higher"]["own"] == 1
    alone: Any = table[(table["rater"] == "r0") | (table["trial"] == 0)]
    assert among_others(alone[alone["trial"] == 1], "r0", SCALE) is None, "nobody else heard it"
    assert among_others(table, "nobody", SCALE) is None
    assert among_others(table.iloc[:0], "r0", SCALE) is None
