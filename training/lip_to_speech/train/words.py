"""Train a reader of words that shall read people whom it never saw: front-end, conformer and CTC
head from random weights, on mouths changed far more than for the reader that speaks.

Shapes: B batch, N frames of 40 ms, H side of what a layer makes of a crop, C channels.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.text.grammar import GRID
from earshot.models.lip_to_speech import (
    VisualFrontend,
    WordReader,
    WordReaderConfig,
)
from training.common.loop import device, fit, save
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.data.other_faces import other_faces
from training.lip_to_speech.train.reader import BATCH, CTC_WEIGHT, FRAME_WORD_WEIGHT, ctc_loss

CLEAN: Final = 0.25  # share of clips that are not changed
MIXED: Final = 0.5  # share of batches in which a layer's statistics are changed
NOISE: Final = 1e-6  # variance added to statistics, so that their root has a gradient


@dataclass(frozen=True)
class WordStage:
    """The training of a reader of words. left_out: speakers none of whose videos is trained on, and
    by whom it is validated instead: see calibration.py."""

    config: WordReaderConfig
    steps: int
    learning_rate: float = 1e-3
    left_out: tuple[str, ...] = ()
    seed: int = 0


def train_words(run: Path, name: str, stage: WordStage) -> None:
    """Train on the arrays of ``prepare``; write run/name.pt."""
    train = Clips([run / "clips.npz", run / "rendered.npz"], "train", other_faces)
    if stage.left_out:
        val = Clips([run / "clips.npz"], "train")
        val.keep(np.isin(val.arrays["speaker"], stage.left_out))
        train.keep(~np.isin(train.arrays["speaker"], stage.left_out))
    else:
        val = Clips([run / "clips.npz"], "val")
    network = WordReader(stage.config).to(device())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert isinstance(network.frontend, VisualFrontend)
    rng = np.random.default_rng(stage.seed)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(BATCH, generator, CLEAN)
        _, ctc_logits = network.encode(batch.crops.to(device()))
        frame_words = F.cross_entropy(
            ctc_logits.flatten(0, 1).float(), batch.spoken.flatten().to(device())
        )
        return CTC_WEIGHT * ctc_loss(ctc_logits, batch.words) + FRAME_WORD_WEIGHT * frame_words

    def mix(layer: nn.Module, _: tuple[Tensor, ...], x: Tensor) -> Tensor:
        return with_mixed_statistics(x, BATCH) if layer.training and rng.random() < MIXED else x

    hooks = [block.register_forward_hook(mix) for block in list(network.frontend.blocks)[:-1]]
    result = fit(
        network,
        step_loss,
        lambda: wrong_words(network, val),
        run / f"{name}-state.pt",
        stage.steps,
        stage.learning_rate,
        weight_decay=0.05,
        seed=stage.seed,
    )
    for hook in hooks:
        hook.remove()
    save(run, name, stage.config, network, result)


def with_mixed_statistics(x: Tensor, batch: int) -> Tensor:
    """Draw the mean and the standard deviation of each channel anew for each clip of a batch, about
    its own, as they vary in the batch: (B * N, C, H, H) → the same (Li et al. 2022, Uncertainty
    modeling for out-of-distribution generalization, Eqs. (3) to (7))."""
    clips = x.unflatten(0, (batch, -1))
    mean = clips.mean(dim=(1, 3, 4), keepdim=True)
    std = (clips.var(dim=(1, 3, 4), keepdim=True) + NOISE).sqrt()
    other_mean, other_std = (
        each + torch.randn_like(each) * (each.var(dim=0, keepdim=True) + NOISE).sqrt()
        for each in (mean, std)
    )
    return ((clips - mean) / std * other_std + other_mean).flatten(0, 1)


@torch.inference_mode()
def wrong_words(network: WordReader, clips: Clips) -> float:
    """Compute the share of wrong words of clips, one by one and not augmented: of each slot of the
    sentence the word that is most probable at any frame is read. Captions are a little better."""
    network.eval()
    ends = np.cumsum([len(slot) for slot in GRID])
    wrong = 0
    for row in range(len(clips)):
        batch = clips.rows(row, row + 1)
        _, logits = network.encode(batch.crops.to(device()))
        highest = logits[0].float().softmax(dim=-1)[:, 1:].amax(dim=0).cpu().numpy()
        slots = np.split(highest, ends[:-1])
        read = [end - len(slot) + slot.argmax() for end, slot in zip(ends, slots, strict=True)]
        wrong += int((np.array(read) + 1 != batch.words[0].numpy()).sum())
    network.train()
    return wrong / (len(clips) * len(GRID))


def load_word_reader(path: Path) -> WordReader:
    """Load a trained reader of words for inference, on the CPU."""
    saved = torch.load(path, weights_only=True, map_location="cpu")
    network = WordReader(WordReaderConfig(**saved["config"]))
    network.load_state_dict(saved["network"])
    return network.eval()
