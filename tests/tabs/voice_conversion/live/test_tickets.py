"""What the page is to tell the socket, and the tickets for the visitor's own voice."""

from dataclasses import replace

import pytest

from earshot.systems.voice_conversion.settings import MODELS
from earshot.tabs.shared.own_voice import OWN
from earshot.tabs.voice_conversion.live import Tickets, tickets
from earshot.tabs.voice_conversion.live.panel import wished
from earshot.tabs.voice_conversion.speaking import NO_OWN, Speaking
from tests.support.own_voice import visit_with_voice


def test_wished_is_what_was_chosen() -> None:
    chosen = Speaking("Nell", "SM1", 0.3, "units-64", intonation="predicted")
    told = wished(list(MODELS), Tickets(), chosen)
    assert Tickets().read(told["wish"]) == chosen


@pytest.mark.parametrize("voices", [(OWN, "none"), ("TF2", OWN)])
def test_wished_own_voice_gets_ticket(voices: tuple[str, str]) -> None:
    """Where there is no such voice, it says what to do."""
    issued, visit = Tickets(), visit_with_voice()
    chosen = Speaking(*voices, 0.5, "units-512", visit=visit)
    told = wished(list(MODELS), issued, chosen)
    assert issued.redeem(told["wish"]["ticket"]) is visit
    assert issued.read(told["wish"]) == chosen
    visit.clear()
    for nothing in (visit, None):
        told = wished(list(MODELS), issued, replace(chosen, visit=nothing))
        assert told == {"error": NO_OWN}


def test_wished_model_for_recordings_is_replaced() -> None:
    """A note says so."""
    told = wished(list(MODELS), Tickets(), Speaking("TF2", model="vqvae-64"))
    assert told["wish"]["model"] == "continuous" and "vqvae-64" in told["note"]


def test_ticket_is_over_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket that was guessed is none."""
    issued = Tickets()
    assert issued.redeem("") is issued.redeem(None) is issued.redeem("guess") is None
    monkeypatch.setattr(tickets, "SECONDS", -1.0)
    late = issued.issue(visit_with_voice())
    assert issued.redeem(late) is None


@pytest.mark.parametrize(
    "message",
    [None, [], {}, {"voice": 3}, {"voice": "TF2", "share": "1"}, {"voice": "TF2", "more": 1}],
)
def test_message_of_something_else_is_none(message: object) -> None:
    assert Tickets().read(message) is None
