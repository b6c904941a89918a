"""Train word embeddings over a recogniser's states: posteriors of phonemes first, then vectors.

1. CTC on sentences and words, so that a network hears phonemes in the states, whoever speaks.
2. Its posteriors tell where each phoneme of a recording is. From then on a batch also holds
   stretches of sentences ("words" of any phonemes, by hundreds of people), words spliced from the
   states of two recorded ones, and words that nobody said.

Needs torch and numpy alone.
"""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.words.word_embedder import (
    MultiViewEmbedder,
    PhonemeBottleneckConfig,
    PhonemeBottleneckEmbedder,
    ViewConfig,
    WordEmbedder,
    WordEmbedderConfig,
    build_embedder,
    config_from_dict,
)
from earshot.pretrained.checkpoint import load_weights, read_config
from training.common.loop import SAVE_EVERY, device, half_precision
from training.words.concatenation import Word
from training.words.frames.arrays import padded
from training.words.losses import contrastive_loss, corrupted_words
from training.words.recipe import DEVELOPMENT
from training.words.states.arrays import FILE, KINDS, Packed, on_components, read_basis
from training.words.states.batches import Batches, Heard
from training.words.states.export import NAMES

CTC_SHARE: Final = 0.3  # of the time, for phonemes alone, from random weights
FINAL_SHARE: Final = 0.3  # of the time, at the end, in which words of DEVELOPMENT are trained on
ALIGN_EVERY: Final = 0.2  # of the time
REPORT_EVERY: Final = 0.1  # of the time
RATE: Final = 1.2e-3  # from random weights
LATER_RATE: Final = 5e-4  # from trained ones
STATE: Final = "state.pt"
MANY: Final = 3000  # words of the lexicon
WARM_UP: Final = 100  # steps
FLAT: Final = 0.4  # of the time, before the rate begins to fall
SENTENCES: Final = 48  # in a batch
CTC_WEIGHTS: Final = {"bottleneck": 1.0, "whole": 0.3}
MAX_SCALE: Final = 4.0  # of the logarithm of the scale of the cosines
AVERAGED: Final = 0.998  # of the weights, an exponential mean

SHALLOW: Final = ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0)
DEEP: Final = ViewConfig("conformer", 4, 4, width=192, inner=512, dropout=0.1)

Networks = dict[str, MultiViewEmbedder]


def train(run: Path, seconds: float, start: Path | None = None) -> None:
    """Train both networks for so many seconds on run/states.npz, going on from run/state.pt; write
    run/bottleneck.pt and run/whole.pt, and print how the words of validation speakers are
    recognised meanwhile.

    start: the folder of checkpoints whose weights are the first, which know DEVELOPMENT already;
    else they are random.
    """
    torch.manual_seed(0)
    place = device()
    batches = Batches(Packed.read(run / FILE), () if start else DEVELOPMENT, place, seed=0)
    generator = torch.Generator().manual_seed(0)
    bottleneck, whole = networks(batches.frames.width)
    bottleneck, whole = bottleneck.to(place), whole.to(place)
    both: Networks = {"bottleneck": bottleneck, "whole": whole}
    if start:
        for name, network in both.items():
            network.load_state_dict(_shipped(start / NAMES[name], batches.frames.scale, run))
    weights = [p for network in both.values() for p in network.parameters()]
    highest = LATER_RATE if start else RATE
    optimizer = torch.optim.AdamW(weights, highest, betas=(0.9, 0.98), weight_decay=0.02)
    means = {name: _copy(network) for name, network in both.items()}
    step, spent, everything = 0, 0.0, start is not None
    aligned = told = stored = -1.0  # shares of the time
    if (run / STATE).exists():
        kept = torch.load(run / STATE, weights_only=True)
        for name, network in both.items():
            network.load_state_dict(kept["networks"][name])
        optimizer.load_state_dict(kept["optimizer"])
        generator.set_state(kept["generator"])
        means, step, spent = kept["means"], kept["step"], kept["seconds"]
        batches.rng = np.random.default_rng(step)
    started = time.monotonic() - spent
    while (share := (time.monotonic() - started) / seconds) < 1:
        rate = highest * min(1.0, (step + 1) / WARM_UP, max(0.01, (1 - share) / (1 - FLAT)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        if not everything and share > 1 - FINAL_SHARE:
            everything, aligned = True, -1.0
            batches.hold_out(())
        if (start or share > CTC_SHARE) and (aligned < 0 or share - aligned > ALIGN_EVERY):
            batches.align(bottleneck)
            aligned = share
        with half_precision():
            loss = (
                _loss(batches, both, bottleneck, generator)
                if aligned >= 0
                else _phoneme_loss(batches, bottleneck)
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 2.0)
        optimizer.step()
        step += 1
        _average(means, both, min(AVERAGED, (1 + step) / (10 + step)))
        if share - told > REPORT_EVERY:
            told = share
            scores = report(batches, both, means) if aligned >= 0 else ""
            print(f"{step} steps, {share:.0%}, loss {loss.item():.3f} {scores}", flush=True)
        if (share - stored) * seconds > SAVE_EVERY:
            stored = share
            state = {
                "networks": {name: network.state_dict() for name, network in both.items()},
                "optimizer": optimizer.state_dict(),
                "generator": generator.get_state(),
                "means": means,
                "step": step,
                "seconds": time.monotonic() - started,
            }
            torch.save(state, run / f"{STATE}.part")
            (run / f"{STATE}.part").replace(run / STATE)
    print(f"{step} steps {report(batches, both, means)}", flush=True)
    for name, network in both.items():
        saved: dict[str, Any] = {"config": asdict(network.config), "network": means[name]}
        saved |= {"scale": batches.frames.scale, "seconds": seconds, "again": start is not None}
        torch.save(saved, run / f"{name}.pt")


def _shipped(folder: Path, scale: float, run: Path) -> dict[str, Tensor]:
    """Read the weights of a checkpoint, on the components of the run."""
    network = build_embedder(config_from_dict(read_config(folder)["network"]))
    load_weights(network, folder, torch.device("cpu"))
    return on_components(network.state_dict(), scale, read_basis(run))


def networks(width: int) -> tuple[PhonemeBottleneckEmbedder, WordEmbedder]:
    """Build the untrained networks on frames of this width."""
    sizes: dict[str, Any] = {
        "n_mels": width, "stack": 1, "channels": 0, "mean": 0.0, "std": 1.0
    }  # fmt: skip
    config = PhonemeBottleneckConfig(SHALLOW, SHALLOW, **sizes, local_layers=5, local_width=288)
    whole = WordEmbedderConfig(DEEP, SHALLOW, **sizes)
    return PhonemeBottleneckEmbedder(config), WordEmbedder(whole)


def _phoneme_loss(batches: Batches, bottleneck: PhonemeBottleneckEmbedder) -> Tensor:
    """Compute CTC of the bottleneck on sentences and words."""
    heard = batches.sentences(SENTENCES), batches.words(2 * SENTENCES)
    return torch.stack([_ctc(bottleneck, each) for each in heard]).mean()


def _loss(
    batches: Batches,
    both: Networks,
    bottleneck: PhonemeBottleneckEmbedder,
    generator: torch.Generator,
) -> Tensor:
    """Compute the contrastive loss of both networks on recordings and spliced words, with CTC; of
    the bottleneck's acoustic view also on words that nobody said."""
    heard, spliced, unsaid = batches.recordings(), batches.spliced(), batches.unsaid()
    edited = corrupted_words([*dict.fromkeys(heard.words)], generator)
    loss = _ctc(bottleneck, batches.sentences(SENTENCES // 2))
    for name, network in both.items():
        rows, said = [], []
        parts = [*heard.by_length(), *spliced.by_length()]
        for part in parts:
            vectors, logits, steps = network.encode(part.frames, part.lengths)
            loss = loss + CTC_WEIGHTS[name] / len(parts) * _ctc_of(logits, steps, part.words)
            rows, said = [*rows, vectors], [*said, *part.words]
        if network is bottleneck:
            for part in unsaid.by_length():
                rows.append(bottleneck.embed_posteriors(part.frames, part.lengths))
                said += part.words
        vectors = torch.cat(rows)
        known = [*dict.fromkeys(said)]
        wrong = [word for word in edited if word not in set(known)]
        spellings = network.embed_phonemes(
            *(each.to(vectors.device) for each in padded([*known, *wrong]))
        )
        rows = {word: row for row, word in enumerate(known)}
        labels = torch.tensor([rows[word] for word in said], device=vectors.device)
        scale = network.log_scale.clamp(max=MAX_SCALE).exp()
        written, others = spellings[: len(known)], spellings[len(known) :]
        loss = loss + contrastive_loss(vectors, written, others, labels, scale, network.bias)
    return loss


def _ctc(network: MultiViewEmbedder, heard: Heard) -> Tensor:
    return _ctc_of(*network.predict_phonemes(heard.frames, heard.lengths), heard.words)


def _ctc_of(logits: Tensor, steps: Tensor, words: list[Word]) -> Tensor:
    targets, sizes = padded(words)
    log = logits.float().log_softmax(dim=-1).transpose(0, 1)
    targets, sizes = targets.to(log.device), sizes.to(log.device)
    return F.ctc_loss(log, targets, steps, sizes, zero_infinity=True)


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {key: value.detach().clone() for key, value in network.state_dict().items()}


def _average(means: dict[str, dict[str, Tensor]], both: Networks, kept: float) -> None:
    for name, network in both.items():
        for key, value in network.state_dict().items():
            means[name][key].lerp_(value, 1 - kept)


@torch.inference_mode()
def report(batches: Batches, both: Networks, means: dict[str, dict[str, Tensor]]) -> str:
    """Say how many recordings are recognised first, by the averaged weights of each network and of
    both: P@1. Words of validation speakers, the same in noise, and words that are held out, among
    all recorded words; words of fluent sentences among these and MANY others.
    """
    packed = batches.packed
    kinds = np.array(KINDS)[packed.kinds]
    recorded = {w for w, kind in zip(packed.phonemes, kinds, strict=True) if kind == "word"}
    fluent = {w for w, kind in zip(packed.phonemes, kinds, strict=True) if kind == "fluent"}
    known = np.array([word in recorded for word in packed.phonemes])
    new = known & np.array([word in batches.held_out for word in packed.phonemes])
    groups = {
        "validation": (known & ~new & (kinds == "val"), recorded),
        "noisy": (known & ~new & (kinds == "noisy"), recorded),
        "fluent": (kinds == "fluent", {*recorded, *fluent, *packed.lexicon[:MANY]}),
        "held out": (new & np.isin(kinds, ("word", "val")), recorded),
    }
    parts = []
    for group, (chosen, vocabulary) in groups.items():
        rows, written = np.flatnonzero(chosen), sorted(vocabulary)
        if not len(rows):
            continue
        index = {word: i for i, word in enumerate(written)}
        own = np.array([index[packed.phonemes[i]] for i in rows.tolist()])
        scores = {
            name: _scores(batches, network, means[name], rows, written)
            for name, network in both.items()
        }
        scores["both"] = sum(scores.values(), np.zeros(1))
        shares = {name: float((s.argmax(axis=1) == own).mean()) for name, s in scores.items()}
        parts += [f"{group}, {name}: {share:.3f}" for name, share in shares.items()]
    return "; ".join(parts)


def _scores(
    batches: Batches,
    network: MultiViewEmbedder,
    weights: dict[str, Tensor],
    rows: np.ndarray,
    vocabulary: list[Word],
) -> np.ndarray:
    """Compute the cosines of recordings with the words of a vocabulary, by these weights."""
    copy = build_embedder(network.config).to(batches.device).eval()
    copy.load_state_dict(weights)
    written = copy.embed_phonemes(*(each.to(batches.device) for each in padded(vocabulary)))
    parts = []
    for some in np.array_split(rows, max(1, len(rows) // 256)):
        x, lengths = batches.frames.batch(batches.starts[some], batches.lengths[some])
        parts.append(copy.embed_audio(x, lengths) @ written.T)
    return torch.cat(parts).cpu().numpy()
