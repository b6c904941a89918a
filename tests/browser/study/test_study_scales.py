"""Several scales, transcripts, shown sentences and comments, by raters in a browser. Tabs that are
left open are looked at in test_study_states and, with all of these, in test_study_whole."""

import csv
import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.listening import STIMULI, write_test
from earshot.study.analysis import analyse
from earshot.study.library import TestLibrary
from earshot.study.storage import dataset
from tests.browser.rater_form import RaterForm
from tests.browser.study.test_study import in_order
from tests.browser.visit import shoot

SENTENCES = dict.fromkeys(STIMULI, "The old cat sat on the mat.")
SCALES: dict[str, Any] = {
    "similarity": None,
    "naturalness": {"points": 7},
    "pleasantness": {
        "question": "How pleasant is the voice?",
        "points": 11,
        "ends": ["Not at all pleasant", "Very pleasant"],
    },
    "transcription": None,
}
QUESTIONS = {"clear": "How clear is it?", "calm": "How calm is it?"}
SCORES = {"fine": 82, "rough": 31, "reference": 100, "anchor-3.5k": 40, "anchor-7k": 60}
LESSON = {"sounds": "fine/bird.wav", "reference": "reference/bird.wav", "expected": 5}
TRANSCRIPTION = "the old cat sat on the mat"
NAME = "a rater with keys"
TRIALS = 2


@pytest.fixture(scope="module", autouse=True)
def studies(tests: TestLibrary) -> None:
    folder = tests.folders[0]
    more = {"practice": [LESSON], "trials": TRIALS, "sentences": SENTENCES, "comment": True}
    write_test(folder / "scales", "smos", scales=SCALES, **more)
    with_sentences = {"trials": 1, "practice": 0, "sentences": SENTENCES, "show_sentence": True}
    write_test(folder / "shown", "acr", scales={"naturalness": None}, **with_sentences)
    scales = {name: {"question": question} for name, question in QUESTIONS.items()}
    write_test(folder / "noted", "mushra", trials=1, practice=0, comment=True, scales=scales)


def listen(page: Page) -> None:
    """Hears both sounds to the end."""
    for i in range(page.locator(".card").count()):
        page.locator(".card").nth(i).click()
        expect(page.locator(".card.heard")).to_have_count(i + 1)


def answer(page: Page, name: str) -> None:
    """Answers all scales of a trial with the pointer."""
    similar, natural, pleasant = (page.locator(".answers").nth(i) for i in range(3))
    similar.locator(".answer").first.click()
    natural.get_by_text("6", exact=True).click()
    pleasant.get_by_text("10", exact=True).click()
    page.locator(".written input").fill(TRANSCRIPTION)
    page.locator(".remark textarea").fill(f"Heard by {name}.")


def type_all(page: Page, name: str) -> None:
    """Answers them by keys alone: digits go to the first question that is open."""
    page.keyboard.press("5")
    expect(page.locator(".answers").first.locator("input:checked")).to_have_count(1)
    page.keyboard.press("6")
    page.keyboard.press("-")  # ten
    page.locator(".written input").focus()
    page.keyboard.type(TRANSCRIPTION)
    page.keyboard.press("Tab")
    page.keyboard.type(f"Heard by {name}.")


def take(page: Page, address: str, tests: TestLibrary, shots: Path) -> str:
    """Takes the whole test by keys → the rater's hash."""
    form = RaterForm(page, address, "scales", tests)
    form.begin()
    for trial in range(TRIALS + 1):
        expect(page.locator(".trial")).to_be_visible()
        expect(page.locator(".written input")).to_be_disabled()
        listen(page)
        type_all(page, NAME)
        if trial == 1:
            in_order(page)
            shoot(page, shots / "scales.png")
            # Half a trial is kept: what was chosen, and what was written.
            link = page.url
            page.goto("about:blank")
            page.goto(link)
            form.listen(back=True)
            expect(page.locator(".written input")).to_have_value(TRANSCRIPTION)
            expect(page.locator(".remark textarea")).to_have_value(f"Heard by {NAME}.")
            expect(page.locator("input:checked")).to_have_count(3)
        form.next()
        if trial == 0:  # practice whose answer is known
            expect(page.locator(".prose")).to_contain_text("Extremely similar")
            form.button("Next").click()
    form.finish()
    rater = tests.store.resume(form.test, form.token)
    assert rater
    return rater.id


def test_rater_answers_every_scale(
    page: Page, address: str, tests: TestLibrary, tmp_path: Path
) -> None:
    """The export of the answers reads back."""
    rater = take(page, address, tests, tmp_path)
    test, key = tests.open("scales").test, tests.open("scales").key
    content = httpx.get(f"{address}/results/scales/dataset.zip", params={"key": key}).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read(f"scales/{dataset.path(test, 'ratings.csv')}").decode()
        description = json.loads(archive.read("scales/dataset_description.json"))
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["kind"] == "trial"]
    each = Counter(row["rater"] for row in rows)
    assert each == {rater: TRIALS * (len(SCALES) + 1)}
    assert description["@type"] == "Dataset"
    answers = {(row["scale"], row["answer"], row["text"]) for row in rows if row["scale"] in SCALES}
    assert answers == {
        ("similarity", "5.0", ""),
        ("naturalness", "6.0", ""),
        ("pleasantness", "10.0", ""),
        ("transcription", "0.0", TRANSCRIPTION),
    }
    remarks = {row["text"] for row in rows if row["scale"] == "comment"}
    assert remarks == {f"Heard by {NAME}."}
    results = analyse(test, tests.store.ratings(test))
    assert [each.included.raters for each in results.by_scale] == [1] * len(SCALES)
    look = f"{address}/results/scales/look"
    results_page = httpx.post(look, params={"key": key}, timeout=60, follow_redirects=True).text
    assert all(f"<h2>{name.capitalize()}</h2>" in results_page for name in SCALES)


@pytest.mark.parametrize("page", [("phone", "light")], indirect=True)
def test_sentence_is_read_while_one_judges(
    page: Page, address: str, tests: TestLibrary, tmp_path: Path
) -> None:
    form = RaterForm(page, address, "shown", tests)
    form.begin()
    expect(page.locator(".sentence")).to_contain_text(SENTENCES["cat"])
    listen(page)
    page.locator(".answer").nth(1).click()
    in_order(page)
    shoot(page, tmp_path / "shown.png")
    form.next()
    form.finish()


@pytest.mark.parametrize("page", [("phone", "dark")], indirect=True)
def test_comment_next_to_sliders_is_stored(
    page: Page, address: str, tests: TestLibrary, tmp_path: Path
) -> None:
    """There is a slider for each sound on each scale."""
    form = RaterForm(page, address, "noted", tests)
    form.begin()
    page.locator(".remark textarea").fill("1 hums, and 2 r")  # no key of the page
    expect(page.locator(".switch.on, .pill.on")).to_have_count(0)
    systems = form.item().systems
    form.button("Reference").click()
    expect(page.locator(".pill.heard")).to_be_visible()
    for place, system in enumerate(systems):
        form.button(f"Play sound {place + 1}").first.click()
        for lower, question in enumerate(QUESTIONS.values()):
            expect(form.button("Next")).to_be_disabled()
            slider = page.get_by_label(f"Sound {place + 1}: {question}", exact=True)
            slider.fill(str(SCORES[system] - lower))
        expect(page.locator(".switch.heard")).to_have_count(2 * (place + 1))
    in_order(page, [("phone", "dark")])
    shoot(page, tmp_path / "sliders.png")
    form.next()
    form.finish()
    table = tests.store.ratings(form.test)
    for lower, name in enumerate(QUESTIONS):
        own = table[table["scale"] == name].set_index("system")["answer"]
        assert own.to_dict() == {system: score - lower for system, score in SCORES.items()}
    assert table[table["scale"] == "comment"]["text"].tolist() == ["1 hums, and 2 r"]
