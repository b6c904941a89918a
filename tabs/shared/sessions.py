"""What a visitor records for one visit: its file goes once it was heard, the rest with them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import gradio as gr
from gradio.context import Context
from gradio.utils import get_upload_folder

from media.errors import InputError

if TYPE_CHECKING:
    from pipelines.words import Spoken, Words

SEVERAL: Final = "This is more than one word. Say one only, without a pause."
TIME_TO_LIVE: Final = 3600  # seconds, for visitors who leave the page open


class Kept(Protocol):
    """Something that can be forgotten."""

    def clear(self) -> None: ...


K = TypeVar("K", bound=Kept)


class SessionStore(Generic[K]):
    """One thing for each visitor, which `make` makes; their gr.State owns it."""

    def __init__(self, make: Callable[[], K]) -> None:
        self._make = make
        # Only to find what a visitor who leaves had kept.
        self._kept: WeakValueDictionary[str, K] = WeakValueDictionary()

    def state(self) -> gr.State:
        """The state that holds it, empty at first; what it holds is cleared when the visitor
        leaves, or after an hour."""
        if page := Context.root_block:
            page.unload(self.leave)
        return gr.State(None, time_to_live=TIME_TO_LIVE, delete_callback=_clear)

    def of(self, held: K | None, request: gr.Request) -> K:
        """What the visitor's state holds, or a new one."""
        if held is None:
            held = self._make()
        self._kept[str(request.session_hash)] = held
        return held

    def leave(self, request: gr.Request) -> None:
        """Clears what the visitor who closes the page had kept."""
        _clear(self._kept.pop(str(request.session_hash), None))


def is_upload(path: str | Path) -> bool:
    """Whether a file is a visitor's own: a request may name any file that Gradio serves."""
    return Path(path).resolve().is_relative_to(Path(get_upload_folder()).resolve())


@contextmanager
def delete_after_use(upload: str | None) -> Iterator[None]:
    """Deletes the file of an upload afterwards, whatever happens."""
    try:
        yield
    finally:
        if upload and is_upload(upload):
            Path(upload).unlink(missing_ok=True)


def one_word(words: "Words", recording: str | None) -> "Spoken":
    """The word of a recording. Raises InputError where there is none, or more."""
    from pipelines.words.spoken_word import CutNeededError  # late, for pipelines load torch

    try:
        return words.embed_audio(recording)
    except CutNeededError:
        raise InputError(SEVERAL) from None


def _clear(kept: Kept | None) -> None:
    if kept is not None:
        kept.clear()
