"""The vocoder's frame count, determinism and locality."""

import torch

from models.vocoder import Vocoder, VocoderConfig

CONFIG = VocoderConfig(width=16, inner=16, layers=2)


def make() -> Vocoder:
    torch.manual_seed(0)
    return Vocoder(CONFIG).eval()


def test_a_frame_is_a_hop() -> None:
    assert make()(torch.randn(2, 25, 80)).shape == (2, 25 * 160)


def test_only_nearby_frames_matter() -> None:
    """Two layers of kernel 7 and the first one see 9 frames each way, the window 2 more."""
    vocoder, mel = make(), torch.randn(1, 60, 80)
    other = mel.clone()
    other[:, 40:] += 1.0
    difference = (vocoder(mel) - vocoder(other)).abs()[0]
    assert difference[: (40 - 12) * 160].max() < 1e-5
    assert difference[45 * 160 :].max() > 1e-4


def test_loud_spectra_do_not_overflow() -> None:
    assert make()(torch.full((1, 10, 80), 80.0)).isfinite().all()
