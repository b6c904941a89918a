"""The networks of the words: recordings and phonemes → vectors in one space."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from earshot.core import cancellation
from earshot.media.audio.features import SAMPLE_RATE, log_mel
from earshot.media.audio.load import match_loudness
from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.audio.vtlp import vtlp
from earshot.media.text.phonemes import numbers
from earshot.models.words.word_embedder import MultiViewEmbedder, PhonemeBottleneckEmbedder
from earshot.pipelines.checkpoint import load_front_end


class WordEncoder:
    """One network, or an ensemble, whose vectors are concatenated: a cosine is the mean of theirs.

    The networks are shared by all visitors and keep no state.
    """

    LEVEL: Final = -23.0  # LUFS to which every recording is normalised
    BATCH: Final = 64  # words in a batch
    VTLP_VIEWS: Final = (3, 6, 9)  # test-time augmentation: indices of media.audio.vtlp.FACTORS
    CHUNK: Final = 2_000  # frames of a long recording that are encoded at once
    CONTEXT: Final = 60  # frames before and after them, a multiple of the encoder's subsampling

    def __init__(
        self, networks: Sequence[MultiViewEmbedder], config: dict[str, Any], device: torch.device
    ) -> None:
        self._networks = networks
        self._with_pitch = any(network.config.pitch for network in networks)
        self._width = sum(network.config.width for network in networks)
        self._device = device
        self._front_end = load_front_end(config, device)

    @torch.inference_mode()
    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Words at 16 kHz, (T,) float32 each, trimmed to the word → unit vectors (N, D).

        Their loudness is normalised first. Words of similar length share a batch.
        """
        mels = [self._frames(waveform) for waveform in waveforms]
        vectors = np.zeros((len(mels), self._width), np.float32)
        order = sorted(range(len(mels)), key=lambda i: len(mels[i]))
        for first in range(0, len(order), self.BATCH):
            rows = order[first : first + self.BATCH]
            lengths = torch.tensor([len(mels[i]) for i in rows])
            batch = torch.zeros(len(rows), int(lengths.max()), mels[rows[0]].shape[1])
            for row, i in zip(batch, rows, strict=True):
                row[: len(mels[i])] = torch.from_numpy(mels[i])
            vectors[rows] = self._encode(batch, lengths).cpu().numpy()
        return vectors

    @torch.inference_mode()
    def log_posteriors(self, waveform: np.ndarray) -> np.ndarray:
        """Speech at 16 kHz (T,), of any length → log posteriors of phonemes, with 0 the blank, in
        each step of the acoustic encoder: (S, P).

        Of the phoneme-bottleneck model if there is one, for it sees 0.3 s of context and no word.
        """
        network = next(
            (n for n in self._networks if isinstance(n, PhonemeBottleneckEmbedder)),
            self._networks[0],
        )
        mel = torch.from_numpy(self._frames(waveform))
        step, parts = network.config.stack, []
        for first in range(0, len(mel), self.CHUNK):
            cancellation.check()
            before = min(first, self.CONTEXT)
            chunk = mel[first - before : first + self.CHUNK + self.CONTEXT][None]
            lengths = torch.tensor([chunk.shape[1]], device=self._device)
            logits, _ = network.predict_phonemes(chunk.to(self._device), lengths)
            end = -(-(before + min(self.CHUNK, len(mel) - first)) // step)
            kept = logits[0, before // step : end].float()  # half precision would round posteriors
            parts.append(kept.log_softmax(dim=-1).cpu().numpy())
        return np.concatenate(parts)

    def _frames(self, waveform: np.ndarray) -> np.ndarray:
        """Speech (T,), at the networks' level → frames of the word, or of the front end: (S, M)."""
        at_level = match_loudness(waveform, SAMPLE_RATE, self.LEVEL)
        if self._front_end:
            return self._front_end.aligned(at_level)
        if self._with_pitch:
            return log_mel_and_pitch(at_level)
        return np.pad(log_mel(at_level), ((0, 0), (0, 1)))  # these networks do not look at it

    def _encode(self, mel: Tensor, lengths: Tensor) -> Tensor:
        """The mean over VTLP views, which varies less from speaker to speaker (a front end has one
        view): frames (B, S, M) → unit vectors (B, D)."""
        if self._front_end:
            batch = mel.to(self._device), lengths.to(self._device)
            return _concatenated([network.embed_audio(*batch) for network in self._networks])
        count = len(self.VTLP_VIEWS)
        factors = torch.tensor(self.VTLP_VIEWS).repeat_interleave(len(mel))
        views = vtlp(mel.repeat(count, 1, 1), factors).to(self._device)
        lengths = lengths.repeat(count).to(self._device)
        vectors = [network.embed_audio(views, lengths) for network in self._networks]
        return _concatenated([v.unflatten(0, (count, -1)).mean(dim=0) for v in vectors])

    @torch.inference_mode()
    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        """Phonemes of each word (earshot.media.text.phonemes) → unit vectors (N, D)."""
        vectors = np.zeros((len(words), self._width), np.float32)
        for first in range(0, len(words), self.BATCH):
            part = words[first : first + self.BATCH]
            lengths = torch.tensor([len(word) for word in part])
            batch = torch.zeros(len(part), int(lengths.max()), dtype=torch.long)
            for row, word in zip(batch, part, strict=True):
                row[: len(word)] = torch.tensor(numbers(word))
            batch, lengths = batch.to(self._device), lengths.to(self._device)
            parts = [network.embed_phonemes(batch, lengths) for network in self._networks]
            vectors[first : first + len(part)] = _concatenated(parts).cpu().numpy()
        return vectors


def _concatenated(parts: Sequence[Tensor]) -> Tensor:
    """Vectors (B, D') of each network → unit vectors (B, D), in which all have equal weight."""
    return normalize(torch.cat([normalize(part, dim=1) for part in parts], dim=1), dim=1)
