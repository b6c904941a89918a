"""Fifty raters at once, and a writer that is killed: nothing that was acknowledged is lost."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from earshot.study.storage.store import Store
from tests.support.studies import any_answer, enrol, make_test

pytestmark = pytest.mark.slow

RATERS = 50
KILLS = 2
ACKNOWLEDGED = 12  # answers before each kill
# Answers one trial after the other, for one rater after the other, and prints what is acknowledged.
WRITER = """
import sys
from earshot.study.storage.store import Store
from tests.support.studies import any_answer, enrol, make_test
store, test = Store(sys.argv[1]), make_test()
while True:
    rater = enrol(store, test)
    for item in rater.items:
        store.answer(test, rater.token, item.order, *any_answer(test, item), 1000)
        print(rater.id, item.order, flush=True)
"""


def test_store_under_load_keeps_every_answer(store: Store) -> None:
    """Fifty raters answer at once."""
    test = make_test(trials=3)
    store.open(test)

    def take(_: int) -> str:
        rater = enrol(store, test)
        for item in rater.items:
            store.answer(test, rater.token, item.order, *any_answer(test, item), 1000)
        return rater.id

    with ThreadPoolExecutor(RATERS) as pool:
        raters = set(pool.map(take, range(RATERS)))
    table = store.ratings(test)
    assert len(raters) == RATERS and set(table["rater"]) == raters
    assert len(table) == RATERS * 6 and set(table["finished"]) == {True}
    counts = Counter(table.loc[table["kind"] == "trial", "trial"])
    assert len(counts) == 12 and max(counts.values()) - min(counts.values()) <= 1


def test_concurrent_enrol_makes_one_rater(store: Store) -> None:
    """A link is opened several times at once."""
    test = make_test(trials=3)
    with ThreadPoolExecutor(8) as pool:
        raters = list(pool.map(lambda _: enrol(store, test, "a-link-opened-twice"), range(8)))
    assert len({rater.items for rater in raters}) == 1


def test_killed_writer_loses_no_answer(url: str) -> None:
    """The store keeps what was acknowledged, and can be gone on with."""
    acknowledged: set[tuple[str, int]] = set()
    for _ in range(KILLS):
        command = [sys.executable, "-c", WRITER, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            for _, line in zip(range(ACKNOWLEDGED), writer.stdout, strict=False):
                rater, order = line.split()
                acknowledged.add((rater, int(order)))
            writer.kill()
            # It may have got further until the signal came.
            for line in writer.stdout:
                rater, order = line.split()
                acknowledged.add((rater, int(order)))
    assert len(acknowledged) >= KILLS * ACKNOWLEDGED
    store = Store(url)
    table = store.ratings(make_test())
    assert acknowledged <= set(zip(table["rater"], table["order"], strict=True))
    rater = enrol(store, make_test())  # and it can be gone on with
    store.answer(make_test(), rater.token, 0, 3, [1], 1000)
    store.engine.dispose()
