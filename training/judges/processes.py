"""Run the parts of a long evaluation side by side, a core each."""

import os
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any

Row = dict[str, Any]
Job = Callable[[], list[Row]]


def in_processes(jobs: Sequence[Job]) -> list[Row]:
    """The rows of all jobs, in their order.

    The processes are forked, so that they share the models that are loaded and nothing is pickled
    but the rows. The caller must not have computed with several threads before.
    """
    global _jobs
    _jobs = jobs
    with get_context("fork").Pool(os.cpu_count()) as pool:
        return [row for rows in pool.imap(_run, range(len(jobs))) for row in rows]


_jobs: Sequence[Job] = ()


def _run(number: int) -> list[Row]:
    return _jobs[number]()
