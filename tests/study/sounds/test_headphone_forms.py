"""The headphone check by tones in antiphase, by either or both, and the form that ends early."""

import io
import wave
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.headphone_check import FORMS, SHARES, pass_rate
from benchmarks.support.listening import Rater, write_test
from earshot.core.paths import ROOT
from earshot.study.analysis import analyse
from earshot.study.analysis.report import paper
from earshot.study.design.raters import HeadphoneCheck, HeadphoneTest
from earshot.study.design.spec import SpecError, load
from earshot.study.library import TestLibrary
from earshot.study.simulation import simulate
from earshot.study.sounds import checks
from earshot.study.storage.export import described
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.stimuli import make_folder

KEY, TOKEN = "the-key-of-a-test", "a-token-of-a-rater"
TESTS = get_args(HeadphoneTest)


def tones(trial: int) -> np.ndarray:
    """The tones of a trial (3, 2, T)."""
    with wave.open(io.BytesIO(checks.antiphase_sound(KEY, TOKEN, trial))) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).T / 32768
    length = round(checks.NOISE_SECONDS * checks.RATE)
    step = length + round(checks.TONE_PAUSE * checks.RATE)
    return np.stack([samples[:, n * step : n * step + length] for n in range(3)])


def test_one_tone_is_quieter_and_another_cancels_itself() -> None:
    """At each ear the quiet one is 6 dB lower; through the air, where both sides meet, the turned
    one is gone, and so whoever has loudspeakers takes it for the quietest."""
    orders = set()
    for trial in range(24):
        quiet, both = checks.quiet_tone(KEY, TOKEN, trial) - 1, tones(trial)
        ears = 20 * np.log10(np.std(both, axis=2))
        assert np.argsort(ears[:, 0])[0] == np.argsort(ears[:, 1])[0] == quiet
        assert np.sort(ears[:, 0])[1:] - ears[quiet, 0] == pytest.approx(6, abs=0.1)
        air = np.std(both.sum(axis=1), axis=1)
        assert air.min() < 1e-4 and air.argmin() != quiet
        orders.add((quiet, int(air.argmin())))
        assert np.abs(both).max() < 1
    assert len(orders) == 6


def test_forms_decide() -> None:
    right, wrong = True, False
    assert checks.decided([right] * 5, "huggins", short=False) is None
    assert checks.decided([right] * 5 + [wrong], "huggins", short=False) is False
    assert checks.decided([right] * 5 + [wrong], "antiphase", short=False) is True
    assert checks.decided([right] * 4 + [wrong] * 2, "antiphase", short=False) is False
    for kind in get_args(checks.HeadphoneKind):
        assert checks.decided([right] * 3, kind, short=True) is None
        assert checks.decided([right] * 4, kind, short=True) is True
        assert checks.decided([wrong] + [right] * 5, kind, short=True) is None
        assert checks.decided([wrong] + [right] * 6, kind, short=True) is True
        assert checks.decided([right, wrong, wrong], kind, short=True) is False


@pytest.mark.parametrize("share", [1 / 3, 0.5, 0.9, 0.95, 1])
def test_error_rates_are_those_of_all_ways(share: float) -> None:
    """The rates that the documents print, added up over every sequence of answers."""
    short = sum(
        share ** sum(ways) * (1 - share) ** (7 - sum(ways))
        for ways in product((True, False), repeat=7)
        if next(v for n in range(8) if (v := checks.decided(ways[:n], "huggins", True)) is not None)
    )
    assert pass_rate(share, "huggins", True)[0] == pytest.approx(short)
    assert pass_rate(share, "huggins", True)[0] == pytest.approx(
        share**4 + 4 * (1 - share) * share**6
    )
    assert pass_rate(share, "huggins", False) == (pytest.approx(share**6), pytest.approx(6))


def test_manual_prints_these_rates() -> None:
    manual = (ROOT / "docs" / "listening_tests.md").read_text(encoding="utf-8")
    for share in SHARES:
        rates = [pass_rate(share, kind, short)[0] for _, kind, short in FORMS]
        cells = [f"{100 * rate:.1f} ({100 * (1 - (1 - rate) ** 2):.1f})" for rate in rates]
        trials = pass_rate(share, "huggins", True)[1]
        assert f"| {100 * share:.0f} | {' | '.join(cells)} | {trials:.1f} |" in manual


@pytest.fixture
def tests(tmp_path: Path) -> TestLibrary:
    for name in TESTS:
        for short in (True, False):
            check = {"test": name, "short": short}
            write_test(tmp_path / f"{name}-{short}".lower(), "ab", headphones=check)
    return library(tmp_path, min_time=0)


def answer(tests: TestLibrary, rater: Rater, test: str, check: dict[str, Any], right: bool) -> int:
    """What a rater hears with headphones, or what is wrong."""
    place = {"huggins": checks.hidden_noise, "antiphase": checks.quiet_tone}[check["kind"]]
    number = place(tests.open(test).key, rater.token, check["trial"])
    return number if right else number % 3 + 1


def take(
    tests: TestLibrary, rater: Rater, test: str, attempt: int, right: Any
) -> tuple[dict[str, Any], list[str]]:
    """Do an attempt → the last reply, and the kinds of the trials. right: of the nth trial."""
    check, kinds = rater.session()["check"], []
    while True:
        kinds.append(check["kind"])
        sound = rater.client.get(
            f"{rater.base}/check/{check['trial']}",
            params={"rater": rater.token, "kind": check["kind"]},
        )
        assert sound.content.startswith(b"RIFF")
        answers = [*check["answers"], answer(tests, rater, test, check, right(len(kinds)))]
        body = {"rater": rater.token, "attempt": attempt, "answers": answers}
        reply = rater.post("headphones", **body).raise_for_status().json()
        if not reply["more"]:
            return reply, kinds
        check = reply["check"]
        assert len(check["answers"]) == len(kinds) <= check["most"]


@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("name", TESTS)
def test_who_hears_it_passes(tests: TestLibrary, name: str, short: bool) -> None:
    test, number = f"{name}-{short}".lower(), 4 if short else 6
    first = "antiphase" if name == "antiphase" else "huggins"
    both = ["huggins"] * number + ["antiphase"] * number
    with TestClient(app(tests)) as client:
        rater = Rater(client, test)
        reply, kinds = take(tests, rater, test, 0, lambda n: True)
        assert reply["passed"] and not reply["again"] and reply["check"] is None
        assert kinds == (both if name == "both" else [first] * number)
        assert rater.session()["headphones"] is True
        again = rater.post("headphones", rater=rater.token, attempt=0, answers=[1])
        assert again.json()["passed"] and again.json()["more"] is False


def test_second_attempt_at_either_is_by_antiphase(tests: TestLibrary) -> None:
    with TestClient(app(tests)) as client:
        rater = Rater(client, "either-true")
        reply, kinds = take(tests, rater, "either-true", 0, lambda n: False)
        assert kinds == ["huggins"] * 2 and reply["again"] and not reply["passed"]
        assert reply["check"]["kind"] == "antiphase" and reply["check"]["answers"] == []
        reply, kinds = take(tests, rater, "either-true", 1, lambda n: n != 2)
        assert kinds == ["antiphase"] * 7 and reply["passed"]


def test_answers_stay_as_given(tests: TestLibrary) -> None:
    """Nobody finds out what is right by trying: an answer counts once, also after the page is
    opened again, and all at once are no more than one after the other."""
    test = "huggins-true"
    with TestClient(app(tests)) as client:
        rater = Rater(client, test)
        check = rater.session()["check"]
        wrong = answer(tests, rater, test, check, right=False)
        right = answer(tests, rater, test, check, right=True)
        for number in (wrong, right, right):
            body = {"rater": rater.token, "attempt": 0, "answers": [number]}
            reply = rater.post("headphones", **body).json()
            assert reply["more"] and reply["check"]["answers"] == [wrong]
        assert rater.session()["check"] == reply["check"]
        early = rater.post("headphones", rater=rater.token, attempt=1, answers=[1])
        assert early.status_code == 409
        many = rater.post("headphones", rater=rater.token, attempt=0, answers=[right] * 14).json()
        assert many["more"] is False
        for answers in ([], [1] * 15, [-1], ["1"], [10**40], "111111", None):
            body = {"rater": rater.token, "attempt": 1, "answers": answers}
            assert rater.post("headphones", **body).status_code == 422
        spoken = {"answers": [0], "loudspeakers": True, "attempt": 1, "rater": rater.token}
        assert rater.post("headphones", **spoken).json()["more"] is False
        assert rater.session()["headphones"] is False and rater.session()["check"] is None
        for query in ("kind=other", "kind="):
            sound = client.get(f"/listen/{test}/check/0?rater={rater.token}&{query}")
            assert sound.status_code in (404, 422)


def test_check_is_described_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    usual = load(make_folder(tmp_path / "t"))
    assert usual.headphones is None and "headphones" not in described(usual)
    test = load(make_folder(tmp_path / "u", headphones={"test": "both", "short": True}))
    assert test.headphones == HeadphoneCheck("both", short=True)
    assert described(test)["headphones"] == {"test": "both", "short": True}
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    simulate(test, store, raters=6)
    facts = {row[0]: row[1] for row in paper.facts_of_test(analyse(test, store.ratings(test))).rows}
    assert facts["Headphones"].endswith(
        "by Huggins' pitch and by tones in antiphase, the short form"
    )


@pytest.mark.parametrize(
    "value",
    ["huggins", True, [], {"test": "beats"}, {"short": "yes"}, {"tests": "both"}, {"test": 1}],
)
def test_unfit_checks_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(SpecError, match=r"line \d+"):
        load(make_folder(tmp_path / "t", headphones=value))
