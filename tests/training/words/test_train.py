"""Training of word embeddings: stages, the schedule, and the recipe."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import torch
from torch import nn

from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.text.phonemes import from_arpabet, numbers
from earshot.models.words.word_embedder import (
    PhonemeBottleneckConfig,
    ViewConfig,
    WordEmbedderConfig,
)
from tests.support.word_arrays import write_arrays
from training.common.loop import fit
from training.words.concatenation import DEVELOPMENT
from training.words.frames import stage as schedule
from training.words.frames.batches import Mixture
from training.words.frames.stage import DecayOnPlateau, Stage, train_stage
from training.words.recipe import STAGES

pytestmark = pytest.mark.slow

TINY = WordEmbedderConfig(
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    channels=4,
    width=12,
)
BOTTLENECK = PhonemeBottleneckConfig(
    TINY.acoustic, TINY.written, channels=4, width=12, local_layers=2, local_width=16
)


@pytest.mark.parametrize("objective", ["contrastive", "triplet", "ctc"])
@pytest.mark.parametrize("config", [TINY, BOTTLENECK], ids=["conformer", "bottleneck"])
def test_train_stage_starts_from_another(
    tmp_path: Path,
    objective: Literal["contrastive", "triplet", "ctc"],
    config: WordEmbedderConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weights are interpolated between the two."""
    write_arrays(tmp_path)
    monkeypatch.setattr(schedule, "EPOCH", 4)
    held_out = frozenset({tuple(numbers(from_arpabet("K AE T")))})
    mixture = Mixture(channel_matched=0.5, channel_swapped=0.5, liftered=0.5)
    stage = Stage(8, 1e-3, 1, held_out, objective=objective, mixture=mixture, n_words=8)
    train_stage(tmp_path, "tiny", config, stage)
    assert (tmp_path / "tiny.pt").exists()
    document = (tmp_path / "tiny.json").read_text()
    assert ("phoneme_errors" if objective == "ctc" else "unseen_cross_view_ap") in document
    assert "hours" in document
    train_stage(tmp_path, "next", config, replace(stage, start="tiny"))
    train_stage(tmp_path, "mean", config, replace(stage, start="tiny", wise_ft_alpha=0.5))
    start, end, mean = (
        torch.load(tmp_path / f"{name}.pt", weights_only=True)["network"]
        for name in ("tiny", "next", "mean")
    )
    for part, value in mean.items():
        torch.testing.assert_close(value, (start[part] + end[part]) / 2)


def test_stage_with_pitch_starts_without(tmp_path: Path) -> None:
    """A stage with pitch starts from a network without it."""
    write_arrays(tmp_path, log_mel_and_pitch)
    train_stage(tmp_path, "tiny", TINY, Stage(4, 1e-3, 1, n_words=8))
    pitch = replace(TINY, pitch=True)
    train_stage(tmp_path, "next", pitch, Stage(4, 1e-3, 1, start="tiny", n_words=8))
    saved = torch.load(tmp_path / "next.pt", weights_only=True)
    assert saved["config"]["pitch"] and saved["network"]["pitch.out.weight"].any()


def test_decay_ends_with_best_weights(tmp_path: Path) -> None:
    """Decay on a plateau ends below the lowest rate."""
    network = nn.Linear(1, 1)
    validated: list[float] = []

    def validate() -> float:
        """Best at the first epoch, worse ever after."""
        validated.append(float(network.weight))
        return 0.5 if len(validated) == 1 else 0.9

    fit(
        network,
        lambda _: (network(torch.ones(1, 1)) - 3).square().mean(),
        validate,
        tmp_path / "state.pt",
        10_000,
        1e-3,
        schedule_of=partial(DecayOnPlateau, network=network, validate=validate),
    )
    # 1e-3 falls to 1e-7 in five decays of MAX_PATIENCE epochs each; then fit scores once more.
    assert len(validated) == 1 + 5 * schedule.MAX_PATIENCE + 1
    assert validated[-1] == validated[0] == float(network.weight)


def test_decay_on_plateau_resumes_where_ended(tmp_path: Path) -> None:
    network = nn.Linear(1, 1)
    scores = iter([0.5, *[0.9] * 100])
    run = partial(
        fit,
        network,
        lambda _: (network(torch.ones(1, 1)) - 3).square().mean(),
        lambda: next(scores),
        tmp_path / "state.pt",
        10_000,
        1e-3,
        schedule_of=partial(DecayOnPlateau, network=network, validate=lambda: next(scores)),
    )
    run()
    weight = float(network.weight)
    run()
    assert float(network.weight) == weight


def test_development_words_are_not_zero_shot() -> None:
    zero = {tuple(numbers(p)) for language in ("en", "ar", "zh") for p in _zero(language)}
    assert not DEVELOPMENT & zero
    assert all(stage.start in ("", *STAGES) for _, stage in STAGES.values())


def _zero(language: str) -> list[tuple[str, ...]]:
    from training.common.zero_shot import zero_shot

    return list(zero_shot(language))
