"""Run the parts of a long preparation or evaluation in several processes, one a core."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import get_context
from typing import Any, TypeVar

Row = dict[str, Any]
Job = Callable[[], list[Row]]
Argument = TypeVar("Argument")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Argument], Result], inputs: Iterable[Argument], chunk: int = 1
) -> Iterator[Result]:
    """Yield what the function returns for each input, in their order.

    chunk: how many inputs a process is given at once. The processes are forked, so that they share
    what is loaded. The caller must not have computed with several threads before. An iterator of
    inputs is advanced on a thread of its own: until the end nobody else may use what it uses.
    """
    with get_context("fork").Pool(os.cpu_count()) as pool:
        yield from pool.imap(function, inputs, chunk)


def rows_of(jobs: Sequence[Job]) -> list[Row]:
    """Collect the rows of all jobs, in their order: nothing is pickled but the rows."""
    global _jobs
    _jobs = jobs
    return [row for rows in in_processes(_run, range(len(jobs))) for row in rows]


_jobs: Sequence[Job] = ()


def _run(number: int) -> list[Row]:
    return _jobs[number]()
