"""A design is one object, and a new one needs nothing else anywhere."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study.analysis import analyse
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.design import DESIGNS, Design, Scale, designs, spec
from earshot.study.design.form import template
from earshot.study.simulation import simulate
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library

HEDONIC = Design(
    name="hedonic",
    title="Hedonic scale",
    summary="How much is it liked, from 1 to 9",
    source="ratings on the nine-point hedonic scale (Peryam and Pilgrim 1957)",
    scale=Scale(
        "How much do you like it?",
        tuple((value, f"Like {value}") for value in range(9, 0, -1)),
        "Liking",
        (1, 9),
        differences=(0.5, 1),
    ),
    tested=designs.ALONE,
    cards=("sound",),
    numbered=True,
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DESIGNS, HEDONIC.name, HEDONIC)  # type: ignore[arg-type]


def test_new_design_works_throughout(tmp_path: Path) -> None:
    """It is read, taken, simulated and reported."""
    write_test(tmp_path / "liked", "hedonic")
    tests = library(tmp_path, min_time=0)
    with TestClient(app(tests)) as client:
        rater = Rater(client, "liked")
        trials = rater.session()["trials"]
        assert trials[0]["question"] == HEDONIC.scale.question and trials[0]["cards"] == ["sound"]
        assert rater.answer(trials[0], 10).status_code == 422
        for trial in trials:
            assert rater.answer(trial, 9).status_code == 200
        key = {"key": tests.open("liked").key}
        assert "Like 9" in client.get("/results/liked", params=key).text
    test = spec.load(tmp_path / "liked")
    store = Store(f"sqlite:///{tmp_path / 'rehearsal.db'}")
    simulate(test, store, raters=5, seed=3)
    results = analyse(test, store.ratings(test))
    assert results.included.systems["value"].between(1, 9).all()
    html = page(results)
    assert "Hedonic scale" in html and '<th class="number">Liking</th>' in html
    assert HEDONIC.source in " ".join(method(results))
    assert document(results).startswith(b"%PDF")


def test_new_design_has_a_template(tmp_path: Path) -> None:
    text = template(HEDONIC)
    assert "hedonic" in text and "question: How much do you like it?" in text


def test_every_design_says_what_it_is() -> None:
    for name, design in DESIGNS.items():
        assert design.name == name and design.title and design.summary and design.tested
        scale = design.scale
        assert scale.question and len({value for value, _ in scale.answers}) == len(scale.answers)
        assert scale.of_pairs == design.paired or scale.ranked, "pairs are told of pairs"
        assert design.together or design.cards or scale.adjusted
