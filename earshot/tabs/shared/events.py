"""The events of every tab: how they run, fail and stop.

A fault of the visitor's is reported next to the input, and leaves the rest as it was; bugs are
logged. What runs is a job, with a deadline, which its visitor can stop between two steps.
"""

import itertools
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component
from gradio.events import Dependency
from markupsafe import Markup

from earshot.core.cancellation import Job, running
from earshot.core.computing import compute
from earshot.core.errors import InputError
from earshot.tabs.shared.gradio_internals import (
    cancelled_by_latest_event,
    latest_event,
    session_of_event,
)

P = ParamSpec("P")
T = TypeVar("T")

Values = dict[Component, Any]  # of the inputs of an event, by component
Update = dict[Block, Any]  # what a handler returns: components with their new values
logger = logging.getLogger("earshot")

MAX_JOB_SECONDS: Final = 120.0  # seconds that a job may run
_jobs: defaultdict[str, set[Job]] = defaultdict(set)
_lock = threading.Lock()
_END: Final = object()  # of a generator
_numbers: Final = itertools.count()  # of handlers that run as jobs
# The events that a stop button cancels, by the button that it stands in for.
_stopping: WeakKeyDictionary[gr.Button, dict[Component, list[int]]] = WeakKeyDictionary()

# The concurrency_id of each queue. Each does one job of an address at a time, addresses in turn,
# and none waits for another: what a visitor waits for took no longer than what they asked for
# themselves.
QUICK_QUEUE: Final = "quick"  # less than a second: search, words, speaking again
CONVERSION_QUEUE: Final = "conversion"  # a second or a few: conversion to one voice
LONG_QUEUE: Final = "long"  # reading lips, adding sounds, fitting a voice
SYSTEMS_QUEUE: Final = "systems"  # systems side by side: one that hangs holds up no other work
# Two at a time: a minute of speech, or a program that asks without end, holds up no other visitor.
PLACES: Final = {CONVERSION_QUEUE: 2, LONG_QUEUE: 2}
OUR_FAULT: Final = "Something went wrong on our side. Please try again, or try another input."
# On a phone a result lies below what was pressed.
SHOW: Final = """() => {
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  document.getElementById("%s").scrollIntoView({ block: "nearest", behavior });
  return [];
}"""
# What came above it meanwhile may have pushed a result out of sight, or behind the bar of a phone;
# an error stands above it, beside its input.
SHOW_AGAIN: Final = """(message) => requestAnimationFrame(() => {
  const result = document.getElementById("%s");
  const room = /message error/.test(message) && result.closest(".gr-accordion, .room");
  const error = room && room.querySelector(".message.error");
  const { top, bottom } = (error || result).getBoundingClientRect();
  const bar = parseFloat(getComputedStyle(result).scrollMarginBottom);
  if (bottom >= 0 && top <= innerHeight - bar - 40) return;
  if (error) error.scrollIntoView({ block: "center" });
  else (%s)();
})"""
# A result that stays where the next input was refused says that it is the one before (style.css).
MARK_OLD: Final = """(message) => {
  const result = document.getElementById("%s");
  const room = result.closest(".room-result, .gr-accordion");
  if (result.closest(".room-input, .organiser")) return;
  const part = room?.matches(".room-result") ? room : result;
  const failed = /message error/.test(message);
  part.toggleAttribute("data-old", failed);
  for (const each of part.children) each.toggleAttribute("data-before", failed);
}"""
# The buttons of a job change in the page itself: no round trips to wait for or to serve. `stop`
# stands in for `start` while any job of it runs or waits; of one handler one runs and one waits.
TURN: Final = """((start, job, begun) => {
  const jobs = ((window.earshotJobs ??= {})[start] ??= {});
  jobs[job] = Math.min(Math.max((jobs[job] || 0) + begun, 0), 2);
  const busy = Object.values(jobs).some(Boolean);
  return ["start", "stop"].map((button) =>
    ({ __type__: "update", visible: (button === "stop") === busy }));
})(%d, %d, %d)"""
ALL_STOPPED: Final = """() => {
  delete window.earshotJobs?.[%d];
  return ["start", "stop"].map((button) =>
    ({ __type__: "update", visible: button === "start" }));
}"""
# A name of its own, so that no handler takes the name of an endpoint.
PRIVATE: Final[dict[str, Any]] = {"api_visibility": "private", "api_name": "private"}
HIDDEN: Final[dict[str, Any]] = {"queue": False, "show_progress": "hidden", **PRIVATE}
# While it runs, the last of the events that come is kept, and runs next.
LAST: Final[dict[str, Any]] = {"trigger_mode": "always_last"}


def stoppable(handler: Callable[P, T], seconds: float | None = None) -> Callable[P, T]:
    """Run the handler, which may be a generator, as a job of the visitor whose event it is, in a
    thread of jobs, and for at most so many seconds (None: MAX_JOB_SECONDS)."""

    @wraps(handler)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with _job(seconds) as job, running(job):
            return compute(handler, *args, **kwargs)

    @wraps(handler)
    def stream(*args: P.args, **kwargs: P.kwargs) -> Iterator:
        with _job(seconds) as job:
            steps = iter(handler(*args, **kwargs))  # type: ignore[call-overload]
            while True:
                # Gradio may take every step in another thread.
                with running(job):
                    step = compute(next, steps, _END)
                if step is _END:
                    return
                yield step

    return stream if isgeneratorfunction(handler) else run  # type: ignore[return-value]


def stop_jobs(request: gr.Request) -> None:
    """Stop what runs for the visitor."""
    with _lock:
        jobs = list(_jobs.get(str(request.session_hash), ()))
    for job in jobs:
        job.stop()


@contextmanager
def _job(seconds: float | None) -> Iterator[Job]:
    session, job = str(session_of_event()), Job(MAX_JOB_SECONDS if seconds is None else seconds)
    with _lock:
        _jobs[session].add(job)
    try:
        yield job
    finally:
        with _lock:
            _jobs[session].discard(job)
            if not _jobs[session]:
                del _jobs[session]


def say(message: str, kind: str = "notice") -> str:
    """Put a message for the input into HTML: an "error", red and read out at once, a "notice",
    amber, to be looked at, or that something is "done", green."""
    role = "alert" if kind == "error" else "status"
    line = Markup('<p class="message {}" role="{}">{}</p>')
    return line.format(kind, role, message) if message else ""


@contextmanager
def explained(advised: bool = True) -> Iterator[None]:
    """Turn every error into a gr.Error for the visitor; a bug is logged, and not shown.

    advised: with what only someone in front of a microphone or camera can do.
    """
    try:
        yield
    except InputError as error:
        text = str(error) if advised else error.message
        raise gr.Error(text, print_exception=False) from error
    except Exception as error:
        logger.exception("an event failed")
        raise gr.Error(OUR_FAULT, print_exception=False) from error


def answering(handler: Callable[P, T]) -> Callable[P, T]:
    """Wrap the handler of an API endpoint: errors reach the client, a program, as gr.Error."""

    @wraps(handler)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with explained(advised=False):
            return handler(*args, **kwargs)

    return stoppable(run)


def reporting(handler: Callable[P, T], message: Component) -> Callable:
    """Wrap an event whose handler returns {component: value}: an error is shown in ``message``, and
    every other component stays as it was. The handler may be a generator."""

    @wraps(handler)
    def run(*args: P.args, **kwargs: P.kwargs) -> T | dict[Component, str]:
        try:
            with explained():
                return handler(*args, **kwargs)
        except gr.Error as error:
            return {message: say(error.message, "error")}

    @wraps(handler)
    def stream(*args: P.args, **kwargs: P.kwargs) -> Iterator[dict]:
        try:
            with explained():
                yield from handler(*args, **kwargs)  # type: ignore[misc]
        except gr.Error as error:
            yield {message: say(error.message, "error")}

    return stream if isgeneratorfunction(handler) else run


def queued(progress_on: Component | None = None, queue: str = QUICK_QUEUE) -> dict[str, Any]:
    """Return how an event runs that waits in a queue, with its progress on a component, if any."""
    progress = {"show_progress_on": progress_on} if progress_on else {"show_progress": "hidden"}
    return {**_lane(queue), **progress, **PRIVATE}


def _lane(queue: str) -> dict[str, Any]:
    return {"concurrency_id": queue, "concurrency_limit": PLACES.get(queue, 1)}


def empty_after(run: Dependency, recorder: Component) -> None:
    """Empty a recorder once a run has ended, in the page itself: a round trip later it could empty
    what the visitor gave meanwhile."""
    run.then(None, None, recorder, js="() => null", **HIDDEN)


def offer(
    call: gr.Button,
    handler: Callable,
    inputs: Component | Sequence[Component],
    outputs: Component | Sequence[Component],
    queue: str = QUICK_QUEUE,
) -> None:
    """Offer a handler to programs, as the endpoint of its name; call: a button that nobody sees."""
    name = handler.__name__
    call.click(handler, inputs, outputs, api_name=name, **_lane(queue))


def on_model(
    trigger: Callable[..., Dependency],
    handler: Callable,
    inputs: Sequence[Component] | Set[Component],
    outputs: Sequence[Component],
    *,
    message: Component,
    progress_on: Component,
    start: Component,
    stop: gr.Button,
    queue: str = LONG_QUEUE,
    seconds: float | None = None,
    js: str | None = None,
) -> Dependency:
    """Run handler on a queue that all tabs share, for at most so many seconds; meanwhile `stop`
    stands in for `start`, and ends the work at its next step. Its errors are shown in `message`,
    and mark the result as the one before. Triggered while it runs, it runs once more after that,
    with what is in the page then. A set of inputs gives the handler their values in a dictionary by
    component; ``js`` gives them from the values in the page.

    Returns the run, for what comes after it.
    """
    handler = stoppable(reporting(handler, message), seconds)
    buttons = [start, stop]
    place, handler_number = progress_on.elem_id, next(_numbers)
    show = SHOW % place
    begin = f"() => {{ ({show})(); return {TURN % (start._id, handler_number, 1)}; }}"
    end = (
        f"(message) => {{ ({SHOW_AGAIN % (place, show)})(message); ({MARK_OLD % place})(message); "
        f"return {TURN % (start._id, handler_number, -1)}; }}"
    )
    job = trigger(None, None, buttons, js=begin, **HIDDEN).then(
        handler,
        inputs,
        list(outputs),
        **_lane(queue),
        show_progress_on=progress_on,
        js=js,
        **PRIVATE,
        **LAST,
    )
    number = latest_event()
    job.then(None, message, buttons, js=end, **HIDDEN)
    # One event a pair of buttons, not one a job: what a page needs to be shown grows with the
    # number of its events times that of its components.
    stopping = _stopping.setdefault(stop, {})
    if start in stopping:
        stopping[start].append(number)
    else:
        stop.click(None, None, buttons, js=ALL_STOPPED % start._id, **HIDDEN)
        stop.click(stop_jobs, cancels=job, **HIDDEN)
        stopping[start] = cancelled_by_latest_event()
    return job
