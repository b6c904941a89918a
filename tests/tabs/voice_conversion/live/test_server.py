"""The live socket: what it answers, whom it makes wait, and what it refuses."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from benchmarks.support.live import CHUNK, HELLO, RATE, Echo, Echoes, ServedLive, message_of, sound
from earshot.core.limits import BUDGETS
from earshot.systems.registry import Board, Offer, System
from earshot.tabs.shared.services import OWN
from earshot.tabs.voice_conversion.live.server import BROKEN, MAX_PER_ADDRESS, OVER, SWITCHED
from earshot.tabs.voice_conversion.live.visitor import OVERDUE
from earshot.tabs.voice_conversion.speaking import NO_OWN
from tests.support.own_voice import visit_with_voice


class Served(ServedLive):
    """Conversions that only echo."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.echoes = Echoes()
        super().__init__(self.echoes, seconds=seconds)  # type: ignore[arg-type]


@pytest.fixture
def served() -> Iterator[Served]:
    with closing(Served()) as server:
        yield server


def next_sound(socket: ClientConnection) -> tuple[dict[str, Any], np.ndarray]:
    """The next sound and what is said about it."""
    while True:
        message = socket.recv(timeout=60)
        if isinstance(message, bytes):
            length = int.from_bytes(message[:4], "little")
            return json.loads(message[4 : 4 + length]), np.frombuffer(message[4 + length :], "<i2")


def test_sound_comes_back_with_its_units(served: Served) -> None:
    """When it was recorded is sent, too."""
    with served.join() as socket:
        assert message_of(socket)["state"] == "running"
        socket.send(sound(position=4800))
        about, samples = next_sound(socket)
    assert about["units"] == ["#112233"] and about["end"] == 4800 + CHUNK
    np.testing.assert_array_equal(samples, 1000)


def test_voice_changes_while_it_runs(served: Served) -> None:
    with served.join() as socket:
        socket.send(sound())
        next_sound(socket)
        socket.send(json.dumps({"voice": "SM1"}))
        socket.send(sound())
        next_sound(socket)
    assert served.echoes.idle.voices == ["TF2", "SM1"]


def test_own_voice_is_that_of_ticket(served: Served) -> None:
    """It ends when the visit forgets it."""
    visit = visit_with_voice()
    own = visit.voice
    ticket = served.tickets.issue(visit)
    with served.join() as socket:
        socket.send(json.dumps({"voice": OWN, "ticket": ticket}))
        socket.send(sound())
        next_sound(socket)
        assert served.echoes.idle.voices == [own]
        visit.clear()
        socket.send(sound())
        while (state := message_of(socket))["state"] != "ended":
            pass
    assert state["message"] == NO_OWN


def test_own_voice_without_ticket_is_refused(served: Served) -> None:
    hello = {"rate": RATE, "voice": OWN, "ticket": "guess"}
    with served.join(json.dumps(hello)) as socket:
        assert message_of(socket) == {"state": "ended", "message": OVERDUE}


@pytest.mark.parametrize("how", ["stop", "close", "vanish"])
def test_place_is_free_after_leaving(served: Served, how: str) -> None:
    """A visitor leaves by a stop, a closed tab or a lost network."""
    first = served.join()
    assert message_of(first)["state"] == "running"
    if how == "stop":
        first.send(json.dumps({"stop": True}))
    elif how == "close":
        first.close()  # vanish: it sends nothing more, and does not say so
    with served.join() as second:
        while (state := message_of(second))["state"] == "waiting":
            assert state["place"] == 1
        assert state["state"] == "running"
    assert served.echoes.returned[0] is True, "its process is kept for the next"
    first.close()


def test_place_is_free_without_sound(served: Served) -> None:
    """A visitor who sends nothing but voices loses it."""
    with served.join() as first:
        assert message_of(first)["state"] == "running"
        begun = time.monotonic()
        with pytest.raises(ConnectionClosed):
            while time.monotonic() - begun < 20:
                first.send(json.dumps({"voice": "SF1"}))
                time.sleep(0.2)
    assert time.monotonic() - begun < 10


def test_full_house_tells_place_in_line(served: Served) -> None:
    """It goes on in order."""
    first = served.join()
    assert message_of(first)["state"] == "running"
    stop = threading.Event()
    speaking = threading.Thread(target=speak, args=[first, stop])
    speaking.start()
    second = served.join()
    assert message_of(second)["place"] == 1
    third = served.join()
    state = message_of(third)
    assert (state["state"], state["place"]) == ("waiting", 2)
    assert 0 < state["seconds"] <= 120
    second.close()
    assert message_of(third)["place"] == 1
    stop.set()
    speaking.join()
    first.close()
    while (state := message_of(third))["state"] == "waiting":
        pass
    assert state["state"] == "running"
    third.close()


def test_addresses_take_places_in_turn(served: Served) -> None:
    first, *others = [served.join() for _ in range(3)]
    assert [message_of(socket)["state"] for socket in (first, *others)] == [
        "running",
        *2 * ["waiting"],
    ]
    with served.join(additional_headers={"X-Forwarded-For": "192.0.2.1"}) as elsewhere:
        assert message_of(elsewhere)["place"] == 1
        assert message_of(others[0])["place"] == 2
        first.close()
        while (state := message_of(elsewhere))["state"] == "waiting":
            pass
        assert state["state"] == "running"
    for socket in others:
        socket.close()


def speak(socket: ClientConnection, stop: threading.Event) -> None:
    while not stop.wait(0.1):
        socket.send(sound())


def test_visit_ends_after_its_time() -> None:
    """A sentence says so."""
    with closing(Served(seconds=0.3)) as served, served.join() as socket:
        assert message_of(socket)["state"] == "running"
        stop = threading.Event()
        speaking = threading.Thread(target=speak, args=[socket, stop])
        speaking.start()
        assert message_of(socket) == {"state": "ended", "message": OVER}
        stop.set()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=60)
        speaking.join()


def test_late_sound_is_left_out(served: Served) -> None:
    """The last 400 ms of it are kept."""
    echo = served.echoes.idle
    with served.join() as socket:
        assert message_of(socket)["state"] == "running"
        echo.busy.set()
        socket.send(sound())
        echo.pushed.wait(60)
        for i in range(100):  # 2 s, as after a network that stood still
            socket.send(sound(position=i * CHUNK))
        socket.send(json.dumps({"voice": "SM1"}))
        time.sleep(0.5)  # until all that has come
        echo.busy.clear()
        next_sound(socket)
        about, samples = next_sound(socket)
    assert about["dropped"] > 0 and about["end"] == 100 * CHUNK
    assert len(samples) <= 0.4 * RATE


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_socket_of_another_site_is_refused(served: Served, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        served.join(origin=origin)
    assert refused.value.response.status_code == 403


def test_socket_of_own_page_is_served(served: Served) -> None:
    with served.join(origin=f"http://{served.address}") as socket:
        assert message_of(socket)["state"] == "running"


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"odd",
        b"\x00" * 4,  # no sample
        b"\x00" * 70_000,
        "[]",
        "{",
        "null",
        '{"voice": 3}',
        "[" * 50_000,
        '{"rate": 1e999}',
    ],
    ids=lambda message: repr(message[:12]),
)
def test_rubbish_ends_its_socket_only(served: Served, message: bytes | str) -> None:
    """A sentence says what is wrong."""
    for hello in (HELLO, None):  # in the middle, and instead of the first message
        with served.join(hello) as socket:
            socket.send(message)
            while (state := message_of(socket))["state"] in ("running", "waiting"):
                pass
            assert state["state"] == "ended" and state["message"] not in ("", BROKEN)
    with served.join() as socket:
        while message_of(socket)["state"] != "running":
            pass


def test_frame_of_10_mb_ends_connection(served: Served) -> None:
    with served.join() as socket:
        assert message_of(socket)["state"] == "running"
        with pytest.raises(ConnectionClosed):
            socket.send(b"\x00" * 10_000_000)
            message_of(socket)


@pytest.mark.parametrize("rate", [1, 10**12])
def test_rate_of_no_device_is_refused(served: Served, rate: int) -> None:
    """It is refused before the line, where a second of sound may wait."""
    with served.join(json.dumps({"rate": rate, "voice": "TF2"})) as socket:
        assert f"{rate} Hz cannot be used" in message_of(socket)["message"]


@pytest.mark.slow
def test_address_may_have_few_sockets(served: Served) -> None:
    """Of a thousand, all others are refused, and another address is served."""
    sockets, refused = [], 0
    for _ in range(1000):
        sockets.append(served.join(None))
        with suppress(ConnectionClosed):  # it is refused already
            sockets[-1].send(HELLO)
        if message_of(sockets[-1]) == {
            "state": "ended",
            "message": BUDGETS["live conversions"].refusal,
        }:
            sockets.pop().close()
            refused += 1
    # Those whose network is lost, for they say nothing, make room for others meanwhile.
    assert MAX_PER_ADDRESS <= len(sockets) < 100 and refused == 1000 - len(sockets)
    with served.join(additional_headers={"X-Forwarded-For": "192.0.2.1"}) as elsewhere:
        while message_of(elsewhere)["state"] != "running":
            pass
    for socket in sockets:
        socket.close()


def test_broken_process_is_not_reused(served: Served) -> None:
    with served.join(json.dumps({"rate": RATE, "voice": "broken"})) as socket:
        assert message_of(socket)["state"] == "running"
        socket.send(sound())
        assert message_of(socket) == {"state": "ended", "message": BROKEN}
    assert served.echoes.returned == [False]


def test_loading_of_the_model_is_told(served: Served) -> None:
    served.echoes.idle.ready = False
    with served.join() as socket:
        assert [message_of(socket)["state"] for _ in range(2)] == ["loading", "running"]


def test_model_goes_on_loading_for_next(served: Served) -> None:
    """The visitor for whom it was loaded has left."""
    echo = served.echoes.idle
    echo.ready = False
    echo.busy.set()
    with served.join() as socket:
        assert message_of(socket)["state"] == "loading"
    with served.join() as second:
        while message_of(second)["state"] == "waiting":
            pass
        assert served.echoes.returned == [True]
        echo.busy.clear()
        assert message_of(second)["state"] == "running"


class Louder:
    """A plug-in that speaks live: each chunk is louder than the one before."""

    voices, stream_rate = ("low",), 8_000

    def __call__(self, waveform: np.ndarray, sample_rate: int, target: str) -> tuple:
        return waveform, sample_rate

    def stream(self, chunk: np.ndarray, state: Any, target: str) -> tuple[np.ndarray, Any]:
        assert target == "low"
        count = (state or 0) + 1
        if count == 40:
            raise ValueError("secret")
        return np.full(len(chunk), count / 100, np.float32), count


def system_file(folder: Path) -> Offer[Any]:
    board = [
        System(
            "voice_conversion", "louder", "Louder", Louder, file=Path(__file__), is_plug_in=True
        ),
        System("voice_conversion", "still", "Still", Echo, file=Path(__file__), is_plug_in=True),
    ]
    return Board(board).offer("voice_conversion", folder)


def test_plug_in_speaks_live(tmp_path: Path) -> None:
    """Its state is the visitor's; what it does wrong is told them."""
    offer = system_file(tmp_path)
    assert offer.streams == {"louder"}
    with closing(ServedLive(Echoes(), offer=offer)) as server:  # type: ignore[arg-type]
        for _ in range(2):
            with server.join(json.dumps({"rate": RATE, "voice": "TF2", "model": "louder"})) as one:
                assert [message_of(one)["state"] for _ in range(2)] == ["loading", "running"]
                levels: list[float] = []
                while len(levels) < 3:
                    one.send(sound())
                    with suppress(TimeoutError):
                        levels.append(float(heard_within(one, 0.2).mean()))
                assert levels == sorted(levels) and levels[0] < 0.05 * 32768
        with server.join(json.dumps({"rate": RATE, "voice": "TF2", "model": "louder"})) as one:
            message = last_message(one)
        assert message.startswith("Louder failed: ValueError in test_server.py, line")
        with server.join(json.dumps({"rate": RATE, "voice": "TF2", "model": "louder"})) as one:
            while message_of(one)["state"] != "running":
                pass
            one.send(json.dumps({"voice": "TF2", "model": "continuous"}))
            assert last_message(one) == SWITCHED


def last_message(socket: ClientConnection) -> str:
    """Speak until it is over, and return why it is."""
    state: dict[str, Any] = {}
    while state.get("state") != "ended":
        with suppress(ConnectionClosed):
            socket.send(sound())
        with suppress(TimeoutError):
            message = socket.recv(timeout=0.05)
            state = json.loads(message) if isinstance(message, str) else {}
    return state["message"]


def heard_within(socket: ClientConnection, seconds: float) -> np.ndarray:
    message = socket.recv(timeout=seconds)
    assert isinstance(message, bytes)
    return np.frombuffer(message[4 + int.from_bytes(message[:4], "little") :], "<i2")
