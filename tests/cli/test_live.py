"""Live from device to device: which devices, an echo, a device that goes, and PulseAudio's null
sinks in place of a microphone and a call."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earshot.cli import live
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS, ROOT
from earshot.provenance.mark import NO_MARK, find_mark

RATE = 16_000
NAMES = ("Built-in Microphone", "USB Microphone", "CABLE Input", "Speakers")


class NoDeviceError(Exception):
    """What a sound library raises."""


def sound(*names: str) -> Any:
    """A sound library with these devices, of which microphones are inputs."""
    every = [
        {
            "name": name,
            "max_input_channels": int("Microphone" in name),
            "max_output_channels": int("Microphone" not in name),
            "default_samplerate": 48_000.0,
        }
        for name in names
    ]

    def query(number: int | None = None) -> Any:
        return every if number is None else every[number]

    return SimpleNamespace(
        query_devices=query,
        default=SimpleNamespace(device=(0, len(names) - 1)),
        PortAudioError=NoDeviceError,
    )


@pytest.mark.parametrize(
    ("name", "kind", "number"),
    [(None, "input", 0), (None, "output", 3), ("usb", "input", 1), ("2", "output", 2)],
)
def test_device_is_found(name: str | None, kind: str, number: int) -> None:
    assert live.find(sound(*NAMES), name, kind) == number


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("microphone", "input", "several input device microphone"),
        ("USB", "output", "no output device USB"),
        ("99", "input", "no input device 99"),
        ("", "input", "several"),
    ],
)
def test_device_that_is_none(name: str, kind: str, says: str) -> None:
    """The sentence lists those that there are."""
    with pytest.raises(InputError, match=says) as error:
        live.find(sound(*NAMES), name, kind)
    assert ("0 Built-in Microphone" if kind == "input" else "2 CABLE Input") in str(error.value)


def test_machine_without_devices() -> None:
    assert live.devices(sound()) == ["There is no sound device here."]
    with pytest.raises(InputError, match="There is no input device here"):
        live.find(sound(), None, "input")


def test_missing_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SystemExit, match=r"earshot\[live\]"):
        live.main(["--list"])


@pytest.mark.parametrize("level", [0.0, 0.2])
def test_echo_is_reported_once(level: float) -> None:
    """Only where what was spoken comes back, after other speech."""
    random = np.random.default_rng(0)
    speech, spoken = (0.1 * random.standard_normal((2, 10 * RATE))).astype(np.float32)
    recorded = speech + level * np.roll(spoken, round(0.13 * RATE))
    find_echo = live.EchoFinder(RATE)
    parts = zip(np.split(recorded, 100), np.split(spoken, 100), strict=True)
    assert sum(find_echo(*part) for part in parts) == (level > 0)


def test_meters_show_levels_and_delay() -> None:
    lines: list[str] = []
    show = live.Meters(lines.append)
    show._drawn = -100.0
    show(np.full(100, 0.1, np.float32), np.zeros(100, np.float32), 0.18, 0.5, busy=True)
    (line,) = lines
    assert "-20 dB" in line and "-60 dB" in line and "180 ms" in line and "0.5 s" in line
    assert "later than it could be" in line


class Pulse:
    """A PulseAudio of our own, whose null sinks are a microphone and a call."""

    def __init__(self, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_SOURCE": "mic.monitor",
            "PULSE_SINK": "call",
        }
        self.environment.pop(NO_MARK, None)

    def start(self) -> None:
        sinks = [f"-Lmodule-null-sink sink_name={name} rate=48000" for name in ("mic", "call")]
        self.run(
            "pulseaudio", "-n", "-D", "--exit-idle-time=-1", "-Lmodule-native-protocol-unix", *sinks
        )

    def run(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, check=True)
        return done.stdout.decode()


@pytest.fixture
def pulse(tmp_path: Path) -> Iterator[Pulse]:
    pytest.importorskip("sounddevice", exc_type=(ImportError, OSError))  # type: ignore[arg-type]
    if not shutil.which("pulseaudio") or not shutil.which("parec"):
        pytest.skip("pulseaudio is not installed")
    server = Pulse(tmp_path)
    server.start()
    yield server
    server.run("pulseaudio", "--kill")


@pytest.mark.slow
def test_speech_reaches_the_call(pulse: Pulse, tmp_path: Path) -> None:
    """In another voice, with the mark in it."""
    if "pulse" not in pulse.run(sys.executable, "-m", "earshot", "live", "--list"):
        pytest.skip("PortAudio does not know PulseAudio: libasound2-plugins is not installed")
    command = ["-m", "earshot", "live", "--input", "pulse", "--output", "pulse", "--seconds", "12"]
    with (
        (tmp_path / "call.raw").open("wb") as call,
        subprocess.Popen(
            [sys.executable, *command, "--to", "SM1"],
            cwd=ROOT,
            env=pulse.environment,
            stderr=subprocess.PIPE,
        ) as running,
    ):
        until = time.monotonic() + 120
        while not pulse.run("pactl", "list", "short", "source-outputs"):
            assert time.monotonic() < until and running.poll() is None
            time.sleep(1)
        how = ["--rate=16000", "--channels=1", "--format=s16le"]
        with subprocess.Popen(
            ["parec", "-d", "call.monitor", *how], env=pulse.environment, stdout=call
        ) as recorder:
            for _ in range(2):
                pulse.run("paplay", "-d", "mic", str(ASSETS / "examples" / "finished-source.ogg"))
            text = running.communicate()[1].decode()
            recorder.terminate()
    received = np.fromfile(tmp_path / "call.raw", np.int16).astype(np.float32) / 2**15
    assert running.returncode == 0 and "delay" in text
    assert np.abs(received).max() > 0.05
    assert "left out" in text or find_mark(received, RATE).present  # a busy machine cuts it up
