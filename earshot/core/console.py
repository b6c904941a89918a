"""The notes that native libraries write to the console past Python."""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Notes of glog and absl ("W0000 00:00:…"), TensorFlow Lite, and absl about itself.
NOTES: Final = re.compile(
    rb"[IW]\d{4} \d\d:\d\d:|INFO: Created TensorFlow Lite|WARNING: All log messages before absl"
)
_one_at_a_time = threading.Lock()


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
