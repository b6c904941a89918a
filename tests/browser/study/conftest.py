"""Listening tests that are served, and the browser of a rater."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from benchmarks.support.listening import STIMULI, write_test
from earshot.study.library import TestLibrary
from earshot.study.sounds import checks
from earshot.study.web.server import app, library
from tests.browser.visit import PATIENCE, SIZES

SCALES = {"similarity": None, "naturalness": {"points": 11}, "transcription": None}


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> TestLibrary:
    folder = tmp_path_factory.mktemp("tests")
    attention = [{"sounds": ["fine/bird.wav", "rough/bird.wav"], "expected": "first"}]
    write_test(folder / "ab", "ab", attention=attention)
    write_test(folder / "mushra", "mushra", trials=3)
    for design in ("acr", "adjustment", "ccr", "dcr", "abx", "ranking", "similarity", "smos"):
        write_test(folder / design, design, trials=2)
    sentences = dict.fromkeys(STIMULI, "The old cat sat on the mat.")
    write_test(folder / "several", "smos", scales=SCALES, sentences=sentences, comment=True)
    return library(folder)


@pytest.fixture(scope="module", autouse=True)
def short_noises() -> Iterator[None]:
    """Make the checks of headphones and room short: raters of tests know where the tone is, and
    which sound hisses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "NOISE_SECONDS", 0.1)
        patch.setattr(checks, "NOISE_PAUSE", 0.05)
        patch.setattr(checks, "TONE_SECONDS", 0.1)
        patch.setattr(checks, "PAIR_PAUSE", 0.1)
        yield


@pytest.fixture(scope="module")
def address(tests: TestLibrary) -> Iterator[str]:
    config = uvicorn.Config(app(tests), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser says is wrong; a test that expects some clears them."""
    return []


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest, complaints: list[str]) -> Iterator[Page]:
    """A rater's browser. Parametrize indirectly with ("phone", "dark"), or with a language too."""
    size, scheme, *language = getattr(request, "param", ("desktop", "light"))
    with rater_page(browser, size, scheme, complaints, *language) as page:
        yield page


@contextmanager
def rater_page(
    browser: Browser, size: str, scheme: Any, complaints: list[str], language: str = "en"
) -> Iterator[Page]:
    """Open a page in a browser of its own. complaints: gets what the browser says is wrong."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=size == "phone",
        is_mobile=size == "phone",
        color_scheme=scheme,
        reduced_motion="reduce",
        locale=language,
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    page = context.new_page()
    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
