"""The visitors who are converted now, and those who wait in line."""

import asyncio
import time
from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from earshot.core.limits import Turns

OnWait = Callable[[int, float], Awaitable[None]]


class LiveQueue:
    """Some places, each for some seconds, given to addresses in turn, in one event loop."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._taken: list[float] = []  # when each place is free again, at the latest
        # The turn of whoever waits, and what is set when their place has changed.
        self._line: list[tuple[int, asyncio.Event]] = []
        self._turns = Turns()

    @property
    def waiting(self) -> int:
        """Count the visitors who wait in line."""
        return len(self._line)

    @asynccontextmanager
    async def place(self, address: str, on_wait: OnWait) -> AsyncIterator[None]:
        """Wait for a place and hold it. address: whose turn it is to be; on_wait is called with
        one's place in line, from 1, and in how many seconds at most it is one's turn, whenever that
        has changed.
        """
        self._turns.serve(await self._wait(self._turns.take(address), on_wait))
        until = time.monotonic() + self.seconds
        self._taken.append(until)
        try:
            yield
        finally:
            self._taken.remove(until)
            self._move()

    async def _wait(self, turn: int, on_wait: OnWait) -> int:
        if len(self._taken) < self.most and not self._line:
            return turn
        mine = (turn, changed := asyncio.Event())
        insort(self._line, mine, key=lambda waiting: waiting[0])
        self._move(self._line.index(mine) + 1)
        try:
            while (ahead := self._line.index(mine)) or len(self._taken) >= self.most:
                changed.clear()
                await on_wait(ahead + 1, self._left(ahead))
                await changed.wait()
            return turn
        finally:
            self._line.remove(mine)
            self._move()

    def _left(self, ahead: int) -> float:
        """Compute the seconds until one's turn, at most, with so many ahead in line."""
        rounds, turn = divmod(ahead, self.most)
        free = sorted(self._taken)[turn] if turn < len(self._taken) else time.monotonic()
        return max(free - time.monotonic(), 0.0) + rounds * self.seconds

    def _move(self, first: int = 0) -> None:
        for _, changed in self._line[first:]:
            changed.set()
