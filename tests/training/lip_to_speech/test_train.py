"""Training of lip to speech: stages, vocoder, and a checkpoint that the app can load."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.media.constants import HOP_LENGTH
from earshot.models.lip_to_speech import FaceEncoderConfig, Prediction
from earshot.systems.lip_to_speech import LipToSpeech
from tests.training.lip_to_speech.clips import TINY, TINY_WORDS
from training.lip_to_speech import export, readers, recipe, voices
from training.lip_to_speech.batches import Clips
from training.lip_to_speech.eigenlips import Eigenlips, EigenlipsConfig
from training.lip_to_speech.losses import VocoderLoss
from training.lip_to_speech.readers import (
    Stage,
    WordStage,
    load_word_reader,
    train_reader,
    train_words,
    with_mixed_statistics,
)

pytestmark = pytest.mark.slow


def train_with_vocoder(run: Path, reader: str) -> None:
    """Train the reader, and run/vocoder.pt on what it draws."""
    train_reader(run, reader, Stage(TINY, 1))
    voices.train_vocoder(run, "vocoder", 2, reader)


def test_stage_with_views_freezes_frontend(run: Path) -> None:
    """A stage with views trains all but the frontend."""
    train_reader(run, "studio", Stage(TINY, 1))
    train_reader(run, "longer", Stage(TINY, 2, 1e-2, start="studio", views=2))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "longer")
    )
    assert first.keys() == then.keys()
    for key in first:
        assert torch.equal(first[key], then[key]) == key.startswith("frontend."), key


def test_half_of_videos_alternates(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the videos is every second one."""
    seen: list[list[str]] = []
    keep = Clips.keep

    def keep_rows(clips: Clips, rows: slice) -> None:
        keep(clips, rows)
        seen.append(clips.arrays["speaker"].tolist())

    monkeypatch.setattr(Clips, "keep", keep_rows)
    for half in (0, 1):
        train_reader(run, "half", Stage(TINY, 1, rendered=True, half=half))
    assert seen == [["s1", "ada"], ["s4"]]


def test_stage_starts_from_fitting_weights(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 1))
    other = replace(TINY, decoder="autoregressive")
    train_reader(run, "autoregressive", Stage(other, 1, 0.0, start="studio", rendered=True))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "autoregressive")
    )
    torch.testing.assert_close(first["ctc_head.weight"], then["ctc_head.weight"])
    assert "decoder.memory.weight_ih" in then and "decoder.memory.weight_ih" not in first


def test_pipeline_loads_checkpoint_of_whole_recipe(
    run: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = {
        name: replace(
            stage,
            config=replace(TINY, decoder=stage.config.decoder),
            steps=1,
        )
        for name, stage in recipe.READERS.items()
    }
    monkeypatch.setattr(recipe, "READERS", readers)
    words = {
        name: replace(s, config=TINY_WORDS, steps=1) for name, s in recipe.WORD_READERS.items()
    }
    monkeypatch.setattr(recipe, "WORD_READERS", words)
    monkeypatch.setattr(recipe, "FaceEncoderConfig", partial(FaceEncoderConfig, (4, 8), size=8))
    monkeypatch.setattr(recipe, "train_vocoder", _one_step_of_vocoder)
    for name in recipe.RECIPE:
        if name != "voices":
            recipe.RECIPE[name](run, name)
    out = run / "checkpoints"
    shutil.copytree(tiny_checkpoints / "any-voice", out / "any-voice")
    calibrated: list[Path] = []  # one speaker alone is left out here: too few to fit anything
    monkeypatch.setattr(export, "calibrate_checkpoint", lambda _, folder: calibrated.append(folder))
    export.export(run, out)
    assert calibrated == [out / "lip-to-speech"]
    pipeline = LipToSpeech.from_pretrained(out / "lip-to-speech", "cpu")
    assert sorted(pipeline.speakers) == ["s1", "s26", "s4"]
    for compared in {*recipe.MEASURED, recipe.BASELINE} - {recipe.SHIPPED}:
        assert (run / "validation" / compared / "model.safetensors").exists()


def _one_step_of_vocoder(run: Path, name: str, _steps: int, *predicted: str) -> None:
    voices.train_vocoder(run, name, 1, *predicted)


def test_vocoder_trains_on_both_frame_kinds(run: Path) -> None:
    """The frames are predicted ones and those of the reference."""
    train_with_vocoder(run, "parallel")
    with np.load(run / "predicted-train.npz") as predicted, np.load(run / "clips.npz") as clips:
        half = len(predicted["log_mel"]) // 2  # of three videos, rendered ones too
        np.testing.assert_array_equal(predicted["log_mel"][half:][:300], clips["log_mel"][0])
        assert not np.array_equal(predicted["log_mel"][:300], clips["log_mel"][0])
        np.testing.assert_array_equal(
            predicted["waveform"][: 300 * HOP_LENGTH], clips["waveform"][0]
        )
        assert half == 3 * 300 == len(predicted["pitch"]) // 2
    trained = torch.load(run / "vocoder.pt", weights_only=True)["network"]
    assert not torch.equal(trained["filters.bias"], torch.zeros_like(trained["filters.bias"]))


def test_vocoder_loss_prefers_reference(run: Path) -> None:
    """The loss is lower for the reference and has a gradient."""
    train_with_vocoder(run, "parallel")
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    loss_of = VocoderLoss(run / "vocoder.pt")
    log_f0 = torch.zeros(2, 300)
    real, noise = (
        Prediction(mel.requires_grad_(), torch.ones(2, 300), log_f0)
        for mel in (batch.log_mel.clone(), torch.randn(2, 300, 80))
    )
    loss = loss_of(noise, batch)
    assert loss_of(real, batch) < loss
    (gradient,) = torch.autograd.grad(loss, noise.log_mel)
    assert gradient.isfinite().all() and gradient.any()
    assert not any(part.requires_grad for part in loss_of.parameters())


def test_mel_variance_scale_scales_deviations(run: Path) -> None:
    """Deviations from the mean frame are scaled."""
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    predicted = []
    for scale in (1.0, 2.0):
        train_reader(run, "clear", Stage(TINY, 1, mel_variance_scale=scale))
        network = readers.load_reader(run / "clear.pt")
        with torch.inference_mode():
            states, ctc_logits = network.encode(batch.crops)
            voice = readers.load_voices(run).cpu()(batch.log_mel)
            predicted.append(network.decode(states, ctc_logits, voice, 300))
    plain, sharp = predicted
    mean = plain.log_mel.mean(dim=(0, 1))
    torch.testing.assert_close(sharp.log_mel - mean, 2 * (plain.log_mel - mean), atol=1e-3, rtol=0)
    torch.testing.assert_close(sharp.log_f0, plain.log_f0)


def test_eigenlips_find_component_of_highest_variance() -> None:
    rng = np.random.default_rng(0)
    network = Eigenlips(EigenlipsConfig(side=8, components=2, width=4))
    shades = torch.from_numpy(rng.standard_normal((200, 1, 1))).float()
    pictures = 0.5 + shades * torch.linspace(-0.1, 0.1, 8)  # lighter to one side
    network.learn_components(pictures + 1e-3 * torch.randn(200, 8, 8))
    side = torch.linspace(-1, 1, 8).expand(8, 8).flatten()
    cosine = torch.cosine_similarity(network.components[0], side, dim=0)
    assert abs(cosine) > 0.99
    assert network(torch.rand(2, 5, 8, 8)).shape == (2, 20, 80)


def test_finished_stage_is_not_trained_again(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 2))
    before = torch.load(run / "studio.pt", weights_only=True)["network"]
    train_reader(run, "studio", Stage(TINY, 2))  # nothing is left to do
    after = torch.load(run / "studio.pt", weights_only=True)["network"]
    torch.testing.assert_close(before, after)


def test_held_out_losses_are_deterministic(run: Path) -> None:
    network = readers.LipReader(TINY)
    encoder = readers.load_voices(run)
    clips = Clips([run / "clips.npz"], "val")
    losses = [readers.held_out(network, clips, encoder) for _ in range(2)]
    assert losses[0] == losses[1]
    assert set(losses[0]) == {"mel", "envelopes", "voicing", "log_f0", "words", "moments"}


def test_words_are_trained_without_left_out_speakers(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    keep = Clips.keep

    def keep_rows(clips: Clips, rows: np.ndarray) -> None:
        keep(clips, rows)
        seen.append(clips.arrays["speaker"].tolist())

    monkeypatch.setattr(Clips, "keep", keep_rows)
    train_words(run, "words", WordStage(TINY_WORDS, 2, left_out=("s4",)))
    assert seen == [["s4"], ["s1", "ada"]]
    assert not load_word_reader(run / "words.pt").training


def test_mixed_statistics_keep_what_is_within() -> None:
    """A clip's channels get another mean and scale, and their course over time stays."""
    torch.manual_seed(0)
    x = torch.randn(4, 5, 3, 6, 6) * torch.rand(4, 1, 3, 1, 1) + torch.randn(4, 1, 3, 1, 1)
    y = with_mixed_statistics(x.flatten(0, 1), 4).view_as(x)
    for clip, channel in np.ndindex(4, 3):
        pair = torch.stack([x[clip, :, channel].flatten(), y[clip, :, channel].flatten()])
        assert abs(torch.corrcoef(pair)[0, 1]) > 0.999
    assert not torch.allclose(x.mean(dim=(1, 3, 4)), y.mean(dim=(1, 3, 4)), atol=0.05)
    still = torch.zeros(10, 3, 6, 6, requires_grad=True)
    with_mixed_statistics(still, 2).sum().backward()
    assert still.grad is not None and still.grad.isfinite().all()
