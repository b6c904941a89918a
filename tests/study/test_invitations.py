"""Tests that only invited raters can take."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.study import __main__, rater_links
from earshot.study.web.server import app, library

KEY = "a key that nobody knows"


def test_is_invited_knows_only_its_links() -> None:
    ours = [rater_links.invitation_token(KEY, number) for number in (1, 2, 10_000)]
    assert len({*ours}) == 3 and all(rater_links.is_invited(KEY, each) for each in ours)
    _, _, signature = ours[0].partition("-")
    for wrong in (
        None,
        "",
        "1",
        f"2-{signature}",
        f"01-{signature}",
        f"-{signature}",
        ours[0][:-1],
    ):
        assert not rater_links.is_invited(KEY, wrong)
    assert not rater_links.is_invited("another key", ours[0])
    assert not rater_links.is_invited(KEY, f"²-{signature}é")


def test_invited_test_admits_each_link_once(tmp_path: Path) -> None:
    """It lets in nobody else."""
    write_test(tmp_path / "ab", "ab", 0.1, invited=True)
    tests = library(tmp_path, min_time=0)
    opened = tests.open("ab")
    mine, yours = (rater_links.invitation_token(opened.key, number) for number in (1, 2))
    with TestClient(app(tests)) as client:
        for uninvited in (None, "a-number-of-their-own"):
            refused = client.post("/listen/ab/consent", json={"rater": uninvited})
            assert refused.status_code == 403 and "was sent to you" in refused.json()["detail"]
        assert client.get("/listen/ab/session").status_code == 403
        rater = Rater(client, "ab", mine)
        rater.answer(rater.session()["trials"][0], "a").raise_for_status()
        again = Rater(client, "ab", mine)  # the same link is the same rater
        assert again.session()["trials"] == rater.session()["trials"]
        Rater(client, "ab", yours)
        assert tests.store.raters("ab") == 2
        rater.post("withdraw", rater=mine)
        assert client.get("/listen/ab/session", params={"rater": mine}).json()["withdrawn"]
        assert tests.store.raters("ab") == 2


def test_invite_prints_the_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_test(tmp_path / "ab", "ab", 0.1, invited=True)
    key = library(tmp_path).open("ab").key
    command = ["study", "invite", str(folder), "--raters", "3", "--address", "https://here/"]
    monkeypatch.setattr("sys.argv", command)
    __main__.main()
    links = capsys.readouterr().out.split()
    assert links[2] == f"https://here/listen/ab?rater={rater_links.invitation_token(key, 3)}"
    write_test(tmp_path / "ab", "ab", 0.1)
    with pytest.raises(SystemExit, match="invited: true"):
        __main__.main()
