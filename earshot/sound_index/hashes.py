"""Hashes of a bucket's files, kept so that none is fetched again while it is the same."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TABLE: Final = """
PRAGMA synchronous=OFF;
CREATE TABLE IF NOT EXISTS hashes (path TEXT PRIMARY KEY, version TEXT, hash TEXT)
"""


class KeptHashes:
    """Hashes in a file, written at once, so that a scan that was killed resumes. What is lost is
    hashed again."""

    def __init__(self, file: Path, versions: Mapping[Path, str]) -> None:
        """Open the file. versions: of all files that may be asked for; the others are forgotten."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._versions = versions
        try:
            self._database = _opened(file)
        except sqlite3.DatabaseError:  # damaged
            file.unlink()
            self._database = _opened(file)
        known = [path for (path,) in self._database.execute("SELECT path FROM hashes")]
        gone = [(path,) for path in known if Path(path) not in versions]
        self._database.executemany("DELETE FROM hashes WHERE path = ?", gone)

    def get(self, path: Path) -> str | None:
        """Look up the hash of the file's content, if it is known."""
        query = "SELECT hash FROM hashes WHERE path = ? AND version = ?"
        found = self._database.execute(query, (str(path), self._versions[path])).fetchone()
        return found[0] if found else None

    def __setitem__(self, path: Path, digest: str) -> None:
        row = (str(path), self._versions[path], digest)
        self._database.execute("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?)", row)


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(TABLE)
    return database
