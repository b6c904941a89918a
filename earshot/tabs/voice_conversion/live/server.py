"""The socket that live voice conversion speaks through, on the app's own server: the visitors who
are converted now, and those who wait in line.
"""

import asyncio
import json
import logging
import struct
import time
from bisect import insort
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from earshot.core.errors import InputError
from earshot.core.limits import RateLimit, Turns, address_of
from earshot.media.audio.speech import Origin, Speech
from earshot.media.workers.processes import WorkerError
from earshot.provenance.keys import installation_number
from earshot.provenance.manifest import encode_speech
from earshot.provenance.mark import find_mark
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion.live.process import LiveProcess, LiveProcesses
from earshot.tabs.shared.services import Tickets
from earshot.tabs.voice_conversion.live.visitor import FULL_SCALE, RefusedError, Visitor

OnWait = Callable[[int, float], Awaitable[None]]
MAX_VISIT_SECONDS: Final = 120.0  # of a visit
MAX_SILENCE: Final = 1.0  # seconds without a sound, after which the visitor's network is lost
MAX_GREETING: Final = 5.0  # seconds for the first message
MAX_WAITING: Final = 20
MAX_PER_ADDRESS: Final = 8  # sockets at once
SCRIPTS: Final = {path.name: path for path in Path(__file__).parent.glob("*.js")}
SIGN: Final = "/live/sign"  # the address that signs the recording of a visit
MAX_RECORDING: Final = 40.0  # seconds; the page keeps 30
MAX_RECORDING_BYTES: Final = 8_000_000  # at 96 kHz
LENGTH: Final = struct.Struct("<I")

OVER: Final = "Your two minutes are over. Press Live again for two more."
SWITCHED: Final = "Another system was chosen. Press Live again."
FULL: Final = "Too many people are waiting already. Try again in a few minutes."
BROKEN: Final = "Something went wrong on our side. Press Live again."
LIVE: Final = Origin("live conversion", voice="", preserved=("words", "timing"))
NORMAL_CLOSURE: Final = 1000  # as they were asked to
POLICY_VIOLATION: Final = 1008

logger = logging.getLogger("earshot")


class LiveQueue:
    """Some places, each for some seconds, given to addresses in turn, in one event loop."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._taken: list[float] = []  # when each place is free again, at the latest
        # The turn of each who waits, and what is set when their place has changed.
        self._line: list[tuple[float, asyncio.Event]] = []
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

    async def _wait(self, turn: float, on_wait: OnWait) -> float:
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


class LiveServer:
    """Live conversions, ``most`` at once and ``seconds`` each; further visitors wait in line."""

    def __init__(
        self,
        processes: LiveProcesses,
        tickets: Tickets,
        most: int,
        seconds: float = MAX_VISIT_SECONDS,
        offer: Offer[Any] | None = None,
    ) -> None:
        """Keep the processes. tickets: that the page gets; offer: has plug-ins that speak live."""
        self._processes, self._tickets = processes, tickets
        self._offer = offer
        self._queue = LiveQueue(most, seconds)
        self._newcomers = RateLimit.of("live conversions")
        self._sockets: Counter[str] = Counter()
        self._recordings, self._signing = RateLimit.of("calls"), asyncio.Lock()

    def routes(self) -> list[BaseRoute]:
        """List the socket, and the scripts that the page runs outside its main thread."""
        sign = Route(SIGN, self.sign, methods=["POST"])
        return [WebSocketRoute("/live", self.serve), sign, Route("/live/{name}", _script)]

    async def sign(self, request: Request) -> Response:
        """Sign what a visitor heard, which only their page has kept; nothing of it stays here."""
        if is_foreign(request):
            return Response(status_code=403)
        if self._recordings.take(address_of(request)):
            return Response(self._recordings.refusal, 429)
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > MAX_RECORDING_BYTES:
                return Response(status_code=413)
        try:
            async with self._signing:
                recording = await asyncio.to_thread(sign_recording, bytes(content))
        except InputError as error:
            return Response(str(error), 422)
        if recording is None:
            return Response(status_code=204)
        return Response(recording, media_type="audio/wav")

    async def serve(self, socket: WebSocket) -> None:
        """Serve one visitor, from the first message to the last."""
        if is_foreign(socket):
            return await socket.close(POLICY_VIOLATION)  # before it is accepted: 403
        await socket.accept()
        message, code = "", NORMAL_CLOSURE
        try:
            with self._counted(address_of(socket)):
                message = await self._visit(socket)
        except (InputError, RefusedError) as error:
            message, code = str(error), POLICY_VIOLATION
        except (WebSocketDisconnect, TimeoutError):
            return None
        except Exception:
            logger.exception("a live conversion failed")
            message = BROKEN
        with suppress(WebSocketDisconnect, RuntimeError):  # they have left
            await send(socket, state="ended", message=message)
            await socket.close(code)
        return None

    async def _visit(self, socket: WebSocket) -> str:
        """Convert for a visitor, and return what is to be said at the end."""
        visitor = await asyncio.wait_for(Visitor.from_socket(socket, self._tickets), MAX_GREETING)
        if self._queue.waiting >= MAX_WAITING:
            return FULL
        listening = asyncio.create_task(visitor.listen())
        running = asyncio.create_task(self._take_turn(socket, visitor))
        try:
            await asyncio.wait({listening, running}, return_when="FIRST_COMPLETED")
            # It notices by itself, if it converts.
            await asyncio.wait({running}, timeout=MAX_SILENCE)
            if listening.done():
                listening.result()  # what was refused comes first, though both have ended
            return running.result() if running.done() else ""
        finally:
            for task in (listening, running):
                task.cancel()
            await asyncio.gather(listening, running, return_exceptions=True)

    async def _take_turn(self, socket: WebSocket, visitor: Visitor) -> str:
        async def wait(place: int, seconds: float) -> None:
            await send(socket, state="waiting", place=place, seconds=round(seconds))

        async with self._queue.place(address_of(socket), wait):
            plug_in = self._plug_in(visitor)
            process = self._stream(socket, plug_in) if plug_in else self._process(socket)
            async with process as stream:
                await asyncio.to_thread(stream.begin, visitor.rate, visitor.choice)
                await send(socket, state="running", seconds=self._queue.seconds)
                until = time.monotonic() + self._queue.seconds
                await _convert(socket, visitor, stream, until, plug_in, self._plug_in)
            return "" if visitor.gone else OVER

    def _plug_in(self, visitor: Visitor) -> str:
        """Name the plug-in that a visitor chose; "" for ours."""
        model = visitor.choice.model or ""
        streams = () if self._offer is None else self._offer.streams
        return model if model in streams else ""

    @asynccontextmanager
    async def _stream(self, socket: WebSocket, name: str) -> AsyncIterator[Any]:
        """Begin a stream of a plug-in, which is loaded if it was not."""
        assert self._offer is not None
        await send(socket, state="loading")
        yield await asyncio.to_thread(self._offer.stream, name)

    @asynccontextmanager
    async def _process(self, socket: WebSocket) -> AsyncIterator[LiveProcess]:
        """Lend a process that is ready. One that was left in the middle of an answer is ended; one
        that is left while it loads goes on loading, for the next.
        """
        process, healthy = self._processes.take(), True
        try:
            if not process.ready:
                await send(socket, state="loading")
                await asyncio.to_thread(process.wait_until_ready)
            try:
                yield process
            except asyncio.CancelledError:
                healthy = False
                raise
        except WorkerError:
            healthy = False
            raise
        finally:
            self._processes.give_back(process, healthy)

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        if self._newcomers.take(address) or self._sockets[address] >= MAX_PER_ADDRESS:
            raise RefusedError(self._newcomers.refusal)
        self._sockets[address] += 1
        try:
            yield
        finally:
            self._sockets[address] -= 1
            if not self._sockets[address]:
                del self._sockets[address]


def sign_recording(content: bytes) -> bytes | None:
    """Sign a sound that Live made: it carries the mark of this installation. None for any other,
    for a signature says where a sound was made. Raises InputError for what is no sound."""
    from earshot.media.audio.load import decode_mono  # late, for it loads SciPy

    mono = decode_mono(content, MAX_RECORDING)
    number = find_mark(mono.waveform, mono.sample_rate).installation
    if not number or number != installation_number():
        return None
    speech = Speech(mono.waveform, mono.sample_rate, np.zeros((0, 80), np.float32), 0.0, LIVE)
    return encode_speech(speech, ".wav")


async def _convert(
    socket: WebSocket,
    visitor: Visitor,
    process: LiveProcess,
    until: float,
    plug_in: str,
    plug_in_of: Callable[[Visitor], str],
) -> None:
    """Convert what is heard until the visitor is gone or their time is over, or they choose another
    plug-in than at first, or ours.

    Raises InputError for that, and TimeoutError where nothing comes from them for MAX_SILENCE
    seconds, or nothing reaches them.
    """
    while not visitor.gone and time.monotonic() < until:
        visitor.arrival.clear()
        if plug_in_of(visitor) != plug_in:
            raise InputError(SWITCHED)
        samples, end = visitor.take()
        if len(samples):
            answer, spoken = await asyncio.to_thread(process.push, samples, visitor.choice)
            economy = answer.get("economy", 0)
            visitor.allow_backlog(busy=economy > 0)
            about = {
                "end": end - answer["behind"],  # of what was recorded, up to the last that is said
                "units": answer["units"],
                "economy": economy,
                "ms": round(1000 * answer["seconds"], 1),
                "dropped": visitor.dropped,
            }
            if len(spoken):
                await asyncio.wait_for(socket.send_bytes(packed(about, spoken)), MAX_SILENCE)
        elif not visitor.gone:
            await asyncio.wait_for(visitor.arrival.wait(), MAX_SILENCE)


def packed(about: dict[str, Any], samples: np.ndarray) -> bytes:
    """Pack a message for the page: the length of a JSON text, the text, and samples of 16 bits."""
    text = json.dumps(about).encode()
    text += b" " * (len(text) % 2)  # samples begin at an even byte
    sound = np.round(np.clip(samples, -1, 1) * (FULL_SCALE - 1)).astype("<i2")
    return LENGTH.pack(len(text)) + text + sound.tobytes()


async def send(socket: WebSocket, **what: Any) -> None:
    """Send the page a message in words."""
    await socket.send_text(json.dumps(what))


def is_foreign(request: HTTPConnection) -> bool:
    """Whether another site's page asks. Programs, which send no origin, may."""
    origin = request.headers.get("origin")
    # Behind a proxy, Host may be the proxy's; no page can make up either header.
    own = {request.headers.get("host"), request.headers.get("x-forwarded-host")}
    return origin is not None and origin.partition("://")[2] not in own


async def _script(request: Request) -> Response:
    path = SCRIPTS.get(request.path_params["name"])
    if path is None:
        return Response(status_code=404)
    return FileResponse(path, headers={"Cache-Control": "no-cache"})
