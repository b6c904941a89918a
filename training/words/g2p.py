"""Grapheme-to-phoneme conversion: dictionary → splits → network → checkpoints/g2p."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.words.g2p import G2P, LETTERS, PHONES, G2PConfig, letter_numbers
from training.common.loop import device, fit, save
from training.words.metrics import edit_distance

NAME: Final = "g2p"
CONFIG: Final = G2PConfig()
STEPS: Final = 9_000
BATCH: Final = 128
LEARNING_RATE: Final = 2e-3
SPLITS: Final = {0: "val", 1: "test"}  # of 20 parts; the other 18 are for training

Pronunciations = Mapping[str, Sequence[str]]  # spelling → each of its pronunciations, "K AE T"


def prepare_g2p(out: Path) -> None:
    """Write the dictionary's words in plain letters, by split, to a file in ``out``."""
    from earshot.media.text.phonemes import pronunciations

    splits: dict[str, dict[str, list[str]]] = {"train": {}, "val": {}, "test": {}}
    for entry, phones in pronunciations().items():
        spelling = re.sub(r"\(\d+\)$", "", entry)
        if set(spelling) <= set(LETTERS):
            splits[split_of(spelling)].setdefault(spelling, []).append(phones)
    out.mkdir(parents=True, exist_ok=True)
    _path(out).write_text(json.dumps(splits))


def split_of(spelling: str) -> str:
    """Assign a spelling to train, val or test, by a hash of the stem, so that inflected forms share
    a split.
    """
    stem = re.sub("e?s*$", "", spelling.replace("'", ""))
    return SPLITS.get(hashlib.sha256(stem.encode()).digest()[0] % 20, "train")


def train_g2p(out: Path) -> None:
    """Train the network on the words that prepare_g2p wrote, to out/g2p.pt; resumes."""
    torch.manual_seed(0)
    network = G2P(CONFIG).to(device())
    buckets = _buckets(_read(out, "train"))
    counts = torch.tensor([float(len(bucket)) for bucket in buckets])

    def step_loss(generator: torch.Generator) -> Tensor:
        bucket = buckets[int(torch.multinomial(counts, 1, generator=generator))]
        chosen = torch.randint(len(bucket), (BATCH,), generator=generator)
        return ctc_loss(network, [bucket[number] for number in chosen.tolist()])

    validation = _read(out, "val")
    result = fit(
        network,
        step_loss,
        lambda: error_rates(network.cpu().pronounce, validation)["per"],
        out / f"{NAME}.state",
        STEPS,
        LEARNING_RATE,
    )
    save(out, NAME, CONFIG, network, result)


def ctc_loss(network: G2P, batch: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    """Average the CTC loss per phone. batch: numbers of letters and phones of words with the same
    number of letters.
    """
    letters, phones = zip(*batch, strict=True)
    network_device = network.output.weight.device
    logits = network(torch.tensor(letters).to(network_device)).float()
    return F.ctc_loss(
        logits.log_softmax(dim=-1).transpose(0, 1),
        torch.tensor([number for numbers in phones for number in numbers]),
        torch.full((len(batch),), logits.shape[1]),
        torch.tensor([len(numbers) for numbers in phones]),
    )


def export_g2p(out: Path, checkpoints: Path) -> None:
    """Write checkpoints/g2p from the trained network; evaluate_g2p adds results and card."""
    from training.common.checkpoints import update_metrics, write_weights

    saved = torch.load(out / f"{NAME}.pt", weights_only=True)
    result = json.loads((out / f"{NAME}.json").read_text())
    folder = checkpoints / NAME
    write_weights(folder, {"name": NAME, "network": saved["config"]}, saved["network"])
    trained = {
        "steps": STEPS,
        "training_hours": round(result["hours"], 2),
        "val_per": result["score"],
    }
    update_metrics(folder, trained)


def evaluate_g2p(out: Path, checkpoints: Path) -> None:
    """Measure checkpoints/g2p and the baseline on the test words; write metrics and card."""
    from earshot.systems.words.pronunciation import load_g2p
    from training.common.checkpoints import update_metrics
    from training.common.report import write_card

    words, folder = _read(out, "test"), checkpoints / NAME
    network = load_g2p(folder)
    rows = [
        {"system": system, "shipped": system == NAME, **error_rates(pronounce, words)}
        for system, pronounce in (
            ("one letter, one phone", majority_rule(_read(out, "train"))),
            (NAME, network.pronounce),
        )
    ]
    update_metrics(folder, {"test_words": len(words), "results": rows})
    write_card(folder)


def majority_rule(words: Pronunciations) -> Callable[[str], tuple[str, ...]]:
    """Make a baseline: each letter becomes its most frequent phone, counted over words with as many
    phones as letters.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for spelling, variants in words.items():
        for phones in (variant.split() for variant in variants):
            if len(phones) == len(spelling):
                for letter, phone in zip(spelling, phones, strict=True):
                    counts[letter][phone] += 1
    rule = {letter: phones.most_common(1)[0][0] for letter, phones in counts.items()}
    return lambda spelling: tuple(rule[letter] for letter in spelling if letter in rule)


def error_rates(
    pronounce: Callable[[str], Sequence[str]], words: Pronunciations
) -> dict[str, float]:
    """Measure per and wer: phone and word error rates in %, against the closest pronunciation of
    each word; milliseconds: CPU time per word.
    """
    phones = phone_errors = word_errors = 0
    compute_seconds = 0.0
    for spelling, variants in words.items():
        began = process_time()
        predicted = pronounce(spelling)
        compute_seconds += process_time() - began
        errors, length = min(
            (edit_distance(variant.split(), predicted), len(variant.split()))
            for variant in variants
        )
        phones, phone_errors = phones + length, phone_errors + errors
        word_errors += errors > 0
    return {
        "per": 100 * phone_errors / phones,
        "wer": 100 * word_errors / len(words),
        "milliseconds": 1000 * compute_seconds / len(words),
    }


def _buckets(words: Pronunciations) -> list[list[tuple[list[int], list[int]]]]:
    """Group numbers of letters and phones of each pronunciation by the number of letters; those
    with more phones (and blanks between equal ones) than output slots are left out.
    """
    buckets = defaultdict(list)
    for spelling, variants in words.items():
        letters = letter_numbers(spelling)
        for variant in variants:
            phones = [PHONES.index(phone) + 1 for phone in variant.split()]
            blanks = sum(a == b for a, b in zip(phones, phones[1:], strict=False))
            if len(phones) + blanks <= CONFIG.slots * len(letters):
                buckets[len(letters)].append((letters, phones))
    return list(buckets.values())


def _read(out: Path, split: str) -> Pronunciations:
    return json.loads(_path(out).read_text())[split]


def _path(out: Path) -> Path:
    return out / f"{NAME}-words.json"
