"""Reports on the tests of a library, made once and kept until raters have done something; and what
is made of the answers in a process of its own (see earshot.study.report_process).

That process opens the store by its URL, for to read many answers takes as long as to write them.
"""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import anyio
from markupsafe import Markup

from earshot.study import preregistration
from earshot.study.design import Test
from earshot.study.library import BusyError, Opened, TestLibrary
from earshot.study.report_process import TOO_MUCH, TooMuchError, report_process
from earshot.study.storage import dataset, export
from earshot.study.storage.store import Store
from earshot.study.web.rater_page import render

if TYPE_CHECKING:  # it takes seconds to import
    from earshot.study.analysis import Results

P = ParamSpec("P")
T = TypeVar("T")
MAX_AT_ONCE: Final = 2  # that hold a thread of the server; all other threads are for raters
MAX_WAITING: Final = 8
MAX_OF_ADDRESS: Final = 3  # that are made or waited for
RETRY_AFTER: Final = 600.0  # seconds until what took too much is tried again
BUSY: Final = "Other reports are being made just now. Try again in a few seconds."
_open_store = cache(partial(Store, upgrade=False))  # which the server has done


@dataclass(eq=False)
class CachedReport:
    """The parts of a report that were made while the answers were in this state; progress: how far
    the test is, page: the whole report, pdf: its file, comparisons: with others, each once it was
    asked for.
    """

    state: tuple[object, ...]
    results: Results
    progress: str = ""
    page: str = ""
    pdf: bytes = b""
    comparisons: WeakKeyDictionary[CachedReport, str] = field(default_factory=WeakKeyDictionary)


class ReportCache:
    """Results of tests, and the pages that show them."""

    def __init__(self, library: TestLibrary) -> None:
        self._library = library
        self._reports: WeakKeyDictionary[Opened, CachedReport] = WeakKeyDictionary()
        self._making = threading.Lock()  # one at a time, so that none is made twice
        self._places = anyio.CapacityLimiter(MAX_AT_ONCE)
        self._waiting: Counter[str] = Counter()  # reports that are made or waited for, by address
        # Of what took too much: when it may be tried again.
        self._refused: WeakKeyDictionary[Opened, dict[Any, float]] = WeakKeyDictionary()

    async def make(self, address: str, what: Callable[[], T]) -> T:
        """Run what makes a report in one of few places. address: whom it is for. Raises BusyError
        where too many wait."""
        many = self._waiting.total() >= MAX_AT_ONCE + MAX_WAITING
        if many or self._waiting[address] >= MAX_OF_ADDRESS:
            raise BusyError(BUSY)
        self._waiting[address] += 1
        try:
            return await anyio.to_thread.run_sync(what, limiter=self._places)
        finally:
            self._waiting[address] -= 1
            self._waiting = +self._waiting  # forgets who waits no more

    def page(self, opened: Opened) -> str:
        """Make the report, with how far the test has come; of an example that nobody has taken yet
        a rehearsal's."""
        from earshot.study.analysis.report.page import page
        from earshot.study.simulation import rehearse

        with self._making:
            report = self._of(opened)
            if not report.page:
                progress = self._progress(opened, report)
                unrated = opened.public and not report.results.started
                rehearsed = self._run(opened, rehearse, opened.test) if unrated else None
                report.page = self._run(opened, page, report.results, progress, rehearsed)
            return report.page

    def running(self, opened: Opened, key: str) -> str:
        """Make the page of a test that runs: progress and counts, and no estimate."""
        from earshot.study.analysis.report.page import running

        test, store = opened.test, self._library.store
        with self._making:
            report = self._of(opened)
            progress = self._progress(opened, report)
        standing = render(
            "organiser_running.html",
            progress=Markup(progress),
            missing=store.missing(test).most_common(),
            looks=len(store.looks(test)),
            name=test.name,
            key=key,
            frozen=preregistration.describe_changes(test),
        )
        return self._run(opened, running, report.results, standing)

    def pdf(self, opened: Opened) -> bytes:
        """Make the report as a PDF."""
        from earshot.study.analysis.report.pdf import document

        with self._making:
            report = self._of(opened)
            report.pdf = report.pdf or self._run(opened, document, report.results)
            return report.pdf

    def file(self, make: Callable[[str, Test], bytes], opened: Opened) -> bytes:
        """Make one of the files of answers."""
        return self._run(opened, make, self._library.store.url, opened.test)

    def check_comparable(self, one: Opened, two: Opened) -> None:
        """Raise InputError where two tests cannot be compared: at once, for analyses take long."""
        from earshot.study.analysis.report.comparison import check_comparable

        check_comparable(one.test, two.test)

    def comparison(self, one: Opened, two: Opened) -> str:
        """Set both tests side by side."""
        from earshot.study.analysis.report.comparison import compare, page

        with self._making:
            report, other = self._of(one), self._of(two)
            if other not in report.comparisons:
                compared = self._run(one, compare, report.results, other.results)
                report.comparisons[other] = self._run(one, page, compared)
            return report.comparisons[other]

    def _progress(self, opened: Opened, report: CachedReport) -> str:
        from earshot.study.analysis.report.page import Progress, progress_section

        if not report.progress:
            finished = self._library.store.finishes(opened.test)
            progress = Progress(report.results, finished, opened.test.raters)
            report.progress = self._run(opened, progress_section, progress, opened.test.name)
        return report.progress

    def _of(self, opened: Opened) -> CachedReport:
        test, store = opened.test, self._library.store
        # First: what comes meanwhile is made anew.
        state = (opened.key, len(store.looks(test)), *store.state(test))
        report = self._reports.get(opened)
        if report is None or report.state != state:
            notes = list(filter(None, [preregistration.describe_changes(test)]))
            report = CachedReport(state, self._run(opened, analyse_answers, store.url, test, notes))
            self._reports[opened] = report
        return report

    def _run(self, opened: Opened, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make something of a test in the process. Raises TooMuchError where it takes too much, or
        did a short while ago: others wait for the process too."""
        until = self._refused.setdefault(opened, {})
        if time.monotonic() < until.get(make, 0.0):
            raise TooMuchError(TOO_MUCH)
        try:
            return report_process()(make, *args, **kwargs)
        except TooMuchError:
            until[make] = time.monotonic() + RETRY_AFTER
            raise


if TYPE_CHECKING:  # it takes seconds to import
    from earshot.study.analysis import Results


def analyse_answers(url: str, test: Test, notes: Sequence[str]) -> Results:
    """Analyse all answers that there are."""
    from earshot.study.analysis import analyse

    store = _open_store(url)
    return analyse(test, store.ratings(test), conduct=store.conduct(test), notes=notes)


def ratings_csv(url: str, test: Test) -> bytes:
    """Write the tidy table, in UTF-8 as spreadsheets recognise it."""
    return export.csv(_open_store(url).ratings(test)).encode("utf-8-sig")


def answers_jsonl(url: str, test: Test) -> bytes:
    """Write everything that is known of the test."""
    return export.jsonl(test, _open_store(url)).encode()


def dataset_zip(url: str, test: Test) -> bytes:
    """Write the data set to publish."""
    file = io.BytesIO()
    dataset.zipped(test, _open_store(url), file)
    return file.getvalue()
