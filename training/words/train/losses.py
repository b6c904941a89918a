"""The loss of a batch, for each objective of a training stage.

Shapes: b recordings of a chunk, W words, P phonemes of the inventory, S' steps of the acoustic
encoder.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.text.phonemes import TONES, numbers
from earshot.models.words.word_embedder import MultiViewEmbedder
from training.common.loop import device, numpy_generator
from training.words.data.batch import Batch
from training.words.data.concatenation import Word
from training.words.data.padding import padded
from training.words.train.objectives import contrastive_loss, triplet_loss

# Replace, delete, insert a phoneme, swap two neighbours.
EDITS: Final = (0.55, 0.15, 0.15, 0.15)


def contrastive(
    network: MultiViewEmbedder, ctc_weight: float, batch: Batch, generator: torch.Generator
) -> Tensor:
    """Compute the contrastive loss with corrupted spellings as hard negatives, plus CTC."""
    audio, logits, steps = zip(
        *(network.encode(*on_device(*chunk)) for chunk in batch.chunks), strict=True
    )
    spellings = network.embed_phonemes(
        *on_device(*_with_corrupted(batch.phonemes, batch.phoneme_lengths, generator))
    )
    written, corrupted = spellings[: len(batch.phonemes)], spellings[len(batch.phonemes) :]
    scale = network.log_scale.clamp(max=4.0).exp()
    labels = batch.labels.to(written.device)
    loss = contrastive_loss(torch.cat(audio), written, corrupted, labels, scale, network.bias)
    return loss + ctc_weight * ctc_loss(batch, logits, steps)


def triplet(
    network: MultiViewEmbedder, ctc_weight: float, batch: Batch, generator: torch.Generator
) -> Tensor:
    """Compute the triplet loss of the papers alone."""
    audio = [network.embed_audio(*on_device(*chunk)) for chunk in batch.chunks]
    written = network.embed_phonemes(*on_device(batch.phonemes, batch.phoneme_lengths))
    return triplet_loss(torch.cat(audio), written, batch.labels.to(written.device))


def ctc(
    network: MultiViewEmbedder, ctc_weight: float, batch: Batch, generator: torch.Generator
) -> Tensor:
    """Compute CTC of the phonemes alone."""
    logits, steps = zip(
        *(network.predict_phonemes(*on_device(*chunk)) for chunk in batch.chunks), strict=True
    )
    return ctc_loss(batch, logits, steps)


# Each takes a network, the weight of CTC next to another loss, a batch and a generator.
LOSSES: Final = {"contrastive": contrastive, "triplet": triplet, "ctc": ctc}


def ctc_loss(batch: Batch, logits: Sequence[Tensor], steps: Sequence[Tensor]) -> Tensor:
    """Compute connectionist temporal classification of the phonemes (Graves et al. 2006), from the
    logits (b, S', P) of each chunk and their lengths (b,). Returns a scalar.
    """
    losses = []
    labels = batch.labels.split([len(chunk) for chunk in logits])
    for chunk, lengths, words in zip(logits, steps, labels, strict=True):
        losses.append(
            F.ctc_loss(
                chunk.float().log_softmax(dim=-1).transpose(0, 1),
                batch.phonemes[words].to(chunk.device),
                lengths,
                batch.phoneme_lengths[words].to(chunk.device),
                zero_infinity=True,
            )
        )
    return torch.stack(losses).mean()


def _with_corrupted(
    phonemes: Tensor, lengths: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Stack words (W, P'), and after them corrupted_words: (W + V, P'') and lengths (W + V,)."""
    words = [
        tuple(row[:length]) for row, length in zip(phonemes.tolist(), lengths.tolist(), strict=True)
    ]
    return padded([*words, *corrupted_words(words, generator)])


def corrupted_words(words: Sequence[Word], generator: torch.Generator) -> list[Word]:
    """Edit one or two phonemes of each word, unless that makes another of the words; sorted."""
    rng = numpy_generator(generator)
    inventory = np.unique([number for word in words for number in word])
    tones = numbers(TONES)
    return sorted({_corrupted(word, inventory, tones, rng) for word in words} - set(words))


def _corrupted(
    word: Word, inventory: np.ndarray, tones: list[int], rng: np.random.Generator
) -> Word:
    """Apply one or two of the EDITS to a word; a tone is only replaced by another tone."""
    edited = list(word)
    for _ in range(rng.integers(1, 3)):
        place = rng.integers(len(edited))
        kind = rng.choice(4, p=list(EDITS)) if edited[place] not in tones else 0
        other = int(rng.choice(tones if edited[place] in tones else inventory))
        if kind == 0:
            edited[place] = other
        elif kind == 1 and len(edited) > 2:
            del edited[place]
        elif kind == 2:
            edited.insert(place, other)
        elif place + 1 < len(edited):
            edited[place], edited[place + 1] = edited[place + 1], edited[place]
    return tuple(edited)


def on_device(*tensors: Tensor) -> list[Tensor]:
    """Move tensors to the device on which networks are trained."""
    return [tensor.to(device()) for tensor in tensors]
