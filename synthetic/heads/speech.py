"""Sentences of the GRID grammar, synthesised by espeak-ng, with phone boundaries.

The boundaries are found by forced alignment with pocketsphinx, as espeak-ng does not give them.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pocketsphinx

from earshot.media.audio.load import load, match_loudness, to_int16
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import grid_phones
from synthetic.heads.speaker import Speaker

LOUDNESS: Final = -20.0  # LUFS
BEFORE: Final = 0.6  # s of silence
AFTER: Final = 0.5  # s of silence
FRAME: Final = 0.01  # s: frame shift of pocketsphinx
DITHER: Final = 1e-3  # std of the noise added for pocketsphinx, which fails in digital silence


@dataclass(frozen=True)
class Phone:
    """An ARPAbet phone; start and end in seconds."""

    name: str
    start: float
    end: float


def speak(speaker: Speaker, sentence: str) -> np.ndarray:
    """Synthesise a sentence: the waveform (T,) at SAMPLE_RATE, with silence around it."""
    # A bare "a" would be pronounced as the article.
    text = " ".join("[['eI]]" if word == "a" else word for word in sentence.split())
    options = ("-v", speaker.voice, "-p", str(speaker.pitch), "-s", str(speaker.speed))
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "sentence.wav")
        subprocess.run(["espeak-ng", *options, "-z", "-w", path, text], check=True)
        speech = match_loudness(load(path, SAMPLE_RATE).waveform, SAMPLE_RATE, LOUDNESS)
    return np.pad(speech, (round(BEFORE * SAMPLE_RATE), round(AFTER * SAMPLE_RATE)))


def align(waveform: np.ndarray, sentence: str) -> list[Phone]:
    """Align the phones of a sentence with its waveform.

    Raises KeyError for a word outside the grammar.
    """
    words = {f"word{i}": phones for i, phones in enumerate(grid_phones(sentence))}
    decoder = pocketsphinx.Decoder(
        samprate=SAMPLE_RATE, loglevel="FATAL", bestpath=False, lm=None, dict=None
    )
    for word, phones in words.items():
        decoder.add_word(word, phones)
    decoder.set_align_text(" ".join(words))
    _listen(decoder, waveform)
    decoder.set_alignment()
    _listen(decoder, waveform)
    return [
        Phone(phone.name, phone.start * FRAME, (phone.start + phone.duration) * FRAME)
        for word in decoder.get_alignment()
        for phone in word
        if phone.name != "SIL"
    ]


def _listen(decoder: pocketsphinx.Decoder, waveform: np.ndarray) -> None:
    dither = DITHER * np.random.default_rng(0).standard_normal(len(waveform))
    decoder.start_utt()
    decoder.process_raw(to_int16(waveform + dither).tobytes(), full_utt=True)
    decoder.end_utt()
