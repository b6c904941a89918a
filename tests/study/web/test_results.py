"""The organiser's page of a test that runs."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import write_test
from earshot.study.library import Library
from earshot.study.simulation.raters import simulate
from earshot.study.web.server import app, library


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Two tests that simulated raters took, and one of another design."""
    folder = tmp_path_factory.mktemp("tests")
    for name, design in (("first", "acr"), ("second", "acr"), ("pairs", "ab")):
        write_test(folder / name, design, raters=20)
    found = library(folder)
    for seed, name in enumerate(("first", "second")):
        simulate(found.open(name).test, found.store, 6, seed)
    return found


@pytest.fixture
def client(tests: Library) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


def test_page_shows_raters_over_time_who_is_left_out_and_the_map(
    client: TestClient, tests: Library
) -> None:
    page = client.get("/results/first", params={"key": tests.open("first").key}).text
    assert "6 raters finished within 1 hour" in page and "the places left (14)" in page
    assert page.count("<svg") >= 3 and "Which sounds decide?" in page
    assert "6 finished, 0 at it of 20 wanted" in page


def test_page_of_a_test_that_nobody_took_is_shown(client: TestClient, tests: Library) -> None:
    key = tests.open("pairs").key
    page = client.get("/results/pairs", params={"key": key})
    assert page.status_code == 200 and "Raters over time" not in page.text
    assert client.get("/results/pairs/report.pdf", params={"key": key}).status_code == 200


def test_report_is_taken_along_as_pdf_with_the_key_only(client: TestClient, tests: Library) -> None:
    report = client.get("/results/first/report.pdf", params={"key": tests.open("first").key})
    assert report.headers["content-type"] == "application/pdf"
    assert "first-report.pdf" in report.headers["content-disposition"]
    assert report.content.startswith(b"%PDF") and len(report.content) > 20_000
    assert client.get("/results/first/report.pdf", params={"key": "x"}).status_code == 403


def test_tests_are_compared_by_the_link_to_the_other(client: TestClient, tests: Library) -> None:
    key, other = tests.open("first").key, tests.open("second").key
    link = f"http://here/results/second?key={other}"
    page = client.get("/results/first/compare", params={"key": key, "other": link})
    assert page.status_code == 200 and "These raters are simulated" in page.text
    assert "A test of acr (second)" in page.text and "p, Holm" in page.text


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("", "Paste the whole link"),
        ("second", "Paste the whole link"),
        ("/results/second", "key in this link"),
        ("/results/second?key=wrong", "key in this link"),
        ("/results/nobody?key=x", "no listening test"),
        ("/results/pairs?key={pairs}", "different designs"),
    ],
)
def test_comparison_with_what_is_no_readable_test_of_the_design_is_refused(
    client: TestClient, tests: Library, other: str, reason: str
) -> None:
    asked = {"key": tests.open("first").key, "other": other.format(pairs=tests.open("pairs").key)}
    page = client.get("/results/first/compare", params=asked)
    assert page.status_code == 403 and reason in page.text
    other_key = {"key": "x", "other": f"/results/second?key={tests.open('second').key}"}
    assert client.get("/results/first/compare", params=other_key).status_code == 403
