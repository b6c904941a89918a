"""Train the two views together: our contrast, or the paper's triplets on the paper's schedule.

Shapes: B recordings, W words, D the shared space.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from media.phonemes import TONES, numbers
from models.word_embedder import WordEmbedder, WordEmbedderConfig
from training.loop import device, fit, save
from training.words.data import Batch, Words, padded
from training.words.metrics import average_precision
from training.words.objectives import contrast, triplets
from training.words.plateau import descend

N_WORDS: Final = 96  # in a batch
READING: Final = 0.5  # weight of the phonemes that the acoustic view reads (CTC)

Word = tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """One stage of training. shards: of the synthetic words, that it hears; left_out: words that it
    does not; start: the run it goes on from; triplets: the paper's loss and schedule, for at most
    so many steps; narrow: share of the words that is heard as on the telephone."""

    steps: int
    learning_rate: float
    shards: int
    left_out: frozenset[Word] = field(default_factory=frozenset)
    start: str = ""
    triplets: bool = False
    narrow: float = 0.15


def align(run: Path, name: str, config: WordEmbedderConfig, stage: Stage) -> None:
    """Train run/name.pt on the prepared arrays in run."""
    words = Words(run, stage.shards, stage.left_out, stage.narrow)
    network = WordEmbedder(config).to(device())
    if stage.start:
        saved = torch.load(run / f"{stage.start}.pt", weights_only=True)
        network.load_state_dict(saved["network"])
    batches: list[Iterator[Batch]] = []

    def draw(generator: torch.Generator) -> Batch:
        if not batches:
            batches.append(words.batches(N_WORDS, generator))
        return next(batches[0])

    state = run / f"{name}-state.pt"
    score = partial(held_out, network, words, stage.left_out)
    if stage.triplets:
        result = descend(
            network,
            lambda generator: _triplets(network, draw(generator)),
            lambda: score()["score"],
            state,
            stage.steps,
            stage.learning_rate,
        )
    else:
        result = fit(
            network,
            lambda generator: _contrast(network, draw(generator), generator),
            lambda: score()["score"],
            state,
            stage.steps,
            stage.learning_rate,
            weight_decay=0.05,
        )
    save(run, name, config, network, result | score())


def _contrast(network: WordEmbedder, batch: Batch, generator: torch.Generator) -> Tensor:
    """Ours: supervised contrast with words that almost sound alike, and reading."""
    audio, reading = embed(network, batch)
    words = network.embed_phonemes(
        *_on_device(*_with_wrong(batch.phonemes, batch.phoneme_lengths, generator))
    )
    written, wrong = words[: len(batch.phonemes)], words[len(batch.phonemes) :]
    scale = network.log_scale.clamp(max=4.0).exp()
    types = batch.types.to(audio.device)
    return contrast(audio, written, wrong, types, scale, network.bias) + READING * reading


def _triplets(network: WordEmbedder, batch: Batch) -> Tensor:
    """The paper's."""
    audio, _ = embed(network, batch)
    written = network.embed_phonemes(*_on_device(batch.phonemes, batch.phoneme_lengths))
    return triplets(audio, written, batch.types.to(audio.device))


def embed(network: WordEmbedder, batch: Batch) -> tuple[Tensor, Tensor]:
    """Vectors of the recordings (B, D), in the order of their types, and the loss of reading."""
    vectors, losses = [], []
    first = 0
    for mel, lengths in batch.chunks:
        audio, reading, steps = network.hear(*_on_device(mel, lengths))
        types = batch.types[first : first + len(mel)]
        first += len(mel)
        vectors.append(audio)
        losses.append(
            F.ctc_loss(
                reading.float().log_softmax(dim=-1).transpose(0, 1),
                batch.phonemes[types].to(audio.device),
                steps,
                batch.phoneme_lengths[types].to(audio.device),
                zero_infinity=True,
            )
        )
    return torch.cat(vectors), torch.stack(losses).mean()


@torch.inference_mode()
def held_out(network: WordEmbedder, words: Words, left_out: frozenset[Word]) -> dict[str, float]:
    """Cross-view average precision on validation speakers: of all words, and of those left out.

    Every recorded word is written beside. score falls as the network gets better.
    """
    network.eval()
    vocabulary = sorted(set(words.recorded) | {word for _, word, _ in words.validation})
    written = network.embed_phonemes(*_on_device(*padded(vocabulary)))
    audio = embed_recordings(network, [words.mel(number) for number, _, _ in words.validation])
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


def embed_recordings(network: WordEmbedder, recordings: list[np.ndarray]) -> Tensor:
    """Frames (S, M) of each recording → vectors (N, D) on the CPU."""
    vectors = torch.zeros(len(recordings), network.config.width)
    order = sorted(range(len(recordings)), key=lambda i: len(recordings[i]))
    for first in range(0, len(order), 2 * N_WORDS):
        rows = order[first : first + 2 * N_WORDS]
        lengths = torch.tensor([len(recordings[i]) for i in rows])
        mel = torch.zeros(len(rows), int(lengths.max()), network.config.n_mels)
        for row, i in zip(mel, rows, strict=True):
            row[: len(recordings[i])] = torch.from_numpy(recordings[i].astype(np.float32))
        vectors[rows] = network.embed_audio(*_on_device(mel, lengths)).cpu()
    return vectors


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


def _on_device(*tensors: Tensor) -> list[Tensor]:
    return [tensor.to(device()) for tensor in tensors]
