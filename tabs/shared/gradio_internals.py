"""Everything that Earshot takes from inside Gradio, in one place: check it when Gradio is upgraded.

Nothing here is part of Gradio's public interface.
"""

import secrets
from pathlib import Path
from typing import Any, BinaryIO

import gradio as gr
from fastapi import Request
from gradio import route_utils
from gradio.context import Context, LocalContext
from gradio.data_classes import FileData, PredictBodyInternal
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder


def event_data(event: gr.EventData) -> dict[str, Any]:
    """What the page sent with a custom event. It comes from a browser, and can be anything."""
    return event._data if isinstance(event._data, dict) else {}


def current_page() -> gr.Blocks | None:
    """The outermost Blocks that is being built, if one is."""
    return Context.root_block


def upload_folder() -> Path:
    """Where Gradio keeps what visitors upload and what it serves to them."""
    return Path(get_upload_folder())


def served_file(content: bytes | Path, name: str) -> dict[str, Any]:
    """A file as the page fetches it, under a download name.

    Bytes go to Gradio's cache, which is deleted with the visitor's other files.
    """
    path = content
    if isinstance(path, bytes):
        path = save_bytes_to_cache(path, name, get_upload_folder())
    return FileData(path=str(path), orig_name=name).model_dump()


def content_addressed(path: Path) -> bool:
    """Whether Gradio keeps the file under the hash of its content, where visitors share it."""
    return len(path.parent.name) == 64 and set(path.parent.name) <= set("0123456789abcdef")


def session_of_event() -> str | None:
    """Which visitor the event that runs now belongs to; None where no event runs."""
    request = LocalContext.request.get(None)
    return getattr(request, "session_hash", None)


class _RandomName:
    """In place of the hash of an upload's content."""

    def __init__(self) -> None:
        self._name = f"upload-{secrets.token_hex(16)}"

    def update(self, data: bytes) -> None:
        """Takes no notice of the content."""

    def hexdigest(self) -> str:
        return self._name


class _PrivateUpload(route_utils.GradioUploadFile):
    """An upload in a folder that no other upload has, not even one of the same content."""

    def __init__(self, file: BinaryIO, **about: Any) -> None:
        super().__init__(file, **about)
        self.sha: Any = _RandomName()


def keep_uploads_apart() -> None:
    """From now on two visitors who send the same file have two files: one may be deleted."""
    route_utils.GradioUploadFile = _PrivateUpload


def limit_waiting(page: gr.Blocks, most: int, message: str) -> None:
    """Refuses an event, with the message, of a visitor who has ``most`` others waiting already.
    Call it between page.queue and page.launch."""
    queue = page._queue
    push = queue.push

    async def limited(
        body: PredictBodyInternal, request: Request, username: str | None
    ) -> tuple[bool, Any, Any]:
        lanes = queue.event_queue_per_concurrency_id.values()
        waiting = sum(
            event.session_hash == body.session_hash for lane in lanes for event in lane.queue
        )
        if body.session_hash and waiting >= most:
            return False, message, "queue_full"
        return await push(body, request, username)

    queue.push = limited  # type: ignore[method-assign]
