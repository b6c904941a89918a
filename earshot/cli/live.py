"""Convert live, from a microphone to another program's microphone or a loudspeaker, without a
browser.

python -m earshot live --list
python -m earshot live --input USB --output "CABLE Input" --to SM1
PULSE_SINK=earshot python -m earshot live --output pulse --to nobody --strength .8

Levels and delay stand in the terminal; Ctrl+C ends. Needs sounddevice: pip install "earshot[live]".
More than 400 lines, for devices, meters and echo are of use here only.
"""

import argparse
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from earshot.cli import files
from earshot.cli.convert import TO, target_of, voice_of_clip
from earshot.core.console import explained, typed_path
from earshot.core.errors import InputError
from earshot.core.paths import CHECKPOINTS
from earshot.media.workers.processes import WorkerError
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.live.process import Choice, LiveProcess

RATES: Final = (48_000, 44_100, 32_000, 16_000)  # Hz, after those that the devices prefer
BLOCK: Final = 0.01  # seconds
DEVICE_LATENCY: Final = 0.05  # seconds that are asked of each; less, and busy machines crackle
MAX_BACKLOG: Final = 0.2  # seconds of input that may wait
MAX_PLAYED: Final = 0.3  # seconds of output that may wait
MAX_SILENCE: Final = 3.0  # seconds without a sound, after which a device is gone
RETRY_INTERVAL: Final = 1.0  # seconds
# Seconds; where the meters go to no terminal, a line each LINE_INTERVAL.
REDRAW_INTERVAL: Final = 0.2
LINE_INTERVAL: Final = 5.0
METER_WIDTH: Final = 12  # characters of a meter
FLOOR: Final = -60.0  # dBFS, at its left end
ECHO_RATE: Final = 16_000  # Hz, about
ECHO_SECONDS: Final = 2.0
ECHO_LAGS: Final = (0.02, 1.0)  # seconds after which an echo comes
# Deviations of a correlation above which it is an echo. Of visitors' speech and its conversion it
# has 14 at most; with an echo of -14 dB in it 28 or more.
MIN_ECHO_RISE: Final = 20.0
MISSING: Final = 'Live without a browser needs sounddevice. Install it: pip install "earshot[live]"'
NO_PORTAUDIO: Final = (
    "sounddevice finds no PortAudio. On Debian and Ubuntu install it: apt install libportaudio2"
)
ECHO: Final = (
    "What is played comes back through the microphone. Wear headphones, or play into a virtual "
    "device."
)


class DeviceGoneError(Exception):
    """A device that gives or takes no more sound; its text says which."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert from one device to another until Ctrl+C."""
    options = _parser().parse_args(arguments)
    with explained():
        sound = _sounddevice()
        if options.list:
            print("\n".join(devices(sound)))
            return
        target = target_of(options.to, options.strength)
        for kind in ("input", "output"):
            find(sound, getattr(options, kind), kind)
        if options.reference:
            from earshot.systems.voice_conversion import VoiceConversion  # late: it loads torch

            target = voice_of_clip(VoiceConversion.from_pretrained(device="cpu"), options.reference)
        choice = Choice(target, model=options.model, intonation=options.intonation)
        process = LiveProcess(settings.live_checkpoint(CHECKPOINTS))
        try:
            _tell("Loading …")
            process.wait_until_ready()
            with suppress(KeyboardInterrupt):
                _keep_on(sound, options, process, choice)
        except WorkerError as error:
            raise InputError(f"Live conversion ended: {error}. Start it again.") from error
        finally:
            process.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="earshot live",
        description=(__doc__ or "").rstrip().rpartition("\n")[0],  # but for its own number of lines
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list", action="store_true", help="list the devices")
    for kind in ("input", "output"):
        parser.add_argument(
            f"--{kind}", metavar="DEVICE", help="its number, or a part of its name; the default's"
        )
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--to", **TO)
    to.add_argument(
        "--reference",
        type=typed_path,
        metavar="CLIP",
        help="10 to 30 s of a speaker who agreed to be spoken as, in place of --to",
    )
    parser.add_argument("--strength", type=float, help="of --to nobody, from 0 to 1")
    parser.add_argument("--model", help="continuous (the default), units-512 and the like")
    parser.add_argument(
        "--intonation", choices=settings.INTONATIONS, default=settings.INTONATIONS[0]
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many")
    files.add_no_mark(parser)
    return parser


def _sounddevice() -> Any:
    try:
        import sounddevice  # late: an extra
    except ImportError as error:
        raise InputError(MISSING) from error
    except OSError as error:
        raise InputError(NO_PORTAUDIO) from error
    return sounddevice


def devices(sound: Any) -> list[str]:
    """Write a line a device: its number, its name, how many channels go in and out; an arrow where
    it is the default's."""
    default = list(sound.default.device)
    return [
        f"{number:3} {'>' if number in default else ' '} {device['name']} "
        f"({device['max_input_channels']} in, {device['max_output_channels']} out)"
        for number, device in enumerate(sound.query_devices())
    ] or ["There is no sound device here."]


def find(sound: Any, name: str | None, kind: str) -> int:
    """Find the device of a number, or of a part of a name; without one, the default. kind: "input"
    or "output". Raises InputError where there is none, or several.
    """
    every = [
        (number, str(device["name"]))
        for number, device in enumerate(sound.query_devices())
        if device[f"max_{kind}_channels"] > 0
    ]
    if name is None:
        default = sound.default.device[("input", "output").index(kind)]
        matches = [number for number, _ in every if number == default]
    elif name.isdecimal():
        matches = [number for number, _ in every if number == int(name)]
    else:
        equal = [number for number, called in every if called == name]
        part = [number for number, called in every if name.lower() in called.lower()]
        matches = equal[:1] or part
    if len(matches) == 1:
        return matches[0]
    if not every:
        raise InputError(f"There is no {kind} device here.")
    how = "several" if matches else "no"
    what = f" {name}" if name is not None else ""
    names = ", ".join(f"{number} {called}" for number, called in every)
    raise InputError(f"There is {how} {kind} device{what}. Choose one of these: {names}.")


class Bridge:
    """The streams of two devices, at one rate in Hz, and what waits between them and us.

    left_out: samples that came in and were not converted, since they came too fast.
    """

    def __init__(self, sound: Any, input_name: str | None, output_name: str | None) -> None:
        """Open both. Raises InputError where there is no such device, or no rate that both have."""
        self._devices = find(sound, input_name, "input"), find(sound, output_name, "output")
        self._names = [str(sound.query_devices(number)["name"]) for number in self._devices]
        self.rate = _rate(sound, self._devices)
        self.left_out = 0
        self._recorded: queue.Queue[np.ndarray] = queue.Queue()
        self._playing: deque[np.ndarray] = deque()
        self._waiting = 0  # samples in _playing
        self._lock = threading.Lock()
        self._came = self._went = time.monotonic()  # when there was sound last
        size = {"samplerate": self.rate, "blocksize": round(BLOCK * self.rate), "channels": 1}
        try:
            self._input = sound.InputStream(
                device=self._devices[0], callback=self._record, latency=DEVICE_LATENCY, **size
            )
            self._output = sound.OutputStream(
                device=self._devices[1], callback=self._play, latency=DEVICE_LATENCY, **size
            )
            self._input.start()
            self._output.start()
        except sound.PortAudioError as error:
            self.close()
            raise InputError(f"{' or '.join(self._names)} cannot be opened: {error}") from error

    def _record(self, samples: np.ndarray, *_: Any) -> None:
        self._came = time.monotonic()
        self._recorded.put(samples[:, 0].copy())

    def _play(self, samples: np.ndarray, *_: Any) -> None:
        self._went = time.monotonic()
        samples[:] = 0
        at = 0
        with self._lock:
            while at < len(samples) and self._playing:
                part = self._playing.popleft()
                count = min(len(part), len(samples) - at)
                samples[at : at + count, 0] = part[:count]
                if count < len(part):
                    self._playing.appendleft(part[count:])
                at += count
            self._waiting -= at

    def take(self) -> np.ndarray:
        """Wait for sound, and take all of it but what is too old: (T,). Raises DeviceGoneError."""
        parts = []
        with suppress(queue.Empty):
            parts.append(self._recorded.get(timeout=REDRAW_INTERVAL))
            while True:
                parts.append(self._recorded.get_nowait())
        now = time.monotonic()
        kinds = (f"The microphone {self._names[0]}", f"The output {self._names[1]}")
        for name, stream, last in zip(
            kinds,
            (self._input, self._output),
            (self._came, self._went),
            strict=True,
        ):
            if not stream.active or now - last > MAX_SILENCE:
                raise DeviceGoneError(name)
        samples = np.concatenate([np.zeros(0, np.float32), *parts])
        most = round(MAX_BACKLOG * self.rate)
        self.left_out += max(len(samples) - most, 0)
        return samples[-most:]

    def play(self, samples: np.ndarray) -> None:
        """Play samples (T,) once those before are over; what would wait too long goes."""
        with self._lock:
            self._playing.append(samples)
            self._waiting += len(samples)
            while self._waiting > MAX_PLAYED * self.rate:
                self._waiting -= len(self._playing.popleft())

    def delay(self, behind: int) -> float:
        """Compute the seconds from a sound to its conversion. behind: samples of the converter."""
        own = (self._waiting + behind) / self.rate
        return own + float(self._input.latency) + float(self._output.latency)

    def close(self) -> None:
        """Close both streams, as far as they are open."""
        for name in ("_input", "_output"):
            if stream := getattr(self, name, None):
                with suppress(Exception):
                    stream.abort()
                    stream.close()


def _rate(sound: Any, numbers: Sequence[int]) -> int:
    """Choose the first rate that an input and an output device both have."""
    preferred = [round(sound.query_devices(n)["default_samplerate"]) for n in numbers]
    for rate in dict.fromkeys([*preferred, *RATES]):
        with suppress(sound.PortAudioError, ValueError):
            sound.check_input_settings(numbers[0], channels=1, samplerate=rate)
            sound.check_output_settings(numbers[1], channels=1, samplerate=rate)
            return rate
    raise InputError("The two devices have no sampling rate in common. Choose another.")


def _keep_on(sound: Any, options: argparse.Namespace, process: LiveProcess, choice: Choice) -> None:
    """Convert until the time is over; a device that is gone is waited for."""
    until, waiting = time.monotonic() + options.seconds, False
    while time.monotonic() < until:
        try:
            bridge = Bridge(sound, options.input, options.output)
        except InputError:
            if not waiting:
                raise
            time.sleep(RETRY_INTERVAL)
            _look_again(sound)
            continue
        if waiting:
            _tell("It is back.")
        try:
            process.begin(bridge.rate, choice)
            _convert(bridge, process, choice, until)
        except DeviceGoneError as error:
            _tell(f"{error} is gone. Live goes on when it is back; Ctrl+C ends.")
            waiting = True
        finally:
            bridge.close()
        if waiting:
            _look_again(sound)


def _look_again(sound: Any) -> None:
    """Have PortAudio list the devices anew, which it does only when it starts."""
    with suppress(sound.PortAudioError):
        sound._terminate()
        sound._initialize()


def _convert(bridge: Bridge, process: LiveProcess, choice: Choice, until: float) -> None:
    """Convert what comes, and show levels, delay and what was left out."""
    show, echo = Meters(), EchoFinder(bridge.rate)
    while time.monotonic() < until:
        samples = bridge.take()
        if not len(samples):
            continue
        about, spoken = process.push(samples, choice)
        bridge.play(spoken)
        left_out, busy = bridge.left_out / bridge.rate, about["economy"] > 0
        show(samples, spoken, bridge.delay(about["behind"]), left_out, busy)
        if echo(samples, spoken):
            _tell(ECHO)


class Meters:
    """A line with the levels of both devices, drawn anew in a terminal."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """Draw nothing yet. write: takes the line, instead of standard error."""
        self._terminal = sys.stderr.isatty()
        self._write = write or _draw
        self._drawn = time.monotonic()
        self._levels = [FLOOR, FLOOR]

    def __call__(
        self,
        recorded: np.ndarray,
        spoken: np.ndarray,
        delay: float,
        left_out: float,
        busy: bool = False,
    ) -> None:
        """Take in what was recorded and spoken; delay, left_out: in seconds; busy: whether the
        machine is, so that less is computed.
        """
        self._levels = [
            max(level, _decibels(samples))
            for level, samples in zip(self._levels, (recorded, spoken), strict=True)
        ]
        if time.monotonic() - self._drawn < (REDRAW_INTERVAL if self._terminal else LINE_INTERVAL):
            return
        self._drawn = time.monotonic()
        bars = [f"{_bar(level)} {level:4.0f} dB" for level in self._levels]
        line = f"in {bars[0]}   out {bars[1]}   delay {1000 * delay:.0f} ms"
        line += f"   left out {left_out:.1f} s" if left_out else ""
        self._write(line + ("   later than it could be: the machine is busy" if busy else ""))
        self._levels = [FLOOR, FLOOR]


def _decibels(samples: np.ndarray) -> float:
    peak = float(np.abs(samples).max(initial=0))
    return max(20 * np.log10(peak + 1e-9), FLOOR)


def _bar(level: float) -> str:
    filled = round(METER_WIDTH * (1 - level / FLOOR))
    return "#" * filled + "." * (METER_WIDTH - filled)


def _draw(line: str) -> None:
    begin, end = (files.CLEAR, "") if sys.stderr.isatty() else ("", "\n")
    print(f"{begin}{line}", end=end, file=sys.stderr, flush=True)


def _tell(sentence: str) -> None:
    """Write a sentence on a line of its own."""
    begin = files.CLEAR if sys.stderr.isatty() else ""
    print(f"{begin}{sentence}", file=sys.stderr, flush=True)


class EchoFinder:
    """A look, every other second, at whether what was spoken is in what is recorded later."""

    def __init__(self, rate: int) -> None:
        """Begin with silence. rate: in Hz."""
        self._rate, self._stride = rate, max(rate // ECHO_RATE, 1)
        self._most = round(ECHO_SECONDS * rate)
        self._recorded = self._spoken = np.zeros(0, np.float32)
        self._before = self._reported = False

    def __call__(self, recorded: np.ndarray, spoken: np.ndarray) -> bool:
        """Take in the next samples, (T,) and (T',); whether there is an echo, twice in a row and
        not reported before."""
        self._recorded = np.append(self._recorded, recorded)
        self._spoken = np.append(self._spoken, spoken)
        if min(len(self._recorded), len(self._spoken)) < self._most:
            return False
        recorded, spoken = self._recorded[: self._most], self._spoken[: self._most]
        self._recorded, self._spoken = self._recorded[self._most :], self._spoken[self._most :]
        stride = self._stride
        echo = has_echo(recorded[::stride], spoken[::stride], self._rate / stride)
        again, self._before = echo and self._before and not self._reported, echo
        self._reported |= again
        return again


def has_echo(recorded: np.ndarray, spoken: np.ndarray, rate: float) -> bool:
    """Whether what was spoken (T,) is in what was recorded (T,) after ECHO_LAGS: by a correlation
    in which all frequencies weigh the same (GCC-PHAT, Knapp and Carter 1976).
    """
    if not recorded.any() or not spoken.any():
        return False
    cross = np.fft.rfft(recorded, 2 * len(recorded)) * np.fft.rfft(spoken, 2 * len(spoken)).conj()
    correlation = np.fft.irfft(cross / np.maximum(np.abs(cross), 1e-12))
    first, last = (round(lag * rate) for lag in ECHO_LAGS)
    return bool(np.abs(correlation[first:last]).max() > MIN_ECHO_RISE * correlation.std())


if __name__ == "__main__":
    main()
