"""A second look: a published data set is computed anew from its zip alone, and what was altered in
it, or made to do harm, is named in a sentence.
"""

import csv
import io
import json
import re
import shutil
import stat
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import release
from earshot.study import reproduction
from earshot.study.__main__ import main
from earshot.study.analysis import analyse, publication
from earshot.study.design import Test, folder
from earshot.study.design.designs import AB, REFERENCE, TRANSCRIPTION
from earshot.study.design.model import Staircase
from earshot.study.design.raters import HeadphoneCheck, Panel, Question, RoomTest, Rules
from earshot.study.design.scales import NATURALNESS, Texts
from earshot.study.imports import dataset_zip
from earshot.study.reproduction import reproduce
from earshot.study.simulation import simulate
from earshot.study.storage import dataset
from earshot.study.storage.database import MEMORY
from earshot.study.storage.store import Store
from tests.support.studies import enrol, make_test

Change = Callable[[dict[str, bytes]], object]
RAW = "data/raw/study.jsonl"
CLEAR = replace(AB.scale, name="clear", question="Which is clearer?")
STIMULI = "data/study-study_description-stimuli_data.csv"
RATINGS = "data/study-study_description-ratings_data.csv"


def whole_test() -> tuple[Test, Store]:
    """Make a test of which a data set holds as much as it can, taken by simulated raters, by one
    who has changed an answer and skipped a sound, and by one who has withdrawn."""
    test = make_test(
        scales=(NATURALNESS, TRANSCRIPTION),
        sentences={f"s{i}": f"The boy fed fish number {i}." for i in range(4)},
        comment=True,
        faults=("buzz", "wrong voice"),
        questions=(
            Question({"": "Age?"}, choices={"": ("young", "old")}, optional=True),
            Question({"": "Tired?"}, "between", 3, {"": ("no", "yes")}),
        ),
        environment=RoomTest(4, 3),
        headphones=HeadphoneCheck("both", True),
        texts={"de": Texts(title="Ein Test", faults=("Brummen", "falsche Stimme"))},
        rules=replace(Rules(), most_seconds=60.0, dropouts={"answer": 2}),
        closes=datetime(2030, 1, 1, tzinfo=UTC),
        panel=Panel(link=("PID",)),
        loudness=-23.0,
        statements={"claim": "Ours sounds best."},
    )
    store = Store(MEMORY)
    simulate(test, store, 8, 0)
    rater = enrol(store, test, panel={"PID": "0" * 32}, language="de", device="phone, Firefox")
    first, second, *_ = rater.items
    words = {"naturalness": 3, "transcription": "=cmd", "faults": [1], "comment": "<b>\r\nhm</b>"}
    figures = {"dropouts": 1, "lost": 20, "stalls": 0, "hidden": 0, "changes": 0, "rate": 48_000}
    store.answer(test, rater.token, first.order, words, [1], 900, playback=figures)
    store.answer(test, rater.token, first.order, words | {"faults": [2]}, [2], 950, version=1)
    store.skip(test, rater.token, second.order, 0, there=False)
    store.reply(test, rater.token, 0, 0, 1)
    store.withdraw(test, enrol(store, test).token)
    store.visit(test)
    store.look(test)
    return test, store


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """Make the files of a small data set."""
    test, store = make_test(), Store(MEMORY)
    simulate(test, store, 6, 0)
    return dataset.files(test, store)


def stepped() -> Test:
    """Make a test on a staircase of three levels."""
    names, (only, *_) = ("y0", "y1", "y2"), (test := make_test("abx")).trials
    sounds = [{name: only.sounds["y0"], REFERENCE: only.sounds["y0"]} for name in names]
    trials = tuple(replace(only, id=number, sounds=each) for number, each in enumerate(sounds))
    staircase = Staircase({name: 3.0 - at for at, name in enumerate(names)}, "dB")
    return replace(test, trials=trials, trials_per_rater=8, staircase=staircase)


def packed(path: Path, contents: dict[str, bytes], root: str = "study/") -> Path:
    """Zip the files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(root + name, content)
    return path


@pytest.mark.slow
def test_every_figure_is_the_same_from_the_zip_alone(tmp_path: Path) -> None:
    adaptive = make_test("ab", pairing="adaptive", trials=3)
    votes = Store(MEMORY)
    simulate(adaptive, votes, 5, 0)
    for test, store in (whole_test(), (adaptive, votes)):
        files = dataset.files(test, store)
        second = reproduce(packed(tmp_path / "set.zip", files))
        assert not second.different and not second.worded, second.different
        assert second.figures > 100 and second.cells > 500
        people = [json.loads(line) for line in files[RAW].decode().splitlines()][1:]
        assert all("code" not in each["rater"] for each in people), "it leads to a person"
        assert b"0" * 32 not in b"".join(files.values()), "as does what a panel's link said"


def test_command_prints_what_it_compared_and_ends_by_it(
    contents: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # As somebody on a Mac zips it again, in a folder of another name.
    good = packed(tmp_path / "set.zip", contents | {".DS_Store": b""}, "renamed/")
    with zipfile.ZipFile(good, "a") as archive:
        archive.writestr("__MACOSX/renamed/._dataset_description.json", b"x")
    main(["reproduce", str(good), "--out", str(tmp_path / "anew")])
    assert "to the last printed digit" in capsys.readouterr().out
    assert (tmp_path / "anew" / publication.REPORT).read_bytes()[:9] == b"<!doctype"
    report = contents[publication.REPORT].replace(b"4.", b"3.")
    bad = packed(tmp_path / "bad.zip", contents | {publication.REPORT: report})
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", str(bad)])
    assert ended.value.code == 1 and "published, “" in capsys.readouterr().out


def table(content: bytes, row: int, column: str, value: str) -> bytes:
    """Write another value into a cell."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    rows[row][column] = value
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def raw(contents: dict[str, bytes], change: Callable[[list[Any]], object]) -> None:
    """Change the lines of everything."""
    lines = [json.loads(line) for line in contents[RAW].decode().splitlines()]
    change(lines)
    contents[RAW] = "\n".join(map(json.dumps, lines)).encode()


def other_answer(lines: list[Any]) -> None:
    item = next(each for each in lines[1]["rater"]["items"] if each["trial"] < 12)
    item["answer"] = 1 if item["answer"] > 2 else 5


def test_altered_files_are_named(contents: dict[str, bytes], tmp_path: Path) -> None:
    altered = dict(contents)
    altered.pop(STIMULI)
    altered[RATINGS] = table(altered[RATINGS], 3, "answer", "9")
    altered[publication.MODELS] += b"system('make harm')"
    altered[publication.SCORED] = b"".join(altered[publication.SCORED].splitlines(True)[:-1])
    report = altered[publication.REPORT].decode()
    altered[publication.REPORT] = report.replace(" leads ", " trails ").encode()
    second = reproduce(packed(tmp_path / "set.zip", altered))
    listed = "\n".join(second.different)
    for line in (
        "stimuli_data.csv is missing",
        "row 4, answer: “9” published, “",
        "scored.csv, row 48, answer: nothing published, “",
        " trails ",
        "models.R is another script",
    ):
        assert line in listed
    raw(altered, other_answer)
    head, first, *rows = contents[RATINGS].decode().splitlines(True)
    for twice in (f"answer,{head}5,{first}", f"{head}{first.rstrip()},5\n"):
        altered[RATINGS] = (twice + "".join(f"5,{row}" for row in rows)).encode()
        listed = "\n".join(reproduce(packed(tmp_path / "set.zip", altered)).different)
        assert "ratings_data.csv has two columns of one name, or rows of other lengths" in listed
    altered[publication.REPORT] = b"<p>Ours is best, p = 0.001.</p>"
    listed = "\n".join(reproduce(packed(tmp_path / "set.zip", altered)).different)
    assert "ratings_data.csv, row" in listed and "here" in listed and "0.001" in listed


@pytest.mark.parametrize(
    "more", ["<div>{}</div>", "{}", "<pre>{}</pre>", "<dl><dt>{}</dt></dl>", "<p>{}</p>"]
)
def test_nothing_is_added_to_a_report(contents: dict[str, bytes], more: str) -> None:
    report = contents[publication.REPORT]
    for place in (b"</main>", b"<h2", b"<p>"):
        added = report.replace(place, more.format("Ours leads by 99 %.").encode() + place, 1)
        assert added != report
        numbers = other_numbers(added, report)
        assert "Ours leads by 99 %." in "".join(numbers), place


def test_drawings_styles_and_other_files_are_looked_at(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    report = contents[publication.REPORT]
    for one, other, sentence in (
        (b"<main", b"<main hidden", "other elements or styles"),
        (b"</style>", b".note {display: none}</style>", "other elements or styles"),
        (b"</main>", b"<script>1</script></main>", "other elements or styles"),
        (b"Mean answer", b"Mean answer", ""),
    ):
        altered = {**contents, publication.REPORT: report.replace(one, other, 1)}
        second = reproduce(packed(tmp_path / "set.zip", altered | {"data/more.csv": b"a,b"}))
        assert sentence in "".join(second.different) and bool(second.different) == bool(sentence)
        assert second.others == ("data/more.csv",)
    assert "not of Earshot's making, not looked at: 1" in "\n".join(second.lines())
    drawing = re.sub(rb"(<text[^>]*>)[^<]*\d[^<]*(</text>)", rb"\g<1>99 %\2", report, count=1)
    assert drawing != report and "99 %" in "".join(other_numbers(drawing, report))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("</svg>", "<style>table{display:none}</style></svg>"),
        ("</svg>", "<script>document.title='x'</script></svg>"),
        ("<svg ", '<svg style="position:fixed;inset:0" '),
        ("<svg ", '<svg onload="alert(1)" '),
        ("</svg>", '<feImage href="data:image/png;base64,xx"/></svg>'),
        ("</svg>", '<use href="https://example.org/#x"/></svg>'),
        ("</svg>", "<foreignObject><b></b></foreignObject></svg>"),
        ("</svg>", "<title>Ours wins</title></svg>"),
        ('aria-label="', 'aria-label="Nothing is better. '),
        ("<text ", '<text visibility="hidden" '),
        ("</style>", "td{visibility/**/:hidden}</style>"),
        ("</style>", r"td{d\69splay:none}</style>"),
        ("</style>", "td{color:transparent}</style>"),
        ("</style>", "@import 'https://example.org/x.css';</style>"),
        ("<main", "<main hidden"),
        ("</main>", "<!-- <p> --></main>"),
        ("<meta", '<meta http-equiv="refresh" content="0"><meta'),
    ],
)
@pytest.mark.parametrize("version", [release(), "0.1.0"])
def test_what_hides_or_runs_is_named_whatever_the_version(
    one: str, other: str, version: str, contents: dict[str, bytes]
) -> None:
    """A version is what the zip says of itself: what it turns off must be loud."""
    made_by = publication.read_circumstances(contents[publication.CIRCUMSTANCES])
    report = contents[publication.REPORT].decode()
    assert one in report
    doctored = {**contents, publication.REPORT: report.replace(one, other, 1).encode()}
    second = reproduction._compare(
        make_test(), replace(made_by, earshot=version), doctored, contents
    )
    assert second.different or (second.worded and version != release())
    assert ("ATTENTION" in "\n".join(second.lines())) == (version != release())


def test_script_is_compared_whatever_the_version(contents: dict[str, bytes]) -> None:
    made_by = publication.read_circumstances(contents[publication.CIRCUMSTANCES])
    doctored = {**contents, publication.MODELS: b'system("id")'}
    old = replace(made_by, earshot="0.1.0")
    second = reproduction._compare(make_test(), old, doctored, contents)
    assert "do not run it" in "".join(second.different)


def test_zip_of_very_many_entries_is_not_listed(
    contents: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "set.zip", contents | {f"data/{n}.csv": b"" for n in range(99)})
    monkeypatch.setattr(folder, "MAX_LIST_BYTES", 4000)
    with pytest.raises(InputError, match="too many files in this zip"):
        reproduce(path)


def test_titles_in_a_report_do_nothing_to_a_terminal(contents: dict[str, bytes]) -> None:
    report = contents[publication.REPORT]
    bad = b"\x1b[2J\xc2\x9b" + b"long " * 999
    row = b"<tr><td>a</td><td>0.01</td></tr></table>"
    for more in (
        b"<h2>" + bad + b"</h2><p>p = 0.01</p>",
        b"<table><caption>" + bad + b"</caption>" + row,
        b"<table>" + row.replace(b"a", bad, 1),
    ):
        numbers = other_numbers(report + more, report)
        assert numbers and all(line.isprintable() and len(line) < 1000 for line in numbers)


def other_numbers(before: bytes, after: bytes) -> list[str]:
    """List where the numbers of two reports are not the same."""
    was, now = reproduction._Report(before), reproduction._Report(after)
    return reproduction._compare_texts(was.texts, now.texts)[1]


def circumstances(contents: dict[str, bytes], **values: object) -> None:
    before = json.loads(contents[publication.CIRCUMSTANCES])
    contents[publication.CIRCUMSTANCES] = json.dumps(before | values).encode()


def item(key: str, value: object) -> Change:
    """Write a value into a rater's first item."""
    return lambda files: raw(
        files, lambda lines: lines[1]["rater"]["items"][0].update({key: value})
    )


def of_test(key: str, value: object) -> Change:
    return lambda files: raw(files, lambda lines: lines[0]["test"].update({key: value}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda files: files.pop(RAW), "one file data/raw/NAME.jsonl"),
        (lambda files: files.pop(publication.CIRCUMSTANCES), "Export it anew"),
        (lambda files: files.pop(dataset.DESCRIPTION), "no dataset_description.json"),
        (lambda files: circumstances(files, format=2, earshot="7.0"), "of Earshot 7.0"),
        (lambda files: circumstances(files, looks=-1), "not as Earshot writes it"),
        (lambda files: circumstances(files, looks=10**12), "not as Earshot writes it"),
        (lambda files: circumstances(files, earshot="\x1b[2J"), "not as Earshot writes it"),
        (lambda files: files.update({publication.REPORT: b"<![foo[ <td>"}), "no data set of"),
        (lambda files: circumstances(files, opened="many"), "not as Earshot writes it"),
        (lambda files: circumstances(files, sounds=None), "not as Earshot writes it"),
        (lambda files: circumstances(files, mood="good"), "not as Earshot writes it"),
        (lambda files: files.update({RAW: b"{" * 100_000}), "not as Earshot writes them"),
        (lambda files: files.update({RAW: b"[" * 100_000}), "not as Earshot writes them"),
        (lambda files: files.update({RAW: b""}), "not as Earshot writes them"),
        (lambda files: files.update({RAW: b"\xff\xfe"}), "not as Earshot writes them"),
        (of_test("design", "sniffing"), "design “sniffing”, which Earshot"),
        (of_test("design", ["acr"]), "not as Earshot writes them"),
        (of_test("smell", "of roses"), "“smell”, which Earshot"),
        (of_test("name", "../../etc"), "none that Earshot would open"),
        (of_test("trials", []), "none that Earshot would open"),
        (of_test("staircase", {"levels": {"y0": 3}}), "none that Earshot would open"),
        (of_test("staircase", {"levels": {}}), "none that Earshot would open"),
        (of_test("staircase", [3]), "not as Earshot writes them"),
        (of_test("words", ["good"]), "not as Earshot writes them"),
        (of_test("rules", {"failed_checks": "all"}), "not as Earshot writes them"),
        (
            lambda files: raw(
                files,
                lambda lines: lines[0]["test"]["trials"][0]["sounds"].update(
                    {"y0": "../../../etc/passwd"}
                ),
            ),
            "outside its folder",
        ),
        (item("answer", 17), "is none. Send one of"),
        (item("answer", True), "is none. Send one of"),
        (item("plays", [1, 2]), "is none. Send how often"),
        (item("trial", 99), "none of the test"),
        (item("trial", -2), "none of the test"),
        (item("shown", ["y9"]), "none of the test"),
        (item("milliseconds", None), "has no time"),
        (item("milliseconds", 10**30), "not as Earshot writes them"),
        (item("pulse", 80), "“pulse”, which Earshot"),
        (
            lambda files: raw(files, lambda lines: lines.append(lines[1])),
            "not as Earshot writes them",
        ),
    ],
)
def test_what_is_no_data_set_of_ours_is_refused(
    change: Change, sentence: str, contents: dict[str, bytes], tmp_path: Path
) -> None:
    altered = dict(contents)
    change(altered)
    with pytest.raises(InputError, match=sentence):
        reproduce(packed(tmp_path / "set.zip", altered))


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """Make the files of a test on a staircase, and of one with a scale, which are reproduced."""
    sets = []
    for test in (stepped(), make_test("ab", scales=(CLEAR,))):
        simulate(test, store := Store(MEMORY), 2, 0)
        sets.append(dataset.files(test, store))
        path = packed(tmp_path_factory.mktemp("sets") / "set.zip", sets[-1])
        assert not reproduce(path).different
    return sets


@pytest.mark.parametrize(
    "changes",
    [
        {"staircase": {"unit": "x" * 10**6}},
        {"staircase": {"unit": "x" * 21}},
        {"staircase": {"down": 5}},
        {"staircase": {"levels": {"y0": 1, "y1": 2, "y2": float("inf")}}},
        {"scales": {"significant": "{one:>99999999} is preferred."}},
        {"scales": {"significant": "{one} is worse than {other}."}},
        {"scales": {"aim": "{difference:>99999999}"}},
        {"scales": {"differences": [1e-9] * 10**5}},
        {"scales": {"bounds": [0, 10**9]}},
        {"scales": {"name": "../etc"}},
        {"trials_per_rater": 10**9},
        {"question": "x" * 10**6},
        {"faults": ["x" * 61]},
        {"sentences": {"s0": "x" * 10**6}},
    ],
)
def test_tests_beyond_the_limits_of_their_files_are_refused(
    changes: dict[str, Any],
    limited: list[dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the reader of a test's YAML would not take is not computed with."""
    files = dict(limited[0 if "staircase" in changes else 1])

    def change(lines: list[Any]) -> None:
        described = lines[0]["test"]
        for name, value in changes.items():
            if name == "scales":
                described[name][0].update(value)
            else:
                described[name] = described[name] | value if name == "staircase" else value

    raw(files, change)
    monkeypatch.setattr(dataset, "files", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(InputError, match="Earshot would open|are longer than|does not know"):
        reproduce(packed(tmp_path / "set.zip", files))


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("study/data/link.csv")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("../evil.csv", "outside its own folder"),
        ("/etc/evil.csv", "outside its own folder"),
        ("study/../../evil.csv", "outside its own folder"),
        ("study\\..\\evil.csv", "outside its own folder"),
        ("C:/evil.csv", "outside its own folder"),
        (".", "outside its own folder"),
        (link(), "has a link"),
        ("study/README.md", "two files of one name"),
        ("other/dataset_description.json", "it has 2 dataset_description.json"),
    ],
)
def test_zips_that_are_made_to_do_harm_are_refused(
    entry: str | zipfile.ZipInfo, sentence: str, contents: dict[str, bytes], tmp_path: Path
) -> None:
    path = packed(tmp_path / "set.zip", contents)
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name is there twice
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match=sentence):
        reproduce(path)


def test_bombs_and_damaged_zips_are_refused(
    contents: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "set.zip", contents)
    whole = path.read_bytes()
    at = whole.index(contents[RAW][:50])
    path.write_bytes(whole[:at] + b"X" + whole[at + 1 :])
    with pytest.raises(InputError, match="damaged"):
        reproduce(path)
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr(dataset.DESCRIPTION, contents[dataset.DESCRIPTION])
        other = path.read_bytes()
        for at in range(30, 200):
            path.write_bytes(other[:at] + bytes([other[at] ^ 0x55]) + other[at + 1 :])
            with pytest.raises(InputError):
                reproduce(path)
    path.write_bytes(whole[:5000])
    with pytest.raises(InputError, match="no zip"):
        reproduce(path)
    monkeypatch.setattr(dataset_zip, "MAX_ALL_BYTES", 900_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("study/zeros", bytes(10**6))
    with pytest.raises(InputError, match="unpacks to more than 1,000 files or"):
        reproduce(path)
    monkeypatch.undo()
    packed(path, contents)
    monkeypatch.setattr(dataset_zip, "MAX_FILE_BYTES", 1000)  # whatever the head says
    with pytest.raises(InputError, match="unpacks to more"):
        reproduce(path)


def test_another_version_may_use_other_words_and_no_other_numbers(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    altered = dict(contents)
    circumstances(altered, earshot="0.8.0")
    report = contents[publication.REPORT].replace(b" leads ", b" is ahead of ")
    altered[publication.REPORT] = report.replace(b"Earshot 0.9.0", b"Earshot 0.8.0")
    second = reproduce(packed(tmp_path / "set.zip", altered))
    assert second.maker == "0.8.0" and second.worded and not second.different
    assert "may say the contrary" in "\n".join(second.lines())
    for was, now in (("[−0", "[0"), (", +", ", −")):
        text = contents[publication.REPORT].decode()
        assert was in text
        altered[publication.REPORT] = text.replace(was, now).encode()
        assert reproduce(packed(tmp_path / "set.zip", altered)).different, was


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_r_finds_the_same_by_other_models(tmp_path: Path) -> None:
    """Means are the same where everybody has rated everything; intervals are of another kind, and
    about as wide."""
    for design in ("acr", "ccr"):
        test, store = make_test(design, stimuli=8), Store(MEMORY)
        simulate(test, store, 12, 1)
        root = dataset.write(test, store, tmp_path / design)
        script = subprocess.run(
            ["Rscript", publication.MODELS], cwd=root, capture_output=True, text=True
        )
        if "install.packages" in script.stderr:
            pytest.skip("lme4 and ordinal are not installed")
        assert script.returncode == 0, script.stderr
        theirs = pd.read_csv(root / "analysis/models.csv", keep_default_na=False)
        assert design != "acr" or "clmm" in {*theirs["model"]}, "the ordinal model too"
        included = analyse(test, store.ratings(test)).included
        lmer = theirs[theirs["model"] == "lmer"].set_index(["system", "other"])
        for row in included.pairs.to_dict("records"):
            key, sign = (row["system"], row["other"]), 1
            if key not in lmer.index:
                key, sign = key[::-1], -1
            r = lmer.loc[key]
            assert sign * r["value"] == pytest.approx(row["value"], abs=0.02)
            assert 0.5 < (r["high"] - r["low"]) / (row["high"] - row["low"]) < 1.5


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
@pytest.mark.parametrize(
    ("test", "sentence"),
    [
        (make_test("adjustment"), "No clmm of systems on adjustment: "),
        (make_test("ab", scales=(CLEAR,)), "No lmer of y0 and y1 on clear: "),
        (stepped(), "There is no model of a staircase here"),
    ],
)
def test_r_says_what_has_no_model_and_goes_on(test: Test, sentence: str, tmp_path: Path) -> None:
    store = Store(MEMORY)
    simulate(test, store, 1, 0)
    root = dataset.write(test, store, tmp_path / "set")
    script = subprocess.run(
        ["Rscript", publication.MODELS], cwd=root, capture_output=True, text=True
    )
    if "install.packages" in script.stderr:
        pytest.skip("lme4 and ordinal are not installed")
    assert script.returncode == 0 and sentence in script.stdout, script.stderr
    assert "scale" in (root / "analysis/models.csv").read_text().splitlines()[0]
    assert test.staircase is None or len(pd.read_csv(root / "analysis/models.csv")) == 0
