"""Take all pictures of the documents into assets/screenshots, and say which tabs they show.

Run as `python -m scripts.screenshots`: starts the app by itself.
"""

import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.support.listening import write_test
from earshot.app import launch, site
from earshot.core.paths import ASSETS
from earshot.study.library import TestLibrary
from earshot.systems.registry import load_board
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services
from tests.browser.rater_form import RaterForm
from tests.browser.visit import FLAGS, Visit

FOLDER: Final = Path(os.environ.get("SHOTS", ASSETS / "screenshots"))
MAX_PICTURE_BYTES: Final = 400_000  # bytes
PHONE: Final = (390, 844)
HERO: Final = ("desktop-light", "words-light", "sounds-light", "lips-light", "study-light")
HERO_WIDTH: Final = 960  # pixels
HERO_PAUSE: Final = 3000  # ms that each tab is shown
THUMBNAIL: Final = (1200, 630)  # pixels, as links are shown elsewhere


class Shot(NamedTuple):
    """A picture: how the page is looked at, what is done first, and which part of it is taken."""

    name: str
    scheme: str
    size: tuple[int, int]
    prepare: Callable[[Visit], None]
    part: str = "body"


def example(visit: Visit) -> None:
    """Convert the first example."""
    visit.page.locator(".chips button").first.click()
    expect(visit.button("Stop")).to_be_visible()
    expect(visit.button("Convert")).to_be_visible()
    visit.page.wait_for_timeout(500)


def edit(visit: Visit) -> None:
    """Mute some units of an example, looked at closely."""
    example(visit)
    visit.page.get_by_role("button", name="Look closer").first.click()
    visit.cell(24).click()
    visit.cell(33).click(modifiers=["Shift"])
    visit.button("Mute").click()
    expect(visit.cell(24)).to_have_attribute("data-name", "muted")
    visit.cell(40).click()
    visit.cell(44).click(modifiers=["Shift"])


def rates(visit: Visit) -> None:
    """Run an example through every model."""
    example(visit)
    visit.page.get_by_role("button", name="What bits cost").click()
    visit.button("Run every rate").click()
    installed = load_board().offer("voice_conversion").labels
    expect(visit.page.locator("#rates .tl-play")).to_have_count(1 + len(installed))
    expect(visit.button("Run every rate")).to_be_visible()


def sounds(visit: Visit) -> None:
    """Search sounds by words."""
    visit.enter("Sound search")
    visit.search("a fire crackles while a clock ticks")
    visit.page.wait_for_timeout(500)


def sounds_voted(visit: Visit) -> None:
    """Search sounds, play one on the map and vote for another."""
    visit.enter("Sound search")
    visit.search("something that wakes you in the morning")
    visit.page.locator("#sound-map .map-plane").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowRight")
    visit.page.locator("#best-sound").get_by_role("button", name="Fits").click()
    expect(visit.page.get_by_role("button", name="Export 1 label")).to_be_visible()


def words(visit: Visit) -> None:
    """Let a voice say a word, and colour the map by words."""
    visit.enter("Words")
    chip = visit.page.locator(".chips:visible button").first
    chip.click()
    expect(visit.page.locator("#word-found h3")).to_contain_text(chip.inner_text())
    visit.page.get_by_role("button", name="nearest words").click()
    expect(visit.page.locator("#word-map .map-legend")).to_contain_text("other words")
    visit.page.wait_for_timeout(500)


def lips(visit: Visit) -> None:
    """Read the lips of a rendered head."""
    visit.enter("Lip to speech")
    visit.page.get_by_role("button", name="Noor").click()
    expect(visit.page.locator(".room-result:visible h3")).to_contain_text("white")
    expect(visit.button("Read my lips")).to_be_visible()
    visit.page.wait_for_timeout(500)


def study(visit: Visit) -> None:
    """Open the tab of listening tests."""
    visit.enter("Listening tests")
    visit.page.wait_for_timeout(500)


SHOTS: Final = [
    Shot("desktop-light", "light", (1280, 900), example),
    Shot("desktop-dark", "dark", (1280, 900), edit),
    Shot("rates", "light", (1280, 900), rates, "#rates"),
    Shot("phone-light", "light", PHONE, example),
    Shot("words-light", "light", (1280, 900), words),
    Shot("words-phone", "dark", PHONE, words),
    Shot("sounds-light", "light", (1280, 900), sounds),
    Shot("sounds-dark", "dark", (1280, 900), sounds_voted),
    Shot("lips-light", "light", (1280, 900), lips),
    Shot("lips-phone", "dark", PHONE, lips),
    Shot("sounds-phone", "light", PHONE, sounds),
    Shot("study-light", "light", (1280, 900), study),
]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        for design in ("ab", "mushra"):
            write_test(Path(folder) / f"{design}-example", design)
        tests = listening_tests.opened(Path(folder), None)
        page = site.build(Services(device="cpu", tests=tests))
        address = launch.launch(page, launch.options([], os.environ), block=False)
        executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for shot in SHOTS:
            _take(browser, address, shot)
        _take_rater_pages(browser, address, tests)
        visit = Visit(browser.new_page(), address, FOLDER)
        visit.open()
        tabs = visit.page.get_by_role("tablist").first.get_by_role("tab").all_inner_texts()
        (FOLDER / "tabs.json").write_text(json.dumps([name.strip() for name in tabs]) + "\n")
        browser.close()
        page.close()
    _write_hero()
    _write_thumbnail()


def _take(browser: Browser, address: str, shot: Shot) -> None:
    width, height = shot.size
    page = browser.new_page(viewport={"width": width, "height": height})
    visit = Visit(page, address, FOLDER)
    visit.open(shot.scheme)
    shot.prepare(visit)
    page.mouse.move(0, 0)  # away from what would show a tip
    _save(_image(page.locator(shot.part).screenshot()), shot.name)
    page.close()


def _take_rater_pages(browser: Browser, address: str, tests: TestLibrary) -> None:
    """Take a pair on a phone, and a MUSHRA trial with some scores given."""
    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]})
    pair = RaterForm(page, address.rstrip("/"), "ab-example", tests)
    pair.begin()
    pair.item()
    _save(_image(page.screenshot()), "study-phone")
    page = browser.new_page(viewport={"width": 900, "height": 640})
    trial = RaterForm(page, address.rstrip("/"), "mushra-example", tests)
    trial.begin()
    trial.item()
    page.get_by_role("button", name="Reference").click()
    expect(page.locator(".pill.heard")).to_be_visible()
    _save(_image(page.screenshot()), "study-mushra")


def _image(picture: bytes) -> Image.Image:
    return Image.open(BytesIO(picture)).convert("RGB")


def _save(image: Image.Image, name: str) -> None:
    """Save a picture in 256 colours, which are enough here, at a third of the size; what is large
    all the same, shrinks.
    """
    path = FOLDER / f"{name}.png"
    image.quantize(256).save(path, optimize=True)
    while path.stat().st_size > MAX_PICTURE_BYTES:
        image.thumbnail((image.width * 4 // 5, image.height * 4 // 5))
        image.quantize(256).save(path, optimize=True)


def _write_hero() -> None:
    """Write the tabs one after another, for the head of the README."""
    pictures = []
    for name in HERO:
        picture = Image.open(FOLDER / f"{name}.png").convert("RGB").crop((0, 0, 1280, 900))
        pictures.append(picture.resize((HERO_WIDTH, HERO_WIDTH * 900 // 1280)))
    first, *others = pictures
    first.save(
        FOLDER / "hero.webp",
        save_all=True,
        append_images=others,
        duration=HERO_PAUSE,
        loop=0,
        quality=80,
    )


def _write_thumbnail() -> None:
    """Write the head of the first tab, for links to a Space."""
    picture = Image.open(FOLDER / f"{HERO[0]}.png").convert("RGB")
    width, height = THUMBNAIL
    head = picture.crop((0, 0, picture.width, picture.width * height // width))
    _save(head.resize(THUMBNAIL), "thumbnail")


if __name__ == "__main__":
    main()
