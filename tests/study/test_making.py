"""A test made of a folder in one command, and drafts that programs make: nobody opens those."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.support.listening import write_test
from earshot.core.errors import InputError
from earshot.study.__main__ import main
from earshot.study.design import DESIGNS
from earshot.study.design.document import SpecError
from earshot.study.design.folder import write_zip
from earshot.study.design.form import Form
from earshot.study.design.spec import load
from earshot.study.making import make
from earshot.study.preregistration import frozen
from earshot.study.storage.store import Store
from earshot.tabs.listening_tests.api import draft_listening_test
from earshot.tabs.listening_tests.form import headings

CONSENT = "We are the speech group. Write to lab@example.org."
ADDRESS = "https://lab.example.org/"


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    """Two systems of four sentences, as somebody has them, with a reference that AB leaves out."""
    folder = write_test(tmp_path / "sounds", "ab")
    (folder / "test.yaml").unlink()
    (folder / "notes.txt").write_text("not for raters")
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    main(["new", *map(str, arguments)])
    return json.loads(capsys.readouterr().out)


def test_command_makes_an_open_test(
    sounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Raters can come as soon as it is served, by the links that are printed."""
    folder = tmp_path / "my-test"
    options = ("--design", "ab", "--raters", 20, "--consent", CONSENT, "--address", ADDRESS)
    report = run(capsys, folder, "--from", sounds, *options)
    test = load(folder)
    assert (test.design.name, test.raters, test.consent) == ("ab", 20, CONSENT)
    assert report["new"] and report["systems"] == [*test.systems] == ["fine", "rough"]
    assert frozen(test) and "nothing was changed" in report["frozen"]
    key = Store(f"sqlite:///{folder / 'answers.db'}").open(test)
    assert report["links"] == {
        "raters": "https://lab.example.org/listen/my-test",
        "results": f"https://lab.example.org/results/my-test?key={key}",
    }
    assert "two recordings, A and B" in report["asked"][0]
    assert report["asked"][1].startswith(
        "“Which one do you prefer?” A / No preference / B. 4 trials"
    )
    assert CONSENT in report["asked"][2]
    assert not any("--consent" in each for each in report["to_do"])


def test_twice_makes_one(sounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The links are the same, and the test is as it was; what was not done yet is done."""
    folder = tmp_path / "my-test"
    first = run(capsys, folder, "--from", sounds)
    assert any("--consent" in each for each in first["to_do"])
    (folder / "preregistration.json").unlink()
    second = run(capsys, folder, "--from", sounds)
    assert not second["new"] and frozen(load(folder))
    assert {**second, "new": True, "frozen": ""} == {**first, "frozen": ""}
    with pytest.raises(SystemExit, match="test.yaml is another"):
        run(capsys, folder, "--from", sounds, "--raters", 7)
    shutil.copyfile(sounds / "fine" / "cat.wav", sounds / "fine" / "cow.wav")
    with pytest.raises(SystemExit, match="cow.wav is in one of them only"):
        run(capsys, folder, "--from", sounds)
    (sounds / "fine" / "cow.wav").unlink()
    shutil.copyfile(sounds / "fine" / "cat.wav", sounds / "fine" / "bird.wav")
    with pytest.raises(SystemExit, match="fine/bird.wav is another"):
        run(capsys, folder, "--from", sounds)


def test_answers_lie_where_all_tests_are_served(sounds: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    store = Store(f"sqlite:///{tmp_path / 'all' / 'answers.db'}")
    report = make(sounds, tmp_path / "all" / "t", Form("ab", consent=CONSENT), ADDRESS)
    assert report["serve"][-1] == str(tmp_path / "all")
    assert report["links"]["results"].endswith(store.open(load(tmp_path / "all" / "t")))


def spoil(folder: Path) -> None:
    (folder / "fine" / "bird.wav").write_text("no sound")


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (spoil, {}, "fine/bird.wav"),
        (lambda folder: (folder / "rough" / "bird.wav").unlink(), {}, "bird"),
        (lambda folder: (folder / "test.yaml").write_text(""), {}, "is a test already"),
        (shutil.rmtree, {}, "is no folder"),
        (lambda folder: shutil.rmtree(folder / "fine"), {}, "2 or more"),
        (lambda folder: None, {"name": "my test"}, "cannot be part of a link"),
        (lambda folder: None, {"name": "sounds/inside"}, "lie in each other"),
        (lambda folder: None, {"address": "lab.example.org"}, "no address of a server"),
        (lambda folder: None, {"address": "javascript://x"}, "no address of a server"),
        (lambda folder: None, {"address": "http://x:99999"}, "no address of a server"),
        (lambda folder: None, {"address": "http://x/?a=b"}, "no address of a server"),
        (lambda folder: None, {"database": "nonsense"}, "no URL of a database"),
        (lambda folder: None, {"form": Form("ab", trials=10**6)}, "trials"),
    ],
)
def test_what_is_wrong_leaves_nothing(
    sounds: Path, tmp_path: Path, change: Any, options: dict[str, Any], sentence: str
) -> None:
    change(sounds)
    before = {*tmp_path.iterdir()}
    folder, form = tmp_path / options.get("name", "t"), options.get("form", Form("ab"))
    with pytest.raises((InputError, SpecError), match=sentence):
        make(sounds, folder, form, options.get("address", ADDRESS), options.get("database"))
    assert {*tmp_path.iterdir()} == before


def test_options_of_sounds_need_them(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--from DIR"):
        main(["new", str(tmp_path / "t"), "--raters", "3"])
    with pytest.raises(SystemExit, match="Name the folder"):
        main(["new"])


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_is_told_in_raters_words(design: str) -> None:
    """Whatever is typed stays text: it is no element of the page."""
    form = Form(design, title="<b>Hi</b>", question="<script>", consent="x" * 9999)
    hears, asks, agrees = form.raters_words()
    assert hears.startswith("They hear ") and "<script>" in asks and len(agrees) < 400
    assert "from ." not in asks and "”  " not in asks
    assert all("<script>" not in each and "<b>" not in each for each in headings(form))
    assert Form("nothing").raters_words() == ("", "", "")


def test_draft_is_not_open(sounds: Path, tmp_path: Path) -> None:
    """A program gets its YAML, what is wrong with it, and what raters would read; a test there is
    none of."""
    zipped = tmp_path / "sounds.zip"
    write_zip(sounds, zipped)
    before = {*tmp_path.rglob("*")}
    draft = draft_listening_test(str(zipped), "ab", title='A "title"', raters="12")
    assert [each for each in draft["problems"] if "consent" in each]
    assert draft["trials_per_rater"] == 4 and "raters: 12" in draft["yaml"]
    assert "4 trials" in draft["asked"][1] and "A person" in draft["next"]
    whole = draft_listening_test(str(zipped), "mushra", consent=CONSENT)
    assert whole["problems"] == [] and 'reference: "reference/*.wav"' in whole["yaml"]
    assert {*tmp_path.rglob("*")} == before
    shutil.rmtree(sounds / "reference")
    write_zip(sounds, zipped)
    bare = draft_listening_test(str(zipped), "mushra", trials="1")
    assert "the quality of each recording?”" in bare["asked"][1], "of no reference"
    assert "1 trial, about 1 minute." in bare["asked"][1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"design": "best"}, "There is no such design"),
        ({"trials": "ten"}, '"trials" must be'),
        ({"raters": "0"}, '"raters" must be'),
        ({"raters": "1" * 5000}, '"raters" must be'),
        ({"trials": "²"}, '"trials" must be'),
        ({"consent": "x" * 20_001}, "characters at most"),
        ({"file": None}, "no sounds"),
    ],
)
def test_unfit_drafts_are_refused(
    sounds: Path, tmp_path: Path, arguments: dict[str, Any], sentence: str
) -> None:
    zipped = tmp_path / "sounds.zip"
    write_zip(sounds, zipped)
    with pytest.raises(Exception, match=sentence):
        draft_listening_test(**{"file": str(zipped), **arguments})
