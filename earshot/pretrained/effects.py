"""The pretrained encoder of sound effects that sound search hears with: aiSFX.

Ma and Lerch 2022; weights CC BY 4.0, of the wheel aisfx, which is downloaded and only read: it asks
for numpy 1.23. Nothing of it is executed.
"""

from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.loading import once
from earshot.media.audio import effects_features
from earshot.media.audio.sound_features import SAMPLE_RATE
from earshot.models.sound_search.effects_embedder import (
    CLASSIFIERS,
    STEP,
    EffectsCNN,
    blocks_around,
    blocks_of,
)
from earshot.pretrained.wheel import Wheel

WHEEL: Final = Wheel(
    "aisfx",
    "0.1.2",
    "aisfx-0.1.2-py2.py3-none-any.whl",
    "bfe219950715af179e9a1653e7117cc1852baef267cd6596c42cad74afe1d194",
)
WEIGHTS: Final = "aisfx/models/checkpoint.pth"
EPSILON: Final = 1e-5  # of batch normalisation
STEPS_PER_SECOND: Final = SAMPLE_RATE / effects_features.HOP_LENGTH / STEP


@once
def load_effects_cnn(device: str = "cpu") -> EffectsCNN:
    """Load the network, once for each device. Raises CheckpointError as Wheel.read does."""
    # The numbers of classes are stored as scalars of numpy.
    scalar = (np.int64(0).__reduce__()[0], "numpy.core.multiarray.scalar")
    allowed: list[Any] = [scalar, np.dtype, type(np.dtype(np.int64))]
    with torch.serialization.safe_globals(allowed):
        file = WHEEL.read(WEIGHTS)
        theirs, places = torch.load(file, map_location="cpu", weights_only=True)
    weights: dict[str, Tensor] = {}
    for block in range(4):
        for number in range(2):
            prefix = f"embedding_net.conv_block{block + 1}."
            norm = {
                name: theirs[f"{prefix}bn{number + 1}.{name}"]
                for name in ("weight", "bias", "running_mean", "running_var")
            }
            scale = norm["weight"] / (norm["running_var"] + EPSILON).sqrt()
            name = f"convolutions.{2 * block + number}"
            kernel = theirs[f"{prefix}conv{number + 1}.weight"]
            weights[f"{name}.weight"] = kernel * scale[:, None, None, None]
            weights[f"{name}.bias"] = norm["bias"] - norm["running_mean"] * scale
    for number, library in enumerate(CLASSIFIERS):
        place = int(places[library][0])
        for part in (f"{layer}.{kind}" for layer in (0, 2, 4) for kind in ("weight", "bias")):
            weights[f"classifiers.{number}.{part}"] = theirs[f"fc.{place}.{part}"]
    network = EffectsCNN()
    network.load_state_dict(weights)
    return network.to(device).eval().requires_grad_(False)


class EffectsHearing:
    """What the network hears in segments of sounds of unit peak, at SAMPLE_RATE: blocks, and the
    probabilities of their categories.
    """

    def __init__(self, network: EffectsCNN, device: torch.device) -> None:
        """Keep a network that is on the device."""
        self._network, self._device = network, device

    @torch.inference_mode()
    def __call__(self, segments: np.ndarray) -> tuple[tuple[Tensor, Tensor], ...]:
        """Hear segments (N, T'): blocks (N, b, C) and their probabilities (N, b, O), of the whole
        segments; and the same with a block around each second.
        """
        mel = torch.from_numpy(effects_features.log_mel(segments)).to(self._device)
        steps = self._network(mel)
        seconds = -(-segments.shape[1] // SAMPLE_RATE)
        places = [(second + 0.5) * STEPS_PER_SECOND for second in range(seconds)]
        found = blocks_of(steps), blocks_around(steps, places)
        return tuple((blocks, self._network.classify(blocks)) for blocks in found)
