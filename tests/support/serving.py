"""A server of the standard library's, on a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer

POLL = 0.02  # seconds between two looks at whether it is to end; half a second unless given


@contextmanager
def serving(server: HTTPServer) -> Iterator[str]:
    """Serves until the end of the context → the server's address."""
    thread = threading.Thread(target=server.serve_forever, args=[POLL], daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
