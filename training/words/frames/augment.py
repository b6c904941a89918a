"""Data augmentation of words, all on their frames, which is cheap.

Shapes: B batch, S frames of 10 ms, M mel bands and, where there is one, the pitch after them.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.audio.vtlp import FLOOR, N_FACTORS, N_MELS, vtlp

NEPER: Final = 8.686  # dB: one step of the natural logarithm of magnitude
STRETCH: Final = (0.8, 1.25)  # of durations
CUT_SHARE: Final = 0.25  # share of the words whose beginning or end is cut off
MAX_CUT: Final = 0.2  # of their frames, at most
MAX_PAUSE: Final = 12  # frames of silence before and after a word, at most
GAIN: Final = 8.0  # dB
TILT: Final = 6.0  # dB, from the lowest band to the highest
REVERBERANT: Final = 0.2  # share of the words with added reverberation
SNR: Final = (0.0, 30.0)  # dB
NARROW_BANDS: Final = (50, 70)  # mel bands left by a narrow-band channel: about 3 to 5 kHz
DECAY: Final = (0.70, 0.93)  # of reverberant power per frame: a T60 of 0.2 to 0.95 s
WET: Final = (0.02, 0.15)  # reverberant power that a frame of speech adds
CEPSTRUM: Final = (13, 40)  # cepstral coefficients kept by liftering
SHAPE: Final = 6  # cepstral coefficients of a channel's frequency response
MAX_MASKED_BANDS: Final = 10  # at most
MAX_MASKED_FRAMES: Final = 0.08  # of a word, at most
LOST_PITCH: Final = (0.1, 0.3)  # share of the words without pitch: without noise, and in noise
WRONG_PITCH: Final = 0.2  # share of the words in noise with the pitch of another


def _cosines(bands: int) -> Tensor:
    """Compute the orthonormal DCT-II (M, coefficients); SciPy may not be installed where we
    train.
    """
    positions, orders = (torch.arange(bands) + 0.5)[:, None], torch.arange(bands)[None]
    basis = (torch.pi / bands * positions * orders).cos() * (2 / bands) ** 0.5
    basis[:, 0] /= 2**0.5
    return basis


COSINES: Final = _cosines(N_MELS)


def augment(
    words: list[np.ndarray],
    noise: np.ndarray,
    narrow_band: float,
    rng: np.random.Generator,
    liftered: float | np.ndarray = 0.0,
    noisy: float = 0.4,
) -> tuple[Tensor, Tensor]:
    """Augment frames of words, each (S, M), with noises (n, S', M): a batch (B, S, M), padded with
    FLOOR, and its lengths (B,).

    In this order: clipping, time stretching, VTLP, liftering, gain and spectral tilt,
    reverberation, noise, narrow band, SpecAugment, errors of the pitch tracker. narrow_band: share
    of the words limited to a telephone's band; noisy: share with added noise; liftered: share whose
    harmonics are smoothed away, or the probability of each word (B,).
    """
    stretched, lengths = _stretched(words, rng)
    mel, octaves = stretched[..., :N_MELS], stretched[..., N_MELS:]
    batch, _, bands = mel.shape
    mel = vtlp(mel, torch.from_numpy(rng.integers(0, N_FACTORS, batch)))
    smooth = torch.from_numpy(rng.random(batch) < liftered)
    if smooth.any():
        mel[smooth] = _liftered(mel[smooth], rng)
    slope = torch.linspace(-0.5, 0.5, bands)[None, None]
    mel = mel + (_draw(rng, -GAIN, GAIN, batch) + _draw(rng, -TILT, TILT, batch) * slope) / NEPER
    wet = torch.from_numpy(rng.random(batch) < REVERBERANT)
    if wet.any():
        mel[wet] = _reverberant(mel[wet], rng)
    loud = torch.from_numpy(rng.random(batch) < noisy)
    if loud.any():
        mel[loud] = _noisy(mel[loud], noise, rng)
    cut = torch.where(
        torch.from_numpy(rng.random(batch) < narrow_band),
        _draw(rng, *NARROW_BANDS, batch).flatten(),
        torch.tensor(float(bands)),
    )
    mel = mel.masked_fill(torch.arange(bands)[None, None] >= cut[:, None, None], FLOOR)
    mel = _masked(mel.clamp(min=FLOOR), lengths, rng)
    return torch.cat([mel, _tracked(octaves, loud, rng)], dim=-1), lengths


def match_channel(word: np.ndarray, recorded: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give a word the channel of a recorded one: its spectral tilt, noise and band limit.

    Without it a network can tell the corpora, and synthetic from recorded words, by their channels.
    Both (S, M), of different lengths. The pitch remains.
    """
    mel, donor = (x[:, :N_MELS].astype(np.float32) for x in (word, recorded))
    smooth = COSINES[:, :SHAPE].numpy()
    tilt = (donor.mean(axis=0) - mel.mean(axis=0)) @ smooth @ smooth.T
    mel = np.minimum(mel + rng.random() * tilt, donor.max(axis=0))
    noise = np.quantile(donor, 0.05, axis=0) + 0.3 * rng.standard_normal(mel.shape)
    noisy = 0.5 * np.logaddexp(2 * mel, 2 * noise.astype(np.float32))
    return np.concatenate([noisy, word[:, N_MELS:].astype(np.float32)], axis=1)


def _liftered(mel: Tensor, rng: np.random.Generator) -> Tensor:
    """Keep only the first cepstral coefficients; their number is drawn for each word."""
    n_kept = torch.from_numpy(rng.integers(*CEPSTRUM, len(mel)))[:, None, None]
    cepstrum = mel @ COSINES * (torch.arange(N_MELS) < n_kept)
    return (cepstrum @ COSINES.t()).to(mel.dtype)


def _stretched(words: list[np.ndarray], rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Clip some words, time-stretch all, and pad them with silence: (B, S, M), lengths (B,)."""
    words = [_clipped(word, rng) if rng.random() < CUT_SHARE else word for word in words]
    durations = [max(round(len(word) * rng.uniform(*STRETCH)), 8) for word in words]
    pauses = rng.integers(0, MAX_PAUSE, (len(words), 2))
    lengths = torch.tensor([n + a + b for n, (a, b) in zip(durations, pauses, strict=True)])
    mel = torch.full((len(words), int(lengths.max()), words[0].shape[1]), FLOOR)
    mel[..., N_MELS:] = 0.0
    for row, word, n, (before, _) in zip(mel, words, durations, pauses, strict=True):
        source = torch.from_numpy(word.astype(np.float32)).t()[None]
        row[before : before + n] = F.interpolate(source, size=n, mode="linear")[0].t()
        nearest = torch.arange(n) * len(word) // n  # there is nothing between a pitch and none
        row[before : before + n, N_MELS:] = source[0, N_MELS:, nearest].t()
    return mel, lengths


def _clipped(word: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Cut off some of a word's beginning or end, as words are often cut in corpora and by
    visitors.
    """
    lost = int(rng.integers(round(MAX_CUT * len(word)) + 1))
    return word[lost:] if rng.random() < 0.5 else word[: len(word) - lost]


def _reverberant(mel: Tensor, rng: np.random.Generator) -> Tensor:
    """Add an exponentially decaying tail to the power in every band."""
    power = (2 * mel).exp()
    decay = _draw(rng, *DECAY, len(mel))[:, :, 0]
    wet = _draw(rng, *WET, len(mel))[:, :, 0]
    tail, tails = torch.zeros_like(power[:, 0]), []
    for frame in power.unbind(dim=1):
        tails.append(tail)
        tail = decay * tail + wet * frame
    return 0.5 * (power + torch.stack(tails, dim=1)).log()


def _noisy(mel: Tensor, noise: np.ndarray, rng: np.random.Generator) -> Tensor:
    """Add the power of environmental sounds, or of stationary noise."""
    frames = mel.shape[1]
    starts = rng.integers(0, noise.shape[1] - frames, len(mel))
    chosen = rng.integers(0, len(noise), len(mel))
    sounds = np.stack([noise[c, s : s + frames] for c, s in zip(chosen, starts, strict=True)])
    added = torch.from_numpy(sounds.astype(np.float32))
    steady = torch.from_numpy(rng.random(len(mel)) < 0.25)
    added[steady] = added[steady].mean(dim=1, keepdim=True) + 0.3 * torch.randn(
        (int(steady.sum()), *added.shape[1:])
    )
    added = added - _draw(rng, *SNR, len(mel)) / NEPER
    return 0.5 * torch.logaddexp(2 * mel, 2 * added)


def _tracked(octaves: Tensor, in_noise: Tensor, rng: np.random.Generator) -> Tensor:
    """Change pitch (B, S, 1) as a tracker may find it; in_noise: bool (B,)."""
    draw = torch.from_numpy(rng.random(len(octaves)))
    lost = draw < torch.where(in_noise, LOST_PITCH[1], LOST_PITCH[0])
    wrong = in_noise & (draw > 1 - WRONG_PITCH)
    octaves = torch.where(wrong[:, None, None], octaves.roll(1, dims=0), octaves)
    return octaves.masked_fill(lost[:, None, None], 0.0)


def _masked(mel: Tensor, lengths: Tensor, rng: np.random.Generator) -> Tensor:
    """Mask by SpecAugment (Park et al. 2019): one run of bands and one of frames set to FLOOR."""
    batch, frames, bands = mel.shape
    first = _draw(rng, 0, bands, batch)
    band = torch.arange(bands)[None, None]
    hidden = (band >= first) & (band < first + _draw(rng, 0, MAX_MASKED_BANDS, batch))
    counted = lengths[:, None, None].float()
    first = _draw(rng, 0, 1, batch) * counted
    frame = torch.arange(frames)[None, :, None]
    hidden = hidden | (frame >= first) & (
        frame < first + _draw(rng, 0, MAX_MASKED_FRAMES, batch) * counted
    )
    return mel.masked_fill(hidden, FLOOR)


def _draw(rng: np.random.Generator, low: float, high: float, batch: int) -> Tensor:
    """Draw a uniform random number for each word: (B, 1, 1)."""
    return torch.from_numpy(rng.uniform(low, high, (batch, 1, 1)).astype(np.float32))
