"""How well a network does on the validation speakers, whom training does not hear.

Shapes: B recordings, S frames, S' steps of the acoustic view, M mel bands.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import numpy as np
import torch
from torch import Tensor

from media.text.phonemes import edit_distance
from models.word_embedder import WordEmbedder
from training.common.loop import device
from training.words.data.batches import Words, padded
from training.words.data.concatenation import Word
from training.words.evaluate.metrics import average_precision
from training.words.train.losses import on_device

BATCH: Final = 192  # recordings
NEW: Final = 1500  # of the words that nobody recorded


@torch.inference_mode()
def held_out(network: WordEmbedder, words: Words, left_out: frozenset[Word]) -> dict[str, float]:
    """Cross-view average precision on validation speakers: of all words, of those left out, and of
    words put together from theirs, which nobody recorded. The last tell a network that hears
    phonemes from one that has learnt the recorded words by heart.

    Every recorded word is written beside. score falls as the network gets better.
    """
    network.eval()
    said = [(word, words.mel(number)) for number, word, *_ in words.validation]
    vocabulary = sorted(set(words.recorded) | {word for word, _ in said})
    cosines, match = _fits(network, said, vocabulary)
    left = np.array([word in left_out for word, _ in said])
    scores = {"cross_view_ap": average_precision(cosines[match], cosines[~match])}
    scores["p_at_1"] = float(match[np.arange(len(said)), cosines.argmax(axis=1)].mean())
    if left.any():
        scores["unseen_cross_view_ap"] = average_precision(
            cosines[left][match[left]], cosines[left][~match[left]]
        )
    score = 1 - float(np.mean([v for k, v in scores.items() if "ap" in k]))
    new = words.new(NEW)
    cosines, match = _fits(network, new, sorted({*vocabulary, *(word for word, _ in new)}))
    scores["new_cross_view_ap"] = average_precision(cosines[match], cosines[~match])
    network.train()
    print({name: round(value, 4) for name, value in scores.items()}, flush=True)
    return scores | {"score": score}


@torch.inference_mode()
def misread(network: WordEmbedder, words: Words, left_out: frozenset[Word]) -> dict[str, float]:
    """Phoneme errors per phoneme of what is read on validation speakers, taking the best of each
    step: of all words, and of those left out. score falls as the network gets better."""
    network.eval()
    wrong = np.zeros(len(words.validation))
    said = [word for _, word, *_ in words.validation]
    recordings = [words.mel(number) for number, *_ in words.validation]
    for rows, mel, lengths in _batches(recordings):
        logits, steps = network.read(mel, lengths)
        for row, best, counted in zip(rows, logits.argmax(dim=-1).tolist(), steps, strict=True):
            read = [number for number, _ in groupby(best[:counted]) if number]
            wrong[row] = edit_distance(said[row], read)
    network.train()
    spelt = np.array([len(word) for word in said])
    new = np.array([word in left_out for word in said])
    scores = {"phoneme_errors": float(wrong.sum() / spelt.sum())}
    if new.any():
        scores["unseen_phoneme_errors"] = float(wrong[new].sum() / spelt[new].sum())
    print({name: round(score, 4) for name, score in scores.items()}, flush=True)
    return scores | {"score": scores["phoneme_errors"]}


def _fits(
    network: WordEmbedder, said: list[tuple[Word, np.ndarray]], vocabulary: list[Word]
) -> tuple[np.ndarray, np.ndarray]:
    """The cosine of each recording with each written word, and which word it is: (N, W) each."""
    written = network.embed_phonemes(*on_device(*padded(vocabulary)))
    audio = torch.zeros(len(said), network.config.width)
    for rows, mel, lengths in _batches([mel for _, mel in said]):
        audio[rows] = network.embed_audio(mel, lengths).cpu()
    places = {word: i for i, word in enumerate(vocabulary)}
    match = np.zeros((len(said), len(vocabulary)), bool)
    match[np.arange(len(said)), [places[word] for word, _ in said]] = True
    return (audio @ written.cpu().t()).numpy(), match


def _batches(recordings: list[np.ndarray]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Recordings (S, M), of like length together: which they are, mel (B, S, M), lengths (B,)."""
    order = sorted(range(len(recordings)), key=lambda i: len(recordings[i]))
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        lengths = torch.tensor([len(recordings[i]) for i in rows])
        mel = torch.zeros(len(rows), int(lengths.max()), recordings[0].shape[1])
        for row, i in zip(mel, rows, strict=True):
            row[: len(recordings[i])] = torch.from_numpy(recordings[i].astype(np.float32))
        yield rows, mel.to(device()), lengths.to(device())
