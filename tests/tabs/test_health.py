"""/healthz: what it says before, while and after the models are called."""

import threading
from collections.abc import Callable
from functools import partial

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from earshot.app.health import Health
from earshot.core.errors import InputError


def answer(health: Health) -> tuple[int, dict[str, str]]:
    reply = TestClient(Starlette(routes=[health.route()])).get("/healthz")
    return reply.status_code, reply.json()


class Checked:
    """Runs the checks that a Health begins only when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._begun: list[Callable[[], None]] = []
        monkeypatch.setattr(threading, "Thread", self._thread)

    def _thread(self, target: Callable[[], None], daemon: bool) -> "Checked":
        self._begun.append(target)
        return self

    def start(self) -> None:
        """Of a thread."""

    def finish(self) -> None:
        self._begun.pop()()


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checked:
    return Checked(monkeypatch)


def healthy(**probes: Callable[[], object]) -> Health:
    health = Health(every=0.0)
    health.watch(probes)
    return health


def test_healthz_before_first_check_is_unhealthy(checks: Checked) -> None:
    health = healthy(words=lambda: None)
    assert health.state() == {}
    checks.finish()
    assert health.state() == {"words": "ok"}


def test_healthz_names_model_that_fails(checks: Checked) -> None:
    def broken() -> None:
        raise InputError("weights are missing")

    health = healthy(words=lambda: None, lip_to_speech=broken)
    health.state()
    checks.finish()
    assert health.state() == {"words": "ok", "lip_to_speech": "InputError"}


def test_healthz_while_check_hangs_is_unhealthy(checks: Checked) -> None:
    health = Health(every=0.0, patience=0.0)
    health.watch({"words": lambda: None})
    health.state()
    checks.finish()
    assert health.state() == {"words": "ok"}
    assert health.state() == {}  # the next check has begun, and does not end


def test_healthz_between_checks_calls_no_model(checks: Checked) -> None:
    calls: list[str] = []
    health = Health(every=3600.0)
    health.watch({"words": lambda: calls.append("words")})
    health.state()
    checks.finish()
    for _ in range(3):
        assert health.state() == {"words": "ok"}
    assert calls == ["words"]


@pytest.mark.parametrize(("state", "status"), [("ok", 200), ("OSError", 503)])
def test_healthz_answers_with_state_and_status(
    state: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    health = Health()
    monkeypatch.setattr(health, "state", lambda: {"words": state})
    assert answer(health) == (status, {"words": state})


def test_healthz_without_models_is_unhealthy() -> None:
    assert answer(Health(every=3600.0)) == (503, {})


def test_warm_up_calls_first_model_only() -> None:
    """It tells nobody that the models answer."""
    calls: list[str] = []
    health = Health(every=3600.0)
    health.watch({name: partial(calls.append, name) for name in ("voice_conversion", "words")})
    health.warm_up()
    assert calls == ["voice_conversion"]
    assert answer(health)[0] == 503  # whether all models answer is not known yet


def test_warm_up_logs_model_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise InputError("weights are missing")

    healthy(voice_conversion=broken).warm_up()
    assert "voice_conversion does not answer" in caplog.text
    Health().warm_up()  # where no model is installed
