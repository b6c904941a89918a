"""Tables of ratings as other programs and spreadsheets leave them, each after a public report."""

import csv
import io
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from earshot.core.errors import InputError
from earshot.study.analysis import analyse
from earshot.study.imports.toolkits import read_ratings
from earshot.study.rater_links import is_gap

HEAD = (
    "session_test_id,email,session_uuid,trial_id,rating_stimulus,rating_score,rating_time,"
    "rating_comment"
).split(",")
SCORES = {"reference": 98.5, "C1": 70, "C2": 60, "anchor35": 20}
VOTES = ("workerid", "file", "vote")


def table(raters: int = 4, comment: str = "") -> list[Sequence[object]]:
    """As webMUSHRA writes it, of two trials."""
    head: list[object] = [*HEAD]
    return [head] + [
        ["test", "", f"session-{rater}", f"t{trial}", name, score - rater, 9000, comment]
        for rater in range(raters)
        for trial in range(2)
        for name, score in SCORES.items()
    ]


def text(rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda: text(table()).encode(), id="plain"),
        # Giskard-AI/ai-inspector#15: a spreadsheet where the decimal comma is usual.
        pytest.param(lambda: text(table(), ";").replace("98.5", "98,5").encode(), id="semicolons"),
        pytest.param(lambda: text(table(), "\t").encode(), id="tabs"),
        # ImportPagesCSV PR#9: what spreadsheets write.
        pytest.param(lambda: text(table()).encode("utf-16"), id="UTF-16"),
        pytest.param(lambda: text(table()).encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(lambda: text(table()).encode("utf-8-sig"), id="UTF-8 with a mark"),
        pytest.param(lambda: text(table(comment="schön")).encode("cp1252"), id="Windows-1252"),
        pytest.param(lambda: ("sep=,\r\n" + text(table())).encode(), id="sep="),
        pytest.param(
            lambda: text([[*row, "", ""] for row in table()]).encode(), id="empty columns"
        ),
        pytest.param(
            lambda: text([[*row, *[""] * (k > 0)] for k, row in enumerate(table())]).encode(),
            id="commas at the ends of lines",
        ),
        pytest.param(lambda: text(table()).encode() + b"\x1a", id="^Z"),
        # php/php-src#9009, flyspray/flyspray PR#646: fputcsv's own way to escape a quote.
        pytest.param(
            lambda: (
                text(table(comment="COMMENT"))
                .replace("COMMENT", r'"said \"loud\", twice"')
                .encode()
            ),
            id="backslashes of PHP",
        ),
        # JnLlnd/ObjCSV#10, mldbai/mldb#870: how programs keep Excel from changing a cell.
        pytest.param(
            lambda: "\n".join(",".join(f'="{cell}"' for cell in row) for row in table()).encode(),
            id="formulas of text",
        ),
        # Nothing that was reported: a path in a comment keeps its backslashes a comment.
        pytest.param(lambda: text(table(comment="C:\\new")).encode(), id="a path"),
    ],
)
def test_table_dialects_give_same_means(tmp_path: Path, written: Callable[[], bytes]) -> None:
    file = tmp_path / "mushra.csv"
    file.write_bytes(written())
    ratings = read_ratings(file)
    answers = ratings.table.groupby("system")["answer"]
    means = {system: of_one.mean() for system, of_one in answers}
    assert means == {"reference": 97, "C1": 68.5, "C2": 58.5, "anchor-3.5k": 18.5}
    assert len({*ratings.table["rater"]}) == 4 and ratings.notes == ()


def test_table_of_pymushra_is_read(tmp_path: Path) -> None:
    """nils-werner/pymushra: semicolons, and its own names for the same columns."""
    names = {
        "session_uuid": "questionaire_uuid",
        "trial_id": "wm_id",
        "rating_stimulus": "responses_stimulus",
        "rating_score": "responses_score",
        "rating_time": "responses_time",
    }
    rows = table()
    rows[0] = [names.get(str(name), f"wm_{name}") for name in rows[0]]
    rows.append(["test", "", "session-1", "likert", "", "", "", ""])  # a page of another kind
    file = tmp_path / "pymushra.csv"
    file.write_text(text(rows, ";"))
    ratings = read_ratings(file)
    assert ratings.test.systems == ("C1", "C2") and len({*ratings.table["rater"]}) == 4


@pytest.mark.parametrize("times", [2, 6])
def test_session_stored_twice_is_one_rater(tmp_path: Path, times: int) -> None:
    """JATOS/JATOS#233, episphere/connect#1420: the last page was sent again."""
    rows = table()
    file = tmp_path / "mushra.csv"
    file.write_text(text(rows + rows[1:9] * (times - 1)))
    ratings = read_ratings(file)
    assert len(ratings.table) == 32 and len({*ratings.table["rater"]}) == 4
    assert f"{8 * (times - 1)} others are left out" in ratings.notes[0]
    assert (
        ratings.notes[0] in analyse(ratings.test, ratings.table, notes=ratings.notes).included.notes
    )


@pytest.mark.parametrize("space", [" ", "\xa0", "\u200e", "\u3000"])
def test_space_behind_name_changes_no_system(tmp_path: Path, space: str) -> None:
    """frictionlessdata/frictionless-py#1172, ONSdigital/sdg-indicators#303."""
    rows = [[f"{cell}{space}" if k % 3 else cell for cell in row] for k, row in enumerate(table())]
    file = tmp_path / "mushra.csv"
    file.write_text(text(rows), encoding="utf-8")
    ratings = read_ratings(file)
    assert {*ratings.table["system"]} == {"reference", "C1", "C2", "anchor-3.5k"}


def test_normal_forms_are_one_system(tmp_path: Path) -> None:
    """cryptomator/cryptomator#264: é of macOS was another system than é."""
    composed = text(table()).replace("C1", "Clé")
    half = len(composed) // 2
    mixed = composed[:half] + unicodedata.normalize("NFD", composed[half:])
    file = tmp_path / "mushra.csv"
    file.write_text(mixed, encoding="utf-8")
    assert {*read_ratings(file).table["system"]} == {"reference", "Clé", "C2", "anchor-3.5k"}


def test_ids_shortened_by_spreadsheet_are_named(tmp_path: Path) -> None:
    """bloom-housing/bloom#4458: ten workers were one, without a word."""
    rows = [[*VOTES], *([who, f"a/{k}.wav", 3] for k in range(3) for who in ("W1", "6.1E+23"))]
    file = tmp_path / "votes.csv"
    file.write_text(text(rows))
    with pytest.raises(InputError, match=r"Row 3: workerid is “6.1E\+23”, as a spreadsheet"):
        read_ratings(file)


@pytest.mark.parametrize("nobody", ["", "null", "########", "#REF!", "${e://Field/ID}"])
def test_ids_that_are_nobodys_are_named(tmp_path: Path, nobody: str) -> None:
    """FelixHenninger/lab.js#206: all whose gap was not filled were one rater."""
    file = tmp_path / "mushra.csv"
    rows = [
        [cell if k < 9 or cell != "session-1" else nobody for cell in row]
        for k, row in enumerate(table())
    ]
    file.write_text(text(rows))
    with pytest.raises(InputError, match=r"Row 10: session_uuid is “.*”, which is nobody's"):
        read_ratings(file)


def test_programmers_number_is_no_rating(tmp_path: Path) -> None:
    """instructure/canvas-lms#1394, of Python's own: 1_0 was read as 10."""
    file = tmp_path / "votes.csv"
    file.write_text(text([[*VOTES], ["W1", "a/1.wav", "0_3"]]))
    with pytest.raises(InputError, match="vote is “0_3”, and no number"):
        read_ratings(file)


def test_workers_votes_on_clip_count_once(tmp_path: Path) -> None:
    """A worker's answers were sent in five times: five votes a clip."""
    rows = [[*VOTES], *([who, f"a/{k}.wav", 3] for who in "VVVVVW" for k in range(3))]
    file = tmp_path / "votes.csv"
    file.write_text(text(rows))
    ratings = read_ratings(file)
    assert len(ratings.table) == 6
    assert "12 others are left out (rows 5, 6, 7, 8, 9 …)" in ratings.notes[0]


def test_clip_name_excludes_its_signature(tmp_path: Path) -> None:
    """Azure/azure-cli PR#7822 has such addresses: stimuli no longer paired between systems."""
    base = "https://x.example/set"
    rows: list[list[object]] = [[*VOTES]]
    rows += [
        [who, f"{base}/{system}/s{k}.wav?sv=1&sig={who}{k}{system}%2F", 3]
        for who in "VW"
        for system in "ab"
        for k in range(3)
    ]
    file = tmp_path / "votes.csv"
    file.write_text(text(rows))
    assert {*read_ratings(file).table["stimulus"]} == {"s0", "s1", "s2"}


def test_undecided_answers_are_counted(tmp_path: Path) -> None:
    """webMUSHRA's configs with "undecided": 46 of 80 vanished, and 68 % were right (p = 0.029)."""
    head = "session_test_id,email,trial_id,choice_reference,choice_non_reference,choice_answer"
    answers = ["correct"] * 23 + ["incorrect"] * 11 + ["undecided"] * 46
    rows: list[list[object]] = [[*head.split(","), "choice_time", "choice_comment"]]
    rows += [
        ["t", f"r{k % 8}", f"t{k // 8}", "reference", "codec", answer, 900, ""]
        for k, answer in enumerate(answers)
    ]
    file = tmp_path / "abx.csv"
    file.write_text(text(rows))
    ratings = read_ratings(file)
    pair = analyse(ratings.test, ratings.table).included.pairs.iloc[0]
    assert (pair["ratings"], pair["right"]) == (80, 46)
    assert pair["value"] == pytest.approx(0.575) and pair["p"] > 0.1
    assert "46 of 80" in ratings.notes[0]


def test_systems_without_shared_stimulus_are_named(tmp_path: Path) -> None:
    rows: list[list[object]] = [[*VOTES]]
    rows += [
        [who, f"{system}/{system}{k}.wav", 3 + (k == 1)]
        for who in "VWXYZ"
        for system in "ab"
        for k in range(3)
    ]
    file = tmp_path / "votes.csv"
    file.write_text(text(rows))
    ratings = read_ratings(file)
    notes = " ".join(analyse(ratings.test, ratings.table).included.notes)
    assert "share no stimulus" in notes


@pytest.mark.parametrize(
    ("value", "gap"),
    [
        *[(each, True) for each in ("{{%PID%}}", "[PID]", "*|PID|*", "#PID#", "__PID__", "pid")],
        *[(each, False) for each in ("65f0a1b2c3", "auth0|65f0", "W_1", "")],
    ],
)
def test_gap_of_panel_is_nobodys_number(value: str, gap: bool) -> None:
    """FelixHenninger/lab.js#206: such links, as mailings and surveys write their gaps."""
    assert is_gap(value, "PID") == gap


def test_minus_of_the_north_is_one(tmp_path: Path) -> None:
    """Spreadsheets in Swedish, Finnish and Slovene write U+2212 for a minus."""
    file = tmp_path / "votes.csv"
    rows: list[Sequence[object]] = [(*VOTES, "question_type")]
    rows += [(f"W{k}", f"s{k % 2}/a.wav", "\N{MINUS SIGN}2", "CMOS") for k in range(4)]
    file.write_text(text(rows), encoding="utf-8")
    assert {*read_ratings(file).table["answer"]} == {-2.0}
