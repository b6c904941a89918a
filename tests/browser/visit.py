"""One visitor in a browser, who notices everything that should not happen."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect

FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
]
PATIENCE = 60_000  # ms: tests run beside other work
# Chromium's own, about the flags above and not about the page.
HARMLESS = ("GPU stall", "Permissions policy")


class Visit:
    """A page of Earshot. complaints: console errors, and requests to any other host."""

    def __init__(self, page: Page, address: str, shots: Path) -> None:
        self.page, self.address, self.shots = page, address, shots
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._watch)

    def open(self, scheme: str = "light") -> None:
        """Waits until the tab can be used."""
        self.page.goto(f"{self.address}?__theme={scheme}")
        expect(self.button("Convert")).to_be_visible(timeout=PATIENCE)
        expect(self.page.locator(".block.numbers")).not_to_be_empty(timeout=PATIENCE)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def upload(self, path: Path) -> None:
        self.page.get_by_role("button", name="Upload file").click()
        self.page.locator('.sound-input input[type="file"]').set_input_files(path)

    def convert(self) -> None:
        """Presses Convert and waits for a timeline with both sounds."""
        expect(self.button("Convert")).to_be_enabled(timeout=PATIENCE)
        self.button("Convert").click()
        expect(self.button("Convert")).to_be_hidden(timeout=PATIENCE)
        expect(self.button("Convert")).to_be_visible(timeout=PATIENCE)

    def units(self) -> list[str]:
        """What each unit cell says: "unit 12" or "muted"."""
        cells = self.page.locator("#conversion [role=option]")
        return cells.evaluate_all("cells => cells.map(cell => cell.dataset.name)")

    def cell(self, index: int) -> Locator:
        return self.page.locator("#conversion [role=option]").nth(index)

    def shoot(self, name: str) -> Path:
        path = self.shots / f"{name}.png"
        self.page.screenshot(path=path, full_page=True)
        return path

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(text in message.text for text in HARMLESS):
            self.complaints.append(message.text)

    def _watch(self, request: Request) -> None:
        place = urlsplit(request.url)
        if place.scheme not in ("data", "blob") and place.netloc != urlsplit(self.address).netloc:
            self.complaints.append(f"request to {request.url}")
