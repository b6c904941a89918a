"""What is made of the answers of a test, in a process of its own: see earshot.study.maker.

It opens the store by its URL, for to read many answers takes as long as to write them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from earshot.study.design import Test
from earshot.study.storage import dataset, export
from earshot.study.storage.store import Store

if TYPE_CHECKING:  # it takes seconds to import
    from earshot.study.analysis import Results

_store = cache(partial(Store, upgrade=False))  # which the server has done


def analysed(url: str, test: Test, notes: Sequence[str]) -> Results:
    """Analyse all answers that there are."""
    from earshot.study.analysis import analyse

    store = _store(url)
    return analyse(test, store.ratings(test), conduct=store.conduct(test), notes=notes)


def ratings_csv(url: str, test: Test) -> bytes:
    """Write the tidy table, in UTF-8 as spreadsheets tell it."""
    return export.csv(_store(url).ratings(test)).encode("utf-8-sig")


def answers_jsonl(url: str, test: Test) -> bytes:
    """Write everything that is known of the test."""
    return export.jsonl(test, _store(url)).encode()


def dataset_zip(url: str, test: Test) -> bytes:
    """Write the data set to publish."""
    file = io.BytesIO()
    dataset.zipped(test, _store(url), file)
    return file.getvalue()
