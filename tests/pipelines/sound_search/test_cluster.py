"""Indexing on a Ray cluster of two nodes, of which one is killed."""

import sys
from pathlib import Path

import pytest

from benchmarks.index_scale.cluster import compared
from media.errors import InputError
from pipelines.sound_search.large.cluster import Workers
from tests.fake_sound_encoder import FakeEncoder

pytestmark = pytest.mark.slow


def test_index_without_ray_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="pip install -r requirements-scale.txt"):
        Workers("auto", FakeEncoder)


def test_index_of_a_cluster_that_loses_a_node_is_that_of_a_plain_scan(tmp_path: Path) -> None:
    """Row for row and byte for byte, with what cannot be used named as well."""
    pytest.importorskip("ray", reason="needs requirements-scale.txt")
    pytest.importorskip("pyarrow", reason="needs requirements-scale.txt")
    table = compared(tmp_path, clips=64, delay=0.1)
    again = int(table.splitlines()[-1].split("|")[5])
    assert again <= 2 * 16, "a dead node costs what it had begun"
