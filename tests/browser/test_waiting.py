"""A visitor who waits for others sees their place in line."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import expect

from benchmarks.load.visitor import Visitor
from earshot.media.audio.speech import Speech
from earshot.systems.voice_conversion import AnyVoiceConversion
from tests.browser.visit import PLACE_BLUE, Visit


def test_waiting_visitor_sees_place_in_line(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The visitor waits for a conversion."""
    decode, begun, go_on = AnyVoiceConversion.decode, threading.Event(), threading.Event()

    def slowly(*args: Any) -> Speech:
        begun.set()
        go_on.wait(120)
        return decode(*args)

    monkeypatch.setattr(AnyVoiceConversion, "decode", slowly)
    with ThreadPoolExecutor() as others:
        try:
            first = others.submit(Visitor(visit.address, 1).call, "convert")
            assert begun.wait(60)
            second = others.submit(Visitor(visit.address, 2).call, "convert")
            visit.page.wait_for_timeout(1000)
            visit.button(PLACE_BLUE).click()
            expect(visit.page.locator("#conversion")).to_contain_text("queue: 2/2")
            visit.shoot("in line")
        finally:
            go_on.set()
        expect(visit.button("Convert")).to_be_visible()
        expect(visit.page.locator("#conversion")).to_contain_text("Converted · Tessa")
        first.result()
        second.result()
