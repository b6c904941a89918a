"""Synthesis of words in the voices of flite (recorded by Carnegie Mellon University, freely usable)
and of espeak-ng."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import soundfile

from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from synthetic.words import Word

# Voice → the program and its options.
FLITE: Final = {name: ("flite", "-voice", name) for name in ("slt", "rms", "awb", "kal16")}
ESPEAK: Final = {
    "espeak woman": {"English": "en-gb+f3", "Mandarin": "cmn-latn-pinyin+f2", "Arabic": "ar+f5"},
    "espeak man": {"English": "en-us+m3", "Mandarin": "cmn-latn-pinyin+m7", "Arabic": "ar+m1"},
}
MANNER: Final = {"espeak woman": ("-s", "140", "-p", "60"), "espeak man": ("-s", "125", "-p", "35")}
SLOW: Final = "1.25"  # duration factor of flite: single words are spoken more slowly
LOUDNESS: Final = -20.0  # LUFS
SILENT: Final = 10 ** (-45 / 20)  # of the peak: anything softer is trimmed
MARGIN: Final = 0.03  # seconds kept around a word
FADE: Final = 0.01  # seconds
COMPRESSION: Final = 0.94  # of libsndfile: about 25 kbit/s


def voices(number: int, word: Word) -> list[str]:
    """Choose the voices of the word with this number in the list: for English two of the four flite
    voices and one of espeak-ng, in turn; else both espeak-ng voices.
    """
    if word.language != "English":
        return list(ESPEAK)
    flite = list(FLITE)
    pair = (flite[(number + turn) % len(flite)] for turn in (2, 3))
    return [*pair, list(ESPEAK)[number // len(FLITE) % len(ESPEAK)]]


def speak(word: Word, voice: str) -> np.ndarray:
    """Synthesise the waveform (T,) at SAMPLE_RATE, trimmed to the word, at LOUDNESS."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "word.wav")
        subprocess.run(_command(word, voice, path), check=True)
        waveform = load(path, SAMPLE_RATE).waveform
    loud = np.flatnonzero(np.abs(waveform) > SILENT * np.abs(waveform).max())
    margin = round(MARGIN * SAMPLE_RATE)
    waveform = waveform[max(loud[0] - margin, 0) : loud[-1] + margin]
    ends = np.minimum(np.arange(len(waveform)), np.arange(len(waveform))[::-1])
    waveform = waveform * np.minimum(ends / (FADE * SAMPLE_RATE), 1)
    return match_loudness(waveform.astype(np.float32), SAMPLE_RATE, LOUDNESS)


def write(path: Path, waveform: np.ndarray) -> None:
    """Write a word (T,) as Ogg Opus."""
    soundfile.write(
        path, waveform, SAMPLE_RATE, format="OGG", subtype="OPUS", compression_level=COMPRESSION
    )


def _command(word: Word, voice: str, path: str) -> Sequence[str]:
    if voice in FLITE:
        return *FLITE[voice], "--setf", f"duration_stretch={SLOW}", "-t", word.read, path
    return "espeak-ng", "-v", ESPEAK[voice][word.language], *MANNER[voice], "-w", path, word.read
