"""python -m earshot.media.workers: a decoding worker, with requests on stdin, answers on stdout."""

import fcntl
import io
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import av.logging
import numpy as np

from earshot.core.errors import InputError
from earshot.media.workers.audio import decode_audio
from earshot.media.workers.manifest import read_manifest
from earshot.media.workers.picture import copy_picture
from earshot.media.workers.processes import receive, send, send_array
from earshot.media.workers.video import decode_video

MAX_MEMORY: Final = 1536 * 2**20  # bytes of address space; PyAV and numpy take 250 MB of it
MAX_CPU_SECONDS: Final = 70  # a file; the decoders stop by themselves after 60
MAX_OPEN_FILES: Final = 64
TOO_LARGE: Final = "Decoding this file takes too much memory. Export it shorter, or smaller."
GONE: Final = {
    "audio": "The recording is no longer there.",
    "video": "The video is no longer there.",
    "picture": "The video is no longer there.",
    "manifest": "The file is no longer there.",
}
AGAIN: Final = "Record or upload it again."
TASKS: Final[dict[str, Callable[..., Iterator[tuple[dict[str, Any], np.ndarray]]]]] = {
    "audio": decode_audio,
    "video": decode_video,
    "picture": copy_picture,
    "manifest": read_manifest,
}


def main() -> None:
    # Above the three streams, of which the app may have been started without one.
    answers = os.fdopen(fcntl.fcntl(1, fcntl.F_DUPFD, 3), "wb")
    requests = sys.stdin.buffer
    _limit()
    send(answers, {"ready": True})
    # What libraries print must not come between the answers, nor fill the log.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    while (request := receive(requests)) is not None:
        _limit_cpu()
        data = requests.read(request["size"])
        try:
            _answer(answers, request, data)
        except BrokenPipeError:  # the app has ended
            return


def _answer(answers: BinaryIO, request: dict[str, Any], data: bytes) -> None:
    task, path = request["task"], request["path"]
    try:
        with _opened(task, path, data) as file:
            for header, array in TASKS[task](file, **request["options"]):
                send_array(answers, header, array)
        send(answers, {"end": True})
    except InputError as error:
        send(answers, {"error": error.message, "advice": error.advice})
    except MemoryError:  # FFmpeg's too: PyAV's is a subclass
        send(answers, {"error": TOO_LARGE, "advice": ""})
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001  (the app logs it)
        send(answers, {"bug": traceback.format_exc()[-8000:]})


def _opened(task: str, path: str | None, data: bytes) -> BinaryIO:
    """Open a file here, so that FFmpeg cannot take its name for an address."""
    if path is None:
        return io.BytesIO(data)
    try:
        return open(path, "rb")
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(GONE[task], AGAIN) from None
    except IsADirectoryError:
        raise InputError("This is a folder.", "Name a file that is in it.") from None
    except OSError as error:
        raise InputError(f"The file cannot be opened: {error.strerror}.") from None


def _limit() -> None:
    """Set limits for the whole life of the process, which nothing in it can lift."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app, which ends its workers
    for limit, value in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    # By FFmpeg itself: PyAV's own filter takes the GIL in decoder threads, which can then deadlock.
    av.logging.set_libav_level(av.logging.PANIC)


def _limit_cpu() -> None:
    """Let the kernel end a process whose decoder does not come back to Python."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (round(time.process_time()) + MAX_CPU_SECONDS, hard))


if __name__ == "__main__":
    main()
