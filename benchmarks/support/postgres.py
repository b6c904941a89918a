"""A PostgreSQL server of our own, reached by a socket only."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

MAX_START: Final = 60.0  # seconds for the server to start
DEBIAN: Final = "/usr/lib/postgresql"


class Postgres:
    """The server, which runs when this is made. Raises FileNotFoundError if none is installed."""

    def __init__(self) -> None:
        places = [os.environ["PATH"], *(str(each) for each in Path(DEBIAN).glob("*/bin"))]
        path = os.pathsep.join(places)
        initdb, server = (shutil.which(name, path=path) for name in ("initdb", "postgres"))
        if not (initdb and server):
            raise FileNotFoundError("There is no PostgreSQL here.")
        # The server refuses to be root, and its user could not enter pytest's folders.
        users = ("postgres", "nobody") if os.getuid() == 0 else ()
        self._user = next(filter(_exists, users), None)
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        if self._user:
            shutil.chown(self._folder, self._user)
        data = str(self._folder / "data")
        options = ["-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [initdb, *options], user=self._user, cwd=self._folder, check=True, capture_output=True
        )
        self._command = [server, "-D", data, "-k", str(self._folder), "-c", "listen_addresses="]
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        end = time.monotonic() + MAX_START
        self._process = self._started()
        while True:
            try:
                create_engine(self.url("postgres")).connect().close()
                return
            except DBAPIError:
                if time.monotonic() > end:
                    raise
                if self._process.poll() is not None:  # those of one that was killed still end
                    self._process = self._started()
                time.sleep(0.2)

    def url(self, database: str) -> str:
        """Give the URL of a database of that name."""
        return f"postgresql+pg8000://tester@/{database}?unix_sock={self._folder}/.s.PGSQL.5432"

    def fresh(self, database: str, like: str = "template1") -> str:
        """Make a database of that name anew, like another, and give its URL."""
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)"))
            connection.execute(text(f"CREATE DATABASE {database} TEMPLATE {like}"))
        engine.dispose()
        return self.url(database)

    def kill(self) -> None:
        """End all of the server as a power cut would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End the server, and delete its data."""
        self._process.send_signal(signal.SIGINT)  # without waiting for whoever is connected
        self._process.wait(30)
        shutil.rmtree(self._folder)

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            user=self._user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _exists(user: str) -> bool:
    return any(each.pw_name == user for each in pwd.getpwall())
