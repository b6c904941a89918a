"""The test set of lip to speech: GRID videos with their reference audio, grouped by how well their
speaker is known.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from training.common.corpora import Item, sentence_only
from training.lip_to_speech.data.prepare import grid_items, sentence

SEEN: Final = ("S1",)  # in nearly all training videos
FEW_SHOT: Final = ("s4", "s26", "s31", "s11")  # in a few of them
GROUPS: Final = ("seen", "few-shot", "unseen")


@dataclass(frozen=True, eq=False)
class Clip:
    """A video; group: one of GROUPS, how well its speaker is known; audio: the reference (T,) at
    16 kHz and LEVEL."""

    item: Item
    group: str
    audio: np.ndarray

    @property
    def video(self) -> Path:
        return self.item.path

    @property
    def speaker(self) -> str:
        return str(self.item.speaker)

    @property
    def words(self) -> list[str]:
        """List the words; there are none where there is no transcript."""
        return self.item.text.split()

    def sentence(self, waveform: np.ndarray) -> np.ndarray:
        """Cut out the part of a waveform (T,) in which the words are, with 0.2 s around them:
        (T',).
        """
        return sentence_only(replace(self.item, start=0.0), waveform)


def choose(data: Path, split: str, most: int | None = None) -> list[Clip]:
    """Choose the videos of a split, or of ``all``; of each group at most so many, seeded.

    Raises SystemExit where there is nothing to measure.
    """
    items = [item for item in grid_items(data) if split in ("all", item.split)]
    if not items:
        raise SystemExit(f"{data} has no videos of GRID to test: try --split all.")
    rng = np.random.default_rng(0)
    chosen: list[Item] = []
    for group in GROUPS:
        members = [item for item in items if _group(item) == group]
        chosen += [members[i] for i in sorted(rng.permutation(len(members))[:most])]
    return [Clip(item, _group(item), sentence(item)) for item in chosen]


def summary(clips: list[Clip]) -> str:
    """Say how many videos there are of each group, by how many speakers."""
    videos = Counter(clip.group for clip in clips)
    speakers = {group: {clip.speaker for clip in clips if clip.group == group} for group in videos}
    return "; ".join(f"{g}: {n} videos by {len(speakers[g])} speakers" for g, n in videos.items())


def _group(item: Item) -> str:
    if item.speaker in SEEN:
        return "seen"
    return "few-shot" if item.speaker in FEW_SHOT else "unseen"
