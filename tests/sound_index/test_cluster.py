"""Indexing on a Ray cluster of two nodes, of which one is killed, and of a bucket."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.index_scale.cluster import compared, two_nodes
from benchmarks.support.fake_sound_encoder import RATE, WORDS, FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.sound_index.address import UnreachableError
from earshot.sound_index.cluster import Workers
from earshot.sound_index.files import folder_of
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.scan import scan
from earshot.systems.sound_search import SoundSearch

pytestmark = pytest.mark.slow


def test_missing_ray_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="pip install -r requirements-scale.txt"):
        Workers("auto", FakeEncoder)


def test_cluster_losing_node_gives_same_index(tmp_path: Path) -> None:
    """It is that of a plain scan byte for byte, with what cannot be used named as well."""
    pytest.importorskip("ray", reason="needs requirements-scale.txt")
    pytest.importorskip("pyarrow", reason="needs requirements-scale.txt")
    table = compared(tmp_path, clips=64, delay=0.1)
    again = int(table.splitlines()[-1].split("|")[5])
    assert again <= 2 * 16, "a dead node costs what it had begun"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server that speaks the protocol of S3."""
    pytest.importorskip("pyarrow", reason="needs requirements-scale.txt")
    moto = pytest.importorskip("moto.server", reason="needs requirements-scale.txt")
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "made-up")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def uri(server: Any) -> str:
    """Of a part of a bucket on the server."""
    host, port = server.get_host_and_port()
    return f"s3://library/tones?endpoint_override={host}%3A{port}&scheme=http"


@pytest.fixture
def tones(server: Any, tmp_path: Path) -> Path:
    """The folder whose files the bucket holds."""
    boto3 = pytest.importorskip("boto3", reason="needs requirements-scale.txt")
    tones = tmp_path / "tones"
    for number in range(40):
        name = f"{number // 9}/{number:02} + à #?%.wav"
        write_tone(tones / name, WORDS[number % 5], seconds=1 + number / 40)
    (tones / "broken.wav").write_text("no sound")
    (tones / "captions.csv").write_text("file,kind,caption\n03 + à #?%.wav,hum,A high tone.\n")
    address = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
    client.create_bucket(Bucket="library")
    for path in filter(Path.is_file, tones.rglob("*")):
        client.upload_file(path, "library", path.relative_to(tmp_path).as_posix())
    return tones


def contents(out: Path, root: str) -> dict[str, Any]:
    """Files of an index, without the root of the sounds' paths."""
    files: dict[str, Any] = {path.name: path.read_bytes() for path in out.iterdir()}
    files.pop("hashes.sqlite", None)
    rows = json.loads(files.pop("index.json"))
    for sound in rows["sounds"]:
        assert sound["path"].startswith(root)
        sound["path"] = sound["path"].removeprefix(root)
    return {**files, "index.json": rows}


def test_bucket_index_equals_that_of_folder(
    server: Any, uri: str, tones: Path, tmp_path: Path
) -> None:
    """A cluster and this process alone make it; each file is embedded once, and plays."""
    pytest.importorskip("ray", reason="needs requirements-scale.txt")
    encoder, folder = FakeEncoder(), folder_of(uri)
    plain = scan(tones, tmp_path / "plain", encoder)
    assert scan(folder, tmp_path / "alone", encoder) == plain and plain.added == 40
    with two_nodes() as cluster:
        workers, idle = Workers(cluster.address, FakeEncoder), FakeEncoder()
        assert scan(folder, tmp_path / "spread", idle, workers=workers) == plain
        assert scan(folder, tmp_path / "spread", idle, workers=workers).unchanged == 40
        expected = contents(tmp_path / "plain", "tones/")
        for name in ("alone", "spread"):
            assert contents(tmp_path / name, f"{folder}/") == expected
        assert idle.calls == 0, "the workers embedded all"
        index = SoundIndex.open(tmp_path / "spread", encoder)
        best = SoundSearch(encoder)(index, "high").hits[0].sound
        assert best.caption in ("", "A high tone.")
        there = load(tones / best.path.relative_to(folder), RATE).waveform
        assert load(best.file, RATE).waveform.tolist() == there.tolist()
        server.stop()
        with pytest.raises(UnreachableError, match="s3://library.*endpoint_override"):
            scan(folder, tmp_path / "spread", idle, workers=workers)
        with pytest.raises(UnreachableError, match="s3://library cannot be read"):
            workers(SoundIndex.empty(idle), [best.path], tmp_path / "none", {})
    assert len(SoundIndex.open(tmp_path / "spread", encoder).sounds) == 40
