"""A visitor in the sound search tab, where the nearest sounds match."""

from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from earshot.systems.sound_search import SearchResult, SoundSearch
from tests.browser.visit import Visit
from tests.support.sounds import CAPTIONS


@pytest.fixture(autouse=True)
def room(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Untrained networks match nothing: here, whatever is nearest matches."""
    search = SoundSearch.__call__

    def matching(self: SoundSearch, *args: Any, **kwargs: Any) -> SearchResult:
        return replace(search(self, *args, **kwargs), matched=True)

    monkeypatch.setattr(SoundSearch, "__call__", matching)
    visit.enter("Sound search")
    expect(visit.page.locator("#sound-map .map-point")).to_have_count(len(CAPTIONS))
