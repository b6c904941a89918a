"""Ratings of webMUSHRA and of the P.808 toolkit."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.text import table as limits
from earshot.study.analysis import analyse
from earshot.study.imports.toolkits import read_ratings

HEAD = "session_test_id,email,trial_id,rating_stimulus,rating_score,rating_time,rating_comment"
VOTES = "HITId,workerid,file,vote,question_type"
# A table of all of them would have 16 million places, nearly all empty.
MANY_RATERS = "\n".join(
    [VOTES, *(f"1,w{i},s{i % 4}/t{i // 4}.wav,3,MOS" for i in range(4000))]
).encode()


def written(path: Path, head: str, *rows: Sequence[object]) -> Path:
    file = io.StringIO()
    csv.writer(file).writerows([head.split(","), *rows])
    path.write_text(file.getvalue(), encoding="utf-8")
    return path


def mushra(path: Path, raters: int = 6) -> Path:
    """As service/write.php of webMUSHRA writes it."""
    rng, scores = np.random.default_rng(0), {"reference": 98, "C1": 70, "C2": 50, "anchor35": 20}
    rows = [
        [
            "vocoders",
            f"{rater}@home.example",
            item,
            name,
            min(100, score + rng.integers(5)),
            41234,
            "",
        ]
        for rater in range(raters)
        for item in ("speech", "music")
        for name, score in scores.items()
    ]
    return written(path, HEAD, *rows)


def test_mushra_of_webmushra_is_analysed(tmp_path: Path) -> None:
    """It has its anchor and its reference, and no address of a rater."""
    ratings = read_ratings(mushra(tmp_path / "mushra.csv"))
    assert ratings.test.design.name == "mushra" and ratings.test.systems == ("C1", "C2")
    assert ratings.test.conditions == ("reference", "C1", "C2", "anchor-3.5k")
    results = analyse(ratings.test, ratings.table)
    assert results.included.raters == 6 and results.exclusions == ()
    best = results.included.systems.set_index("system")["value"]
    assert best["C1"] == pytest.approx(72, abs=2) and best["anchor-3.5k"] < 30
    assert "home.example" not in ratings.table.to_csv()


def test_anonymous_participants_are_told_apart(tmp_path: Path) -> None:
    """Where all gave the same name, a sound that comes again begins the next participant."""
    rows = [["t", "", "item", name, score, 10, ""] for score in (50, 60) for name in ("C1", "C2")]
    ratings = read_ratings(written(tmp_path / "mushra.csv", HEAD, *rows))
    assert ratings.table.groupby("rater")["answer"].first().tolist() == [50, 60]


def test_several_tests_in_one_table_are_refused(tmp_path: Path) -> None:
    """webMUSHRA calls trials of both trial1, and may call their raters alike."""
    rows = [[test, "", "trial1", name, 50, 10, ""] for test in "ab" for name in ("C1", "C2")]
    with pytest.raises(InputError, match=r"several tests \(session_test_id: a, b\)"):
        read_ratings(written(tmp_path / "mushra.csv", HEAD, *rows))


def test_paired_comparison_of_webmushra_is_abx(tmp_path: Path) -> None:
    head = "session_test_id,email,trial_id,choice_reference,choice_non_reference,choice_answer"
    rows = [
        ["t", rater, item, "reference", "codec", answer, 900, ""]
        for rater in "abc"
        for item, answer in (("1", "correct"), ("2", "incorrect"), ("3", "undecided"))
    ]
    ratings = read_ratings(
        written(tmp_path / "pc.csv", f"{head},choice_time,choice_comment", *rows)
    )
    assert ratings.test.design.name == "abx" and ratings.table["answer"].tolist() == [1, 0, 0.5] * 3
    assert analyse(ratings.test, ratings.table).included.pairs["right"].tolist() == [4]  # of 4.5
    assert ratings.notes == ("3 of 9 answers were “undecided”: each counts as half right.",)


def test_likert_of_webmushra_is_acr(tmp_path: Path) -> None:
    """It is a mean opinion score, whose numbers have blanks around them."""
    head = "session_test_id,email,trial_id,stimuli_rating,stimuli,rating_time"
    rows = [["t", rater, "item", " 4 ", "C1", 10] for rater in "ab"]
    ratings = read_ratings(written(tmp_path / "lss.csv", head, *rows))
    assert ratings.test.design.name == "acr" and ratings.table["answer"].tolist() == [4, 4]


def test_answers_of_p808_exclude_by_traps(tmp_path: Path) -> None:
    """Traps are no ratings, and who falls into them is left out."""
    head = (
        "WorkerId,AssignmentStatus,Input.TP,Input.TP_ANS,Answer.q0_url,Answer.q0,Answer.q1_url,"
        "Answer.q1,Answer.q2_url,Answer.q2"
    )
    base, trap = "https://clips.example/set", "https://clips.example/traps/t1.wav"
    rows = [
        [f"W{k}", status, trap, 2, f"{base}/noisy/s{item}.wav", 2, trap, 2 if k else 5]
        + [f"{base}/clean/s{item}.wav", 4]
        for k in range(4)
        for item in range(3)
        for status in ("Approved",)
    ]
    rows.append(["W9", "Rejected", trap, 2, f"{base}/clean/s0.wav", 1, trap, 2, "", ""])
    ratings = read_ratings(written(tmp_path / "Batch_1.csv", head, *rows))
    assert (
        ratings.test.systems == ("noisy", "clean") and len(ratings.test.of_kind("attention")) == 1
    )
    results = analyse(ratings.test, ratings.table)
    assert [who.rater for who in results.exclusions] == ["rater-1"]
    means = results.included.systems.set_index("system")["value"]
    assert means.to_dict() == {"clean": 4, "noisy": 2} and results.started == 4


def test_votes_of_p808_follow_clip_names(tmp_path: Path) -> None:
    """A pattern says which part of a clip's name is its system."""
    rows = [[1, who, f"http://x/D1_c0{c}_s2.wav", 3 + c, "MOS"] for who in "ab" for c in (0, 1)]
    file = written(tmp_path / "votes.csv", VOTES, *rows)
    ratings = read_ratings(file, "D1_{system}_{stimulus}.wav")
    assert ratings.test.systems == ("c00", "c01") and {*ratings.table["stimulus"]} == {"s2"}
    with pytest.raises(InputError, match="is not called like nothing_{system}_{stimulus}"):
        read_ratings(file, "nothing_{system}_{stimulus}")
    with pytest.raises(InputError, match="Write what a clip is called"):
        read_ratings(file, "{system}.wav")


def compared(path: Path, worse: int, same: int) -> Path:
    """Answers of DCR or CCR: a reference against itself, and a system that is worse."""
    head = (
        "WorkerId,Input.TP,Answer.Q1_URL,Answer.q1,Answer.audio_n_finish_q_a1,Answer.Q2_URL,"
        "Answer.q2,Answer.audio_n_finish_q_a2"
    )
    rows = [
        [who, "x/ref/t.wav", "x/codec/s1.wav", worse, 1, "x/ref/t.wav", same, 1] for who in "abc"
    ]
    return written(path, head, *rows)


def test_comparisons_of_p808_have_reference(tmp_path: Path) -> None:
    """Each is of a system with the reference, and who hears a difference of a sound from itself is
    left out."""
    ratings = read_ratings(compared(tmp_path / "ccr.csv", -2, 0))
    assert ratings.test.design.name == "ccr" and ratings.test.conditions == ("codec", "reference")
    results = analyse(ratings.test, ratings.table)
    assert results.exclusions == ()
    pair = results.included.pairs.iloc[0]
    assert (pair["system"], pair["other"], pair["value"]) == ("reference", "codec", 2)
    attentive = analyse(ratings.test, read_ratings(compared(tmp_path / "no.csv", -2, 2)).table)
    assert len(attentive.exclusions) == 3, "who hears a difference where there is none"


def test_degradations_of_p808_are_told_apart(tmp_path: Path) -> None:
    """Their scale tells them from comparisons."""
    ratings = read_ratings(compared(tmp_path / "dcr.csv", 2, 5))
    assert ratings.test.design.name == "dcr" and ratings.test.systems == ("codec",)
    with pytest.raises(InputError, match="here are both"):
        read_ratings(compared(tmp_path / "both.csv", -2, 5))


@pytest.mark.parametrize(("scale", "answer"), [("ovrl", 3), ("sig", 4), ("bak", 2)])
def test_scale_of_p835_is_chosen(tmp_path: Path, scale: str, answer: int) -> None:
    """Traps are answered on the overall scale."""
    head = "WorkerId,Input.TP,Input.TP_ANS"
    for k in (1, 2):
        head += f",Answer.Q{k}_URL,Answer.q{k}_sig,Answer.q{k}_bak,Answer.q{k}_ovrl"
    rows = [
        [who, "x/t.wav", 1, "x/codec/s1.wav", 4, 2, 3, "x/t.wav", 5, 5, trap]
        for who, trap in (("a", 1), ("b", 1), ("c", 5))
    ]
    ratings = read_ratings(written(tmp_path / "p835.csv", head, *rows), scale=scale)
    results = analyse(ratings.test, ratings.table)
    assert ratings.test.source == f"the P.808 toolkit (P.835, {scale.upper()})"
    assert [who.rater for who in results.exclusions] == ["rater-3"]
    assert results.included.systems["value"].tolist() == pytest.approx([answer])


def test_question_of_p808_votes_sets_design(tmp_path: Path) -> None:
    kinds = ("MOS_SIG", "MOS_BAK", "MOS_OVRL")
    rows = [[1, "w", "x/codec/s.wav", 2 + k, kind] for k, kind in enumerate(kinds)]
    file = written(tmp_path / "votes.csv", VOTES, *rows)
    assert read_ratings(file, scale="bak").table["answer"].tolist() == [3]
    ccr = read_ratings(written(tmp_path / "c.csv", VOTES, [1, "w", "x/codec/s.wav", -3, "CMOS"]))
    assert ccr.test.design.name == "ccr" and ccr.table["other"].tolist() == ["reference"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a CSV"),
        (b"\x00\x01\x02,\xff\xfe", "not a CSV"),
        (b"\xff\xfea", "not a CSV"),
        (b"a,a\n1,2\n", "not a CSV"),
        (f'{HEAD}\n"t,e,i\n'.encode(), "not a CSV"),
        (b"a,b\n1,2\n", "neither webMUSHRA"),
        (f"{HEAD}\n".encode(), "no ratings"),
        (f"{HEAD}\nt,e,i\n".encode(), "Row 2 has 3 cells"),
        (f"{HEAD}\nt,e,i,C1,101,1,\n".encode(), "rating_score is “101”"),
        (f"{HEAD}\nt,e,i,C1,nan,1,\n".encode(), "rating_score is “nan”"),
        (f"{HEAD}\nt,e,i,C1,1e999,1,\n".encode(), "rating_score is “1e999”"),
        (f"{HEAD}\nt,e,i,,50,1,\n".encode(), "Row 2 names no stimulus"),
        (f"{HEAD}\nt,e,i,{'x' * 300},50,1,\n".encode(), "more than 200 characters"),
        (f"{HEAD}\nt,e,i,C1,50,1,{'x' * 20_000}\n".encode(), "Row 2 has a cell"),
        (b",".join(b"%d" % k for k in range(2000)) + b"\n", "not a CSV"),
        (
            HEAD.encode() + b"".join(b"\nt,e,i,C%d,50,1," % k for k in range(30)),
            "30 systems, and 20 are the most",
        ),
        (MANY_RATERS, "16,000,000 places in its table of raters by sounds, and 10,000,000"),
        (f"{VOTES}\n1,w,a/b.wav,3,ECHO\n".encode(), "those of MOS, DMOS, CMOS"),
        (f"{VOTES}\n1,w,a/b.wav,3,MOS\n1,w,a/b.wav,3,DMOS\n".encode(), "those of one method"),
        (f"{VOTES}\n1,w,a/b.wav,-4,CMOS\n".encode(), "vote is “-4”"),
        (f"{VOTES}\n1,w,{'a/' * 2000}b.wav,3,MOS\n".encode(), "is not called like"),
    ],
)
def test_unreadable_file_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """The error says the reason."""
    file = tmp_path / "hostile.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        read_ratings(file)


def test_file_of_many_cells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before all of them are kept."""
    file = mushra(tmp_path / "mushra.csv")
    monkeypatch.setattr(limits, "MAX_CELLS", 50)
    with pytest.raises(InputError, match="more than 50 cells"):
        read_ratings(file)
    monkeypatch.undo()
    monkeypatch.setattr(limits, "MAX_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 rows"):
        read_ratings(file)
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 100)
    with pytest.raises(InputError, match="MB"):
        read_ratings(file)


def test_hostile_name_is_text(tmp_path: Path) -> None:
    """The page does not run what a system is called."""
    from earshot.study.analysis.report.page import page

    names = ("=HYPERLINK(1)", "<script>alert(1)</script>")
    rows = [["t", who, "i", name, 50 + k, 1, ""] for who in "abc" for k, name in enumerate(names)]
    ratings = read_ratings(written(tmp_path / "mushra.csv", HEAD, *rows))
    html = page(analyse(ratings.test, ratings.table))
    assert "<script" not in html and "collected with webMUSHRA" in html
