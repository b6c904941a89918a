"""What goes to the console: errors as sentences, and not the notes of native libraries."""

import argparse
import errno
import io
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError

# Notes of glog and absl ("W0000 00:00:…"), TensorFlow Lite, and absl about itself.
NOTES: Final = re.compile(
    rb"[IW]\d{4} \d\d:\d\d:|INFO: Created TensorFlow Lite|WARNING: All log messages before absl"
)
_one_at_a_time = threading.Lock()


def count(text: str) -> int:
    """Check a number of things on a command line: to a list, a negative one is all but the last."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is no count: 1 is the least")
    return number


def typed_name(text: str) -> str:
    """Read the name of a file or folder that was typed: an empty one would be the current folder,
    with all that is in it."""
    if not text:
        raise argparse.ArgumentTypeError("a name is empty: a variable that is not set, perhaps.")
    return text


def typed_path(text: str) -> Path:
    """Read the path of a file or folder that was typed."""
    return Path(typed_name(text))


def existing_path(text: str) -> Path:
    """Read the path of a file or folder that was typed, and that is there."""
    path = typed_path(text)
    if not os.path.exists(path):  # pathlib's raises an error at a name longer than disks have
        raise argparse.ArgumentTypeError(f"{path}: There is no such file or folder.")
    return path


def open_streams() -> None:
    """Send to nowhere what goes to a standard stream that is closed, as where cron or a service
    started the program: else ``print`` to no stderr goes to stdout, among the results, and the
    next file that is opened takes the stream's place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


@contextmanager
def without_native_notes() -> Iterator[None]:
    """Keep notes and warnings of native libraries off stderr; write all else at the end.

    For libraries that offer no setting: MediaPipe 0.10.14 is built without absl's. The file
    descriptor belongs to the whole process, so keep the block short.
    """
    with _one_at_a_time, tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        console = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(console, 2)
            os.close(console)
            held.seek(0)
            for line in held:
                if not NOTES.match(line):
                    os.write(2, line)


def text_of(error: InputError | OSError) -> str:
    """Return what is wrong, for someone at a command line, who has no microphone to try again."""
    if isinstance(error, InputError):
        return error.message
    return f"{error.strerror}." if error.errno == errno.ENAMETOOLONG else str(error)


@contextmanager
def explained() -> Iterator[None]:
    """Report without a traceback what the person who typed the command can mend."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # File names of an old disk are written as they are there, and not the end of the batch.
            utf8 = stream.encoding.lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="surrogateescape" if utf8 else "backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # of a reader that has enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (InputError, OSError) as error:
        sys.exit(text_of(error))
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
