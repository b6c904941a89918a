"""python -m benchmarks.idle_threads: what idle threads of OpenBLAS cost torch.

The same calls in processes whose threads spin as long as numpy's wheels let them before they sleep,
and for 2^4 cycles, as media sets it; two processes of each, in turn. Writes idle_threads.md.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import torch

from benchmarks.sound_search import N_SEGMENTS, made_index, vectors_of
from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.sound_search import SoundSearch
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.words import Words

SPINS: Final = ("", "4") * 2  # powers of two, in cycles; none for what numpy brings
REPEATS: Final = 15
QUERIES: Final = ("rain on a tin roof", "a dog barks", "a kettle boils", "a train passes")


def main() -> None:
    """Measure, print, and write the table."""
    runs: dict[str, list[dict[str, float]]] = {spin: [] for spin in SPINS}
    for spin in SPINS:
        environment = {**os.environ, "OPENBLAS_THREAD_TIMEOUT": spin}
        command = [sys.executable, "-m", "benchmarks.idle_threads", "--times"]
        printed = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        runs[spin].append(json.loads(printed.splitlines()[-1]))
    default, ours = (
        {name: statistics.mean(run[name] for run in runs[spin]) for name in runs[spin][0]}
        for spin in SPINS[:2]
    )
    text = "\n".join(
        [
            "# Idle threads",
            "",
            f"`python -m benchmarks.idle_threads`, threads: {torch.get_num_threads()}, "
            f"{platform.machine()}, torch {torch.__version__}, numpy {np.__version__}. Medians of "
            f"{REPEATS} calls, means of two processes each; idle threads of OpenBLAS spin as long "
            "as numpy's wheels let them (default) or for 2^4 cycles (ours).",
            "",
            "| | default, ms | ours, ms | times as long |",
            "|---|---:|---:|---:|",
            *(
                f"| {name} | {1e3 * default[name]:.0f} | {1e3 * ours[name]:.0f} "
                f"| {default[name] / ours[name]:.1f} |"
                for name in ours
            ),
        ]
    )
    print(text)
    Path(__file__).with_suffix(".md").write_text(text + "\n")


def times() -> dict[str, float]:
    """Measure the median seconds of each call in this process."""
    search = SoundSearch.from_pretrained(device="cpu")
    index = made_index(search.encoder, vectors_of(N_SEGMENTS))
    convert = VoiceConversion.from_pretrained(CHECKPOINTS / "any-voice", "cpu")
    words = Words.from_pretrained(CHECKPOINTS / "words", "cpu")
    example = load(ASSETS / "examples" / "woman-lighthouse.ogg").waveform
    speech = (SAMPLE_RATE, np.resize(example, 10 * SAMPLE_RATE))
    return {
        f"a search among {N_SEGMENTS:,} sounds": median(
            lambda i: search(index, QUERIES[i % len(QUERIES)])
        ),
        "10 s of speech, converted, neural": median(lambda _: convert(speech, vocoder="neural")),
        "the same, Griffin-Lim": median(lambda _: convert(speech, vocoder="griffin-lim")),
        "a spoken word, embedded": median(lambda _: words.embed_audio(speech, (0.5, 1.0))),
    }


def median(call: Callable[[int], object]) -> float:
    """Measure the median of REPEATS calls, in seconds, after two that warm up."""
    taken = []
    for number in range(REPEATS + 2):
        began = time.perf_counter()
        call(number)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[2:])


if __name__ == "__main__":
    if "--times" in sys.argv:
        print(json.dumps(times()))
    else:
        main()
