"""Kinds never trained on: how well networks that were trained without them find their clips.

N_UNSEEN kinds of ESC-50, drawn by a seed, and every kind of the other recordings that ESC-50 lacks
are left out of training, with all their clips and captions (see unseen_kinds). Their clips are
ranked among all clips of the validation fold.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.pretrained.checkpoint import read_config
from earshot.sound_index.embedding import SoundEncoder
from earshot.systems.sound_search.encoder import EarshotEncoder
from training.common.report import markdown
from training.common.sounds import ESC50
from training.sound_search.corpus import Clip, real_clips, unseen_kinds
from training.sound_search.evaluate import CHANCE_DRAWS
from training.sound_search.evaluator import rank_metrics
from training.sound_search.test_set import FOLD, QUERIES

GROUPS: Final = ("unseen", "other", "known")
PRINTED: Final = {
    "unseen": ("mAP@10", "R@10"),
    "other": ("mAP@10", "R@10"),
    "known": ("R@1", "mAP@10"),
}
COLUMNS: Final = {
    "unseen_mAP@10": ("unseen kinds of ESC-50: mAP@10", ".3f"),
    "unseen_R@10": ("R@10", ".3f"),
    "other_mAP@10": ("kinds that ESC-50 lacks: mAP@10", ".3f"),
    "other_R@10": ("R@10", ".3f"),
    "known_R@1": ("trained kinds: R@1", ".3f"),
    "known_mAP@10": ("mAP@10", ".3f"),
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Unseen:
    """Clips, and queries with the kind that each means and the group that it belongs to."""

    clips: list[Clip]
    queries: list[tuple[str, str, str]]  # text, kind, group

    @classmethod
    def choose(cls, data: Path) -> "Unseen":
        """Choose the clips of FOLD, and those of kinds that ESC-50 lacks, with our queries for the
        former and the labels of the latter. Raises SystemExit if there are none of either.
        """
        every = list(real_clips(data))
        unseen = unseen_kinds((clip.corpus, clip.kind) for clip in every)
        fold = [clip for clip in every if clip.corpus == ESC50 and clip.fold == FOLD]
        lacking = unseen - {clip.kind for clip in every if clip.corpus == ESC50}
        others = [clip for clip in every if clip.kind in lacking]
        if not fold or not others:
            raise SystemExit(f"There are no clips of fold {FOLD}, or no others, in {data}.")
        trained_kinds = {clip.kind for clip in fold}
        queries = []
        for line in QUERIES.read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            kind = query["relevant_class"]
            if kind in trained_kinds:
                queries.append((query["query"], kind, "unseen" if kind in unseen else "known"))
        labels = dict.fromkeys((clip.captions[0], clip.kind) for clip in others)
        queries += [(label, kind, "other") for label, kind in labels]
        return cls(fold + others, queries)

    def __str__(self) -> str:
        groups = [group for _, _, group in self.queries]
        counts = ", ".join(f"{groups.count(group)} of {group}" for group in GROUPS)
        return f"{len(self.clips)} clips; queries: {counts}."

    def scores(self, encoder: SoundEncoder) -> np.ndarray:
        """Score every query with every clip: (Q, N)."""
        vectors = []
        for clip in self.clips:
            segments = encoder.segments(clip.waveform(encoder.sample_rate))
            mean = encoder.embed_audio(segments).vectors.mean(axis=0)
            vectors.append(mean / np.linalg.norm(mean))
        return encoder.embed_text([text for text, _, _ in self.queries]) @ np.stack(vectors).T

    def measure(self, scores: np.ndarray) -> dict[str, float]:
        """Measure what each group of queries is shown with."""
        kinds = np.array([clip.kind for clip in self.clips])
        relevant = np.array([kind for _, kind, _ in self.queries])[:, None] == kinds
        values = rank_metrics(scores, relevant)
        groups = np.array([group for _, _, group in self.queries])
        return {
            f"{group}_{metric}": float(values[metric][groups == group].mean())
            for group, metrics in PRINTED.items()
            for metric in metrics
        }


def evaluate_unseen(data: Path, folders: Sequence[Path], json_out: Path | None = None) -> list[Row]:
    """Measure checkpoints that were trained without the unseen kinds, each and all together.

    Raises SystemExit if there is none, or one was trained on these kinds or the fold.
    """
    seen = [f.name for f in folders if not _is_fair(read_config(f))]
    if seen or not folders:
        raise SystemExit(f"No result: trained on the kinds or the fold: {', '.join(seen) or '–'}.")
    unseen = Unseen.choose(data)
    print(unseen)
    rng = np.random.default_rng(0)
    shape = len(unseen.queries), len(unseen.clips)
    draws = [unseen.measure(rng.random(shape)) for _ in range(CHANCE_DRAWS)]
    chance = {name: float(np.mean([draw[name] for draw in draws])) for name in draws[0]}
    rows = [{"system": "chance", **chance}]
    for system in [[f] for f in folders] + ([list(folders)] if len(folders) > 1 else []):
        encoder = EarshotEncoder.from_pretrained(system)
        rows.append({"system": encoder.name, **unseen.measure(unseen.scores(encoder))})
    rows = [row | {"shipped": False} for row in rows]
    print(markdown(rows, COLUMNS))
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def _is_fair(config: dict[str, Any]) -> bool:
    return bool(config.get("without_unseen")) and FOLD not in config["folds"]
