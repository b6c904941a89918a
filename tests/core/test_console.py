"""The console: paths that are typed, and no notes of native libraries."""

import argparse
import os

import numpy as np
import pytest

from earshot.core.console import existing_path, without_native_notes
from earshot.media.video import Frame
from earshot.media.video.face import track_face


def test_without_native_notes_keeps_errors(capfd: pytest.CaptureFixture[str]) -> None:
    """What another thread writes is kept, and only notes are dropped."""
    with without_native_notes():
        os.write(2, b"W0000 00:00:1795454674.070711    9030 manager.cc:114] of no use\n")
        os.write(2, b"E0000 00:00:1795454674.070711    9030 manager.cc:115] an error\n")
        os.write(2, b"INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n")
        os.write(2, b"of another thread\n")
    os.write(2, b"W0000 00:00:1795454674.070711    9030 manager.cc:114] later\n")
    lines = capfd.readouterr().err.splitlines()
    assert [line.split("] ")[-1] for line in lines] == ["an error", "of another thread", "later"]


def test_without_native_notes_restores_console(capfd: pytest.CaptureFixture[str]) -> None:
    """After an error within, the console is as before."""
    with pytest.raises(ValueError, match="within"), without_native_notes():
        raise ValueError("within")
    os.write(2, b"W0000 00:00:1 after\n")
    assert capfd.readouterr().err == "W0000 00:00:1 after\n"


@pytest.mark.slow
def test_track_face_writes_nothing_to_console(capfd: pytest.CaptureFixture[str]) -> None:
    track = track_face([Frame(0.0, np.zeros((64, 64, 3), np.uint8))])
    assert track.faces == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["gone.wav", 200 * "é"])
def test_path_that_cannot_be_there_is_told(name: str) -> None:
    """A name longer than disks have ended with a traceback."""
    with pytest.raises(argparse.ArgumentTypeError, match="no such file"):
        existing_path(name)
