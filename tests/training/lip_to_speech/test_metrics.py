"""Measures of lip to speech by hand, and the whole table on a folder of made-up films."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
import torch

from media.errors import InputError
from training.evaluators.evaluator import EvaluationModels
from training.evaluators.recogniser import Recogniser
from training.evaluators.speaker_encoder import SpeakerEncoder
from training.lip_to_speech.evaluate.card import publish
from training.lip_to_speech.evaluate.evaluate import evaluate
from training.lip_to_speech.evaluate.material import choose
from training.lip_to_speech.evaluate.metrics import (
    PESQ_INSTALLED,
    comparable,
    earlier,
    lateness,
    mean_quality,
    pitch_error,
    quality,
    voice_ranks,
)
from training.lip_to_speech.evaluate.systems import InStep, Spoken

RATE = 16_000
SENTENCE = "bin blue at f two now"
FIELDS = "path speaker sentence split speech_minus_rest_db lang".split()
FILMS = (  # speaker, split, words
    ("s1", "train", SENTENCE),
    ("s1", "test", SENTENCE),
    ("s26", "test", SENTENCE),
    ("s9", "unseen_speaker", SENTENCE),
    ("u1", "unseen_speaker", ""),
)
LABELS = "0 12500 sil\n" + "".join(  # a word every 0.3 s, from 0.5 s, in 1/25000 s
    f"{12_500 + 7_500 * k} {20_000 + 7_500 * k} {word}\n" for k, word in enumerate(SENTENCE.split())
)
needs_pesq = pytest.mark.skipif(not PESQ_INSTALLED, reason="the package pesq is not installed")


class Reader:
    """A reader of lips that always says what it hears in a seashell, but not of the talker u1."""

    @classmethod
    def from_pretrained(cls, folder: Path) -> "Reader":
        return cls()

    def __call__(self, film: Path) -> SimpleNamespace:
        if "u1" in film.name:
            raise InputError("No face can be found.")
        noise = 0.1 * np.random.default_rng(0).normal(size=2 * RATE).astype(np.float32)
        words = [SimpleNamespace(text=word) for word in "bin blue at f nine soon".split()]
        return SimpleNamespace(
            speech=SimpleNamespace(waveform=noise), reading=SimpleNamespace(caption=words)
        )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder laid out as the data, of five films of nothing in which somebody babbles."""
    folder = tmp_path / "data" / "av"
    folder.mkdir(parents=True)
    with (folder / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for number, (speaker, split, words) in enumerate(FILMS):
            name = f"{speaker}-{split}.mp4"
            _write_film(folder / name, babble(number))
            (folder / name).with_suffix(".align").write_text(LABELS)
            writer.writerow(dict(zip(FIELDS, (name, speaker, words, split, "", "en"), strict=True)))
    return tmp_path / "data"


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    untrained = EvaluationModels(Recogniser().eval(), SpeakerEncoder().eval(), np.zeros((128, 39)))
    monkeypatch.setattr(EvaluationModels, "load", lambda: untrained)


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("training.lip_to_speech.evaluate.systems.LipToSpeech", Reader)
    folder = tmp_path / "checkpoints" / "lip-to-speech"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "metrics.json").write_text(json.dumps({"training_hours": {"reader": 1.25}}))
    return folder


def babble(seed: int, seconds: float = 3.0) -> np.ndarray:
    """Syllables of a buzzing voice between pauses, other ones for each seed: float32 (T,)."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    hertz = 100 + 20 * seed
    weights = rng.uniform(0.2, 1, 30) / np.arange(1, 31)
    buzz = sum(w * np.sin(2 * np.pi * hertz * (k + 1) * time) for k, w in enumerate(weights))
    beats = np.repeat(rng.uniform(0, 1, 15) * (rng.random(15) < 0.8), len(time) // 15)
    loud = np.convolve(beats, np.hanning(800) / 400, mode="same")
    hiss = 0.1 * rng.normal(size=len(time))
    return comparable(((buzz + hiss) * loud).astype(np.float32), np.zeros_like(loud, np.float32))


def test_the_real_thing_is_perfect_and_noise_takes_from_it() -> None:
    real = babble(1)
    noise = np.random.default_rng(0).normal(size=len(real)).astype(np.float32)
    same, little, much = (quality(real + level * noise, real) for level in (0, 0.01, 0.1))
    assert same["stoi"] == pytest.approx(1, abs=1e-3)
    assert same["estoi"] == pytest.approx(1, abs=1e-3)
    for name in same:
        assert same[name] > little[name] > much[name]


@needs_pesq
def test_pesq_of_the_real_thing_is_the_highest_of_wide_band() -> None:
    real = babble(1)
    assert quality(real, real)["pesq"] == pytest.approx(4.64, abs=0.01)


def test_silence_says_nothing_and_has_no_pesq() -> None:
    real = babble(1)
    assert quality(np.zeros_like(real), real) == {"stoi": 0, "estoi": 0}
    broken = real.copy()
    broken[100] = np.nan
    assert not comparable(broken, real).any()


def test_what_is_compared_has_the_length_and_level_of_the_real_thing() -> None:
    real = babble(1)
    np.testing.assert_allclose(comparable(0.01 * real, real), real, atol=1e-4)
    assert comparable(np.tile(real, 2), real).shape == real.shape
    short = comparable(real[:RATE], real)
    assert short.shape == real.shape
    assert not short[RATE:].any()


def test_where_one_film_has_no_pesq_it_counts_as_the_lowest() -> None:
    spoken, silent = {"stoi": 0.5, "estoi": 0.4, "pesq": 3.043}, {"stoi": 0.0, "estoi": 0.0}
    both = mean_quality([spoken, silent])
    assert both == {"stoi": 0.25, "estoi": 0.2, "pesq": pytest.approx(2.043)}
    assert mean_quality([silent]) == silent


@pytest.mark.parametrize("milliseconds", [-80, -33, 0, 7, 80])
def test_a_shift_is_found_and_undone(milliseconds: int) -> None:
    real = babble(1)
    samples = RATE // 1000 * milliseconds
    late = earlier(real, -samples) + 0.003 * babble(2)
    assert lateness(late, real) == pytest.approx(samples, abs=RATE // 500)
    inside = slice(RATE // 10, -RATE // 10)
    np.testing.assert_array_equal(earlier(earlier(real, -samples), samples)[inside], real[inside])
    if samples:
        raw, aligned = quality(late, real), quality(earlier(late, samples), real)
        assert aligned["stoi"] > raw["stoi"]


def test_in_step_is_the_real_thing_where_a_system_says_it(data: Path) -> None:
    class Late:
        name, shipped = "late", False

        def speak(self, film: Path) -> Spoken:
            return Spoken(0.1 * earlier(clip.sound, -RATE // 25))

    clip = choose(data, "test")[0]
    moved = InStep([clip], Late()).speak(clip.film).waveform
    assert lateness(moved, clip.sound) == pytest.approx(RATE / 25, abs=RATE / 500)
    assert quality(earlier(moved, RATE // 25), clip.sound)["stoi"] > 0.99


def test_no_shift_is_further_than_allowed_and_silence_has_none() -> None:
    real = babble(1)
    assert abs(lateness(earlier(real, -RATE // 2), real)) <= 0.08 * RATE
    assert lateness(np.zeros_like(real), real) == 0


def test_pitch_errors_are_in_semitones_and_need_a_voice() -> None:
    low, high = np.array([0, 100, 100, 0.0]), np.array([0, 0, 200, 0.0])
    assert pitch_error(low, high) == pitch_error(high, low) == pytest.approx(12)
    assert pitch_error(low, np.zeros(4)) is None


def test_voices_are_ranked_among_all_talkers() -> None:
    voices = np.eye(3)
    said = np.array([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.6, 0.1]])
    assert voice_ranks(said, voices, np.array([0, 1, 2])).tolist() == [0, 0.5, 1]


def test_films_are_grouped_by_how_well_their_talker_is_known(data: Path) -> None:
    clips = choose(data, "test")
    assert [(clip.talker, clip.group) for clip in clips] == [
        ("S1", "seen"),
        ("s26", "few-shot"),
        ("s9", "unseen"),
        ("u1", "unseen"),
    ]
    assert [len(clip.words) for clip in clips] == [6, 6, 6, 0]
    assert {clip.sound.shape for clip in clips} == {(3 * RATE,)}
    # Words from 0.52 s to 2.32 s, for the labels are 20 ms early; and 0.2 s on either side.
    time = np.arange(3 * RATE) / RATE
    assert clips[0].sentence(time)[[0, -1]] == pytest.approx([0.32, 2.52], abs=1e-3)
    assert len(choose(data, "all")) == 5
    assert len(choose(data, "all", most=1)) == 3
    with pytest.raises(SystemExit, match="no films"):
        choose(data.parent, "test")


def test_the_table_goes_from_silence_to_what_was_really_said(
    data: Path,
    tiny_checkpoints: Path,
    checkpoint: Path,
    judges: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "rows.json"
    folders = [checkpoint.with_name("lip-to-speech-gone"), checkpoint]
    rows = evaluate(data, tiny_checkpoints / "vocoder", folders, json_out=out)
    assert json.loads(out.read_text())["rows"] == rows  # and so nothing in it is NaN
    printed = capsys.readouterr().out
    assert "seen: 1 films by 1 talkers; few-shot: 1 films by 1 talkers; unseen: 2" in printed
    assert "lip-to-speech-gone: its row is left out" in printed
    assert "lip-to-speech refuses" in printed
    ceilings = ["real audio", "real audio, in step", "real mel, griffin-lim", "real mel, neural"]
    assert [row["system"] for row in rows] == 3 * [
        *ceilings,
        "silence",
        "training mean",
        "lip-to-speech",
    ]
    assert [row["group"] for row in rows[::7]] == ["seen", "few-shot", "unseen"]
    assert {row["system"] for row in rows if row["shipped"]} == {"lip-to-speech"}
    real, _, mel, neural, silence, mean, ours = rows[-7:]
    assert real["stoi"] == pytest.approx(1, abs=1e-3)
    assert real["stoi"] > max(mel["stoi"], neural["stoi"])
    assert min(mel["stoi"], neural["stoi"]) > 0.8 > silence["stoi"] == 0
    assert "pesq" not in silence
    assert real["pitch_error"] == 0
    assert "pitch_error" not in silence
    assert all(0 <= row["wer"] <= 100 and 0 <= row["wer_sphinx"] <= 100 for row in rows)
    assert all(0 <= row["voice_rank"] <= 1 for row in rows[-7:])
    assert all("voice_rank" not in row for row in rows[:-7])
    assert "stoi_aligned" in mean
    assert "wer_caption" not in mean
    # Two of six words of the film by s9; the words of u1, which is refused, are not known.
    assert ours["wer_caption"] == pytest.approx(100 / 3)
    assert ours["refused"] == 1
    vocoder = checkpoint.with_name("vocoder-lips")
    vocoder.mkdir()
    (vocoder / "metrics.json").write_text('{"training_hours": {"vocoder": 0.25}}')
    publish(rows, checkpoint.parent)
    assert "0.25 hours" in (vocoder / "README.md").read_text()
    card = (checkpoint / "README.md").read_text()
    assert "reader 1.25; together 1.2" in card
    assert "| lip-to-speech (default) " in card
    assert json.loads((checkpoint / "metrics.json").read_text())["results"] == rows


def test_without_training_films_the_rest_is_measured(
    data: Path, tiny_checkpoints: Path, judges: None, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = data / "av" / "manifest.csv"
    manifest.write_text(manifest.read_text().replace(",train,", ",test,"))
    rows = evaluate(data, tiny_checkpoints / "vocoder", [], split="all", quick=True)
    assert "no films to train on" in capsys.readouterr().out
    assert "training mean" not in {row["system"] for row in rows}
    assert [row["films"] for row in rows[::4]] == [2, 1, 2]


def _write_film(path: Path, sound: np.ndarray) -> None:
    """Three seconds of grey pictures with the sound (T,) at 16 kHz."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("mpeg4", rate=25)
        video.width, video.height = 32, 32
        audio = container.add_stream("aac", rate=RATE)
        grey = np.full((32, 32, 3), 128, np.uint8)
        for _ in range(75):
            container.mux(video.encode(av.VideoFrame.from_ndarray(grey, "rgb24")))
        frame = av.AudioFrame.from_ndarray(sound[None], "fltp", "mono")
        frame.sample_rate = RATE
        container.mux(audio.encode(frame))
        for stream in (video, audio):
            container.mux(stream.encode())
