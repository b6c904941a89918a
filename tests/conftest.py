"""Tiny seeded checkpoints, so that no test needs the trained ones."""

import functools
import gc
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from earshot.app import import_gradio
from earshot.media.text.phonemes import PHONEMES
from earshot.models.any_voice.inverter import Inverter, InverterConfig
from earshot.models.lip_to_speech import (
    FaceEncoder,
    FaceEncoderConfig,
    LipReader,
    LipReaderConfig,
    WordReader,
    WordReaderConfig,
)
from earshot.models.sound_search.sound_embedder import (
    PatchTransformerConfig,
    SoundCNNConfig,
    SoundEmbedder,
    SoundEmbedderConfig,
)
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import VQVAE, CodebookInverter, CodebookInverterConfig, VQVAEConfig
from earshot.models.words.g2p import G2P, G2PConfig
from earshot.models.words.word_embedder import ViewConfig, WordEmbedder, WordEmbedderConfig
from earshot.pretrained.any_voice import build
from earshot.pretrained.nobody import Strangers

TINY_MODELS = {
    "vqvae-64": VQVAEConfig(64, (2, 2), width=16, heads=2, inner=16, code_width=8),
    "vqvae-128": VQVAEConfig(128, (2, 2), width=16, heads=2, inner=16, code_width=8),
    "vqvae-256": VQVAEConfig(256, (2, 2), width=16, heads=2, inner=16, code_width=8),
    "vqvae-512": VQVAEConfig(512, (2, 1), width=16, heads=2, inner=16, code_width=8),
}
TINY_ANY_VOICE = {
    "name": "any-voice",
    "vocoder": "vocoder",
    "mel_inverter": "any-voice-inverter",
    "voices": ["SF1", "TF2"],
    "adapter": {"width": 16, "heads": 2, "inner": 16, "layers": 1, "content_width": 8},
    "bottleneck": {"content_width": 8},
    "reference": {"width": 16, "voice_width": 8},
    "contour": {"content_width": 8, "voice_width": 8},
}
TINY_MEL_INVERTER = InverterConfig(
    content_width=8,
    voice_width=8,
    condition_width=8,
    width=16,
    heads=2,
    inner=16,
    layers=1,
    fine_width=16,
    fine_inner=16,
    fine_layers=1,
)
TINY_SOUND_MODELS = {
    # That of the app, but over log-mel frames: its encoder is not tiny.
    "sound-effects": SoundCNNConfig(channels=(8, 16), blocks=(1, 1)),
    "sound-cnn": SoundCNNConfig(channels=(8, 16), blocks=(1, 1)),
    "sound-passt": PatchTransformerConfig(width=16, layers=1, heads=2, inner=16),
}


def pytest_configure() -> None:
    """Tests that run side by side have ports of their own, for Gradio looks for one that is free
    and two servers that start at once would take the same; and folders of their own, for a server
    that closes deletes its files, and names files after their content."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.environ["GRADIO_SERVER_PORT"] = str(7860 + 100 * worker)
    os.environ["GRADIO_TEMP_DIR"] = f"{tempfile.gettempdir()}/gradio-tests-{worker}"
    os.environ["XDG_STATE_HOME"] = f"{tempfile.gettempdir()}/earshot-tests-state"  # signing keys
    os.environ["EARSHOT_NO_MARK"] = "1"  # what networks make is compared as they make it
    # Each client reads all certificates, for 0.03 s of work: once is enough.
    transport: Any = httpx._transports.default
    transport.create_ssl_context = functools.cache(transport.create_ssl_context)
    if "PYTEST_XDIST_WORKER" in os.environ:  # of a run of most tests, which all import Gradio
        import_gradio()
    gc.disable()  # until all tests are imported


def pytest_collection_finish() -> None:
    """Keep the million objects that were imported out of garbage collections, of which each would
    take half a second, and let them be rarer; and have pages create their apps at their launch, as
    those of the app do: most are never launched."""
    if internals := sys.modules.get("earshot.tabs.shared.gradio_internals"):
        internals.create_apps_at_launch()
    gc.enable()
    gc.freeze()
    gc.set_threshold(10_000, 10, 50)


@pytest.fixture(scope="session")
def tiny_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out like checkpoints/, of untrained networks with a fixed seed."""
    root = tmp_path_factory.mktemp("checkpoints")
    torch.manual_seed(0)
    vocoder = VocoderConfig(width=16, inner=16, layers=1)
    _write(root / "vocoder", asdict(vocoder), Vocoder(vocoder))
    for name, config in TINY_MODELS.items():
        inverter = CodebookInverterConfig(
            config.stride, code_width=8, width=16, layers=1, inner=16, pitch_means=(5.0,) * 5
        )
        networks = nn.ModuleDict({"vqvae": VQVAE(config), "inverter": CodebookInverter(inverter)})
        settings = {
            "name": name,
            "vocoder": "vocoder",
            "voices": ["SF1", "TF2", "SM1", "TM3", "S1"],
            "vqvae": asdict(config),
            "inverter": asdict(inverter),
        }
        _write(root / name, settings, networks)
    _write(root / "any-voice", TINY_ANY_VOICE, build(TINY_ANY_VOICE))
    axes = np.diag([1.0] * 8 + [0.1, 0.1]).astype(np.float32)
    Strangers(np.append(np.zeros(8), [5.0, -1.6]).astype(np.float32), axes).save(root / "any-voice")
    mel_inverter = Inverter(TINY_MEL_INVERTER)
    _write(root / "any-voice-inverter", asdict(TINY_MEL_INVERTER), mel_inverter)
    for name, trunk in TINY_SOUND_MODELS.items():
        config = SoundEmbedderConfig(trunk, width=16)
        settings = {
            "name": name,
            "sentence_encoder": "all-MiniLM-L6-v2",
            "threshold": 0.1,
            "folds": [1, 2, 3],
            "network": asdict(config),
        }
        _write(root / name, settings, SoundEmbedder(config))
    g2p = G2PConfig(width=8, layers=1, dropout=0.0)
    _write(root / "g2p", {"name": "g2p", "network": asdict(g2p)}, G2P(g2p))
    view = ViewConfig("transformer", layers=1, heads=2, width=16, inner=16)
    embedder = WordEmbedderConfig(view, view, n_phonemes=len(PHONEMES), width=16)
    settings = {"name": "words", "temperature": 0.05, "network": asdict(embedder)}
    _write(root / "words", settings, WordEmbedder(embedder))
    reader = LipReaderConfig(
        side=16, channels=(4, 8), width=16, inner=16, layers=1, heads=2, voice=8
    )
    faces = FaceEncoderConfig(channels=(4, 8), size=8)
    words = WordReaderConfig(
        side=16, channels=(4, 8), width=8, inner=8, layers=1, heads=2, clip_share=0.5
    )
    settings = {
        "name": "lip-to-speech",
        "vocoder": "vocoder",
        "any_voice": "any-voice",
        "reader": asdict(reader),
        "faces": asdict(faces),
        "speakers": ["dark", "middle", "bright"],
        "voices": torch.eye(3, 8).tolist(),
        "word_readers": [asdict(words)],
        "min_confidence": 0.5,
        "calibration": {"temperature": 3.0, "slope": 0.5, "intercept": 0.1},
    }
    networks = nn.ModuleDict(
        {
            "reader": LipReader(reader),
            "faces": FaceEncoder(faces),
            "word_readers": nn.ModuleList([WordReader(words)]),
        }
    )
    _write(root / "lip-to-speech", settings, networks)
    return root


def _write(folder: Path, config: dict, network: nn.Module) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    weights = {
        n: (w.half() if w.is_floating_point() else w).contiguous()
        for n, w in network.state_dict().items()
    }
    save_file(weights, folder / "model.safetensors")
