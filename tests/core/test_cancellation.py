"""Long work ends at its next check, and only where there is a job."""

import pytest

from earshot.core import cancellation
from earshot.core.cancellation import Job, running
from earshot.core.errors import StoppedError


def test_check_outside_a_job_does_nothing() -> None:
    cancellation.check()


def test_check_ends_stopped_job_only() -> None:
    stopped, other = Job(60), Job(60)
    stopped.stop()
    with running(other):
        cancellation.check()
        with running(stopped), pytest.raises(StoppedError):
            cancellation.check()
        cancellation.check()


def test_check_after_deadline_ends_job() -> None:
    """The message says what to do."""
    with running(Job(0)), pytest.raises(StoppedError, match="Try something shorter"):
        cancellation.check()
