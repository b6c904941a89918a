"""How right the notice is that noise covers the words of a recording.

Read English by people whom nothing was trained on, as it is, in eight rooms, and in babble of six
others, music and traffic at 10, 5 and 0 dB. The truth is whether the recogniser loses more than
MAX_LOST of the words that it finds in the recording without noise. With --fit, on training speakers
in other noises, what the notice is decided by is fitted anew and printed.

    python -m benchmarks.noise_notice --data DATA [--fit]
"""

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize

from benchmarks.mark import reverberate
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.recogniser import Transcriber
from earshot.systems.voice_conversion.converter import (
    MAX_RISE,
    loses_words,
    rise_over_pauses,
    twice_recognised,
)

MAX_LOST: Final = 0.25  # of the words
SECONDS: Final = 6.0  # of each recording
RECORDINGS: Final = 20
LEVELS: Final = (10.0, 5.0, 0.0)  # dB of speech to noise
FIT_LEVELS: Final = (20.0, 15.0, 10.0, 10.0, 7.0, 5.0, 0.0)
TALKING: Final = 6  # voices of the babble
# Seconds in which a room's sound falls by 60 dB, and the share of it that is direct.
ROOMS: Final = (
    *((0.2, 0.7), (0.3, 0.6), (0.4, 0.5), (0.5, 0.5)),
    *((0.6, 0.4), (0.7, 0.35), (0.9, 0.3), (1.2, 0.3)),
)
TRAFFIC: Final = ("engine", "car_horn", "train", "siren", "helicopter", "airplane")
FIT_FOLDS: Final = "123"  # of ESC-50; traffic of fold 4 is for the test
MUSIC: Final = {  # kinds of sounds in assets, by whether they are for the fit
    True: ("guitar", "bass_guitar", "piano", "drum", "synthesizer", "music_box"),
    False: ("violin", "trumpet", "flute", "organ", "harp", "accordion", "xylophone", "cymbal"),
}


class Row(NamedTuple):
    """A recording in a condition: whether its words are lost, the recogniser's confidence, the
    share of words that it finds again, and the rise over its pauses."""

    name: str
    lost: bool
    confidence: float
    agreement: float
    rise: float


class Noises:
    """Noise of each kind, of which none is both for the fit and for the test."""

    def __init__(self, data: Path, fit: bool, babble: list[Path], random: Any) -> None:
        """babble: recordings of those who talk in it."""
        with open(ASSETS / "sounds" / "captions.csv", newline="") as file:
            rows = list(csv.reader(file))[1:]
        music = [ASSETS / "sounds" / name for name, kind, *_ in rows if kind in MUSIC[fit]]
        with open(data / "sounds" / "manifest.csv", newline="") as file:
            traffic = [
                data / "sounds" / row["path"]
                for row in csv.DictReader(file)
                if row["label"] in TRAFFIC and (row["fold"] in FIT_FOLDS) == fit
            ]
        self._sounds = {
            "babble": (babble, TALKING),
            "music": (music, 3),
            "traffic": (traffic, 2),
        }
        self._random = random

    def added(self, speech: np.ndarray, kind: str, snr: float) -> np.ndarray:
        """Add noise of a kind to speech (T,), ``snr`` dB below it."""
        paths, count = self._sounds[kind]
        noise = np.zeros(len(speech))
        for number in self._random.choice(len(paths), count, replace=False):
            sound = load(paths[number], SAMPLE_RATE, 600.0).waveform
            sound = np.roll(sound, int(self._random.integers(len(sound))))
            noise += np.resize(sound, len(speech)) / math.sqrt(np.square(sound).mean() + 1e-12)
        gain = math.sqrt(np.square(speech).mean() / np.square(noise).mean())
        return (speech + gain * 10 ** (-snr / 20) * noise).astype(np.float32)


def measured(data: Path, fit: bool) -> Iterator[Row]:
    """Yield the condition of each recording, and what there is to judge it by."""
    corpus = data / "speech" / "librispeech_251"
    with open(corpus / "manifest.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    train = [corpus / row["path"] for row in rows if row["split"] == "train"]
    test = [corpus / row["path"] for row in rows if row["split"] == "test"]
    speech = train[:RECORDINGS] if fit else test[:: len(test) // RECORDINGS][:RECORDINGS]
    speakers = train[RECORDINGS : 3 * RECORDINGS] if fit else train[-2 * RECORDINGS :]
    transcribe = Transcriber.from_pretrained()

    for number, path in enumerate(speech):
        random = np.random.default_rng([int(fit), number])
        noises = Noises(data, fit, speakers, random)
        clean = load(path, SAMPLE_RATE, 600.0).waveform[: round(SECONDS * SAMPLE_RATE)]
        words = transcribe((SAMPLE_RATE, clean))
        versions = [("clean", clean)]
        rooms = [ROOMS[(number + shift) % len(ROOMS)] for shift in (0, 4)]
        for seconds, direct in rooms:
            room = reverberate(clean, seconds, direct, seconds, random).astype(np.float32)
            versions.append(("in a room", room))
        for kind in ("babble", "music", "traffic"):
            for snr in random.choice(FIT_LEVELS, 3, replace=False) if fit else LEVELS:
                versions.append((f"{kind}, {snr:.0f} dB", noises.added(clean, kind, snr)))
        for name, waveform in versions:
            noisy, agreement = twice_recognised(waveform, transcribe)
            remain = words.compare(noisy)[0]
            lost = bool(remain) and 1 - np.mean(remain) > MAX_LOST
            yield Row(name, bool(lost), noisy.confidence, agreement, rise_over_pauses(waveform))


def fitted(rows: list[Row]) -> np.ndarray:
    """Fit the logistic regression of lost words: bias, weights of the confidence, of the agreement
    and of the rise."""
    near = [row for row in rows if row.rise < MAX_RISE]
    inputs = np.array([(1.0, row.confidence, row.agreement, row.rise) for row in near])
    signs = np.array([1 if row.lost else -1 for row in near])
    return minimize(lambda b: np.logaddexp(0, -signs * (inputs @ b)).mean(), np.zeros(4)).x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    chosen = parser.parse_args()
    rows = list(measured(chosen.data, chosen.fit))
    if chosen.fit:
        print("bias, of confidence, of agreement, of rise:", np.round(fitted(rows), 3))
    noticed = [
        row.rise < MAX_RISE and loses_words(row.confidence, row.agreement, row.rise) for row in rows
    ]
    print("| condition | recordings | words lost % | noticed % | right % |\n|---|---|---|---|---|")
    for name in [*dict.fromkeys(row.name for row in rows), ""]:
        part = [
            (row.lost, notice)
            for row, notice in zip(rows, noticed, strict=True)
            if name in ("", row.name)
        ]
        lost, notices = (100 * np.mean(column) for column in zip(*part, strict=True))
        right = 100 * np.mean([lost == notice for lost, notice in part])
        print(f"| {name or 'all'} | {len(part)} | {lost:.0f} | {notices:.0f} | {right:.0f} |")


if __name__ == "__main__":
    main()
