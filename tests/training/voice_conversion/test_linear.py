"""Matrices fitted to a tiny recogniser's states: the matching, and what the checkpoint holds."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from earshot.models.recogniser import Encoder, EncoderConfig, RecogniserStates
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.systems.voice_conversion.linear import Analysis, LinearVC, Matrices
from training.voice_conversion.linear import export, joined, matched


def speech(seed: int, seconds: float, voice: float) -> Analysis:
    """States of which the first five are sounds, and a mel that is their sum and the voice."""
    steps, generator = round(seconds * 50), torch.Generator().manual_seed(seed)
    states = torch.randn(steps, 16, generator=generator)
    mel = voice + states[:, :5].sum(dim=1)[:, None, None].expand(-1, 2, 80)
    pitch = torch.full((steps, 2), 150.0)
    return Analysis(np.zeros(steps * 320, np.float32), states, mel.contiguous(), pitch)


def test_matches_are_the_nearest_by_cosine() -> None:
    target = torch.eye(6) * torch.arange(1, 7)[:, None]
    rows = matched(torch.tensor([[0.0, 3, 2, 1, 0.5, 0]]).repeat(2000, 1), target)
    assert rows.shape == (2000, 4) and set(rows[-1].tolist()) == {1, 2, 3, 4}


def test_recordings_are_joined_until_two_minutes() -> None:
    target = joined(speech(n, 50, 0) for n in range(9))
    assert target and len(target.states) == len(target.mel) == len(target.waveform) / 320 == 7500
    assert joined([]) is None


def test_exported_matrix_maps_any_source_to_the_voice(tmp_path: Path) -> None:
    """The sound raises the mel, about the mean of the voice."""
    encoder = Encoder(EncoderConfig(16, inner=16, layers=1, heads=2, rotary_share=0.5))
    vocoder = Vocoder(VocoderConfig(width=16, inner=16, layers=1))
    plain = LinearVC(RecogniserStates(encoder, (1,)), Matrices(16, 0), vocoder)
    voices = {"A": speech(1, 60, 3.0), "B": speech(2, 60, -3.0)}
    export(plain, speech(0, 60, 0.0).states, voices, tmp_path)
    config = json.loads((tmp_path / "linear-vc" / "config.json").read_text())
    weights = load_file(tmp_path / "linear-vc" / "model.safetensors")
    assert config["voices"] == ["A", "B"]
    matrix = weights["matrix"].float()
    assert matrix.shape == (2, 2, 16 + 82, 80)
    assert matrix[0, :, -1].mean() > 1 and matrix[1, :, -1].mean() < -1
    assert (matrix[:, :, :5].mean(dim=(1, 2, 3)) > matrix[:, :, 5:16].mean(dim=(1, 2, 3))).all()
