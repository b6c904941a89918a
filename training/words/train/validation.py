"""Scores on the validation speakers, who are not trained on.

Shapes: N recordings, B batch, S frames, M mel bands, W written words.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.models.words.word_embedder import MultiViewEmbedder
from training.common.edit_distance import edit_distance
from training.common.loop import device
from training.words.data.batches import TrainingWords
from training.words.data.concatenation import Word
from training.words.data.padding import padded, stacked
from training.words.evaluate.metrics import average_precision
from training.words.train.losses import on_device

BATCH: Final = 192  # recordings
UNRECORDED: Final = 1500  # words that nobody recorded


@torch.inference_mode()
def cross_view_scores(
    network: MultiViewEmbedder, words: TrainingWords, held_out: frozenset[Word]
) -> dict[str, float]:
    """Measure the cross-view average precision of validation recordings with all recorded words,
    written: cross_view_ap and p_at_1 of all recordings; unseen_cross_view_ap of the held-out words;
    new_cross_view_ap of words concatenated from recordings of validation speakers, which nobody
    recorded. The last two show whether the network has learned phonemes or memorised words.

    score falls as the network gets better.
    """
    network.eval()
    recordings = [(u.word, words.mel(u.number)) for u in words.validation]
    vocabulary = sorted(set(words.recorded) | {word for word, _ in recordings})
    cosines, match = _cosines(network, recordings, vocabulary)
    unseen = np.array([word in held_out for word, _ in recordings])
    scores = {"cross_view_ap": average_precision(cosines[match], cosines[~match])}
    scores["p_at_1"] = float(match[np.arange(len(match)), cosines.argmax(axis=1)].mean())
    if unseen.any():
        scores["unseen_cross_view_ap"] = average_precision(
            cosines[unseen][match[unseen]], cosines[unseen][~match[unseen]]
        )
    score = 1 - float(np.mean([value for name, value in scores.items() if "ap" in name]))
    unrecorded = words.unrecorded(UNRECORDED)
    vocabulary = sorted({*vocabulary, *(word for word, _ in unrecorded)})
    cosines, match = _cosines(network, unrecorded, vocabulary)
    scores["new_cross_view_ap"] = average_precision(cosines[match], cosines[~match])
    network.train()
    print({name: round(value, 4) for name, value in scores.items()}, flush=True)
    return scores | {"score": score}


@torch.inference_mode()
def phoneme_errors(
    network: MultiViewEmbedder, words: TrainingWords, held_out: frozenset[Word]
) -> dict[str, float]:
    """Measure the phoneme error rate of greedy CTC decoding on validation recordings:
    phoneme_errors of all words, unseen_phoneme_errors of the held-out words. score falls as the
    network gets better.
    """
    network.eval()
    errors = np.zeros(len(words.validation))
    references = [utterance.word for utterance in words.validation]
    recordings = [words.mel(utterance.number) for utterance in words.validation]
    for rows, mel, lengths in _batches(recordings):
        logits, steps = network.predict_phonemes(mel, lengths)
        for row, best, length in zip(rows, logits.argmax(dim=-1).tolist(), steps, strict=True):
            predicted = [number for number, _ in groupby(best[:length]) if number]
            errors[row] = edit_distance(references[row], predicted)
    network.train()
    n_phonemes = np.array([len(word) for word in references])
    unseen = np.array([word in held_out for word in references])
    scores = {"phoneme_errors": float(errors.sum() / n_phonemes.sum())}
    if unseen.any():
        scores["unseen_phoneme_errors"] = float(errors[unseen].sum() / n_phonemes[unseen].sum())
    print({name: round(score, 4) for name, score in scores.items()}, flush=True)
    return scores | {"score": scores["phoneme_errors"]}


def _cosines(
    network: MultiViewEmbedder, recordings: list[tuple[Word, np.ndarray]], vocabulary: list[Word]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the cosine of each recording with each written word, and whether they match: (N, W)
    each.
    """
    written = network.embed_phonemes(*on_device(*padded(vocabulary)))
    audio = torch.zeros(len(recordings), network.config.width)
    for rows, mel, lengths in _batches([mel for _, mel in recordings]):
        audio[rows] = network.embed_audio(mel, lengths).cpu()
    columns = {word: i for i, word in enumerate(vocabulary)}
    match = np.zeros((len(recordings), len(vocabulary)), bool)
    match[np.arange(len(recordings)), [columns[word] for word, _ in recordings]] = True
    return (audio @ written.cpu().t()).numpy(), match


def _batches(recordings: list[np.ndarray]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yield batches of recordings (S, M) of similar length: their rows, mel (B, S, M), lengths
    (B,).
    """
    order = sorted(range(len(recordings)), key=lambda i: len(recordings[i]))
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        mel, lengths = stacked([recordings[i] for i in rows])
        yield rows, mel.to(device()), lengths.to(device())
