"""A running Earshot on tiny models, and a Chromium with a fake microphone to visit it."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from earshot.app import launch, site
from earshot.media.audio.load import wav_bytes
from earshot.systems.sound_search import SoundSearch
from earshot.tabs.shared.services import Services, Tickets
from earshot.tabs.sound_search import MODELS
from tests.browser.visit import FLAGS, Visit
from tests.support.serving import close
from tests.support.sounds import write_library

RATE = 16_000
STORED = "cookies,local_storage,indexeddb,cache_storage,service_workers"


@pytest.fixture(scope="session")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five seconds of something like vowels, as a WAV file."""
    time = np.arange(5 * RATE) / RATE
    tones = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 20))
    waveform = 0.1 * tones * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time))
    path = tmp_path_factory.mktemp("speech") / "speech.wav"
    path.write_bytes(wav_bytes(waveform.astype(np.float32), RATE))
    return path


@pytest.fixture(scope="session")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    search = SoundSearch.from_pretrained([tiny_checkpoints / name for name in MODELS], "cpu")
    index = write_library(tmp_path_factory.mktemp("library"), search)
    tickets = Tickets()
    page = site.build(Services(device="cpu", tickets=tickets), tiny_checkpoints, index=index)
    options = launch.options([], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earshot.tabs.sound_search.library.SHIPPED", index)  # not a visitor's folder
        yield launch.launch(page, options, block=False)
    close(page)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Callable[..., Browser]]:
    """Starts a Chromium whose microphone hears a file, and whose camera sees one, again and
    again.

    It is the shell without a window where there is one, which takes a quarter less work and half
    as much to open a page. whole: for what only the whole browser does.
    """
    whole_browser = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    shell = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or whole_browser
    with sync_playwright() as playwright:

        def start(
            sound: Path, seen: Path | None = None, flags: Sequence[str] = (), whole: bool = False
        ) -> Browser:
            executable = whole_browser if whole else shell
            args = [*FLAGS, *flags, f"--use-file-for-fake-audio-capture={sound}"]
            if seen:
                args.append(f"--use-file-for-fake-video-capture={seen}")
            return playwright.chromium.launch(executable_path=executable, args=args)

        yield start


@pytest.fixture(scope="session")
def browser(chromium: Callable[[Path], Browser], speech: Path) -> Iterator[Browser]:
    started = chromium(speech)
    yield started
    started.close()


@cache
def shared_context(browser: Browser, touch: bool) -> BrowserContext:
    """Make one context of a browser with a touch screen and one without: visitors who come after
    one another have the scripts of the page in its cache, as those who come again.

    Its first page stays open and shows a file, so that the process which has compiled those
    scripts goes on: --process-per-site gives it the other pages as well. Colours do not change bit
    by bit, for every look at a page would wait for them.
    """
    permissions = ["microphone", "camera"]
    return browser.new_context(has_touch=touch, permissions=permissions, reduced_motion="reduce")


def arrive(browser: Browser, address: str, shots: Path, size: str, scheme: str) -> Visit:
    """Open the first page to a visitor of whom nothing is known: neither cookies nor what a page
    stores."""
    context = shared_context(browser, size == "phone")
    if not context.pages:
        context.new_page().goto(f"{address.rstrip('/')}/preview.png")
    page = context.new_page()
    stored = {"origin": address.rstrip("/"), "storageTypes": STORED}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", stored)
    visitor = Visit(page, address, shots)
    visitor.resize(size)
    visitor.open(scheme)
    return visitor


def leave(visitors: list[Visit]) -> None:
    """Close every page of these visitors, who are gone then."""
    for visitor in visitors:
        for opened in visitor.page.context.pages[1:]:
            opened.close()
    visitors.clear()


@pytest.fixture(scope="module")
def staying() -> Iterator[list[Visit]]:
    """The visitor who stays on the page from one test to the next, where there is one."""
    visitors: list[Visit] = []
    yield visitors
    leave(visitors)


@pytest.fixture
def visit(
    browser: Browser,
    address: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    staying: list[Visit],
) -> Iterator[Visit]:
    """A new visitor on the first page. Parametrize indirectly with ("phone", "dark") and the like.
    In a test that is marked "stays" it is who was there in the test before, where that is marked as
    well: a page takes seconds to open."""
    size, scheme = getattr(request, "param", ("desktop", "light"))
    stays = request.node.get_closest_marker("stays") is not None
    if not stays:
        leave(staying)
    if not staying:
        staying.append(arrive(browser, address, tmp_path, size, scheme))
    [visitor] = staying
    visitor.resize(size)
    visitor.colour(scheme)
    yield visitor
    complaints = [*visitor.complaints]
    visitor.complaints.clear()
    if not stays:
        leave(staying)
    assert complaints == []


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page
