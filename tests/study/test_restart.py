"""A Space that restarts: its disk is empty again, and its database is not."""

from pathlib import Path

import gradio as gr
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater
from benchmarks.support.postgres import Postgres
from earshot.study.web.server import app
from earshot.tabs import listening_tests
from earshot.tabs.listening_tests.tab import EXAMPLE, NO_DATABASE, NO_DISK
from earshot.tabs.shared.services import Drafts, Services


@pytest.mark.slow
def test_restart_on_empty_disk_keeps_raters(postgres: Postgres, tmp_path: Path) -> None:
    """Their links and their sessions are as before."""
    database = postgres.fresh("restart")
    before = listening_tests.opened(tmp_path / "before", database)
    key = before.open(EXAMPLE.name).key
    with TestClient(app(before)) as client:
        token = Rater(client, EXAMPLE.name).token
        session = client.get(f"/listen/{EXAMPLE.name}/session", params={"rater": token}).json()

    after = listening_tests.opened(tmp_path / "after", database)
    assert after.open(EXAMPLE.name).key == key
    with TestClient(app(after)) as client:
        assert Rater(client, EXAMPLE.name, token).token == token
        again = client.get(f"/listen/{EXAMPLE.name}/session", params={"rater": token}).json()
    assert again == session
    assert after.store.raters(EXAMPLE.name) == 1


def test_space_without_lasting_disk_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = listening_tests.opened(tmp_path, None)
    assert NO_DISK not in texts(listening_tests.build(Services(Drafts(), tests)))
    monkeypatch.setenv("SPACE_ID", "someone/earshot")
    assert NO_DISK + NO_DATABASE in texts(listening_tests.build(Services(Drafts(), tests)))


def texts(page: gr.Blocks) -> str:
    return " ".join(str(getattr(block, "value", "")) for block in page.blocks.values())
