"""Raters who answer all the time, and send again what was not acknowledged, as the page does."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import httpx

from benchmarks.support.listening import Rater, write_test
from earshot.study.storage.raters import rater_id
from earshot.study.web.server import library

TEST: Final = "ab"
SECONDS: Final = 0.05  # of a sound
ANSWERS: Final = ("a", "b", "same")
RETRY_AFTER: Final = 0.3  # seconds until what was not stored is sent again
PATIENCE: Final = 90.0  # seconds
NO_REPLY: Final = 0

T = TypeVar("T")


class Raters:
    """Raters of a test at some addresses, each of whom comes from an address of their own.

    acknowledged: the answer by token and place in the sequence; replies: how often a status came,
    0 where there was no reply; said: how often a sentence came, “” where all went well; times:
    seconds until an answer was acknowledged; longest: of any reply.
    """

    def __init__(
        self, *addresses: str, number: int = 50, seconds: float = SECONDS, key: str = ""
    ) -> None:
        """Make the raters. number: of raters; seconds: that a sound lasts; key: the test's, for the
        answers to the headphone check, which is left out without it.
        """
        self.acknowledged: dict[tuple[str, int], str] = {}
        self.replies: Counter[int] = Counter()
        self.refusals: Counter[str] = Counter()
        self.times: list[float] = []
        self.longest = 0.0
        self._seconds, self._key = seconds, key
        self._leaving = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(
                target=self._rate, args=[addresses[n % len(addresses)], n], daemon=True
            )
            for n in range(number)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let all store what they have in hand, and end."""
        self._leaving.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        if any(thread.is_alive() for thread in self._threads):
            raise RuntimeError("Some raters could not store their last answer.")

    def answer(self, more: int) -> None:
        """Wait until so many more answers are acknowledged. Raises RuntimeError if they are not."""
        goal, end = len(self.acknowledged) + more, time.monotonic() + PATIENCE
        while len(self.acknowledged) < goal:
            if time.monotonic() > end:
                raise RuntimeError(f"No {more} answers were stored within {PATIENCE:g} s.")
            time.sleep(0.05)

    def lost(self, folder: Path, database: str | None, address: str) -> int:
        """Count the acknowledged answers that the organiser does not get, or gets another of."""
        opened = library(folder, database=database).open(TEST)
        export = httpx.get(
            f"{address}/results/{TEST}/answers.jsonl", params={"key": opened.key}, timeout=PATIENCE
        )
        raters = [json.loads(line)["rater"] for line in export.text.splitlines()[1:]]
        stored = {(r["id"], item["order"]): item["answer"] for r in raters for item in r["items"]}
        return sum(
            stored.get((rater_id(opened.test, token), order)) != answer
            for (token, order), answer in self.acknowledged.items()
        )

    def _rate(self, address: str, number: int) -> None:
        choice = random.Random(number)
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        while not self._leaving.is_set():
            with httpx.Client(base_url=address, timeout=PATIENCE, headers=headers) as client:
                rater = self._until_stored(Rater, client, TEST)
                if self._key:
                    self._until_stored(rater.check, self._key)
                for trial in self._until_stored(_trials, rater):
                    if self._leaving.is_set():
                        return
                    answer = choice.choice(ANSWERS)
                    self._until_stored(_listen, rater, trial)
                    time.sleep(trial["sounds"] * self._seconds)
                    begun = time.monotonic()
                    self._until_stored(_answer, rater, trial, answer)
                    self.times.append(time.monotonic() - begun)
                    self.acknowledged[rater.token, trial["order"]] = answer

    def _until_stored(self, send: Callable[..., T], *content: Any) -> T:
        """Send until the server has stored what it was sent, and take its reply."""
        while True:
            begun, status, sentence = time.monotonic(), httpx.codes.OK, ""
            try:
                return send(*content)
            except httpx.HTTPStatusError as error:
                status, sentence = error.response.status_code, _sentence(error.response)
            except httpx.TransportError:
                status = NO_REPLY
            finally:
                with self._lock:
                    self.replies[status] += 1
                    self.longest = max(self.longest, time.monotonic() - begun)
                    self.refusals[sentence] += 1
            time.sleep(RETRY_AFTER)


def _trials(rater: Rater) -> list[dict[str, Any]]:
    return rater.get("session").raise_for_status().json()["trials"]


def _sentence(reply: httpx.Response) -> str:
    """Read what the server says is wrong, or all that it says."""
    plain = reply.headers.get("content-type") == "application/json"
    return reply.json()["detail"] if plain else f"{reply.status_code} {reply.text[:80]}"


def _listen(rater: Rater, trial: dict[str, Any]) -> None:
    for place in range(trial["sounds"]):
        rater.get(f"sound/{trial['order']}/{place}").raise_for_status()


def _answer(rater: Rater, trial: dict[str, Any], answer: str) -> None:
    rater.answer(trial, answer).raise_for_status()


def write(folder: Path, seconds: float = SECONDS) -> None:
    """Write the test that is rated."""
    write_test(folder / TEST, TEST, seconds)
