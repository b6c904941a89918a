"""Takes the README's pictures of a running app into assets/screenshots.

Run as `python -m scripts.screenshots [ADDRESS]` while `make demo` runs.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from media.paths import ASSETS
from tests.browser.visit import FLAGS, Visit

FOLDER: Final = Path(os.environ.get("SHOTS", ASSETS / "screenshots"))
LARGEST: Final = 400_000  # bytes


class Shot(NamedTuple):
    """How the page is looked at, what is done first, and which part of it is taken."""

    name: str
    scheme: str
    size: tuple[int, int]
    prepare: Callable[[Visit], None]
    part: str = "body"


def example(visit: Visit) -> None:
    """Converts the first example."""
    visit.page.locator(".chips button").first.click()
    expect(visit.button("Stop")).to_be_visible()
    expect(visit.button("Convert")).to_be_visible()
    visit.page.wait_for_timeout(500)


def edit(visit: Visit) -> None:
    """Mutes some units of an example, looked at closely."""
    example(visit)
    visit.page.get_by_role("button", name="Look closer").first.click()
    visit.cell(24).click()
    visit.cell(33).click(modifiers=["Shift"])
    visit.button("Mute").click()
    expect(visit.cell(24)).to_have_attribute("data-name", "muted")
    visit.cell(40).click()
    visit.cell(44).click(modifiers=["Shift"])


def sizes(visit: Visit) -> None:
    """Runs an example through every model."""
    example(visit)
    visit.page.get_by_role("button", name="All sizes").click()
    visit.button("Run every size").click()
    expect(visit.page.locator("#sizes .tl-play")).to_have_count(5)
    expect(visit.button("Run every size")).to_be_visible()


def sounds(visit: Visit) -> None:
    """Searches sounds by words."""
    visit.enter("Sound search")
    visit.search("a fire crackles while a clock ticks")
    visit.page.wait_for_timeout(500)


def sounds_voted(visit: Visit) -> None:
    """Searches sounds, plays one on the map and votes for another."""
    visit.enter("Sound search")
    visit.search("something that wakes you in the morning")
    visit.page.locator("#sound-map .map-plane").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowRight")
    visit.page.locator("#best-sound").get_by_role("button", name="Fits").click()
    expect(visit.page.get_by_role("button", name="Export 1 label")).to_be_visible()


def words(visit: Visit) -> None:
    """A voice says a word, and the map is coloured by words."""
    visit.enter("Words")
    visit.button("elephant").click()
    expect(visit.page.locator("#word-found h3")).to_contain_text("elephant")
    visit.page.get_by_label("word", exact=True).check()
    expect(visit.page.locator("#word-map .map-legend")).to_contain_text("other words")
    visit.page.wait_for_timeout(500)


def lips(visit: Visit) -> None:
    """Reads the lips of a painted talker."""
    visit.enter("Lip to speech")
    visit.page.get_by_role("button", name="Noor").click()
    expect(visit.page.locator(".room-result:visible h3")).to_contain_text("white")
    expect(visit.button("Read my lips")).to_be_visible()
    visit.page.wait_for_timeout(500)


SHOTS: Final = [
    Shot("desktop-light", "light", (1280, 900), example),
    Shot("desktop-dark", "dark", (1280, 900), edit),
    Shot("sizes", "light", (1280, 900), sizes, "#sizes"),
    Shot("phone-light", "light", (390, 844), example),
    Shot("words-light", "light", (1280, 900), words),
    Shot("words-phone", "dark", (390, 844), words),
    Shot("sounds-light", "light", (1280, 900), sounds),
    Shot("sounds-dark", "dark", (1280, 900), sounds_voted),
    Shot("lips-light", "light", (1280, 900), lips),
    Shot("lips-phone", "dark", (390, 844), lips),
    Shot("sounds-phone", "light", (390, 844), sounds),
]


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7860/"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        executable = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for shot in SHOTS:
            width, height = shot.size
            page = browser.new_page(viewport={"width": width, "height": height})
            visit = Visit(page, address, FOLDER)
            visit.open(shot.scheme)
            shot.prepare(visit)
            path = FOLDER / f"{shot.name}.png"
            page.mouse.move(0, 0)  # away from what would show a tip
            page.locator(shot.part).screenshot(path=path)
            # 256 colours are enough here, and a third of the size.
            Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
            if path.stat().st_size > LARGEST:
                raise ValueError(f"{path.name} is larger than {LARGEST} bytes")
            page.close()


if __name__ == "__main__":
    main()
