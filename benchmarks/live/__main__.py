"""python -m benchmarks.live [--parts a b c]: the delay and the speed of live conversion.

a: the delay of the algorithm, by construction and by the envelopes of a recording and of what is
made of it. b: what one, two and three sessions take for a hop, alone and during a conversion of
60 s. c: the delay in the page, from the microphone's bus to the playback's, in Chromium. The
microphone's and the loudspeaker's own delays are in none of them. Writes live.md.
"""

import argparse
import os
import platform
import threading
import time
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.live.page import page
from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion import Converter, VoiceConversion, settings
from earshot.systems.voice_conversion.live.networks import TIMINGS, load_networks
from earshot.systems.voice_conversion.live.process import Choice, LiveProcess
from earshot.systems.voice_conversion.live.session import LiveConversion, LiveSession
from earshot.tabs.voice_conversion.live.visitor import MAX_BACKLOG, MAX_BUSY_BACKLOG

PARTS: Final = ("a", "b", "c")
MODEL: Final = settings.live_checkpoint(CHECKPOINTS)
TIMING: Final = TIMINGS[0]
HOP: Final = TIMING.latency - TIMING.delay  # seconds
RATE: Final = 48_000  # Hz, of a device
CHUNK: Final = 0.02  # seconds, as the page sends
SESSIONS: Final = (1, 2, 3)
BUSY: Final = 60.0  # seconds of the conversion that runs meanwhile
STEP: Final = 0.01  # seconds, of envelopes


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seconds", type=float, default=20, help="of each run of b")
    parser.add_argument("--page", type=float, default=60, help="seconds of each run of c")
    chosen = parser.parse_args()
    measures = {
        "a": algorithm,
        "b": partial(server, chosen.seconds),
        "c": partial(page, chosen.page),
    }
    lines = [
        "# Live conversion: delay and speed",
        "",
        f"`python -m benchmarks.live --parts {' '.join(chosen.parts)} --seconds {chosen.seconds:g} "
        f"--page {chosen.page:g}`, {os.cpu_count()} cores, {platform.machine()}.",
    ]
    for part in chosen.parts:
        before = os.getloadavg()[0]
        part_lines = measures[part]()
        load_average = f"Load average {before:.1f} before and {os.getloadavg()[0]:.1f} after."
        lines += ["", *part_lines, "", load_average]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).parent.with_suffix(".md").write_text(text)


def speech(seconds: float) -> np.ndarray:
    """Repeat an example recording to this duration: (T,) at SAMPLE_RATE."""
    example = load(ASSETS / "examples" / "woman-lighthouse.ogg").waveform
    return np.resize(example, round(seconds * SAMPLE_RATE))


def algorithm() -> list[str]:
    """Measure a: the delay of the algorithm."""
    networks = load_networks(MODEL)
    sentence = speech(10)
    conversion = LiveConversion(networks)
    spoken = conversion.push(sentence)
    session = LiveSession(networks, RATE, Choice(), clock=lambda: 0.0)
    chunk = np.zeros(round(CHUNK * RATE), np.float32)
    spoken_late = [session.push(chunk).behind for _ in range(100)]
    resampled = HOP + min(spoken_late) / RATE  # seconds
    return [
        "| a: delay of the algorithm | ms |",
        "|---|---:|",
        f"| by construction: frames ahead, half a window | {1000 * TIMING.delay:.0f} |",
        f"| the same, and until a hop is full | {1000 * TIMING.latency:.0f} |",
        f"| the same, and both resamplers, {RATE // 1000} kHz | {1000 * resampled:.0f} |",
        f"| between the envelopes, without the wait | {1000 * lag(sentence, spoken):.0f} |",
    ]


def lag(source: np.ndarray, spoken: np.ndarray) -> float:
    """Find the seconds at which the levels of the two, in dB, correlate best."""
    of_source, of_spoken = envelope(source), envelope(spoken)
    lags = range(round(0.6 / STEP))
    length = min(len(of_source), len(of_spoken)) - len(lags)
    likeness = [np.corrcoef(of_source[:length], of_spoken[k : k + length])[0, 1] for k in lags]
    return int(np.argmax(likeness)) * STEP


def envelope(waveform: np.ndarray) -> np.ndarray:
    size = round(STEP * SAMPLE_RATE)
    frames = waveform[: len(waveform) // size * size].reshape(-1, size)
    return 10 * np.log10(np.square(frames).mean(axis=1) + 1e-6)


def server(seconds: float) -> list[str]:
    """Measure b: what sessions take for a hop. seconds: of each run."""
    processes = [LiveProcess(MODEL) for _ in range(max(SESSIONS))]
    for process in processes:
        process.wait_until_ready()
    rows = [row(f"{count}, alone", processes[:count], seconds) for count in SESSIONS]
    pipeline = VoiceConversion.from_pretrained(device="cpu")
    stop = threading.Event()
    converting = threading.Thread(target=convert, args=[pipeline, stop])
    converting.start()
    rows += [row(f"{n}, next to a conversion", processes[:n], seconds) for n in SESSIONS]
    stop.set()
    converting.join()
    for process in processes:
        process.close()
    return [
        f"| b: sessions, {seconds:g} s | ms a hop p50 | p95 | max | of the time "
        "| % of hops by timing, the best first | left out |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *rows,
    ]


def convert(pipeline: Converter, stop: threading.Event) -> None:
    """Convert a minute of speech, again and again."""
    while not stop.is_set():
        pipeline((SAMPLE_RATE, speech(BUSY)))


def row(name: str, processes: list[LiveProcess], seconds: float) -> str:
    """Run sessions at once, each as fast as a microphone, chunk by chunk."""
    taken: list[float] = []
    levels: list[int] = []
    left_out: list[float] = []

    def speak(process: LiveProcess) -> None:
        process.begin(SAMPLE_RATE, Choice())
        sentence, most = speech(seconds), round(MAX_BACKLOG * SAMPLE_RATE)
        busy = round(MAX_BUSY_BACKLOG * SAMPLE_RATE)
        began, place, lost = time.monotonic(), 0, 0
        while place < len(sentence):
            due = began + place / SAMPLE_RATE + CHUNK
            time.sleep(max(0.0, due - time.monotonic()))
            end = round((time.monotonic() - began) / CHUNK) * round(CHUNK * SAMPLE_RATE)
            chunk = sentence[place:end]
            place += len(chunk)
            lost += max(len(chunk) - most, 0)
            answer, spoken = process.push(chunk[-most:], Choice())
            most = busy if answer.get("economy") else round(MAX_BACKLOG * SAMPLE_RATE)
            if len(spoken):
                taken.append(answer["seconds"])
                levels.append(answer.get("economy", 0))
        left_out.append(lost / SAMPLE_RATE)

    threads = [threading.Thread(target=speak, args=[process]) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    p50, p95 = np.percentile(taken, [50, 95])
    share = sum(taken) / seconds / len(processes)
    hops = [f"{100 * levels.count(n) / len(levels):.0f}" for n in range(len(TIMINGS))]
    return (
        f"| {name} | {1000 * p50:.0f} | {1000 * p95:.0f} | {1000 * max(taken):.0f} | {share:.2f} "
        f"| {' / '.join(hops)} | {' and '.join(f'{lost:.1f}' for lost in left_out)} s |"
    )


if __name__ == "__main__":
    main()
