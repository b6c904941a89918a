"""Compute compact arrays of clips and captions, so that training needs only torch and numpy.

Files in OUT:
  real.npy          log-mel spectrograms, half precision, clip after clip (N, 128); and the same of
                    speech, of noise and of synthetic sounds
  real-effects.npy  what aiSFX hears in the first 10 s of the variants of each clip (C, V, H):
                    pooled blocks, and the mean logarithms of its outputs
  real.json         for each clip: kind, fold, start and end in N, own captions
  unseen.json       kinds that are left out where kinds never trained on are measured
  captions.npy, captions.json  sentence vectors (C, 384), and what each describes
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import soxr
import torch

from earshot.media.audio.sound_features import SAMPLE_RATE, log_mel, split
from earshot.models.sound_search.effects_embedder import mean_log, pooled
from earshot.pretrained.sound_search import EffectsEncoder, SentenceEncoder, load_effects_cnn
from training.sound_search.corpus import (
    Captions,
    Clip,
    describe,
    noise_clips,
    real_clips,
    speech_clips,
    synthetic_clips,
    unseen_kinds,
)

EXCERPT = (0.6, 4.0)  # seconds of an excerpt
BAND = 8_000  # Hz, at which many recordings end


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of all folds; training chooses among them."""
    out.mkdir(parents=True, exist_ok=True)
    recorded = list(real_clips(data))
    unseen = unseen_kinds((clip.corpus, clip.kind) for clip in recorded)
    (out / "unseen.json").write_text(json.dumps(sorted(unseen)))
    rows = _write_clips(recorded, out / "real")
    rows += _write_clips(speech_clips(data), out / "speech")
    rows += _write_clips(noise_clips(), out / "noise")
    rows += _write_clips(synthetic_clips(), out / "synthetic")
    _write_captions(describe(data, rows), out / "captions")


def _write_clips(clips: Iterable[Clip], path: Path) -> list[dict]:
    spectrograms, effects, rows, start = [], [], [], 0
    hear = EffectsEncoder(load_effects_cnn(), torch.device("cpu"))
    rng = np.random.default_rng(0)
    for clip in clips:
        waveform = clip.waveform()
        mel = log_mel(split(waveform)).reshape(-1, 128)
        encoded = (hear(split(variant)[:1])[0] for variant in variants(waveform, rng))
        each = [
            torch.cat([pooled(blocks), mean_log(shares)], dim=1)[0] for blocks, shares in encoded
        ]
        effects.append(torch.stack(each).numpy())
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
    np.save(path.with_name(f"{path.name}-effects.npy"), np.stack(effects))
    path.with_suffix(".json").write_text(json.dumps(rows))
    print(f"{path.name}: {len(rows)} clips, {start / 6000:.1f} minutes", flush=True)
    return rows


def variants(waveform: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Vary a sound at SAMPLE_RATE (T,): as it is, without what is above BAND, and an
    excerpt of either. Otherwise kinds would be told apart by the length and bandwidth of their
    recordings.
    """
    low = soxr.resample(soxr.resample(waveform, SAMPLE_RATE, 2 * BAND), 2 * BAND, SAMPLE_RATE)
    return [waveform, low, excerpt(waveform, rng), excerpt(low, rng)]


def excerpt(waveform: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Cut an excerpt of EXCERPT seconds around a place that is drawn by its energy: (T,) → (T',);
    shorter sounds stay whole.
    """
    length = round(SAMPLE_RATE * np.exp(rng.uniform(*np.log(EXCERPT))))
    energy = np.cumsum(waveform.astype(np.float64) ** 2)
    place = int(np.searchsorted(energy, rng.uniform(0, energy[-1])))
    start = int(place - rng.uniform(0.1, 0.9) * length)
    start = min(max(start, 0), max(len(waveform) - length, 0))
    return waveform[start : start + length]


def _write_captions(captions: Captions, path: Path) -> None:
    vectors = SentenceEncoder()(captions.texts)
    np.save(path.with_suffix(".npy"), vectors.astype(np.float16))
    path.with_suffix(".json").write_text(json.dumps(captions.table()))
    print(f"{path.name}: {len(vectors)} texts", flush=True)
