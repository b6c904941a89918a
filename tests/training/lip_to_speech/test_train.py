"""Training of lip to speech: batches, stages, and a checkpoint that the app can load."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from media.audio import features
from media.constants import HOP_LENGTH, SAMPLE_RATE
from media.text.grammar import GRID, GRID_WORDS
from models.face_encoder import FaceEncoderConfig
from models.lip_reader import LipReaderConfig, Prediction, VisualFrontend
from models.voice_encoder import VoiceEncoderConfig
from pipelines.lip_to_speech import LipToSpeech
from synthetic.heads.__main__ import SENTENCES
from training.lip_to_speech import export, recipe
from training.lip_to_speech.data import av_sync, batches, prepare
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.data.encoded_clips import EncodedClips
from training.lip_to_speech.data.synthetic_heads import lines
from training.lip_to_speech.train import eigenlips, faces, reader, vocoder, voices
from training.lip_to_speech.train.eigenlips import Eigenlips, EigenlipsConfig
from training.lip_to_speech.train.reader import Stage, train_reader
from training.lip_to_speech.train.vocoder_loss import VocoderLoss
from training.lip_to_speech.train.voices import train_voices

pytestmark = pytest.mark.slow

TINY = LipReaderConfig(channels=(4, 8), width=16, inner=16, layers=1, heads=2, voice=8)


def write_clips(path: Path, speakers: list[str], splits: list[str]) -> None:
    rng = np.random.default_rng(0)
    count = len(speakers)
    np.savez(
        path,
        crops=rng.integers(0, 256, (count, 75, 80, 80), np.uint8),
        portraits=rng.integers(0, 256, (count, 2, 64, 64, 3), np.uint8),
        log_mel=rng.standard_normal((count, 300, 80)).astype(np.float16),
        pitch=rng.choice([0.0, 120.0], (count, 300)).astype(np.float32),
        waveform=rng.integers(-3000, 3000, (count, 48_000)).astype(np.int16),
        words=rng.integers(0, len(GRID_WORDS), (count, 6)).astype(np.int8),
        spoken=np.tile([[0.31 + 0.4 * k, 0.6 + 0.4 * k] for k in range(6)], (count, 1, 1)),
        speaker=speakers,
        split=splits,
    )


@pytest.fixture
def run(tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arrays of made-up videos, and a trained encoder of voices."""
    write_clips(tmp_path / "clips.npz", ["s1", "s4", "s1", "s26"], ["train", "train", "val", "val"])
    write_clips(tmp_path / "rendered.npz", ["ada"], ["train"])
    lengths = [90, 200, 120, 60, 80]
    np.savez(
        tmp_path / "voices.npz",
        log_mel=np.random.default_rng(1).standard_normal((sum(lengths), 80)).astype(np.float16),
        lengths=lengths,
        speaker=["a", "b", "c", "c", "d"],
        split=["train", "train", "val", "val", "val"],
    )
    monkeypatch.setattr(voices, "BATCH", 4)
    monkeypatch.setattr(faces, "STEPS", 2)
    monkeypatch.setattr(eigenlips, "STEPS", 2)
    monkeypatch.setattr(vocoder, "START", tiny_checkpoints / "vocoder")
    train_voices(tmp_path, "voices", VoiceEncoderConfig(width=8, size=8), 2)
    return tmp_path


def train_with_vocoder(run: Path, reader: str) -> None:
    """Train the reader, and run/vocoder.pt on what it draws."""
    train_reader(run, reader, Stage(TINY, 1))
    vocoder.train_vocoder(run, "vocoder", 2, reader)


def test_batch_crops_and_mels_have_the_same_duration(run: Path) -> None:
    clips = Clips([run / "clips.npz", run / "rendered.npz"], "train")
    assert len(clips) == 3
    batch = clips.batch(5, torch.Generator().manual_seed(0))
    count = batch.crops.shape[1]
    assert batch.crops.shape == (5, count, 64, 64)
    assert batch.log_mel.shape == (5, 4 * count, 80)
    assert batch.crops.min() >= 0 and batch.crops.max() <= 1
    assert set(batch.pitch.unique().tolist()) == {0.0, 120.0}
    assert batch.words.min() >= 1  # 0 is the blank
    same = clips.batch(5, torch.Generator().manual_seed(0))
    assert torch.equal(batch.crops, same.crops)


def test_batch_concatenates_clips_of_a_speaker_at_word_boundaries(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "VTLP_SHARE", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    monkeypatch.setattr(batches, "BALANCE", 1.0)
    write_clips(run / "more.npz", ["s1", "s1", "s1", "s4"], ["train"] * 4)
    clips = Clips([run / "more.npz"], "train")
    clips.arrays["log_mel"][:] = np.arange(4)[:, None, None]  # tells which clip it is
    clips.arrays["words"][:] = 8 * np.arange(4)[:, None] + np.arange(6)
    batch = clips.batch(16, torch.Generator().manual_seed(0))
    videos, places = (batch.words - 1).div(8, rounding_mode="floor"), (batch.words - 1) % 8
    assert places.tolist() == [list(range(6))] * 16
    assert {frozenset(row) >= {3} for row in map(set, videos.tolist())} == {True, False}
    assert all(set(row) == {3} for row in videos.tolist() if 3 in row)  # s4 has one video only
    assert max(len(set(row)) for row in videos.tolist()) > 1
    for row, video in enumerate(videos.tolist()):
        for place in range(6):
            said = batch.spoken[row].repeat_interleave(4) == batch.words[row, place]
            assert batch.log_mel[row, said].unique().tolist() == [video[place]]


def test_batch_leaves_half_of_the_clips_without_augmentation(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "CONCATENATED", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    clips = Clips([run / "clips.npz"], "train")
    videos = clips.rows(0, len(clips)).crops
    seen = clips.batch(64, torch.Generator().manual_seed(0)).crops
    clear = sum(any(torch.equal(crops, video) for video in videos) for crops in seen)
    assert 20 <= clear <= 44


def test_encoded_clips_have_a_clean_and_augmented_views_of_each_clip(run: Path) -> None:
    clips, frontend = Clips([run / "clips.npz"], "train"), VisualFrontend((4, 8)).eval()
    videos = frontend(clips.rows(0, len(clips)).crops).detach()
    seen = EncodedClips(clips, frontend, views=3)
    assert len(seen) == 3 * len(clips)
    again = seen.rows(0, len(seen)).crops
    torch.testing.assert_close(again[: len(clips)], videos, atol=1e-2, rtol=1e-2)
    assert not torch.allclose(again[len(clips) : -len(clips)], videos, atol=1e-2)
    batch = seen.batch(64, torch.Generator().manual_seed(0))
    assert batch.crops.shape == (64, batch.spoken.shape[1], 8)
    # A moment of up to eight frames is hidden.
    still = (batch.crops.diff(dim=1).abs().amax(dim=-1) < 1e-3).sum(dim=1)
    assert still.max() >= 6


def test_encoded_clips_sample_the_clean_view_half_of_the_time(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "VTLP_SHARE", 0.0)
    monkeypatch.setattr(batches, "CONCATENATED", 0.0)
    seen = EncodedClips(Clips([run / "clips.npz"], "train"), VisualFrontend((4, 8)).eval(), views=5)
    seen.arrays["log_mel"][:] = np.arange(len(seen))[:, None, None]  # tells which look it is
    batch = seen.batch(200, torch.Generator().manual_seed(0))
    assert 80 <= (batch.log_mel[:, 0, 0] < 2).sum() <= 120  # of two videos


def test_stage_with_views_trains_all_but_the_frontend(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 1))
    train_reader(run, "longer", Stage(TINY, 2, 1e-2, start="studio", views=2))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "longer")
    )
    assert first.keys() == then.keys()
    for key in first:
        assert torch.equal(first[key], then[key]) == key.startswith("frontend."), key


def test_half_of_the_videos_is_every_second_one(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    keep = Clips.keep

    def kept(clips: Clips, rows: slice) -> None:
        keep(clips, rows)
        seen.append(clips.arrays["speaker"].tolist())

    monkeypatch.setattr(Clips, "keep", kept)
    for half in (0, 1):
        train_reader(run, "half", Stage(TINY, 1, rendered=True, half=half))
    assert seen == [["s1", "ada"], ["s4"]]


def test_voiced_pitch_of_room_hum_is_zero() -> None:
    times = np.arange(2 * features.SAMPLE_RATE) / features.SAMPLE_RATE
    voice = np.where(
        times < 1, np.sin(2 * np.pi * 130 * times), 0.01 * np.sin(2 * np.pi * 70 * times)
    )
    waveform = (0.1 * voice).astype(np.float32)
    assert np.median(features.pitch(waveform)[120:180]) == pytest.approx(70, rel=0.05)
    pitch = prepare.voiced_pitch(waveform)
    assert np.median(pitch[20:80]) == pytest.approx(130, rel=0.05)
    assert not pitch[110:].any()


def test_spoken_gives_the_word_at_each_frame(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 1)
    (spoken,) = batch.spoken.tolist()
    order = [word for word, before in zip(spoken, [0, *spoken], strict=False) if word != before]
    assert [word for word in order if word] == batch.words[0].tolist()
    assert spoken[7:9] == [0, batch.words[0, 0]]  # from 0.31 s; the eighth is seen at 0.30 s


def test_log_f0_contour_is_relative_to_the_mean(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    doubled = replace(batch, pitch=2 * batch.pitch)
    torch.testing.assert_close(batch.log_f0, doubled.log_f0)
    assert not batch.log_f0[batch.pitch == 0].any()


def test_stage_starts_from_the_weights_that_fit(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 1))
    other = replace(TINY, decoder="autoregressive")
    train_reader(run, "autoregressive", Stage(other, 1, 0.0, start="studio", rendered=True))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "autoregressive")
    )
    torch.testing.assert_close(first["ctc_head.weight"], then["ctc_head.weight"])
    assert "decoder.memory.weight_ih" in then and "decoder.memory.weight_ih" not in first


def test_pipeline_loads_the_checkpoint_of_a_whole_recipe(
    run: Path, monkeypatch: pytest.MonkeyPatch
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
    monkeypatch.setattr(recipe, "FaceEncoderConfig", partial(FaceEncoderConfig, (4, 8), size=8))
    monkeypatch.setattr(recipe, "train_vocoder", _one_step_of_vocoder)
    for name in recipe.RECIPE:
        if name != "voices":
            recipe.RECIPE[name](run, name)
    out = run / "checkpoints"
    export.export(run, out)
    pipeline = LipToSpeech.from_pretrained(out / "lip-to-speech", "cpu")
    assert sorted(pipeline.speakers) == ["s1", "s26", "s4"]
    for compared in {*recipe.MEASURED, recipe.BASELINE} - {recipe.SHIPPED}:
        assert (run / "validation" / compared / "model.safetensors").exists()


def _one_step_of_vocoder(run: Path, name: str, _steps: int, *predicted: str) -> None:
    vocoder.train_vocoder(run, name, 1, *predicted)


def test_vocoder_is_trained_on_predicted_and_reference_frames(run: Path) -> None:
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


@dataclass(frozen=True)
class FakeReader:
    """Predicts the next of some spectrograms, whatever the crops."""

    predicted: Iterator[np.ndarray]

    def encode(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        return crops, crops

    def decode(self, *_: object) -> Prediction:
        nothing = torch.zeros(1, 300)
        return Prediction(torch.from_numpy(next(self.predicted))[None], nothing, nothing)


@pytest.mark.parametrize("late", [-480, 0, 320])
def test_av_sync_shifts_the_audio_to_the_predicted_frames(
    run: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    with np.load(run / "clips.npz") as file:
        before = {name: file[name][file["split"] == "train"] for name in file.files}
    loud = np.repeat(np.random.default_rng(0).random((2, 300)) > 0.5, HOP_LENGTH, axis=1)
    before["waveform"] = (before["waveform"] * loud).astype(np.int16)
    sounds = before["waveform"] / np.float32(2**15)
    before["log_mel"] = np.stack([features.log_mel(sound) for sound in sounds])
    np.savez(run / "clips.npz", **before)
    predicted = [features.log_mel(np.roll(sound, -late)) for sound in sounds]
    # Who learned from the first video, the third and so on is asked about the others.
    readers = {
        "even.pt": FakeReader(iter(predicted[1::2])),
        "odd.pt": FakeReader(iter(predicted[::2])),
    }
    monkeypatch.setattr(av_sync, "load_reader", lambda path: readers[path.name])
    av_sync.av_sync(run, "aligned", ["even", "odd"])
    with np.load(run / "aligned.npz") as after:
        inner = slice(600, -600)
        moved = np.roll(before["waveform"], -late, axis=1)[:, inner]
        np.testing.assert_array_equal(after["waveform"][:, inner], moved)
        observed = features.log_mel(after["waveform"][0] / np.float32(2**15))
        np.testing.assert_allclose(after["log_mel"][0], observed, atol=0.01)
        np.testing.assert_allclose(
            after["spoken"] - before["spoken"], -late / SAMPLE_RATE, atol=1e-6
        )
        np.testing.assert_array_equal(after["crops"], before["crops"])


def test_vocoder_loss_is_lower_for_the_reference_and_has_a_gradient(run: Path) -> None:
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


def test_mel_variance_scale_scales_deviations_from_the_mean_frame(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    predicted = []
    for scale in (1.0, 2.0):
        train_reader(run, "clear", Stage(TINY, 1, mel_variance_scale=scale))
        network = reader.load_reader(run / "clear.pt")
        with torch.inference_mode():
            states, ctc_logits = network.encode(batch.crops)
            voice = reader.load_voices(run).cpu()(batch.log_mel)
            predicted.append(network.decode(states, ctc_logits, voice, 300))
    plain, sharp = predicted
    mean = plain.log_mel.mean(dim=(0, 1))
    torch.testing.assert_close(sharp.log_mel - mean, 2 * (plain.log_mel - mean), atol=1e-3, rtol=0)
    torch.testing.assert_close(sharp.log_f0, plain.log_f0)


def test_eigenlips_find_the_component_of_highest_variance() -> None:
    rng = np.random.default_rng(0)
    network = Eigenlips(EigenlipsConfig(side=8, components=2, width=4))
    shades = torch.from_numpy(rng.standard_normal((200, 1, 1))).float()
    pictures = 0.5 + shades * torch.linspace(-0.1, 0.1, 8)  # lighter to one side
    network.learn_components(pictures + 1e-3 * torch.randn(200, 8, 8))
    side = torch.linspace(-1, 1, 8).expand(8, 8).flatten()
    cosine = torch.cosine_similarity(network.components[0], side, dim=0)
    assert abs(cosine) > 0.99
    assert network(torch.rand(2, 5, 8, 8)).shape == (2, 20, 80)


def test_training_sentences_of_synthetic_heads_are_of_the_grammar_and_no_examples() -> None:
    said = lines()
    assert len({line.seed for line in said}) == len(said)
    for line in said:
        words = line.sentence.split()
        assert all(word in slot for word, slot in zip(words, GRID, strict=True))
        assert line.sentence not in SENTENCES.values()


def test_finished_stage_is_not_trained_again(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 2))
    before = torch.load(run / "studio.pt", weights_only=True)["network"]
    train_reader(run, "studio", Stage(TINY, 2))  # nothing is left to do
    after = torch.load(run / "studio.pt", weights_only=True)["network"]
    torch.testing.assert_close(before, after)


def test_held_out_losses_are_deterministic(run: Path) -> None:
    network = reader.LipReader(TINY)
    encoder = reader.load_voices(run)
    clips = Clips([run / "clips.npz"], "val")
    losses = [reader.held_out(network, clips, encoder) for _ in range(2)]
    assert losses[0] == losses[1]
    assert set(losses[0]) == {"mel", "envelopes", "voicing", "log_f0", "words", "moments"}
