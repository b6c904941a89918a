"""Servers on threads of their own: the standard library's, and pages of Gradio."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer

import gradio as gr

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


def close(page: gr.Blocks) -> None:
    """Closes the server of a page.

    Gradio sets an asyncio event from here, which fails where the server's own thread changes who
    waits for it at that moment. Then the server is closed here, which ends those who still wait.
    """
    try:
        page.close()
    except RuntimeError as error:
        if "mutated during iteration" not in str(error):
            raise
        page.server.close()
