"""/healthz: whether every installed model loads and answers, for a proxy that watches processes."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from earshot.core.paths import ASSETS

if TYPE_CHECKING:
    from earshot.systems.registry import Offer

Probes = Mapping[str, Callable[[], object]]

CHECK_INTERVAL: Final = 60.0  # seconds between the end of a check and the next
MAX_CHECK_SECONDS: Final = 60.0  # seconds that a check may take
SPEECH: Final = ASSETS / "examples" / "woman-lighthouse.ogg"
FACE: Final = ASSETS / "heads" / "ada.mp4"
OK: Final = "ok"

logger = logging.getLogger("earshot")


class Health:
    """A watch that calls every model once in a while, but only if somebody asks: the first answer
    is that nothing is known yet, and the models load meanwhile.
    """

    def __init__(self, every: float = CHECK_INTERVAL, patience: float = MAX_CHECK_SECONDS) -> None:
        self._every, self._patience = every, patience
        self._probes: Probes = {}
        self._states: Mapping[str, str] = {}
        self._running, self._changed = False, -every  # changed: when a check began or ended
        self._lock = threading.Lock()

    def watch(self, probes: Probes) -> None:
        """Watch models, by name of a probe each: one that raises nothing answers."""
        self._probes = probes

    def warm_up(self) -> None:
        """Call the first model now, so that the first visitor need not wait until it has loaded.
        Where it fails, that is logged."""
        for name, probe in [*self._probes.items()][:1]:
            _tried(name, probe)

    def state(self) -> Mapping[str, str]:
        """Tell what the last check found, by model: OK, or the kind of the error. Empty where
        nothing is known: before the first check ends, and while one takes too long.

        Returns at once; where the last check is old, the next one begins behind it.
        """
        now = time.monotonic()
        with self._lock:
            waited = now - self._changed
            if self._running:
                return self._states if waited < self._patience else {}
            if waited >= self._every:
                self._running, self._changed = True, now
                threading.Thread(target=self._check, daemon=True).start()
            return self._states

    def route(self) -> Route:
        """Answer 200 where all models answer, else 503; both with the state as JSON."""

        async def answer(request: Request) -> JSONResponse:
            state = self.state()
            healthy = bool(state) and {*state.values()} == {OK}
            return JSONResponse(dict(state), 200 if healthy else 503)

        return Route("/healthz", answer)

    def _check(self) -> None:
        states = {name: _tried(name, probe) for name, probe in self._probes.items()}
        with self._lock:
            self._states = states
            self._running, self._changed = False, time.monotonic()


def probes(offers: "Mapping[str, Offer[Any]]") -> Probes:
    """Call the default system of each task that has one. The recordings are read as those of
    visitors are, so the decoding processes are tried too.
    """
    calls: Mapping[str, Callable[[Any], object]] = {
        "voice_conversion": lambda convert: convert(SPEECH),
        "words": lambda words: words.embed_text("rain"),
        "sound_search": lambda search: search.query("rain"),
        "lip_to_speech": lambda lips: lips.encode(FACE),
    }

    def probe(task: str) -> Callable[[], object]:
        return lambda: calls[task](offers[task]())

    return {task: probe(task) for task in calls if offers[task]}


def _tried(name: str, probe: Callable[[], object]) -> str:
    try:
        probe()
    except Exception as error:
        logger.exception("%s does not answer", name)
        return type(error).__name__
    return OK
