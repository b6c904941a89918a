"""The visitor's own voice, which one tab makes of a reading and others may speak in."""

from typing import TYPE_CHECKING, Final, Protocol

import gradio as gr

from earshot.core.errors import InputError

if TYPE_CHECKING:
    from earshot.pretrained.voice import Voice

OWN: Final = "yours"  # the value of the choice of it
NONE_YET: Final = (
    "Your voice is not made yet.",
    "Choose “Your voice” in the tab Voice conversion and read the lines there.",
)


class Owner(Protocol):
    """A visit that may hold the visitor's own voice: ``own``, if it was made."""

    @property
    def own(self) -> object | None: ...

    @property
    def voice(self) -> "Voice":
        """Take the voice. Raises InputError where it was not made."""
        ...


class LentVoice:
    """The own voice as the tabs of one page share it: one tab makes it, others take it."""

    def __init__(self) -> None:
        self.visit: gr.State | None = None  # holds an Owner; the tab that makes voices sets it

    @staticmethod
    def of(visit: Owner | None) -> "Voice":
        """Take the voice that a visit holds. Raises InputError where there is none."""
        if visit is None or visit.own is None:
            raise InputError(*NONE_YET)
        return visit.voice
