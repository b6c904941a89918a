"""A small word recogniser for evaluation, phones by CTC and words by a grammar; and its training.

It is trained only on original recordings of the training splits, on labelled English words and GRID
sentences; no system is trained with it.
Shapes: B batch, S frames of 10 ms, U steps of 20 ms, C classes (blank, then PHONES).
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from earshot.media.text.grammar import DIGITS, GRID, PHONES, Grammar, grid_phones, phone_ids
from training.common.corpora import (
    DIGIT_VALIDATION_SPEAKERS,
    Item,
    sentence_only,
    speech_items,
    waveforms,
)
from training.common.loop import fit, numpy_generator
from training.common.zero_shot import has_zero_shot_word
from training.judges.frontend import (
    N_BANDS,
    VTLP_FACTORS,
    LogMel,
    add_noise,
    change_speed,
    mask_bands_and_times,
    normalize,
    pad,
)
from training.judges.metrics import word_error_rate

MARGIN = round(0.1 * SAMPLE_RATE)  # samples of silence padded on both sides
BATCH = 24
MAIN_SPEAKER = 0.5  # share of sentences by S1, of whom there are ten times as many
Example = tuple[np.ndarray, list[int]]  # waveform (T,), classes of its phones


class Recogniser(nn.Module):
    """Residual dilated convolutions over log-mel bands: each step sees 0.6 s to either side."""

    def __init__(self, width: int = 192, dropout: float = 0.1) -> None:
        super().__init__()
        self.width = width
        self.log_mel = LogMel()
        self.entry = nn.Conv1d(N_BANDS, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(width),
                nn.GELU(),
                nn.Dropout(dropout),
                nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation),
            )
            for dilation in (1, 1, 2, 2, 4, 4, 1)
        )
        self.norm = nn.BatchNorm1d(width)
        self.exit = nn.Conv1d(width, len(PHONES) + 1, 1)

    def forward(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Map normalised features (B, S, 40), frames (B,) to log-probabilities (B, U, C), steps
        (B,).
        """
        x = self.entry(features.transpose(1, 2))
        steps = (lengths + 1) // 2
        mask = (torch.arange(x.shape[2]) < steps[:, None]).to(x.dtype)[:, None]
        for block in self.blocks:
            x = x + block(x * mask)
        logits = self.exit(F.gelu(self.norm(x * mask))).transpose(1, 2)
        return logits.float().log_softmax(-1), steps

    @torch.inference_mode()
    def posteriors(self, waveforms: list[np.ndarray]) -> list[np.ndarray]:
        """Compute log-probabilities (U, C) of each waveform (T,) at 16 kHz, any lengths and
        levels.
        """
        results: list[np.ndarray] = []
        for first in range(0, len(waveforms), 16):
            batch, lengths = pad([prepare(w) for w in waveforms[first : first + 16]])
            output, steps = self(normalize(self.log_mel(batch), lengths), lengths)
            results += [row[:n].numpy() for row, n in zip(output, steps, strict=True)]
        return results

    def words(self, waveforms: list[np.ndarray], grammar: Grammar) -> list[list[str]]:
        """Recognise the most likely words of each waveform, one for every slot of the grammar."""
        return [best_words(posterior, grammar) for posterior in self.posteriors(waveforms)]


def prepare(waveform: np.ndarray) -> np.ndarray:
    """Bring a waveform to a power of 0.01, with a margin of silence on both sides: (T,) → (T',)."""
    power = float(np.sqrt(np.mean(waveform**2))) if len(waveform) else 0.0
    return np.pad(waveform * np.float32(0.1 / max(power, 1e-5)), MARGIN)


def best_words(log_probabilities: np.ndarray, grammar: Grammar) -> list[str]:
    """Find the best path of CTC through one word of every slot in turn (Viterbi, exact).

    log_probabilities: (U, C). A phone that ends one word and
    starts the next needs no blank between. Returns one word a slot, or [] when U is too short.
    """
    steps = len(log_probabilities)
    scores = np.ascontiguousarray(log_probabilities, np.float32)
    entry = np.full(steps + 1, -np.inf, np.float32)
    entry[0] = 0.0
    words, choices, starts = [], [], []
    for slot in grammar:
        ids = [phone_ids(phones) for phones in slot.values()]
        chains = np.zeros((len(ids), 2 * max(map(len, ids))), np.int64)
        for chain, phones in zip(chains, ids, strict=True):
            chain[1 : 2 * len(phones) : 2] = phones
        ends, begins = _walk(scores, chains, np.array([2 * len(p) for p in ids]), entry)
        choice = ends.argmax(1)
        entry = ends[np.arange(steps + 1), choice]
        words.append(list(slot))
        choices.append(choice)
        starts.append(begins)
    tail = np.append(np.cumsum(scores[::-1, 0])[::-1], 0.0)  # blanks to the end
    time = int(np.argmax(entry + tail))
    if not np.isfinite(entry[time]):
        return []
    result = []
    for names, choice, begins in zip(words[::-1], choices[::-1], starts[::-1], strict=True):
        result.append(names[choice[time]])
        time = begins[time, choice[time]]
    return result[::-1]


@njit(cache=True)
def _walk(
    scores: np.ndarray, chains: np.ndarray, lengths: np.ndarray, entry: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best score of having ended each word after t steps, and the time at which it was
    entered.

    entry[t]: best score of being free to start a word after t steps. Returns two (U + 1, words).
    """
    steps, n_words = len(scores), len(chains)
    ends = np.full((steps + 1, n_words), -np.inf, np.float32)
    begins = np.zeros((steps + 1, n_words), np.int64)
    for word in range(n_words):
        length = lengths[word]
        state = np.full(length, -np.inf, np.float32)
        since = np.zeros(length, np.int64)
        for t in range(steps):
            for j in range(length - 1, -1, -1):
                best, begin = state[j], since[j]
                if j >= 1 and state[j - 1] > best:
                    best, begin = state[j - 1], since[j - 1]
                skips = j >= 3 and j % 2 == 1 and chains[word, j] != chains[word, j - 2]
                if skips and state[j - 2] > best:
                    best, begin = state[j - 2], since[j - 2]
                if j <= 1 and entry[t] > best:
                    best, begin = entry[t], t
                state[j] = best + scores[t, chains[word, j]]
                since[j] = begin
            ends[t + 1, word] = state[length - 1]
            begins[t + 1, word] = since[length - 1]
    return ends, begins


@dataclass(frozen=True)
class Stage:
    """A part of the training.

    sentences: share of GRID sentences, the rest are sequences of words of one speaker; narrow:
    share that is low-passed at 3 to 4 kHz; digits: weight of the speakers who say digits.
    """

    steps: int
    learning_rate: float
    sentences: float
    narrow: float
    digits: float


# At the end, more of what is hardest: digits through a telephone.
STAGES: Final = (Stage(1550, 2e-3, 0.5, 0.25, 1.0), Stage(600, 1e-3, 0.35, 0.5, 3.0))


def train_recogniser(data: Path, state: Path, seed: int) -> tuple[Recogniser, dict[str, float]]:
    """Train the network; return it in evaluation mode, with its measures on the validation split.

    state: a folder that keeps the state of each stage, to go on from there.
    """
    items = speech_items(data)
    sentences, words = _training_set(items)
    model = Recogniser()
    measured: dict[str, float] = {}
    hours = 0.0

    def score() -> float:
        measured.update(validate(model, items))
        return measured["val_wer"]

    for number, stage in enumerate(STAGES):

        def step_loss(generator: torch.Generator, stage: Stage = stage) -> Tensor:
            rng = numpy_generator(generator)
            examples = [_sample(stage, sentences, words, rng) for _ in range(BATCH)]
            return _loss(model, examples, stage, rng)

        saved = state / f"recogniser-{number}.state"
        result = fit(
            model, step_loss, score, saved, stage.steps, stage.learning_rate, seed=seed + number
        )
        hours += result["hours"]
        print(f"recogniser, stage {number}: {measured}", flush=True)
    steps = sum(stage.steps for stage in STAGES)
    return model, measured | {"steps": steps, "minutes": 60 * hours}


def validate(model: Recogniser, items: list[Item]) -> dict[str, float]:
    """Measure the word error (%) of GRID's validation sentences and of an unseen speaker's
    digits."""
    grid = [i for i in items if i.corpus == "grid" and i.split == "val" and i.text]
    digits = [i for i in items if i.speaker in DIGIT_VALIDATION_SPEAKERS][::5]
    spoken = [sentence_only(item, waveform) for item, waveform in waveforms(grid)]
    recognised = model.words(spoken, GRID)
    digits_recognised = model.words([waveform for _, waveform in waveforms(digits)], [DIGITS])
    return {
        "val_wer": word_error_rate([i.text.split() for i in grid], recognised),
        "val_digit_error": word_error_rate([[i.text] for i in digits], digits_recognised),
    }


def _training_set(
    items: list[Item],
) -> tuple[dict[str, list[Example]], dict[str, list[Example]]]:
    """Load GRID sentences and English words, each by speaker (or by file where that is unknown)."""
    chosen = [
        item
        for item in items
        if item.split == "train"
        and item.language == "en"
        and not has_zero_shot_word(item)
        and (item.phones or (item.corpus == "grid" and item.text))
    ]
    sentences: dict[str, list[Example]] = defaultdict(list)
    words: dict[str, list[Example]] = defaultdict(list)
    for item, waveform in waveforms(chosen):
        name = item.speaker or item.path.stem
        if item.corpus == "grid":
            phones = " ".join(grid_phones(item.text))
            sentences[name].append((sentence_only(item, waveform), phone_ids(phones)))
        else:
            words[name].append((waveform, phone_ids(item.phones)))
    return sentences, words


def _sample(
    stage: Stage,
    sentences: dict[str, list[Example]],
    words: dict[str, list[Example]],
    rng: np.random.Generator,
) -> Example:
    """Draw a GRID sentence, or one to five words of one speaker with short pauses between."""
    if rng.random() < stage.sentences:
        others = [name for name in sentences if name != "S1"]
        name = "S1" if rng.random() < MAIN_SPEAKER else others[rng.integers(len(others))]
        return sentences[name][rng.integers(len(sentences[name]))]
    names = list(words)
    weights = np.array([_weight(words[name], stage) for name in names])
    spoken = words[names[rng.choice(len(names), p=weights / weights.sum())]]
    parts, phones = [], []
    for _ in range(rng.integers(1, 6)):
        waveform, ids = spoken[rng.integers(len(spoken))]
        pause = np.zeros(int(rng.uniform(0.0, 0.15) * SAMPLE_RATE), np.float32)
        parts += [prepare(waveform)[MARGIN:-MARGIN], pause]
        phones += ids
    return np.concatenate(parts[:-1]), phones


def _weight(spoken: list[Example], stage: Stage) -> float:
    digits = [phone_ids(phones) for phones in DIGITS.values()]
    says_digits = any(ids in digits for _, ids in spoken)
    return np.sqrt(len(spoken)) * (stage.digits if says_digits else 1.0)


def _loss(
    model: Recogniser, examples: list[Example], stage: Stage, rng: np.random.Generator
) -> Tensor:
    """Compute the CTC loss of augmented examples: speed, VTLP, noise, bandwidth, SpecAugment."""
    batch, lengths = pad([_augment(waveform, rng) for waveform, _ in examples])
    vtlp = torch.from_numpy(rng.integers(0, len(VTLP_FACTORS), len(examples)))
    narrow = rng.random(len(examples)) < stage.narrow
    cutoff = np.where(narrow, rng.uniform(3000, 4200, len(examples)), NYQUIST)
    with torch.autocast("cpu", enabled=False):
        features = model.log_mel(batch, vtlp, torch.from_numpy(cutoff))
    features = mask_bands_and_times(normalize(features, lengths), rng)
    output, steps = model(features, lengths)
    targets = torch.tensor([phone for _, phones in examples for phone in phones])
    sizes = torch.tensor([len(phones) for _, phones in examples])
    loss = F.ctc_loss(
        output.transpose(0, 1), targets, steps, sizes, reduction="sum", zero_infinity=True
    )
    return loss / len(targets)


def _augment(waveform: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    faster = change_speed(waveform, rng.uniform(0.85, 1.18))
    padded = prepare(faster)[rng.integers(0, MARGIN) :]
    return add_noise(padded, rng.uniform(8.0, 45.0), rng)
