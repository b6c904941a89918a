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
from media.text.grammar import GRID, GRID_WORDS
from models.face_encoder import FaceEncoderConfig
from models.lip_reader import Drawn, Eye, LipReaderConfig
from models.voice_encoder import VoiceEncoderConfig
from pipelines.lip_to_speech import LipToSpeech
from synthetic.heads.__main__ import SENTENCES
from training.lip_to_speech import export, recipe
from training.lip_to_speech.data import av_sync, batches, prepare
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.data.encoded_clips import Seen
from training.lip_to_speech.data.synthetic_heads import lines
from training.lip_to_speech.train import eigenlips, faces, reader, vocoder, voices
from training.lip_to_speech.train.eigenlips import Eigenlips, EigenlipsConfig
from training.lip_to_speech.train.reader import Stage, train_reader
from training.lip_to_speech.train.vocoder_loss import Ear
from training.lip_to_speech.train.voices import train_voices

TINY = LipReaderConfig(channels=(4, 8), width=16, inner=16, layers=1, heads=2, voice=8)


def write_clips(path: Path, talkers: list[str], splits: list[str]) -> None:
    rng = np.random.default_rng(0)
    count = len(talkers)
    np.savez(
        path,
        crops=rng.integers(0, 256, (count, 75, 80, 80), np.uint8),
        points=rng.standard_normal((count, 75, 40, 2)).astype(np.float16),
        portraits=rng.integers(0, 256, (count, 2, 64, 64, 3), np.uint8),
        log_mel=rng.standard_normal((count, 300, 80)).astype(np.float16),
        pitch=rng.choice([0.0, 120.0], (count, 300)).astype(np.float32),
        waveform=rng.integers(-3000, 3000, (count, 48_000)).astype(np.int16),
        words=rng.integers(0, len(GRID_WORDS), (count, 6)).astype(np.int8),
        spoken=np.tile([[0.31 + 0.4 * k, 0.6 + 0.4 * k] for k in range(6)], (count, 1, 1)),
        speaker=talkers,
        split=splits,
    )


@pytest.fixture
def run(tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arrays of made-up films, and a trained encoder of voices."""
    write_clips(tmp_path / "clips.npz", ["s1", "s4", "s1", "s26"], ["train", "train", "val", "val"])
    write_clips(tmp_path / "painted.npz", ["ada"], ["train"])
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


def test_a_batch_is_of_one_pace_and_as_the_films(run: Path) -> None:
    clips = Clips([run / "clips.npz", run / "painted.npz"], "train")
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


def test_films_of_a_talker_are_spliced_where_words_change(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "TRACTS", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    monkeypatch.setattr(batches, "BALANCE", 1.0)
    write_clips(run / "more.npz", ["s1", "s1", "s1", "s4"], ["train"] * 4)
    clips = Clips([run / "more.npz"], "train")
    clips.arrays["log_mel"][:] = np.arange(4)[:, None, None]  # tells which film is heard
    clips.arrays["words"][:] = 8 * np.arange(4)[:, None] + np.arange(6)
    batch = clips.batch(16, torch.Generator().manual_seed(0))
    films, places = (batch.words - 1).div(8, rounding_mode="floor"), (batch.words - 1) % 8
    assert places.tolist() == [list(range(6))] * 16
    assert {frozenset(row) >= {3} for row in map(set, films.tolist())} == {True, False}
    assert all(set(row) == {3} for row in films.tolist() if 3 in row)  # s4 has one film only
    assert max(len(set(row)) for row in films.tolist()) > 1
    for row, film in enumerate(films.tolist()):
        for place in range(6):
            said = batch.spoken[row].repeat_interleave(4) == batch.words[row, place]
            assert batch.log_mel[row, said].unique().tolist() == [film[place]]


def test_half_of_the_films_are_seen_as_they_are(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SPLICED", 0.0)
    monkeypatch.setattr(batches, "PACE", (1.0, 1.0))
    clips = Clips([run / "clips.npz"], "train")
    films = clips.rows(0, len(clips)).crops
    seen = clips.batch(64, torch.Generator().manual_seed(0)).crops
    clear = sum(any(torch.equal(crops, film) for film in films) for crops in seen)
    assert 20 <= clear <= 44


def test_an_eye_that_stays_as_it_is_looks_a_few_times_at_each_film(run: Path) -> None:
    clips, eye = Clips([run / "clips.npz"], "train"), Eye((4, 8)).eval()
    films = eye(clips.rows(0, len(clips)).crops).detach()
    seen = Seen(clips, eye, looks=3)
    assert len(seen) == 3 * len(clips)
    again = seen.rows(0, len(seen)).crops
    torch.testing.assert_close(again[: len(clips)], films, atol=1e-2, rtol=1e-2)
    assert not torch.allclose(again[len(clips) : -len(clips)], films, atol=1e-2)
    batch = seen.batch(64, torch.Generator().manual_seed(0))
    assert batch.crops.shape == (64, batch.spoken.shape[1], 8)
    # A moment of up to eight frames is hidden.
    still = (batch.crops.diff(dim=1).abs().amax(dim=-1) < 1e-3).sum(dim=1)
    assert still.max() >= 6


def test_the_look_at_films_as_they_are_is_half_of_what_is_learned_from(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "TRACTS", 0.0)
    monkeypatch.setattr(batches, "SPLICED", 0.0)
    seen = Seen(Clips([run / "clips.npz"], "train"), Eye((4, 8)).eval(), looks=5)
    seen.arrays["log_mel"][:] = np.arange(len(seen))[:, None, None]  # tells which look it is
    batch = seen.batch(200, torch.Generator().manual_seed(0))
    assert 80 <= (batch.log_mel[:, 0, 0] < 2).sum() <= 120  # of two films


def test_a_stage_with_a_steady_eye_trains_what_comes_after_it(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 1))
    train_reader(run, "longer", Stage(TINY, 2, 1e-2, start="studio", looks=2))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "longer")
    )
    assert first.keys() == then.keys()
    for key in first:
        assert torch.equal(first[key], then[key]) == key.startswith("eye."), key


def test_a_half_is_every_second_film(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    keep = Clips.keep

    def kept(clips: Clips, rows: slice) -> None:
        keep(clips, rows)
        seen.append(clips.arrays["speaker"].tolist())

    monkeypatch.setattr(Clips, "keep", kept)
    for half in (0, 1):
        train_reader(run, "half", Stage(TINY, 1, painted=True, half=half))
    assert seen == [["s1", "ada"], ["s4"]]


def test_the_hum_of_a_room_is_no_voice() -> None:
    times = np.arange(2 * features.SAMPLE_RATE) / features.SAMPLE_RATE
    voice = np.where(
        times < 1, np.sin(2 * np.pi * 130 * times), 0.01 * np.sin(2 * np.pi * 70 * times)
    )
    waveform = (0.1 * voice).astype(np.float32)
    assert np.median(features.pitch(waveform)[120:180]) == pytest.approx(70, rel=0.05)
    pitch = prepare.voiced_pitch(waveform)
    assert np.median(pitch[20:80]) == pytest.approx(130, rel=0.05)
    assert not pitch[110:].any()


def test_each_frame_knows_its_word(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 1)
    (spoken,) = batch.spoken.tolist()
    order = [word for word, before in zip(spoken, [0, *spoken], strict=False) if word != before]
    assert [word for word in order if word] == batch.words[0].tolist()
    assert spoken[7:9] == [0, batch.words[0, 0]]  # from 0.31 s; the eighth is seen at 0.30 s


def test_the_melody_is_over_the_voice_s_own_pitch(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    doubled = replace(batch, pitch=2 * batch.pitch)
    torch.testing.assert_close(batch.melody, doubled.melody)
    assert not batch.melody[batch.pitch == 0].any()


def test_a_stage_goes_on_from_another_where_the_weights_fit(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 1))
    other = replace(TINY, decoder="autoregressive")
    train_reader(run, "autoregressive", Stage(other, 1, 0.0, start="studio", painted=True))
    first, then = (
        torch.load(run / f"{name}.pt", weights_only=True)["network"]
        for name in ("studio", "autoregressive")
    )
    torch.testing.assert_close(first["reading.weight"], then["reading.weight"])
    assert "decoder.memory.weight_ih" in then and "decoder.memory.weight_ih" not in first


def test_what_the_recipe_makes_is_loaded_by_the_app(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = {
        name: replace(
            stage,
            config=replace(TINY, points=stage.config.points, decoder=stage.config.decoder),
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
    assert sorted(pipeline.talkers) == ["s1", "s26", "s4"]
    for compared in {*recipe.MEASURED, recipe.BASELINE} - {recipe.SHIPPED}:
        assert (run / "validation" / compared / "model.safetensors").exists()


def _one_step_of_vocoder(run: Path, name: str, _steps: int, *drawn: str) -> None:
    vocoder.train_vocoder(run, name, 1, *drawn)


def test_the_vocoder_learns_from_what_is_drawn_and_from_what_is_real(run: Path) -> None:
    train_with_vocoder(run, "parallel")
    with np.load(run / "drawn-train.npz") as drawn, np.load(run / "clips.npz") as clips:
        half = len(drawn["log_mel"]) // 2  # of three films, painted ones too
        np.testing.assert_array_equal(drawn["log_mel"][half:][:300], clips["log_mel"][0])
        assert not np.array_equal(drawn["log_mel"][:300], clips["log_mel"][0])
        np.testing.assert_array_equal(drawn["waveform"][: 300 * 160], clips["waveform"][0])
        assert half == 3 * 300 == len(drawn["pitch"]) // 2
    trained = torch.load(run / "vocoder.pt", weights_only=True)["network"]
    assert not torch.equal(trained["filters.bias"], torch.zeros_like(trained["filters.bias"]))


@dataclass(frozen=True)
class Painter:
    """Draws, whatever it sees, the next of some spectrograms."""

    drawn: Iterator[np.ndarray]

    def watch(self, crops: Tensor, _points: Tensor) -> tuple[Tensor, Tensor]:
        return crops, crops

    def draw(self, *_: object) -> Drawn:
        nothing = torch.zeros(1, 300)
        return Drawn(torch.from_numpy(next(self.drawn))[None], nothing, nothing)


@pytest.mark.parametrize("late", [-480, 0, 320])
def test_sound_is_moved_to_where_it_fits_what_is_drawn(
    run: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    with np.load(run / "clips.npz") as file:
        before = {name: file[name][file["split"] == "train"] for name in file.files}
    loud = np.repeat(np.random.default_rng(0).random((2, 300)) > 0.5, 160, axis=1)
    before["waveform"] = (before["waveform"] * loud).astype(np.int16)
    sounds = before["waveform"] / np.float32(2**15)
    before["log_mel"] = np.stack([features.log_mel(sound) for sound in sounds])
    np.savez(run / "clips.npz", **before)
    drawn = [features.log_mel(np.roll(sound, -late)) for sound in sounds]
    # Who learned from the first film, the third and so on is asked about the others.
    painters = {"even.pt": Painter(iter(drawn[1::2])), "odd.pt": Painter(iter(drawn[::2]))}
    monkeypatch.setattr(av_sync, "load_reader", lambda path: painters[path.name])
    av_sync.sync(run, "in-step", ["even", "odd"])
    with np.load(run / "in-step.npz") as after:
        inner = slice(600, -600)
        moved = np.roll(before["waveform"], -late, axis=1)[:, inner]
        np.testing.assert_array_equal(after["waveform"][:, inner], moved)
        heard = features.log_mel(after["waveform"][0] / np.float32(2**15))
        np.testing.assert_allclose(after["log_mel"][0], heard, atol=0.01)
        np.testing.assert_allclose(after["spoken"] - before["spoken"], -late / 16_000, atol=1e-6)
        np.testing.assert_array_equal(after["crops"], before["crops"])


def test_what_is_heard_teaches_the_drawing(run: Path) -> None:
    train_with_vocoder(run, "parallel")
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    ear = Ear(run / "vocoder.pt")
    melody = torch.zeros(2, 300)
    real, noise = (
        Drawn(mel.requires_grad_(), torch.ones(2, 300), melody)
        for mel in (batch.log_mel.clone(), torch.randn(2, 300, 80))
    )
    loss = ear(noise, batch)
    assert ear(real, batch) < loss
    (gradient,) = torch.autograd.grad(loss, noise.log_mel)
    assert gradient.isfinite().all() and gradient.any()
    assert not any(part.requires_grad for part in ear.parameters())


def test_contrast_moves_what_is_drawn_away_from_the_mean_frame(run: Path) -> None:
    batch = Clips([run / "clips.npz"], "val").rows(0, 2)
    drawn = []
    for contrast in (1.0, 2.0):
        train_reader(run, "clear", Stage(TINY, 1, contrast=contrast))
        network = reader.load_reader(run / "clear.pt")
        with torch.inference_mode():
            states, words = network.watch(batch.crops, batch.points)
            voice = reader.load_voices(run).cpu()(batch.log_mel)
            drawn.append(network.draw(states, words, voice, 300))
    plain, sharp = drawn
    mean = plain.log_mel.mean(dim=(0, 1))
    torch.testing.assert_close(sharp.log_mel - mean, 2 * (plain.log_mel - mean), atol=1e-3, rtol=0)
    torch.testing.assert_close(sharp.melody, plain.melody)


def test_eigenlips_keep_what_differs_most_between_pictures() -> None:
    rng = np.random.default_rng(0)
    network = Eigenlips(EigenlipsConfig(side=8, components=2, width=4))
    shades = torch.from_numpy(rng.standard_normal((200, 1, 1))).float()
    pictures = 0.5 + shades * torch.linspace(-0.1, 0.1, 8)  # lighter to one side
    network.learn_components(pictures + 1e-3 * torch.randn(200, 8, 8))
    side = torch.linspace(-1, 1, 8).expand(8, 8).flatten()
    cosine = torch.cosine_similarity(network.components[0], side, dim=0)
    assert abs(cosine) > 0.99
    assert network(torch.rand(2, 5, 8, 8)).shape == (2, 20, 80)


def test_painted_talkers_say_sentences_of_the_grammar_but_no_example() -> None:
    said = lines()
    assert len({line.seed for line in said}) == len(said)
    for line in said:
        words = line.sentence.split()
        assert all(word in slot for word, slot in zip(words, GRID, strict=True))
        assert line.sentence not in SENTENCES.values()


def test_resumed_weights_are_those_of_the_run(run: Path) -> None:
    train_reader(run, "studio", Stage(TINY, 2))
    before = torch.load(run / "studio.pt", weights_only=True)["network"]
    train_reader(run, "studio", Stage(TINY, 2))  # nothing is left to do
    after = torch.load(run / "studio.pt", weights_only=True)["network"]
    torch.testing.assert_close(before, after)


def test_the_held_out_losses_are_a_function_of_the_network_only(run: Path) -> None:
    network = reader.LipReader(TINY)
    encoder = reader.load_voices(run)
    clips = Clips([run / "clips.npz"], "val")
    losses = [reader.held_out(network, clips, encoder) for _ in range(2)]
    assert losses[0] == losses[1]
    assert set(losses[0]) == {"mel", "envelopes", "voicing", "melody", "words", "moments"}
