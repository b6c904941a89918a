"""Batches of augmented clips and mixtures of two, each with a caption: torch and numpy only.

Augmentation of log-mel spectrograms: speed, shift, level, filters, noise, SpecAugment.

Shapes: B batch, S frames of 10 ms, M mel bands, K kinds, W width of sentence vectors.
"""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

FLOOR = math.log(1e-6)  # as earshot.media.audio.sound_features
LAST_BAND_8KHZ = 105  # bands above it are above 8 kHz
FRAMES = 500  # 5 s: the length of ESC-50's clips
MAX_FRAMES = 1000  # frames: a segment at inference


def window(mel: Tensor, frames: int, generator: torch.Generator) -> Tensor:
    """Cut a random window (frames, M) of a clip (S, M), at 0.8 to 1.25 times its speed, with its
    bands shifted by up to 4 (a smaller or larger source); short clips are padded with silence.
    """
    speed = math.exp(_uniform(math.log(0.8), math.log(1.25), generator))
    shift = _integer(-4, 4, generator)
    taken = math.ceil(frames * speed)
    if len(mel) > taken:
        start = _integer(0, len(mel) - taken, generator)
        mel = mel[start : start + taken]
    mel = F.interpolate(mel.float().t()[None], size=max(1, round(len(mel) / speed)), mode="linear")
    mel = mel[0].t()[:frames].roll(shift, dims=1)
    if shift > 0:
        mel[:, :shift] = mel[:, shift : shift + 1]
    elif shift < 0:
        mel[:, shift:] = FLOOR
    missing = frames - len(mel)
    before = _integer(0, missing, generator)
    padded = F.pad(mel, (0, 0, before, missing - before), value=FLOOR)
    return padded.roll(_integer(0, frames - 1, generator), dims=0) if missing == 0 else padded


def mix(a: Tensor, b: Tensor, generator: torch.Generator) -> Tensor:
    """Add up two sounds (S, M) in power; the level of b is within 6 dB of that of a."""
    loudness = [sound.exp().sum(dim=1).mean().clamp_min(1e-5).log() for sound in (a, b)]
    gain = loudness[0] - loudness[1] + _uniform(-6, 6, generator) * math.log(10) / 10
    return torch.logaddexp(a, b + gain)


def augment(mel: Tensor, generator: torch.Generator) -> Tensor:
    """Change level, tilt and bandwidth at random, add noise, and mask by SpecAugment (Park et al.
    2019): (B, S, M).
    """
    batch, frames, bands = mel.shape
    rand = torch.rand(batch, 6, 1, 1, generator=generator)
    places = torch.linspace(-1, 1, bands)
    gain = -4 + 5 * rand[:, 0]
    tilt = (3 * rand[:, 1] - 1.5) * places
    bend = (2 * rand[:, 2] - 1) * torch.cos(math.pi * (places * (1 + rand[:, 3])))
    mel = mel + gain + tilt + bend
    # Most real clips have no energy above 8 kHz: that must not identify the others.
    top = 60 + (bands - 60) * rand[:, 4]
    top = torch.where(rand[:, 5] < 0.5, torch.tensor(float(LAST_BAND_8KHZ)), top)
    cut = torch.arange(bands) > top
    mel = torch.where(cut, torch.tensor(FLOOR), mel)
    noise = -16 + 10 * torch.rand(batch, 1, 1, generator=generator).square()
    mel = torch.logaddexp(mel, noise + 0.3 * torch.randn(mel.shape, generator=generator))
    return _mask(_mask(mel, 1, frames // 8, generator), 2, bands // 8, generator)


def _mask(mel: Tensor, axis: int, longest: int, generator: torch.Generator) -> Tensor:
    """Replace two random stripes of up to `longest` along the axis by the clip's mean."""
    length = mel.shape[axis]
    places = torch.arange(length).view((1, -1, 1) if axis == 1 else (1, 1, -1))
    for _ in range(2):
        rand = torch.rand(2, len(mel), 1, 1, generator=generator)
        start = rand[0] * length
        stripe = (places >= start) & (places < start + rand[1] * longest)
        mel = torch.where(stripe, mel.mean(dim=(1, 2), keepdim=True), mel)
    return mel


def _uniform(low: float, high: float, generator: torch.Generator) -> float:
    return low + (high - low) * torch.rand((), generator=generator).item()


def _integer(low: int, high: int, generator: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=generator).item())


@dataclass(frozen=True)
class Batch:
    """A batch of clips: mel (B, S, M), kinds as 0 or 1 (B, K), and the sentence vector of a caption
    (B, W).
    """

    mel: Tensor
    kinds: Tensor
    captions: Tensor


@dataclass(frozen=True)
class Shares:
    """Shares of a batch. mixed: mixtures of two clips; synthetic: rendered clips among the single
    ones; own: captions that are the clip's title; audiocaps: captions from AudioCaps."""

    mixed: float = 0.5
    synthetic: float = 0.25
    own: float = 0.2
    audiocaps: float = 0.2


class SoundDataset:
    """The prepared clips of some folds, and their captions."""

    def __init__(
        self, run: Path, folds: Sequence[int], without: Collection[str] = frozenset()
    ) -> None:
        """Read the clips. run: the folder that prepare wrote; folds: of the clips, 0 for clips in
        no fold; without: kinds whose clips and captions are left out.
        """
        self.clips: list[dict[str, Any]] = []
        for name in ("real", "speech", "noise", "synthetic"):
            frames = np.load(run / f"{name}.npy", mmap_mode="r")
            effects = np.load(run / f"{name}-effects.npy")
            rows = json.loads((run / f"{name}.json").read_text())
            for row, effect in zip(rows, effects, strict=True):
                if row["fold"] in folds and row["kind"] not in without:
                    synthetic = name == "synthetic"
                    arrays = {"frames": frames, "effects": effect}
                    self.clips.append({**row, **arrays, "synthetic": synthetic})
        self.vectors = torch.from_numpy(np.load(run / "captions.npy")).float()
        self.table = json.loads((run / "captions.json").read_text())
        self.of_kind: dict[str, list[int]] = defaultdict(list)
        for number, clip in enumerate(self.clips):
            self.of_kind[clip["kind"]].append(number)
        # Kinds without written captions have only the titles of their clips.
        self.kinds = sorted(self.of_kind)
        self.number = {kind: number for number, kind in enumerate(self.kinds)}
        self.written = [kind for kind in self.kinds if kind in self.table["written"]]
        self.pairs = [p for p in self.table["pairs"] if p[0] in self.number and p[1] in self.number]
        self.pair_weights = torch.tensor(
            [float(self._weight(a) * self._weight(b)) for a, b, *_ in self.pairs]
        )
        self.pools = [
            [number for number, clip in enumerate(self.clips) if clip["synthetic"] == synthetic]
            for synthetic in (False, True)
        ]

    def _weight(self, kind: str) -> int:
        """Weigh a kind for sampling in mixtures: real clips count more than rendered ones."""
        return sum(4 - 3 * self.clips[number]["synthetic"] for number in self.of_kind[kind])

    def batch(self, size: int, shares: Shares, generator: torch.Generator) -> Batch:
        """Draw augmented clips and mixtures of clips, each with one of its captions."""
        rows = [
            self._mixture(generator)
            if self.pairs and _chance(shares.mixed, generator)
            else self._single(shares, generator)
            for _ in range(size)
        ]
        mel = augment(torch.stack([row[0] for row in rows]), generator)
        captions = self.vectors[torch.tensor([row[2] for row in rows])]
        return Batch(mel, self._one_hot([row[1] for row in rows]), captions)

    def bank(self, shares: Shares, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw one caption of each kind: sentence vectors (K', W), and their kinds (K', K)."""
        numbers = [self._kind_caption(kind, shares, generator) for kind in self.written]
        return self.vectors[torch.tensor(numbers)], self._one_hot([(k,) for k in self.written])

    def whole(self, number: int) -> Tensor:
        """Read the first MAX_FRAMES frames of a clip, not augmented: (S, M)."""
        clip = self.clips[number]
        end = min(clip["end"], clip["start"] + MAX_FRAMES)
        return torch.from_numpy(np.array(clip["frames"][clip["start"] : end])).float()

    def _single(
        self, shares: Shares, generator: torch.Generator
    ) -> tuple[Tensor, tuple[str, ...], int]:
        number = _choice(self.pools[_chance(shares.synthetic, generator)], generator)
        clip = self.clips[number]
        own = [self.table["own"][text] for text in clip["captions"]]
        if own and (clip["kind"] not in self.table["written"] or _chance(shares.own, generator)):
            caption = _choice(own, generator)
        else:
            caption = self._kind_caption(clip["kind"], shares, generator)
        return window(self.whole(number), FRAMES, generator), (clip["kind"],), caption

    def _mixture(self, generator: torch.Generator) -> tuple[Tensor, tuple[str, ...], int]:
        pair = int(torch.multinomial(self.pair_weights, 1, generator=generator))
        a, b, in_sequence, caption = self.pairs[pair]
        sounds = [self.whole(_choice(self.of_kind[kind], generator)) for kind in (a, b)]
        if in_sequence:
            halves = [window(sound, FRAMES // 2, generator) for sound in sounds]
            return torch.cat(halves), (a, b), caption
        first, second = (window(sound, FRAMES, generator) for sound in sounds)
        return mix(first, second, generator), (a, b), caption

    def _kind_caption(self, kind: str, shares: Shares, generator: torch.Generator) -> int:
        audiocaps = self.table["audiocaps"].get(kind)
        if audiocaps and _chance(shares.audiocaps, generator):
            return _choice(audiocaps, generator)
        return _choice(self.table["written"][kind], generator)

    def _one_hot(self, kinds: Sequence[Sequence[str]]) -> Tensor:
        table = torch.zeros(len(kinds), len(self.kinds))
        for row, named in enumerate(kinds):
            table[row, [self.number[kind] for kind in named]] = 1
        return table


def left_out(run: Path) -> frozenset[str]:
    """Read the kinds that a network is not trained on where unseen kinds are measured."""
    return frozenset(json.loads((run / "unseen.json").read_text()))


def _chance(share: float, generator: torch.Generator) -> bool:
    return bool(torch.rand((), generator=generator) < share)


def _choice(values: Sequence[int], generator: torch.Generator) -> int:
    return values[int(torch.randint(len(values), (), generator=generator))]
