"""Videos on the rater's page as the server gives them, and what it takes of how they were seen."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater
from earshot.study.analysis import analyse
from earshot.study.analysis.report import paper
from earshot.study.library import TestLibrary
from earshot.study.storage import dataset
from earshot.study.storage.export import lines
from earshot.study.web.server import app, library
from tests.support.videos import write_video_test

FIGURES = {"frames": 20, "dropped": 3, "drift": 17}


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> TestLibrary:
    folder = tmp_path_factory.mktemp("tests")
    write_video_test(folder / "shared", "ab", shared=True)
    write_video_test(folder / "apart", "dcr", shared=False)
    return library(folder, min_time=0)


@pytest.fixture
def client(tests: TestLibrary) -> Iterator[TestClient]:
    with TestClient(app(tests)) as client:
        yield client


@pytest.mark.parametrize(("name", "number"), [("shared", 1), ("apart", 2)])
def test_pictures_come_without_a_name(
    client: TestClient, tests: TestLibrary, name: str, number: int
) -> None:
    """One for all sounds that share it, else one for each, the reference's last."""
    rater, opened = Rater(client, name), tests.open(name)
    session = rater.session()
    assert len(session["videos"]) == 1 and session["videos"][0].startswith(
        'video/mp4; codecs="avc1'
    )
    items = tests.store.resume(opened.test, rater.token)
    assert items
    for trial, item in zip(session["trials"], items.items, strict=True):
        assert (trial["sounds"], trial["pictures"]) == (2, number)
        paths = [copy.picture_path for copy in opened.sounds(item)]
        for place in range(number):
            picture = rater.get(f"picture/{trial['order']}/{place}")
            path = paths[place]
            assert path and picture.content == path.read_bytes()
            assert picture.headers["content-type"] == "video/mp4"
            assert not {"etag", "last-modified", "content-disposition"} & {*picture.headers}
        assert rater.get(f"picture/{trial['order']}/{number}").status_code == 404
    assert not any(each in json.dumps(session) for each in ("fine", "rough", "bird", ".mp4"))


def test_figures_of_pictures_are_exported(client: TestClient, tests: TestLibrary) -> None:
    """The dropped frames of each trial are in the tables, and none where nothing was measured."""
    rater, test = Rater(client, "shared"), tests.open("shared").test
    first, second = rater.session()["trials"]
    wrong = rater.answer(first, "a", video=FIGURES | {"dropped": -1})
    assert wrong.status_code == 422 and "video.dropped" in wrong.json()["detail"]
    assert rater.answer(first, "a", video=FIGURES).status_code == 200
    assert rater.answer(second, "b").status_code == 200
    table = tests.store.ratings(test).sort_values("order")
    assert list(table["dropped_frames"])[0] == 3 and pd.isna(list(table["dropped_frames"])[1])
    raters = [line["rater"]["items"] for line in lines(test, tests.store) if "rater" in line]
    answered = next(items for items in raters if items[0]["answer"])
    assert answered[0]["video"] == FIGURES and "video" not in answered[1]
    published = dataset.ratings(test, tests.store.ratings(test))
    assert sorted(published["drift"].dropna()) == [17]
    assert list(published["frames"].dropna()) == [20]
    facts = paper.facts_of_test(analyse(test, tests.store.ratings(test))).rows
    assert any("dropped 3 of 20 pictures" in text and "17 ms" in text for _, text in facts)
    assert ["Sounds", "4 files, MP4"] in facts


def test_picture_of_deleted_test_is_no_error(
    client: TestClient, tests: TestLibrary, tmp_path: Path
) -> None:
    rater = Rater(client, "apart")
    opened = tests.open("apart")
    item = tests.store.item(opened.test, rater.token, 0)
    assert item
    path = opened.pictures(item)[0]
    away = path.rename(tmp_path / "away.mp4")
    assert rater.get("picture/0/0").status_code == 404
    missing = rater.post("missing", rater=rater.token, order=0, place=0)
    assert missing.status_code == 200
    away.rename(path)
