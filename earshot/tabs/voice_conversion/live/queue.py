"""The visitors who are converted now, and those who wait in line."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

OnWait = Callable[[int, float], Awaitable[None]]


class LiveQueue:
    """Some places, each for some seconds, given out first come, first served, in one event loop."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._taken: list[float] = []  # when each place is free again, at the latest
        self._line: list[asyncio.Event] = []  # set when the place of whoever waits has changed

    @property
    def waiting(self) -> int:
        """Count the visitors who wait in line."""
        return len(self._line)

    @asynccontextmanager
    async def place(self, on_wait: OnWait) -> AsyncIterator[None]:
        """Wait for a place and hold it. on_wait is called with one's place in line, from 1, and in
        how many seconds at most it is one's turn, whenever that has changed.
        """
        await self._wait(on_wait)
        until = time.monotonic() + self.seconds
        self._taken.append(until)
        try:
            yield
        finally:
            self._taken.remove(until)
            self._move()

    async def _wait(self, on_wait: OnWait) -> None:
        if len(self._taken) < self.most and not self._line:
            return
        changed = asyncio.Event()
        self._line.append(changed)
        try:
            while (ahead := self._line.index(changed)) or len(self._taken) >= self.most:
                await on_wait(ahead + 1, self._left(ahead))
                await changed.wait()
                changed.clear()
        finally:
            self._line.remove(changed)
            self._move()

    def _left(self, ahead: int) -> float:
        """Compute the seconds until one's turn, at most, with so many ahead in line."""
        rounds, turn = divmod(ahead, self.most)
        free = sorted(self._taken)[turn] if turn < len(self._taken) else time.monotonic()
        return max(free - time.monotonic(), 0.0) + rounds * self.seconds

    def _move(self) -> None:
        for changed in self._line:
            changed.set()
