"""One visitor in a browser, who notices everything that should not happen."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect

from earshot.app.launch import CALLS

FLAGS = [
    "--no-sandbox",
    "--headless",
    "--process-per-site",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
]
PLACE_BLUE = "“Place blue at F two now …”"  # an example of voice conversion
SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
PATIENCE = 120_000  # ms: tests run beside other work, and a worker may take as long to start
# Chromium's own, about the flags above and not about the page.
# The last is Gradio's own, of requests that a page leaves behind when it is left.
HARMLESS = ("GPU stall", "Permissions policy", "signal is aborted without reason")
# How many sounds play now.
PLAYING = """() => [...document.querySelectorAll("audio")].filter((a) => !a.paused).length"""


# Texts that contrast less than 4.5 : 1 with what is behind them, once colours have stopped
# changing: what inherits a colour that changes may begin to change when that has ended. Disabled
# controls may be faint, and what has a picture behind it cannot be judged.
FAINT = """async () => {
  const changing = () => document.getAnimations().filter((one) => one instanceof CSSTransition);
  for (let round = 0, changes; round < 5 && (changes = changing()).length; round++)
    await Promise.allSettled(changes.map((change) => change.finished));
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      const [r, g, b, alpha = 1] = parse(style.backgroundColor);
      if (alpha > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const texts = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const element = walk.currentNode.parentElement;
    if (!text || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("button:disabled, style, script")) continue;
    const back = behind(element);
    if (!back) continue;
    const pair = [luminance(parse(getComputedStyle(element).color)), luminance(back)];
    const [dark, light] = pair.sort((a, b) => a - b);
    if ((light + 0.05) / (dark + 0.05) < 4.5) texts.add(text.slice(0, 40));
  }
  return [...texts];
}"""


# A page that is dark, or light, as Gradio makes it.
DARK = "dark => document.body.classList.toggle('dark', dark)"
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"

# Three frames from now.
FRAMES = """async () => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}"""


def shoot(page: Page, path: Path) -> None:
    """Keeps a picture of a page in the folder of its test where EARSHOT_PICTURES is set: each takes
    half a second, and no test looks at one."""
    if os.environ.get("EARSHOT_PICTURES"):
        page.screenshot(path=path, full_page=True)


class Visit:
    """A page of Earshot. complaints: console errors, requests to any other host, and those that
    only programs make."""

    def __init__(self, page: Page, address: str, shots: Path) -> None:
        self.page, self.address, self.shots = page, address, shots
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._watch)

    def open(self, scheme: str = "light") -> None:
        """Waits until the tab can be used."""
        expect.set_options()
        self.page.goto(f"{self.address}?__theme={scheme}")
        expect(self.button("Convert")).to_be_visible()
        expect(self.page.locator("#conversion")).not_to_contain_text("One moment")
        expect(self.page.locator("#first-card")).to_have_count(0)  # the page has taken its place

    def enter(self, tab: str) -> None:
        """Opens another tab of the page; its fields are set once more, as in unfold."""
        self.page.get_by_role("tab", name=tab).click()
        self.page.evaluate(FRAMES)

    def unfold(self, name: str, field: str) -> Locator:
        """Opens the last section of this name that can be seen, and gives a field in it.

        Gradio sets every field once more, a frame after the section is first opened
        (render_previously_invisible_children): what a test types before that, and no visitor can,
        is lost on a busy machine.
        """
        self.page.get_by_role("button", name=name).last.click()
        box = self.page.get_by_label(field)
        expect(box).to_be_visible()
        self.page.evaluate(FRAMES)
        return box

    def search(self, text: str) -> None:
        """Searches sounds for the text and waits for the answer."""
        self.page.locator(".query textarea").fill(text)
        self.button("Search").click()
        expect(self.page.locator("#found")).to_contain_text(f"“{text}”")
        expect(self.button("Search")).to_be_visible()

    def cards(self) -> list[str]:
        """The ids of the sounds on the cards, in their order."""
        cards = self.page.locator(".card")
        return cards.evaluate_all("cards => cards.map(card => card.dataset.sound)")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def click_again(self) -> None:
        """Makes a double click of the click before, as those do who always click twice: the second
        is where Stop stands by then."""
        self.page.mouse.down(click_count=2)
        self.page.mouse.up(click_count=2)

    def upload(self, path: Path) -> None:
        """Uploads a recording, in place of what is in the recorder."""
        clear = self.page.get_by_role("button", name="Clear", exact=True)
        source = self.page.get_by_role("button", name="Upload file")
        expect(clear.or_(source).first).to_be_visible()
        if clear.is_visible():
            clear.click()
        source.click()
        self.page.locator('.sound-input input[type="file"]').set_input_files(path)

    def convert(self, path: Path) -> None:
        """Uploads a recording, which converts it, and waits for a timeline with both sounds."""
        conversion = self.page.locator("#conversion audio").last
        before = conversion.get_attribute("src")
        self.upload(path)
        expect(conversion).not_to_have_attribute("src", str(before))
        expect(self.button("Convert")).to_be_visible()

    def choose(self, voice: str) -> None:
        """Clicks the card of a voice."""
        self.page.locator("label").filter(has_text=voice).first.click()

    def units(self) -> list[str]:
        """What each unit cell says: "unit 12" or "muted"."""
        cells = self.page.locator("#conversion [role=option]")
        return cells.evaluate_all("cells => cells.map(cell => cell.dataset.name)")

    def cell(self, index: int) -> Locator:
        return self.page.locator("#conversion [role=option]").nth(index)

    def layouts(self, seconds: float) -> int:
        """How often the page is laid out anew in this time."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable")

        def count() -> int:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return next(metric["value"] for metric in metrics if metric["name"] == "LayoutCount")

        before = count()
        self.page.wait_for_timeout(1000 * seconds)
        return count() - before

    def faint(self) -> list[str]:
        """Texts that are hard to read."""
        return self.page.evaluate(FAINT)

    def resize(self, size: str) -> None:
        """Makes the window as large as a desktop's or a phone's."""
        width, height = SIZES[size]
        self.page.set_viewport_size({"width": width, "height": height})

    def colour(self, scheme: str) -> None:
        """Makes the page light or dark."""
        self.page.evaluate(DARK, scheme == "dark")

    def look(self, name: str) -> None:
        """Looks at the page at each size, light and dark: it does not scroll sideways, and all of
        it can be read. It stays as it was last, a phone's in the dark, and is shot light on a
        desktop and dark on a phone."""
        for size in SIZES:
            self.resize(size)
            for scheme in ("light", "dark"):
                self.colour(scheme)
                self.page.evaluate(FRAMES)
                seen = f"{name}-{size}-{scheme}"
                if (size == "phone") == (scheme == "dark"):
                    self.shoot(seen)
                assert self.page.evaluate(FITS), f"{seen} scrolls sideways"
                faint = self.faint()
                assert faint == [], f"{seen}: {faint}"

    def shoot(self, name: str) -> None:
        """Keeps a picture of the page, where one is wanted."""
        shoot(self.page, self.shots / f"{name}.png")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(text in message.text for text in HARMLESS):
            self.complaints.append(message.text)

    def _watch(self, request: Request) -> None:
        place = urlsplit(request.url)
        if place.path.startswith(CALLS):  # programs' calls are paced, a page's never
            self.complaints.append(f"call of {request.url}")
        if place.scheme not in ("data", "blob") and place.netloc != urlsplit(self.address).netloc:
            self.complaints.append(f"request to {request.url}")
