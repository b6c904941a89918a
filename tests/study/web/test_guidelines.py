"""What raters read while they judge: what counts as a fault, and how much it weighs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import STIMULI, Rater, write_test
from earshot.study.design.scales import MAX_GUIDELINES
from earshot.study.design.spec import SpecError, load
from earshot.study.storage.export import described
from earshot.study.web.server import app, library
from tests.support.stimuli import make_folder

SCALES: dict[str, Any] = {
    "naturalness": {"guidelines": "Judge the voice."},
    "transcription": {"guidelines": "Guess what you miss."},
}
GERMAN = {"guidelines": "Ein Wort: 20.", "scales": {"naturalness": {"guidelines": "Die Stimme."}}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    sentences = dict.fromkeys(STIMULI, "The old cat sat.")
    write_test(tmp_path / "sliders", "mushra", guidelines="A wrong word: 20.\n\nA buzz: 5.")
    write_test(
        tmp_path / "several", "acr", scales=SCALES, guidelines="Of all.", texts={"de": GERMAN},
        sentences=sentences,
    )  # fmt: skip
    with TestClient(app(library(tmp_path, min_time=0))) as client:
        yield client


def test_guidelines_are_shown_in_every_trial(client: TestClient) -> None:
    for trial in Rater(client, "sliders").session()["trials"]:
        assert trial["guidelines"] == "A wrong word: 20.\n\nA buzz: 5."


def test_guidelines_of_scales_are_translated(client: TestClient) -> None:
    """What is not translated is in the test's own language."""
    expected = {"en": ["Of all.", "Judge the voice.", "Guess what you miss."]}
    expected["de"] = ["Ein Wort: 20.", "Die Stimme.", "Guess what you miss."]
    for language, texts in expected.items():
        trial = Rater(client, "several", language=language).session()["trials"][0]
        scales = [scale["guidelines"] for scale in trial["scales"]]
        assert [trial["guidelines"], *scales] == texts


def test_standard_scale_stays_one_with_guidelines(tmp_path: Path) -> None:
    plain = load(make_folder(tmp_path / "t", scales={"naturalness": None}))
    guided = load(make_folder(tmp_path / "t", scales={"naturalness": {"guidelines": "So."}}))
    assert guided.scales == plain.scales and guided.fingerprint == plain.fingerprint
    assert described(guided)["guidelines"] == {"naturalness": "So."}
    assert "guidelines" not in described(plain)


@pytest.mark.parametrize("text", ["", 5, ["a"], "x" * (MAX_GUIDELINES + 1)])
def test_other_guidelines_are_refused(tmp_path: Path, text: object) -> None:
    for more in ({"guidelines": text}, {"scales": {"quality": {"guidelines": text}}},
                 {"texts": {"de": {"guidelines": text}}}):  # fmt: skip
        with pytest.raises(SpecError, match='"guidelines" must'):
            load(make_folder(tmp_path / "t", **more))
