"""The losses that bring the acoustic and the written view together, and the loss of a batch for
each objective of a training stage.

Shapes: B recordings, b of a chunk, W words, V corrupted spellings, D dimensions of the shared
space, P phonemes of the inventory, S' steps of the acoustic encoder. Vectors have unit length.
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
from training.words.concatenation import Word
from training.words.frames.arrays import padded
from training.words.frames.batches import Batch

MARGIN: Final = 0.4
NEGATIVES: Final = 10  # k, the number of hardest negatives
IMPOSSIBLE: Final = -1e4  # a logit of zero probability
# Replace, delete, insert a phoneme, swap two neighbours.
EDITS: Final = (0.55, 0.15, 0.15, 0.15)


def triplet_loss(audio: Tensor, written: Tensor, labels: Tensor) -> Tensor:
    """Add up the mean terms of Rhodes & Bains, Eq. (4): obj⁰, obj¹ and obj² of He et al.

    audio (B, D), written (W, D), labels (B,): the word of each recording. The distance is
    1 − cosine, and each term averages the NEGATIVES hardest negatives. Returns a scalar.
    """
    audio_to_written = 1 - audio @ written.t()  # (B, W)
    written_to_written = 1 - written @ written.t()  # (W, W)
    positive = audio_to_written.gather(1, labels[:, None])[:, 0]
    is_word = F.one_hot(labels, len(written)).bool()  # (B, W)
    itself = torch.eye(len(written), dtype=torch.bool, device=written.device)
    negatives = (
        _hardest(audio_to_written, is_word),
        _hardest(written_to_written, itself)[labels],
        _hardest(audio_to_written.t(), is_word.t())[labels],
    )
    terms = [(MARGIN + positive - negative).clamp(min=0).mean() for negative in negatives]
    return torch.stack(terms).sum()


def _hardest(distances: Tensor, is_positive: Tensor) -> Tensor:
    """Average the smallest distances in each row, without those of positives."""
    k = min(NEGATIVES, distances.shape[1] // 2)
    negatives = distances.masked_fill(is_positive, torch.inf)
    return negatives.topk(k, dim=1, largest=False).values.mean(dim=1)


def contrastive_loss(
    audio: Tensor, written: Tensor, corrupted: Tensor, labels: Tensor, scale: Tensor, bias: Tensor
) -> Tensor:
    """Compute the supervised contrastive loss between and within the views, plus a sigmoid loss of
    each pair.

    audio (B, D), written (W, D), labels (B,): the word of each recording; corrupted (V, D):
    spellings one or two phonemes away from a word, which are negatives only. scale and bias of the
    cosines are learned. Returns a scalar.

    The cross-entropies (Khosla et al. 2020) rank the negatives of both views together, as obj¹ of
    He et al. does: without negatives of its own view each view would keep to its own region. The
    sigmoid loss (Zhai et al. 2023) learns one threshold for all pairs, which average precision
    needs.
    """
    spellings = torch.cat([written, corrupted])
    to_spellings, to_audio = audio @ spellings.t(), audio @ audio.t()  # (B, W + V), (B, B)
    same_word = labels[:, None] == labels[None]  # (B, B)
    is_word = F.one_hot(labels, len(spellings)).bool()  # (B, W + V)
    audio_to_written = F.cross_entropy(
        scale * torch.cat([to_spellings, to_audio.masked_fill(same_word, IMPOSSIBLE)], dim=1),
        labels,
    )
    ranking = audio_to_written + _written_to_audio(to_spellings, written, spellings, labels, scale)
    ranking = ranking + 0.5 * _audio_to_audio(to_audio, same_word, scale)
    pairs = _sigmoid_loss(to_spellings, is_word, scale, bias)
    return ranking + pairs + 0.5 * _sigmoid_loss(to_audio, same_word, scale, bias)


def _written_to_audio(
    to_spellings: Tensor, written: Tensor, spellings: Tensor, labels: Tensor, scale: Tensor
) -> Tensor:
    """Compute the cross-entropy of each word with its recordings, which share the target equally,
    against the other recordings and spellings.
    """
    n_words = len(written)
    itself = torch.eye(n_words, len(spellings), dtype=torch.bool, device=written.device)
    to_written = (written @ spellings.t()).masked_fill(itself, IMPOSSIBLE)  # (W, W + V)
    recordings = F.one_hot(labels, n_words).t().float()  # (W, B)
    targets = recordings / recordings.sum(dim=1, keepdim=True).clamp(min=1)
    logits = scale * torch.cat([to_spellings[:, :n_words].t(), to_written], dim=1)
    return F.cross_entropy(logits, F.pad(targets, (0, len(spellings))))


def _audio_to_audio(to_audio: Tensor, same_word: Tensor, scale: Tensor) -> Tensor:
    """Compute the cross-entropy of each recording with the others of its word, against all other
    recordings.
    """
    itself = torch.eye(len(to_audio), dtype=torch.bool, device=to_audio.device)
    log_probability = (scale * to_audio).masked_fill(itself, IMPOSSIBLE).log_softmax(dim=1)
    positives = (same_word & ~itself).float()
    return -(log_probability * positives).sum(dim=1).div(positives.sum(dim=1).clamp(min=1)).mean()


def _sigmoid_loss(cosines: Tensor, is_positive: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Compute the sigmoid loss of each pair; a recording paired with itself has a cosine of 1 and
    adds almost nothing.
    """
    signs = 2.0 * is_positive - 1
    return -F.logsigmoid(signs * (scale * cosines - bias)).sum(dim=1).mean()


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
