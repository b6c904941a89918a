"""Somebody who takes a listening test in a browser."""

import re
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Locator, Page, expect

from earshot.study.design import Item, Test
from earshot.study.library import TestLibrary
from earshot.study.sounds import checks
from earshot.study.web import rater_page


class RaterForm:
    """A rater's page. tests: the library that serves it, to know what was shown where; words: what
    the page says, in the rater's language."""

    def __init__(
        self,
        page: Page,
        address: str,
        name: str,
        tests: TestLibrary,
        words: Mapping[str, Any] = rater_page.page_texts("en"),
    ) -> None:
        self.words = words
        self.page, self.link, self.tests = page, f"{address}/listen/{name}", tests
        self.test: Test = tests.get(name).test

    @property
    def heading(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    @property
    def token(self) -> str:
        match = re.search(r"rater=([\w-]+)", self.page.url)
        assert match
        return match.group(1)

    def say(self, key: str, **values: object) -> str:
        """A text of the page."""
        return self.words[key].format(**values)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def agree(self) -> None:
        """Agrees, and waits for what comes next."""
        self.page.goto(self.link)
        self.button(self.say("consent.agree")).click()
        expect(self.heading).to_have_text(self.say("volume.title"))

    def withdraw(self) -> None:
        """Ends the visit, so that another test has the places: first leaves the page, which would
        complain when what it still fetches is gone."""
        token = self.token
        self.page.goto("about:blank")
        self.tests.store.withdraw(self.test, token)

    def begin(self) -> None:
        """All that comes before the trials, but for the headphone check, which takes long."""
        self.agree()
        self.tests.store.screen(self.test, self.token, "headphones", True)
        self.page.reload()
        self.listen()

    def listen(self, back: bool = False) -> None:
        """Sets the volume."""
        expect(self.heading).to_have_text(self.say("volume.back.title" if back else "volume.title"))
        done = self.button(self.say("volume.done"))
        expect(done).to_be_disabled()
        self.button(self.say("play.sound")).click()
        done.click()

    def check(self, right: bool = True, attempt: int = 0) -> None:
        """Does the headphone check."""
        for trial in range(checks.HEADPHONE_TRIALS):
            count = self.say("count", n=trial + 1, of=checks.HEADPHONE_TRIALS)
            expect(self.page.get_by_text(count)).to_be_visible()
            answers = self.page.locator(".thirds button")
            expect(answers.first).to_be_disabled()
            self.button(self.say("check.play")).click()
            key = self.tests.open(self.test.name).key
            hidden = checks.hidden_noise(key, self.token, attempt * checks.HEADPHONE_TRIALS + trial)
            answers.nth(hidden - 1 if right else hidden % 3).click()

    def check_by_trial(self, right: bool = True, attempt: int = 0) -> list[str]:
        """Does an attempt at a headphone check that is asked trial by trial → the kinds of its
        trials."""
        kinds = []
        while True:
            opened = self.tests.open(self.test.name)
            rater = self.tests.store.resume(self.test, self.token)
            assert rater
            step = rater_page.headphone_step(opened, rater)
            if step is None or rater.attempts > attempt:
                return kinds
            place = {"huggins": checks.hidden_noise, "antiphase": checks.quiet_tone}[step["kind"]]
            number = place(opened.key, self.token, step["trial"])
            texts = {"huggins": "check", "antiphase": "antiphase"}[step["kind"]]
            expect(self.page.get_by_text(self.say(f"{texts}.text"))).to_be_visible()
            answers = self.page.locator(".thirds button")
            expect(answers.first).to_be_disabled()
            self.button(self.say(f"{texts}.play")).click()
            with self.page.expect_response("**/headphones"):
                answers.nth(number - 1 if right else number % 3).click()
            kinds.append(step["kind"])

    def check_room(self, right: bool = True, attempt: int = 0) -> None:
        """Does the test of the room."""
        opened = self.tests.open(self.test.name)
        assert opened.test.environment
        pairs = opened.test.environment.pairs
        for trial in range(pairs):
            expect(self.page.get_by_text(self.say("count", n=trial + 1, of=pairs))).to_be_visible()
            answers = self.page.locator(".thirds button")
            expect(answers).to_have_count(2)
            self.button(self.say("room.play")).click()
            expect(answers.first).to_be_enabled()
            more = checks.louder_hiss(opened.key, self.token, attempt * pairs + trial)
            answers.nth(more - 1 if right else 2 - more).click()

    def item(self) -> Item:
        """What is on the page, as only the server knows it."""
        expect(self.page.locator(".trial")).to_be_visible()
        rater = self.tests.store.resume(self.test, self.token)
        assert rater and rater.next
        return rater.next

    def next(self) -> None:
        """Presses Next, and waits until the answer is stored."""
        order = self.item().order
        self.button(self.say("trial.next")).click()
        expect(self.button(self.say("trial.saving"))).to_be_hidden()
        rater = self.tests.store.resume(self.test, self.token)
        assert rater and order in rater.answered

    def prefer(self, system: str) -> None:
        """An AB trial: hears both to the end, and prefers one."""
        item = self.item()
        expect(self.page.get_by_role("radio").first).to_be_disabled()
        for name in ("A", "B"):
            self.button(self.say("play.one", name=name)).click()
            expect(self.page.locator(".card.heard")).to_have_count("AB".index(name) + 1)
        self.page.locator(".answer").nth(0 if item.systems[0].startswith(system) else 2).click()
        self.next()

    def rate(self, scores: dict[str, int]) -> None:
        """A MUSHRA trial: hears everything, and gives every system its score."""
        item = self.item()
        self.button("Reference").click()
        expect(self.page.locator(".pill.heard")).to_be_visible()
        for place, system in enumerate(item.systems):
            slider = self.page.get_by_label(f"Sound {place + 1}", exact=True)
            expect(slider).to_be_disabled()
            expect(self.button("Next")).to_be_disabled()
            self.button(f"Play sound {place + 1}").click()
            slider.fill(str(scores[system]))
            expect(self.page.locator(".switch.heard")).to_have_count(place + 1)
        self.next()

    def finish(self) -> str:
        """→ the completion code."""
        expect(self.heading).to_have_text(self.say("end.complete.title"))
        return self.page.locator(".code output").inner_text()
