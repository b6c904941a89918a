"""Judges of speech that are installed; none is ever downloaded.

Words kept, by the recogniser that our own systems stand on. Naturalness by DNSMOS (Reddy et al.
2021), a network that predicts listeners' opinion scores, of the package speechmos. Similarity of
voices by the encoder of the package resemblyzer (Wan et al. 2018), whose cosine the field calls
SECS; it is installed without its dependencies, for the voice activity detector that it imports is
used only to trim recordings, which is not done here. Nothing here was trained with the packages, or
tuned on them.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

import numpy as np

from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE

WORDS, SIMILARITY, DNSMOS = "words_kept", "similarity", "dnsmos"
TITLES: Final = {  # of a table, and how it writes the figure
    WORDS: ("Words kept", "{:.0%}"),
    SIMILARITY: ("SECS", "{:.2f}"),
    DNSMOS: ("DNSMOS", "{:.2f}"),
}


def has_dnsmos() -> bool:
    """Whether speechmos and its runtime are installed."""
    return find_spec("speechmos") is not None and find_spec("onnxruntime") is not None


def dnsmos(waveforms: Sequence[np.ndarray]) -> dict[str, float]:
    """Measure mean opinion scores from 1 to 5 over waveforms (T,): overall, of the signal, and
    P.808.

    Raises ImportError where speechmos is not installed, ValueError where there is no waveform.
    """
    judge = import_module("speechmos.dnsmos")

    if not waveforms:
        raise ValueError("There is no audio to measure.")
    scores = [judge.run(np.clip(w, -1, 1), SAMPLE_RATE, return_df=False) for w in waveforms]
    names = {"dnsmos": "ovrl_mos", "dnsmos_signal": "sig_mos", "dnsmos_p808": "p808_mos"}
    return {name: float(np.mean([row[key] for row in scores])) for name, key in names.items()}


def has_resemblyzer() -> bool:
    """Whether resemblyzer is installed."""
    return find_spec("resemblyzer") is not None


def embed(waveforms: Sequence[np.ndarray]) -> np.ndarray:
    """Embed waveforms (T,) at 16 kHz as vectors of length 1: (N, 256)."""
    return np.stack([_encoder().embed_utterance(w.astype(np.float32)) for w in waveforms])


@cache
def _encoder() -> Any:
    sys.modules.setdefault("webrtcvad", ModuleType("webrtcvad"))
    return import_module("resemblyzer").VoiceEncoder("cpu", verbose=False)


@dataclass(frozen=True)
class Judge:
    """A judge of one measure of converted speech.

    measure: what it measures; name and version: of what measures it; missing: why it cannot, empty
    where it can; score: takes the result, its source and its target, waveforms (T,) at 16 kHz, the
    last two None where there is no such recording, and returns None where nothing can be measured.
    """

    measure: str
    name: str
    version: str
    missing: str
    score: Callable[[np.ndarray, np.ndarray | None, np.ndarray | None], float | None]


def judges() -> tuple[Judge, ...]:
    """List the judges of converted speech, with those that are not installed."""
    return (
        Judge(WORDS, "Moonshine tiny", _version("moonshine-voice"), "", _words_kept),
        Judge(
            SIMILARITY,
            "Resemblyzer",
            _version("resemblyzer"),
            "" if has_resemblyzer() else "resemblyzer is not installed",
            _similarity,
        ),
        Judge(
            DNSMOS,
            "DNSMOS (speechmos)",
            _version("speechmos"),
            "" if has_dnsmos() else "speechmos and onnxruntime are not installed",
            lambda result, source, target: dnsmos([result])["dnsmos"],
        ),
    )


def measured(
    judges: Sequence[Judge], result: Audio, source: Audio, target: Audio
) -> dict[str, str]:
    """Measure a conversion by the judges that are installed: what a table calls each measure → its
    figure. target: speech of the voice, None where there is none. Nothing of it stays in memory.
    """
    waveforms = [
        None if sound is None else load(sound, SAMPLE_RATE).waveform
        for sound in (result, source, target)
    ]
    assert waveforms[0] is not None
    figures = {}
    for judge in judges:
        value = None if judge.missing else judge.score(waveforms[0], waveforms[1], waveforms[2])
        if value is not None:
            title, form = TITLES[judge.measure]
            figures[title] = form.format(value)
    _transcript.cache_clear()
    return figures


def _words_kept(
    result: np.ndarray, source: np.ndarray | None, target: np.ndarray | None
) -> float | None:
    """Measure the share of the source's words that the result has, in their order."""
    if source is None:
        return None
    words = _transcript(source.tobytes())
    in_result, _ = words.compare(_transcript(result.tobytes()))
    return float(np.mean(in_result)) if in_result else None


@lru_cache(4)  # of a source, for several systems
def _transcript(waveform: bytes) -> Any:
    return _transcriber()((SAMPLE_RATE, np.frombuffer(waveform, np.float32)))


@cache
def _transcriber() -> Any:
    from earshot.pretrained.recogniser import Transcriber  # late, for it loads torch

    return Transcriber.from_pretrained()


def _similarity(
    result: np.ndarray, source: np.ndarray | None, target: np.ndarray | None
) -> float | None:
    """Compute the cosine of the voices of result and target."""
    if target is None:
        return None
    one, other = embed([result, target])
    return float(one @ other)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
