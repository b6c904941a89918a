"""The page of samples in a browser, opened as a file: with scripts and without, on a desk and on a
phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from earshot.exports.page import INDEX, Cell, Row, render, write_page
from earshot.exports.paper import Paper
from earshot.media.audio.load import wav_bytes

RATE: Final = 16_000
SIZES: Final = {"desktop": (1280, 900), "phone": (390, 844)}
SYSTEMS: Final = ("source", "ours", "baseline", "vq-vae")
# What plays, and where: [index, seconds] of each sound.
PLAYING: Final = """() => [...document.querySelectorAll("audio")].map((each, i) => [i, each])
  .filter(([_, each]) => !each.paused).map(([i, each]) => [i, each.currentTime])"""
TIME: Final = "() => Number(document.querySelector('.row').style.getPropertyValue('--time'))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two sentences by four systems, of which one is a gap; names are long."""
    out = tmp_path_factory.mktemp("out")
    time = np.arange(4 * RATE) / RATE
    for place, system in enumerate(SYSTEMS):
        (out / system).mkdir()
        waveform = 0.2 * np.sin(2 * np.pi * (150 + 50 * place) * time).astype(np.float32)
        for name in ("a" * 90, "two__TF2"):
            (out / system / f"{name}.wav").write_bytes(wav_bytes(waveform, RATE))
    (out / "vq-vae" / "two__TF2.wav").unlink()
    (out / "page.yaml").write_text("title: Voices\nauthors: [Ada, Kofi]\nbibtex: '@misc{x}'\n")
    write_page(out, tmp_path_factory.mktemp("site") / "site")
    return next(tmp_path_factory.getbasetemp().glob("site*/site"))


@contextmanager
def opened(browser: Browser, site: Path, size: str, **options: Any) -> Iterator[tuple[Page, list]]:
    """Open the page as a file → it, and the addresses that it asks for."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page, addresses = context.new_page(), []
    page.on("request", lambda request: addresses.append(request.url))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto((site / INDEX).as_uri())
    yield page, addresses
    context.close()


@pytest.mark.parametrize("size", SIZES)
def test_systems_switch_at_the_same_place(
    browser: Browser, site: Path, size: str, tmp_path: Path
) -> None:
    with opened(browser, site, size) as (page, addresses):
        page.get_by_role("button", name="Play baseline").first.click()
        page.wait_for_function(f"({TIME})() > 0.4")
        page.keyboard.press("3")
        page.wait_for_function(f"({PLAYING})().some(([i, seconds]) => i === 2 && seconds > 0)")
        (playing,) = page.evaluate(PLAYING)
        assert playing[0] == 2 and playing[1] >= 0.35  # the third goes on where the second was
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"({TIME})() > 1.3")
        page.keyboard.press(" ")  # on its button, which the focus is on
        page.wait_for_function(f"({PLAYING})().length === 0")
        page.locator(".row").nth(1).get_by_role("button").nth(1).click()
        page.wait_for_function(f"({PLAYING})().length === 1")
        assert page.evaluate(PLAYING)[0][0] == 5
        page.keyboard.press("4")  # a gap: nothing changes
        assert page.evaluate(PLAYING)[0][0] == 5
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
        assert {address.split(":")[0] for address in addresses} <= {"file", "data"}
        page.screenshot(path=tmp_path / f"{size}.png")


def test_click_on_a_picture_plays_from_there(browser: Browser, site: Path) -> None:
    with opened(browser, site, "desktop", color_scheme="dark") as (page, _):
        picture = page.locator(".picture").nth(1)
        box = picture.bounding_box()
        assert box
        picture.click(position={"x": box["width"] / 2, "y": 20})
        page.wait_for_function(f"({PLAYING})().length === 1")
        assert 1.8 <= page.evaluate(PLAYING)[0][1] <= 3.5
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert dark == "rgb(18, 23, 30)"


@pytest.mark.parametrize("size", SIZES)
def test_page_without_scripts_has_players_of_the_browser(
    browser: Browser, site: Path, size: str
) -> None:
    with opened(browser, site, size, java_script_enabled=False) as (page, addresses):
        sounds = page.locator("audio")
        assert sounds.count() == 7
        assert all(each.is_visible() for each in sounds.all())
        assert not page.locator(".player button").first.is_visible()
        assert page.locator("img").first.evaluate("image => image.naturalWidth") > 0
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
        assert {address.split(":")[0] for address in addresses} <= {"file", "data"}


def test_page_of_400_sounds_opens_in_a_second(browser: Browser, site: Path) -> None:
    """Sounds load when they are played. The best of three, for other tests run next to this one."""
    cells = tuple(Cell(f"System {i}", False, f"001-0{i % 4 + 1}", 4.0) for i in range(5))
    rows = [Row(f"Sentence {i}", "The birch canoe slid.", cells) for i in range(80)]
    many = site.parent / "many"
    many.mkdir(exist_ok=True)
    for folder in ("sounds", "pictures"):
        (many / folder).symlink_to(site / folder)
    labels = {cell.label: cell.label for cell in cells}
    (many / INDEX).write_text(render(Paper(), rows, None, labels, anonymous=False))
    with opened(browser, many, "desktop") as (page, addresses):
        assert page.locator("audio").count() == 400
        assert not [address for address in addresses if address.endswith((".opus", ".mp3"))]
        times = []
        for _ in range(3):
            page.reload()
            times.append(
                page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            )
        assert min(times) < 1000, times
