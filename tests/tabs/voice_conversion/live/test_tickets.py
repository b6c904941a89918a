"""What the page is to tell the socket, and the tickets for the visitor's own voice."""

from dataclasses import replace

import pytest

from earshot.systems.voice_conversion.settings import MODELS
from earshot.tabs.shared import services
from earshot.tabs.shared.services import OWN, Tickets
from earshot.tabs.voice_conversion.live.panel import wish_or_error
from earshot.tabs.voice_conversion.live.visitor import read_wish
from earshot.tabs.voice_conversion.speaking import NO_OWN, Speaking
from tests.support.own_voice import visit_with_voice


def test_wished_is_what_was_chosen() -> None:
    chosen = Speaking("Nell", "SM1", 0.3, "units-64", intonation="predicted")
    answer = wish_or_error(list(MODELS), Tickets(), chosen)
    assert read_wish(answer["wish"], Tickets()) == chosen


@pytest.mark.parametrize("voices", [(OWN, "none"), ("TF2", OWN)])
def test_wished_own_voice_gets_ticket(voices: tuple[str, str]) -> None:
    """Where there is no such voice, it says what to do."""
    issued, visit = Tickets(), visit_with_voice()
    chosen = Speaking(*voices, 0.5, "units-512", visit=visit)
    answer = wish_or_error(list(MODELS), issued, chosen)
    assert issued.redeem(answer["wish"]["ticket"]) is visit
    assert read_wish(answer["wish"], issued) == chosen
    visit.clear()
    for nothing in (visit, None):
        answer = wish_or_error(list(MODELS), issued, replace(chosen, visit=nothing))
        assert answer == {"error": NO_OWN}


def test_wished_model_for_recordings_is_replaced() -> None:
    """A note says so."""
    answer = wish_or_error(list(MODELS), Tickets(), Speaking("TF2", model="vqvae-64"))
    assert answer["wish"]["model"] == "continuous" and "vqvae-64" in answer["note"]


def test_ticket_is_over_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket that was guessed is none."""
    issued = Tickets()
    assert issued.redeem("") is issued.redeem(None) is issued.redeem("guess") is None
    monkeypatch.setattr(services, "MAX_TICKET_SECONDS", -1.0)
    late = issued.issue(visit_with_voice())
    assert issued.redeem(late) is None


@pytest.mark.parametrize(
    "message",
    [None, [], {}, {"voice": 3}, {"voice": "TF2", "share": "1"}, {"voice": "TF2", "more": 1}],
)
def test_message_of_something_else_is_none(message: object) -> None:
    assert read_wish(message, Tickets()) is None
