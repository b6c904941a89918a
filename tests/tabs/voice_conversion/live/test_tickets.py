"""What the page is to tell the socket, and the tickets for the visitor's own voice."""

import numpy as np
import pytest

from earshot.pipelines.voice_conversion import Voice
from earshot.pipelines.voice_conversion.settings import MODELS
from earshot.tabs.voice_conversion.live import Tickets, tickets
from earshot.tabs.voice_conversion.live.panel import wished
from earshot.tabs.voice_conversion.live.tickets import Wish
from earshot.tabs.voice_conversion.targets import NO_OWN, OWN, VoiceVisit


def own_visit() -> VoiceVisit:
    return VoiceVisit(voice=Voice("your voice", np.zeros(8, np.float32), 5.0, 0.2))


def test_wished_is_what_was_chosen_on_the_page() -> None:
    told = wished(list(MODELS), Tickets(), "Nell", "SM1", 0.3, "units-64", "predicted", None)
    assert Wish.read(told["wish"]) == Wish("Nell", "SM1", 0.3, "units-64", "predicted")


@pytest.mark.parametrize("voices", [(OWN, "none"), ("TF2", OWN)])
def test_wished_own_voice_gets_a_ticket_for_the_visit_or_says_what_to_do(
    voices: tuple[str, str],
) -> None:
    issued, visit = Tickets(), own_visit()
    told = wished(list(MODELS), issued, *voices, 0.5, "units-512", "keep", visit)
    assert issued.redeem(told["wish"]["ticket"]) is visit
    visit.clear()
    assert wished(list(MODELS), issued, *voices, 0.5, "units-512", "keep", visit) == {
        "error": NO_OWN
    }


def test_wished_model_that_is_for_recordings_is_replaced_with_a_note() -> None:
    told = wished(list(MODELS), Tickets(), "TF2", "none", 0.5, "vqvae-64", "keep", None)
    assert told["wish"]["model"] == "continuous" and "vqvae-64" in told["note"]


def test_ticket_is_over_after_its_time_and_never_another(monkeypatch: pytest.MonkeyPatch) -> None:
    issued = Tickets()
    assert issued.redeem("") is issued.redeem(None) is issued.redeem("guess") is None
    monkeypatch.setattr(tickets, "SECONDS", -1.0)
    late = issued.issue(own_visit())
    assert issued.redeem(late) is None


@pytest.mark.parametrize(
    "message",
    [None, [], {}, {"voice": 3}, {"voice": "TF2", "share": "1"}, {"voice": "TF2", "more": 1}],
)
def test_wish_of_something_else_is_none(message: object) -> None:
    assert Wish.read(message) is None
