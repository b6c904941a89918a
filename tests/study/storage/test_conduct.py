"""What became of everybody who came."""

from dataclasses import replace
from pathlib import Path

from earshot.study.design.raters import Panel
from earshot.study.design.spec import load
from earshot.study.storage.raters import Conduct
from earshot.study.storage.store import Store
from tests.support.stimuli import make_folder
from tests.support.studies import enrol


def test_conduct_counts_each_way_out(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t"))
    test = replace(test, panel=Panel(returns={"headphones": "C1"}))
    store = Store(f"sqlite:///{tmp_path / 'answers.db'}")
    everyone = [enrol(store, test).token for _ in range(5)]
    withdrew, failed, left, *finished = everyone
    store.withdraw(test, withdrew)
    store.headphones(test, failed, passed=False)
    store.headphones(test, left, passed=True)
    for token in finished:
        store.headphones(test, token, passed=True)
        for order in range(6):
            store.answer(test, token, order, 3, [1], 900)
    conduct = store.conduct(test)
    assert conduct == Conduct(
        consented=5,
        withdrew=1,
        failed_headphones=1,
        failed_attention=0,
        unfinished=1,
        finished=2,
    )
    assert conduct.screened_out == 1
