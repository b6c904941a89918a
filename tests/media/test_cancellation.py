"""Long work ends at its next check, and only where there is a job."""

import pytest

from earshot.core import cancellation
from earshot.core.cancellation import Job, running
from earshot.core.errors import StoppedError


def test_check_outside_a_job_does_nothing() -> None:
    cancellation.check()


def test_check_of_a_stopped_job_ends_it_and_no_other() -> None:
    stopped, other = Job(60), Job(60)
    stopped.stop()
    with running(other):
        cancellation.check()
        with running(stopped), pytest.raises(StoppedError):
            cancellation.check()
        cancellation.check()


def test_check_after_the_deadline_says_what_to_do() -> None:
    with running(Job(0)), pytest.raises(StoppedError, match="Try something shorter"):
        cancellation.check()
