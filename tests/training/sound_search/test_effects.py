"""Fitting over a pretrained encoder: directions that separate groups, and outputs' categories."""

import json
from pathlib import Path

import numpy as np
import torch

from earshot.models.sound_search.effects_embedder import (
    N_OUTPUTS,
    EffectsEmbedder,
    EffectsEmbedderConfig,
)
from training.sound_search.effects import (
    N_FEATURES,
    aligned,
    discriminants,
    fit_effects,
    groups_of,
    phrases,
)
from training.sound_search.train import Stage

EFFECTS = N_FEATURES + N_OUTPUTS


def test_discriminants_separate_groups() -> None:
    """Two groups differ in a direction of little variance, which others would hide."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 60)
    features = rng.normal(size=(180, 6)) * [5, 5, 5, 5, 0.2, 0.2]
    features[:, 4] += groups == 1
    features[:, 5] += groups == 2
    mean, projection = discriminants(features.astype(np.float32), groups)
    assert projection.shape == (2, 6)
    places = (features - mean) @ projection.T
    centres = np.stack([places[groups == number].mean(axis=0) for number in range(3)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == groups).mean() > 0.95


def test_aligned_finds_outputs_that_are_missing() -> None:
    rng = np.random.default_rng(0)
    categories = np.array([0, 2, 3, 6, 8, 9])  # of ten categories
    shares = rng.dirichlet(np.full(10, 0.3), 30)
    kinds = rng.integers(0, 30, 400)
    kinds[:30] = np.arange(30)
    logs = 3 * shares[kinds][:, categories] + 0.3 * rng.normal(size=(400, 6))
    np.testing.assert_array_equal(aligned(logs, kinds, shares), categories)


def test_rendered_sounds_are_apart_where_recordings_are_many() -> None:
    clips = [*[("dog", False)] * 8, *[("owl", False)] * 7, ("dog", True), ("owl", True)]
    assert groups_of(clips)[-2:] == [("dog", True), ("owl", False)]


def test_phrases_describe_every_category_once() -> None:
    numbers = [number for number, _ in phrases()]
    assert sorted(set(numbers)) == list(range(82))
    texts = [text for _, text in phrases()]
    assert len(texts) == len(set(texts))


def test_fitted_network_finds_clips_by_their_captions(tmp_path: Path) -> None:
    """Of a fold that it was not fitted to; and rendered sounds of a kind with its recordings."""
    rng = np.random.default_rng(0)
    kinds = ("dog", "rain", "bell")
    features = {kind: rng.random(EFFECTS) for kind in kinds}
    for name, folds in (
        ("real", [1, 2, 3, 4] * 3),
        ("speech", []),
        ("noise", []),
        ("synthetic", [0] * 3),
    ):
        clips = [(kind, fold) for fold in folds for kind in kinds]
        rows = [
            {"kind": kind, "fold": fold, "start": 0, "end": 0, "captions": []}
            for kind, fold in clips
        ]
        varied = [
            [features[kind] + rng.normal(0, 0.2, EFFECTS) for _ in range(2)] for kind, _ in clips
        ]
        np.save(tmp_path / f"{name}.npy", np.zeros((0, 128), np.float16))
        effects = np.array(varied, np.float32).reshape(len(rows), 2, EFFECTS)
        np.save(tmp_path / f"{name}-effects.npy", effects)
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    count = len(phrases())
    sentences = np.linalg.qr(rng.normal(size=(384, 384)))[0]
    table = {
        "written": {kind: [number] for number, kind in enumerate(kinds)},
        "audiocaps": {},
        "own": {},
        "pairs": [],
        "phrases": [3 + number % 300 for number in range(count)],
    }
    np.save(tmp_path / "captions.npy", sentences)
    (tmp_path / "captions.json").write_text(json.dumps(table))
    fit_effects(tmp_path, "effects", Stage())
    saved = torch.load(tmp_path / "effects.pt", weights_only=True)
    network = EffectsEmbedder(EffectsEmbedderConfig(**saved["config"])).eval()
    network.load_state_dict(saved["network"])
    effects = torch.from_numpy(np.load(tmp_path / "real-effects.npy")[9:12, 0])  # of fold 4
    sounds = network.embed_pooled(effects[:, :N_FEATURES], effects[:, N_FEATURES:])
    scores = network.embed_sentences(torch.from_numpy(sentences[:3]).float()) @ sounds.T
    assert scores.argmax(dim=0).tolist() == [0, 1, 2]
    assert network.config.n_kinds == 3 and network.config.n_groups == 6
