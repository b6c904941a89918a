"""What decoding sound and pictures has in common: opening a file, and a budget of CPU time."""

import time
from typing import BinaryIO, Final

import av
from av.container import InputContainer
from av.error import FFmpegError

from earshot.core.errors import InputError

CPU_SECONDS: Final = 60.0  # a file


def open_container(file: BinaryIO, formats: str, unreadable: str) -> InputContainer:
    """An opened file as FFmpeg reads it, if it is in one of the formats (comma-separated): else
    InputError(unreadable)."""
    try:
        return av.open(file, "r", options={"format_whitelist": formats}, metadata_errors="replace")
    except MemoryError:
        raise
    except (FFmpegError, ValueError, OSError):
        raise InputError(unreadable) from None


class Budget:
    """CPU time for one file, from now on."""

    def __init__(self) -> None:
        self._ends = time.process_time() + CPU_SECONDS

    def check(self) -> None:
        """Raises InputError once it is spent."""
        if time.process_time() > self._ends:
            raise InputError("Decoding this file takes too long. Export it shorter, or smaller.")
