"""How well a network does on the validation speakers, whom training does not hear.

Shapes: B recordings, S frames, S' steps of the acoustic view, M mel bands.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import numpy as np
import torch
from torch import Tensor

from media.phonemes import edit_distance
from models.word_embedder import WordEmbedder
from training.loop import device
from training.words.data import Words, padded
from training.words.losses import on_device
from training.words.metrics import average_precision
from training.words.splices import Word

BATCH: Final = 192  # recordings


@torch.inference_mode()
def held_out(network: WordEmbedder, words: Words, left_out: frozenset[Word]) -> dict[str, float]:
    """Cross-view average precision on validation speakers: of all words, and of those left out.

    Every recorded word is written beside. score falls as the network gets better.
    """
    network.eval()
    vocabulary = sorted(set(words.recorded) | {word for _, word, _ in words.validation})
    written = network.embed_phonemes(*on_device(*padded(vocabulary)))
    audio = torch.zeros(len(words.validation), network.config.width)
    for rows, mel, lengths in _batches(words, network.config.n_mels):
        audio[rows] = network.embed_audio(mel, lengths).cpu()
    network.train()
    cosines = (audio @ written.t()).numpy()
    places = {word: i for i, word in enumerate(vocabulary)}
    said = [word for _, word, _ in words.validation]
    match = np.zeros(cosines.shape, bool)
    match[np.arange(len(said)), [places[word] for word in said]] = True
    new = np.array([word in left_out for word in said])
    scores = {"cross_view_ap": average_precision(cosines[match], cosines[~match])}
    scores["p_at_1"] = float(match[np.arange(len(said)), cosines.argmax(axis=1)].mean())
    if new.any():
        scores["unseen_cross_view_ap"] = average_precision(
            cosines[new][match[new]], cosines[new][~match[new]]
        )
    print({name: round(score, 4) for name, score in scores.items()}, flush=True)
    return scores | {"score": 1 - float(np.mean([v for k, v in scores.items() if "ap" in k]))}


@torch.inference_mode()
def misread(network: WordEmbedder, words: Words, left_out: frozenset[Word]) -> dict[str, float]:
    """Phoneme errors per phoneme of what is read on validation speakers, taking the best of each
    step: of all words, and of those left out. score falls as the network gets better."""
    network.eval()
    wrong = np.zeros(len(words.validation))
    said = [word for _, word, _ in words.validation]
    for rows, mel, lengths in _batches(words, network.config.n_mels):
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


def _batches(words: Words, n_mels: int) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """The validation recordings, of like length together: which they are, mel (B, S, M) and
    lengths (B,)."""
    recordings = [words.mel(number) for number, _, _ in words.validation]
    order = sorted(range(len(recordings)), key=lambda i: len(recordings[i]))
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        lengths = torch.tensor([len(recordings[i]) for i in rows])
        mel = torch.zeros(len(rows), int(lengths.max()), n_mels)
        for row, i in zip(mel, rows, strict=True):
            row[: len(recordings[i])] = torch.from_numpy(recordings[i].astype(np.float32))
        yield rows, mel.to(device()), lengths.to(device())
