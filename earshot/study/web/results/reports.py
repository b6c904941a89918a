"""Reports on the tests of a library, each made anew when there are other ratings."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from earshot.study.library import Library, Opened

if TYPE_CHECKING:  # it takes seconds to import
    from earshot.study.analysis import Results


class Made(NamedTuple):
    """What was made of ratings with this hash; page: HTML."""

    seen: int
    results: Results
    page: str


class Reports:
    """Results of tests, and the pages that show them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: dict[str, Made] = {}
        self._lock = threading.Lock()  # one at a time: raters come first

    def page(self, opened: Opened) -> str:
        """The report, and how far the test has come."""
        return self._of(opened).page

    def pdf(self, opened: Opened) -> bytes:
        """The report as a PDF."""
        from earshot.study.analysis.report.pdf import document

        results = self._of(opened).results
        with self._lock:
            return document(results)

    def comparison(self, one: Opened, two: Opened) -> str:
        """Both tests side by side. Raises InputError where they cannot be compared."""
        from earshot.study.analysis.comparison import check_comparable, compare
        from earshot.study.analysis.report.comparison import page

        check_comparable(one.test, two.test)  # before their analyses, which take seconds
        results = [self._of(opened).results for opened in (one, two)]
        with self._lock:
            return page(compare(*results))

    def _of(self, opened: Opened) -> Made:
        from earshot.study.analysis import analyse
        from earshot.study.analysis.report import progress
        from earshot.study.analysis.report.page import page

        test, store = opened.test, self._library.store
        with self._lock:
            ratings, finished = store.ratings(test), store.finishes(test)
            seen = hash((ratings.to_csv(), *finished))
            made = self._made.get(test.name)
            if made is None or made.seen != seen:
                results = analyse(test, ratings)
                done = progress.Progress(results, finished, test.raters)
                made = Made(seen, results, page(results, progress.html(done, test.name)))
                self._made[test.name] = made
            return made
