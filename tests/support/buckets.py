"""Buckets that are folders, in place of pyarrow's: such tests need neither a server nor pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from earshot.sound_index import bucket


@contextmanager
def fake_buckets(root: Path) -> Iterator["FakeBuckets"]:
    """Serve the folders in root as buckets."""
    buckets = FakeBuckets(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucket, "pyarrow", lambda: buckets)
        for cached in (bucket._filesystem, bucket._copies):
            cached.cache_clear()
        yield buckets
    bucket._filesystem.cache_clear()


class FakeBuckets:
    """The module pyarrow.fs, and the file system that it opens. Files are named BUCKET/KEY.

    fetched: the files that were opened; refused: those that cannot be; sizes: of files that say
    they are larger than they are; requests: how many there were. Nothing answers while it is down.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.fetched: list[str] = []
        self.refused: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.down = False
        self.requests = 0
        self.FileSystem = SimpleNamespace(from_uri=lambda uri: (self, uri))

    @staticmethod
    def FileSelector(base_dir: str, recursive: bool) -> Path:  # noqa: N802  (pyarrow's name)
        assert recursive
        return Path(base_dir)

    def get_file_info(self, what: str | Path) -> Any:
        """Describe a bucket by its name, or all that a selector selects."""
        self._answer()
        if isinstance(what, str):
            return SimpleNamespace(path=what)
        if not (self.root / what.parts[0]).is_dir():
            raise OSError("AWS Error NO_SUCH_BUCKET")
        if not (self.root / what).is_dir():
            raise FileNotFoundError(what)
        return [self._about(path) for path in (self.root / what).rglob("*")]

    def open_input_file(self, key: str) -> Any:
        self._answer()
        if key in self.refused:
            raise OSError("AWS Error ACCESS_DENIED")
        self.fetched.append(key)
        return _File(self.root / key, self.sizes.get(key))

    def _about(self, path: Path) -> Any:
        about, key = path.stat(), path.relative_to(self.root).as_posix()
        times = {"size": about.st_size, "mtime_ns": about.st_mtime_ns}
        return SimpleNamespace(path=key, is_file=path.is_file(), **times)

    def _answer(self) -> None:
        self.requests += 1
        if self.down:
            raise OSError("AWS Error NETWORK_CONNECTION")


class _File:
    """As pyarrow opens a file."""

    def __init__(self, path: Path, size: int | None) -> None:
        self._size = size or path.stat().st_size
        self._file = path.open("rb")
        self.read = self._file.read

    def size(self) -> int:
        return self._size

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
