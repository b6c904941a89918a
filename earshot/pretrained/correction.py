"""What the inverter misses in a voice, measured on the voice's own reference, and given back.

The idea of kNN-VC (Baas, van Niekerk and Kamper 2023, arXiv:2305.18975) for the inverter's error
alone: where a source sounds like some of the reference, the inverter errs as it does there.

Shapes: S = 2 U frames of 10 ms, U steps of 20 ms, N rows of a correction, C content width, M mel
bands.
"""

from typing import Final

import numpy as np
import torch
from scipy.cluster.vq import kmeans2
from torch import Tensor
from torch.nn import functional as F

from earshot.models.any_voice.content import STRIDE
from earshot.pretrained.voice import Correction

MAX_ROWS: Final = 256  # at most: fewer than the steps of any reference, so that no words are in it
NEIGHBOURS: Final = 6  # rows that are averaged for a step
SMOOTHING: Final = 7  # frames of a Hann window
PAUSE: Final = 5.0  # nepers below the loudest frame of a reference: quieter steps are left out
QUIET: Final = 3.5  # nepers below it, where half of the correction is added
FADE: Final = 2.0  # per neper: how steeply it fades out around that


def measure(content: Tensor, mel: Tensor, inverted: Tensor) -> Correction:
    """Compare the log-mel spectrogram of a reference (S, M) with what the inverter makes of the
    reference's content (U, C) in its own voice (S, M).
    """
    loudness = _loudness(mel)
    spoken = (loudness > loudness.max() - PAUSE).reshape(-1, STRIDE).all(dim=1)
    error = (mel - inverted).reshape(-1, STRIDE, mel.shape[1]).mean(dim=1)
    rows = torch.cat([content, error], dim=1)[spoken].cpu().numpy()
    if len(rows) > MAX_ROWS:
        _, nearest = kmeans2(rows[:, : content.shape[1]], MAX_ROWS, minit="++", rng=0)
        rows = np.stack([rows[nearest == n].mean(axis=0) for n in np.unique(nearest)])
    content_rows, error_rows = np.split(rows, [content.shape[1]], axis=1)
    return Correction(content_rows, error_rows, loudness.max().item())


def missing(correction: Correction, content: Tensor, mel: Tensor) -> Tensor:
    """Look up what a log-mel spectrogram (S, M) lacks that the inverter made of content (U, C): (S,
    M).
    """
    rows, errors = (torch.from_numpy(x).to(mel) for x in (correction.content, correction.error))
    distances = torch.cdist(content, rows)
    away, places = distances.topk(min(NEIGHBOURS, len(rows)), largest=False)
    error = (errors[places] * torch.softmax(-away, dim=1)[..., None]).sum(dim=1)
    loudness = _loudness(mel) - correction.loudest + QUIET
    spoken = torch.sigmoid(FADE * loudness)[:, None]
    return _smoothed(error.repeat_interleave(STRIDE, dim=0)) * spoken


def _loudness(mel: Tensor) -> Tensor:
    return mel.exp().square().sum(dim=1).log() / 2


def _smoothed(frames: Tensor) -> Tensor:
    window = torch.hann_window(SMOOTHING + 2, device=frames.device)[1:-1]
    padded = F.pad(frames.T[:, None], (SMOOTHING // 2, SMOOTHING // 2), mode="replicate")
    return F.conv1d(padded, (window / window.sum())[None, None])[:, 0].T
