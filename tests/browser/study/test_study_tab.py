"""The tab of listening tests: from sounds to an open test, and from another tab to a draft."""

import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.support.listening import write_test
from earshot.app import launch, site
from earshot.study.library import TestLibrary
from earshot.study.storage import tables
from earshot.study.web.organiser_routes import LOCAL_TIMES
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services
from tests.browser.visit import FITS, PATIENCE, Visit
from tests.support.serving import close


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> TestLibrary:
    return listening_tests.opened(tmp_path_factory.mktemp("studies"), None)


@pytest.fixture(scope="module")
def address(tests: TestLibrary, tiny_checkpoints: Path) -> Iterator[str]:
    page = site.build(Services(device="cpu", tests=tests), tiny_checkpoints)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


def bring(visit: Visit, folder: Path) -> None:
    """Uploads a folder as a zip, and makes a test of it."""
    file = folder.with_suffix(".zip")
    with zipfile.ZipFile(file, "w") as archive:
        for path in folder.rglob("*.*"):
            archive.write(path, path.relative_to(folder.parent))
    visit.enter("Listening tests")
    visit.page.locator('#study-files input[type="file"]').set_input_files(file)
    expect(visit.button("Make a test")).to_be_enabled()
    visit.page.get_by_label("Consent: who asks").fill("We ask. Write to us@example.org.")
    visit.button("Make a test").click()
    # A test with a mistake may be refused before Stop is looked for.
    expect(visit.button("Stop").or_(visit.page.get_by_role("alert")).first).to_be_visible()
    visit.click_again()


@pytest.mark.stays
def test_example_test_opens_for_a_rater(visit: Visit) -> None:
    visit.enter("Listening tests")
    with visit.page.context.expect_page() as opened:
        visit.page.get_by_role("link", name="Take the example test").click()
    heading = opened.value.get_by_role("heading", level=1)
    expect(heading).to_have_text("Which voice sounds more natural?")
    opened.value.get_by_role("button", name="I agree to take part").click()
    expect(heading).to_have_text("Set the volume")


@pytest.mark.stays
def test_scale_of_p835_is_analysed(visit: Visit, tmp_path: Path) -> None:
    """The noise of one codec is worse (2) than that of the other (4), whatever else is said."""
    scores = {"clean": {"sig": 2, "bak": 4, "ovrl": 3}, "noisy": {"sig": 5, "bak": 2, "ovrl": 3}}
    rows = ["HITId,workerid,file,vote,question_type"]
    rows += [
        f"1,worker-{rater},x/{codec}/s{stimulus}.wav,{vote},MOS_{scale.upper()}"
        for rater in range(4)
        for stimulus in range(3)
        for codec, votes in scores.items()
        for scale, vote in votes.items()
    ]
    (tmp_path / "votes.csv").write_text("\n".join(rows))
    visit.enter("Listening tests")
    visit.page.get_by_role("button", name="Ratings from webMUSHRA or P.808").click()
    part = visit.page.locator(".gr-accordion", has_text="Ratings from webMUSHRA")
    upload = part.locator('input[type="file"]')
    upload.set_input_files(tmp_path / "votes.csv")
    expect(visit.page.get_by_text("votes.csv")).to_be_visible()
    visit.page.get_by_label("Background noise").check()
    visit.button("Analyse them").click()
    message = visit.page.locator(".message:visible")
    expect(message).to_contain_text("clean was rated highest, 2.00 above noisy")
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name=".html").or_(
            visit.page.locator('a[download$=".html"]')
        ).first.click()
    assert "P.835, BAK" in download.value.path().read_text()
    visit.shoot("p835")


@pytest.mark.stays
def test_conversion_is_added_to_a_draft(visit: Visit, speech: Path) -> None:
    visit.enter("Voice conversion")
    visit.convert(speech)
    visit.button("Add to a listening test").click()
    expect(visit.page.get_by_role("button", name="1 in your draft")).to_be_visible()
    visit.enter("Listening tests")
    visit.page.get_by_role("button", name="Your draft").click()
    expect(visit.page.locator(".draft")).to_contain_text("continuous TF2 neural")
    visit.button("Make a test of these").click()
    visit.page.get_by_role("button", name="Advanced: the test as YAML").click()
    expect(visit.page.locator("#study-yaml")).to_contain_text("continuous-TF2-neural/*.wav")
    visit.button("Download the test").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Save the zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        names = archive.namelist()
    assert {"sounds.jsonl", "test.yaml"} <= {*names}
    assert sum(name.startswith("reference/") for name in names) == 1
    visit.button("Page of samples").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Save the page").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"index.html", "sounds/001-02.mp3"} <= {*archive.namelist()}


def test_uploaded_sounds_become_test_with_link(visit: Visit, tmp_path: Path) -> None:
    """The link is for raters."""
    folder = write_test(tmp_path / "test", "ab")
    (folder / "test.yaml").unlink()
    bring(visit, folder)
    expect(visit.page.locator(".message:visible")).to_contain_text("can be opened")
    visit.page.get_by_role("button", name="Advanced: the test as YAML").click()
    expect(visit.page.locator("#study-yaml")).to_contain_text("fine/*.wav")
    visit.button("Preview as a rater").click()
    link = visit.page.locator("#study-links a")
    expect(link).to_have_count(1)
    page = visit.page.context.new_page()
    page.set_default_timeout(PATIENCE)  # a report is made beside other work
    preview = link.inner_text()
    page.goto(preview)
    expect(page.get_by_text("Preview: nothing of this is stored.")).to_be_visible()
    page.goto(preview.partition("?")[0])
    expect(page.get_by_role("heading", level=1)).to_have_text("This test is closed")
    visit.resize("phone")
    visit.button("Open it to raters").click()
    links = visit.page.locator("#study-links a")
    expect(links).to_have_count(2)
    for link in links.all():
        expect(link).to_be_in_viewport(ratio=1)
    expect(visit.page.locator("#study-rehearsal .rehearsal")).to_be_visible()
    assert visit.page.evaluate(FITS), "the rehearsal scrolls by itself, and not the page"
    # Of a server that others do not reach.
    expect(visit.page.locator("#study-links")).to_contain_text("Start it with --host 0.0.0.0")
    expect(visit.page.get_by_alt_text("QR code of the link for raters")).to_have_count(0)
    page.goto(preview)
    expect(page.get_by_text("Preview: nothing of this is stored.")).to_be_visible()
    raters, results = links.all()
    assert raters.inner_text().startswith(f"{visit.address}listen/my-listening-test-")
    page.goto(raters.inner_text())
    expect(page.get_by_role("heading", level=1)).to_have_text("My listening test")
    page.goto(results.inner_text())
    expect(page.locator("h1")).to_have_text("My listening test")
    visit.shoot("opened")
    page.get_by_role("button", name="Close the test").click()
    expect(page.get_by_role("button", name="Reopen the test")).to_be_visible()


def test_steps_go_from_top_to_bottom_without_zeros(visit: Visit, tmp_path: Path) -> None:
    """What is wrong stands beside the button, and nothing says that the form is an old one."""
    visit.enter("Listening tests")
    steps = visit.page.locator(".step:visible", has_text="·")
    expect(steps).to_have_count(4)
    places = [step.bounding_box() or {} for step in steps.all()]
    assert [place["y"] for place in places] == sorted(place["y"] for place in places)
    assert len({place["x"] for place in places}) == 1
    for label, empty in (("Trials a rater", "as many as fit"), ("Raters wanted", "any number")):
        field = visit.page.get_by_label(label)
        expect(field).to_have_value("")
        expect(field).to_have_attribute("placeholder", empty)
    (tmp_path / "notes.txt").write_text("No sound.")
    visit.page.locator('#study-files input[type="file"]').set_input_files(tmp_path / "notes.txt")
    visit.button("Make a test").click()
    error = visit.page.locator(".message.error:visible")
    expect(error).to_contain_text("notes.txt")
    expect(error).to_be_in_viewport()
    above, below = error.bounding_box() or {}, visit.button("Make a test").bounding_box() or {}
    assert 0 < below["y"] - above["y"] < 200
    expect(visit.page.locator("[data-old]")).to_have_count(0)


def test_times_of_results_are_those_of_their_reader(browser: Browser) -> None:
    context = browser.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
    page = context.new_page()
    time = datetime(2026, 11, 29, 15, 0, tzinfo=UTC).strftime(tables.TIME)
    page.add_init_script(LOCAL_TIMES)
    page.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
    html = f"<svg><text>{time}</text></svg><p>Frozen on {time}.</p>"
    page.goto("http://localhost/")
    expect(page.locator("text")).to_have_text("30 Nov, 00:00")
    expect(page.locator("p")).to_have_text("Frozen on 30 Nov, 00:00.")
    context.close()


def test_yaml_mistakes_are_named_with_line(visit: Visit, tmp_path: Path) -> None:
    folder = write_test(tmp_path / "test", "acr", practise=2)
    (folder / "fine" / "dog.wav").unlink()
    bring(visit, folder)
    alert = visit.page.get_by_role("alert")
    expect(alert).to_contain_text("test.yaml, line")
    expect(alert).to_contain_text('did you mean "practice"')
    visit.button("Open it to raters").click()
    expect(visit.page.locator("#study-links a")).to_have_count(0)


def test_tab_never_scrolls_sideways_on_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 780}, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("tab", name="Listening tests").click()
    page.get_by_role("button", name="Advanced: the test as YAML").click()
    expect(page.locator("#study-yaml .cm-content")).to_be_visible()
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 780})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    context.close()
