"""Compute compact arrays of clips and captions, so that training needs only torch and numpy.

Files in OUT:
  real.npy, synthetic.npy    log-mel spectrograms, half precision, clip after clip (N, 128)
  real.json, synthetic.json  for each clip: kind, fold, start and end in N, own captions
  unseen.json                kinds that are left out where kinds never trained on are measured
  captions.npy, captions.json  sentence vectors (C, 384), and what each describes (captions.py)
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from earshot.media.audio.sound_features import log_mel, split
from earshot.pipelines.sound_search.encoders.sentence import SentenceEncoder
from training.sound_search.data.captions import Captions, describe
from training.sound_search.data.corpus import (
    Clip,
    real_clips,
    synthetic_clips,
    unseen_kinds,
)


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of all folds; training chooses among them."""
    out.mkdir(parents=True, exist_ok=True)
    recorded = list(real_clips(data))
    unseen = unseen_kinds((clip.corpus, clip.kind) for clip in recorded)
    (out / "unseen.json").write_text(json.dumps(sorted(unseen)))
    rows = _write_clips(recorded, out / "real")
    rows += _write_clips(synthetic_clips(), out / "synthetic")
    _write_captions(describe(data, rows), out / "captions")


def _write_clips(clips: Iterable[Clip], path: Path) -> list[dict]:
    spectrograms, rows, start = [], [], 0
    for clip in clips:
        mel = log_mel(split(clip.waveform())).reshape(-1, 128)
        spectrograms.append(mel.astype(np.float16))
        rows.append(
            {
                "kind": clip.kind,
                "fold": clip.fold,
                "start": start,
                "end": start + len(mel),
                "captions": clip.captions,
            }
        )
        start += len(mel)
    np.save(path.with_suffix(".npy"), np.concatenate(spectrograms))
    path.with_suffix(".json").write_text(json.dumps(rows))
    print(f"{path.name}: {len(rows)} clips, {start / 6000:.1f} minutes", flush=True)
    return rows


def _write_captions(captions: Captions, path: Path) -> None:
    vectors = SentenceEncoder()(captions.texts)
    np.save(path.with_suffix(".npy"), vectors.astype(np.float16))
    path.with_suffix(".json").write_text(json.dumps(captions.table()))
    print(f"{path.name}: {len(vectors)} texts", flush=True)
