"""Trains the recogniser on labelled English words and GRID sentences of the training split."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from earshot.media.text.grammar import DIGITS, GRID, grid_phones, phone_ids
from training.common.corpora import (
    DIGIT_VALIDATION_SPEAKERS,
    Item,
    sentence_only,
    speech_items,
    waveforms,
)
from training.common.zero_shot import has_zero_shot_word
from training.judges.frontend import (
    VTLP_FACTORS,
    add_noise,
    change_speed,
    mask_bands_and_times,
    normalize,
    pad,
)
from training.judges.metrics import word_error_rate
from training.judges.recogniser import MARGIN, Recogniser, prepare

BATCH = 24
WARM_UP = 200  # batches
MAIN_SPEAKER = 0.5  # share of sentences by S1, of whom there are ten times as many

Example = tuple[np.ndarray, list[int]]  # waveform (T,), classes of its phones


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
    """Returns the network in evaluation mode and its measures on the validation split.

    state: a folder that keeps the network after each stage, to go on from there.
    """
    items = speech_items(data)
    sentences, words = _training_material(items)
    model = Recogniser()
    minutes = 0.0
    for number, stage in enumerate(STAGES):
        path = state / f"recogniser-{number}.pt"
        if not path.exists():
            torch.manual_seed(seed + number)
            rng = np.random.default_rng(seed + number)
            started = perf_counter()
            _run(stage, model.train(), sentences, words, rng)
            minutes += (perf_counter() - started) / 60
            torch.save({"network": model.state_dict(), "minutes": minutes}, path)
        saved = torch.load(path, weights_only=True)
        model.load_state_dict(saved["network"])
        minutes = saved["minutes"]
        print(f"recogniser, stage {number}: {validate(model.eval(), items)}", flush=True)
    steps = sum(stage.steps for stage in STAGES)
    return model.eval(), validate(model, items) | {"steps": steps, "minutes": minutes}


def _run(
    stage: Stage,
    model: Recogniser,
    sentences: dict[str, list[Example]],
    words: dict[str, list[Example]],
    rng: np.random.Generator,
) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), stage.learning_rate, weight_decay=1e-2)
    losses = []
    for step in range(1, stage.steps + 1):
        for group in optimizer.param_groups:
            progress = min(step / WARM_UP, 1.02 - step / stage.steps, 1.0)
            group["lr"] = stage.learning_rate * progress
        loss = _loss(
            model, [_sample(stage, sentences, words, rng) for _ in range(BATCH)], stage, rng
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if step % 100 == 0:
            print(f"recogniser {step}: loss {np.mean(losses[-100:]):.3f}", flush=True)


def validate(model: Recogniser, items: list[Item]) -> dict[str, float]:
    """Word error (%) of GRID's validation sentences and of an unseen speaker's digits."""
    grid = [i for i in items if i.corpus == "grid" and i.split == "val" and i.text]
    digits = [i for i in items if i.speaker in DIGIT_VALIDATION_SPEAKERS][::5]
    spoken = [sentence_only(item, waveform) for item, waveform in waveforms(grid)]
    recognised = model.words(spoken, GRID)
    digits_recognised = model.words([waveform for _, waveform in waveforms(digits)], [DIGITS])
    return {
        "val_wer": word_error_rate([i.text.split() for i in grid], recognised),
        "val_digit_error": word_error_rate([[i.text] for i in digits], digits_recognised),
    }


def _training_material(
    items: list[Item],
) -> tuple[dict[str, list[Example]], dict[str, list[Example]]]:
    """GRID sentences and English words, each by speaker (or by file where that is unknown)."""
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
    """A GRID sentence, or one to five words of one speaker with short pauses between."""
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
    """CTC loss of augmented examples: speed, VTLP, noise, bandwidth, SpecAugment."""
    batch, lengths = pad([_augment(waveform, rng) for waveform, _ in examples])
    vtlp = torch.from_numpy(rng.integers(0, len(VTLP_FACTORS), len(examples)))
    narrow = rng.random(len(examples)) < stage.narrow
    cutoff = np.where(narrow, rng.uniform(3000, 4200, len(examples)), NYQUIST)
    features = model.log_mel(batch, vtlp, torch.from_numpy(cutoff))
    features = mask_bands_and_times(normalize(features, lengths), rng)
    with torch.autocast("cpu", torch.bfloat16):
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
