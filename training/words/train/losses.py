"""The losses of a batch, by the objective of a stage.

Shapes: B recordings, W words, S' steps of the acoustic view.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from media.text.phonemes import TONES, numbers
from models.word_embedder import WordEmbedder
from training.common.loop import device
from training.words.data.batches import Batch, padded
from training.words.data.concatenation import Word
from training.words.train.objectives import contrast, triplets


def _contrast(
    network: WordEmbedder, reading: float, batch: Batch, generator: torch.Generator
) -> Tensor:
    """Ours: supervised contrast with words that almost sound alike, and reading."""
    audio, logits, steps = zip(
        *(network.hear(*on_device(*chunk)) for chunk in batch.chunks), strict=True
    )
    words = network.embed_phonemes(
        *on_device(*_with_wrong(batch.phonemes, batch.phoneme_lengths, generator))
    )
    written, wrong = words[: len(batch.phonemes)], words[len(batch.phonemes) :]
    scale = network.log_scale.clamp(max=4.0).exp()
    types = batch.types.to(written.device)
    apart = contrast(torch.cat(audio), written, wrong, types, scale, network.bias)
    return apart + reading * _misread(batch, logits, steps)


def _triplets(network: WordEmbedder, _: float, batch: Batch, generator: torch.Generator) -> Tensor:
    """The paper's."""
    audio = [network.embed_audio(*on_device(*chunk)) for chunk in batch.chunks]
    written = network.embed_phonemes(*on_device(batch.phonemes, batch.phoneme_lengths))
    return triplets(torch.cat(audio), written, batch.types.to(written.device))


def _reading(network: WordEmbedder, _: float, batch: Batch, generator: torch.Generator) -> Tensor:
    """The phonemes alone."""
    logits, steps = zip(*(network.read(*on_device(*chunk)) for chunk in batch.chunks), strict=True)
    return _misread(batch, logits, steps)


# Each of a network, the weight of reading, a batch and a generator.
LOSSES: Final = {"contrast": _contrast, "triplets": _triplets, "reading": _reading}


def _misread(batch: Batch, logits: Sequence[Tensor], steps: Sequence[Tensor]) -> Tensor:
    """Connectionist temporal classification of the phonemes (Graves et al. 2006), from logits
    (b, S', n_phonemes) of each chunk, of which so many steps (b,) count."""
    losses = []
    for read, counted, types in zip(
        logits, steps, batch.types.split([*map(len, logits)]), strict=True
    ):
        losses.append(
            F.ctc_loss(
                read.float().log_softmax(dim=-1).transpose(0, 1),
                batch.phonemes[types].to(read.device),
                counted,
                batch.phoneme_lengths[types].to(read.device),
                zero_infinity=True,
            )
        )
    return torch.stack(losses).mean()


def _with_wrong(
    phonemes: Tensor, lengths: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Words (W, P), and after them one or two phonemes changed in each, where that is no word of
    the batch: (W + V, P')."""
    rng = np.random.default_rng(int(torch.randint(2**31, (), generator=generator)))
    words = [
        tuple(row[:length]) for row, length in zip(phonemes.tolist(), lengths.tolist(), strict=True)
    ]
    sounds = np.unique(phonemes[phonemes > 0].numpy())
    tones = numbers(TONES)
    wrong = {_changed(word, sounds, tones, rng) for word in words} - set(words)
    return padded([*words, *sorted(wrong)])


def _changed(word: Word, sounds: np.ndarray, tones: list[int], rng: np.random.Generator) -> Word:
    """The word with a phoneme replaced, left out or added, or two neighbours exchanged."""
    changed = list(word)
    for _ in range(rng.integers(1, 3)):
        place = rng.integers(len(changed))
        kind = rng.choice(4, p=[0.55, 0.15, 0.15, 0.15]) if changed[place] not in tones else 0
        other = int(rng.choice(tones if changed[place] in tones else sounds))
        if kind == 0:
            changed[place] = other
        elif kind == 1 and len(changed) > 2:
            del changed[place]
        elif kind == 2:
            changed.insert(place, other)
        elif place + 1 < len(changed):
            changed[place], changed[place + 1] = changed[place + 1], changed[place]
    return tuple(changed)


def on_device(*tensors: Tensor) -> list[Tensor]:
    """The tensors where networks are trained."""
    return [tensor.to(device()) for tensor in tensors]
