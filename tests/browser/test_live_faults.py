"""What a visitor of Live meets when something fails: the microphone, the network, the server."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from websockets.sync.client import ClientConnection, connect

from benchmarks.support.live import HELLO, Echo, Echoes, message_of, sound
from earshot.app import launch, site
from earshot.tabs.shared.services import Services
from tests.browser.visit import Visit
from tests.support.serving import close

# The page's microphones: none where window.refused says so, else kept for the test to unplug.
MICROPHONE = """() => {
  const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (window.refused) throw new DOMException("", window.refused);
    if (window.undecided) await new Promise((decide) => (window.decide = decide));
    const stream = await real(constraints);
    window.track = stream.getAudioTracks()[0];
    return stream;
  };
}"""
UNPLUG = "() => track.dispatchEvent(new Event('ended'))"
# As in a tab in the background, only harder: the main thread does nothing for 2 s.
# Looked at as it changes, for the page is soon connected again.
WATCH_FOR_LOSS = """
const line = document.querySelector(".live-message");
const look = () => (window.lost ||= line.textContent.includes("The connection is lost"));
new MutationObserver(look).observe(line, { childList: true, characterData: true, subtree: true });
"""
HOLD_UP = "() => { const end = Date.now() + 2000; while (Date.now() < end); }"


class Proxy:
    """Passes connections on to a server, but for while ``flowing`` is not set."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._server = place.hostname, place.port
        self.flowing = threading.Event()
        self.flowing.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                near, far = self._listening.accept()[0], socket.create_connection(self._server)
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()
        except OSError:
            return  # closed

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                self.flowing.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the other side is gone

    def close(self) -> None:
        self._listening.close()


@pytest.fixture(scope="module")
def echo() -> Echo:
    """What converts, for one visitor at a time."""
    return Echo()


@pytest.fixture(scope="module")
def proxy(tiny_checkpoints: Path, echo: Echo) -> Iterator[Proxy]:
    page = site.build(Services(device="cpu"), tiny_checkpoints)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launch, "LiveProcesses", lambda checkpoint: Echoes(echo))
        options = launch.options(["--live", "1"], {})
        served = launch.launch(page, options, block=False)
    with closing(Proxy(served)) as running_proxy:
        yield running_proxy
    close(page)


@pytest.fixture(scope="module")
def address(proxy: Proxy) -> str:
    return proxy.address


def state(visit: Visit, name: str) -> None:
    expect(visit.page.locator(".live")).to_have_attribute("data-state", name)


def says(visit: Visit, text: str) -> None:
    expect(visit.page.locator(".live-message")).to_contain_text(text)


def test_missing_microphone_says_what_to_do(visit: Visit) -> None:
    """A microphone may be refused, not allowed yet, or unplugged."""
    page = visit.page
    page.evaluate(MICROPHONE)
    page.evaluate("() => (window.refused = 'NotAllowedError')")
    visit.button("Live").click()
    says(visit, "The microphone is blocked")
    state(visit, "off")

    page.evaluate("() => { window.refused = null; window.undecided = true; }")
    visit.button("Live").click()
    says(visit, "The browser asks")
    page.evaluate("() => { window.undecided = false; window.decide(); }")
    state(visit, "running")
    expect(visit.page.locator(".live-message")).to_be_hidden()
    page.evaluate(UNPLUG)
    says(visit, "another one is used now")
    state(visit, "running")
    page.evaluate("() => (window.refused = 'NotFoundError')")
    page.evaluate(UNPLUG)
    says(visit, "Plug it in")
    state(visit, "off")


def test_network_standing_still_is_waited_for(visit: Visit, proxy: Proxy, echo: Echo) -> None:
    """A page that is held up goes on speaking."""
    page = visit.page
    visit.button("Live").click()
    state(visit, "running")
    expect(page.locator(".live-line")).to_contain_text("ms delay")
    page.evaluate(WATCH_FOR_LOSS)
    proxy.flowing.clear()
    page.wait_for_timeout(3000)
    proxy.flowing.set()
    page.wait_for_function("window.lost")
    state(visit, "running")

    before = echo.samples
    page.evaluate(HOLD_UP)
    assert echo.samples - before > 40_000  # a second of the two: it is not the page that sends


def test_full_server_is_told_and_awaited(visit: Visit, proxy: Proxy, echo: Echo) -> None:
    """A model that loads is reported and waited for, too."""
    other = connect(proxy.address.replace("http", "ws") + "/live", legacy=True)
    other.send(HELLO)
    while message_of(other)["state"] != "running":
        pass
    left = threading.Event()
    speaking = threading.Thread(target=speak, args=[other, left])
    speaking.start()
    visit.button("Live").click()
    says(visit, "You are number 1 in line")

    echo.ready = False
    echo.busy.set()
    left.set()
    speaking.join()
    other.close()
    says(visit, "The model is loading")
    echo.busy.clear()
    state(visit, "running")
    expect(visit.page.locator(".live-message")).to_be_hidden()

    visit.page.locator("label").filter(has_text="Sophie").click()
    until = time.monotonic() + 60
    while "SF1" not in echo.voices and time.monotonic() < until:
        visit.page.wait_for_timeout(100)
    assert "SF1" in echo.voices


def speak(visitor: ClientConnection, left: threading.Event) -> None:
    while not left.wait(0.1):
        visitor.send(sound())
