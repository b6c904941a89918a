"""Everything that Earshot takes from inside Gradio, in one place: check it when Gradio is upgraded.

Nothing here is part of Gradio's public interface.
"""

from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import Context
from gradio.data_classes import FileData
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
