"""Metrics of lip to speech by hand, and the whole table on a folder of made-up videos."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.systems.lip_to_speech.caption import SpokenWord
from training.judges.evaluator import EvaluationModels
from training.judges.recogniser import Recogniser
from training.judges.speaker_encoder import SpeakerEncoder
from training.lip_to_speech.evaluate import evaluate, publish
from training.lip_to_speech.metrics import (
    PESQ_INSTALLED,
    comparable,
    earlier,
    lateness,
    mean_quality,
    pitch_error,
    quality,
    voice_ranks,
)
from training.lip_to_speech.systems import Output, SynchronisedAudio, choose

pytestmark = pytest.mark.slow

RATE = 16_000
SENTENCE = "bin blue at f two now"
FIELDS = "path speaker sentence split speech_minus_rest_db lang".split()
VIDEOS = (  # speaker, split, words
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
    """A lip reader that always predicts the same noise, and refuses the speaker u1."""

    @classmethod
    def from_pretrained(cls, folder: Path) -> "Reader":
        return cls()

    def __call__(self, video: Path, voice: str | None) -> SimpleNamespace:
        if "u1" in video.name:
            raise InputError("No face can be found.")
        noise = 0.1 * np.random.default_rng(0).normal(size=2 * RATE).astype(np.float32)
        words = [SpokenWord(word, 0.8, 0.0, 0.3) for word in "bin blue at f nine soon".split()]
        return SimpleNamespace(
            speech=SimpleNamespace(waveform=noise), reading=SimpleNamespace(caption=words)
        )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder laid out as the data, of five grey videos with synthetic babble."""
    folder = tmp_path / "data" / "av"
    folder.mkdir(parents=True)
    with (folder / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for number, (speaker, split, words) in enumerate(VIDEOS):
            name = f"{speaker}-{split}.mp4"
            _write_video(folder / name, babble(number))
            (folder / name).with_suffix(".align").write_text(LABELS)
            writer.writerow(dict(zip(FIELDS, (name, speaker, words, split, "", "en"), strict=True)))
    return tmp_path / "data"


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    untrained = EvaluationModels(Recogniser().eval(), SpeakerEncoder().eval(), np.zeros((128, 39)))
    monkeypatch.setattr(EvaluationModels, "load", lambda: untrained)
    monkeypatch.setattr(
        "training.lip_to_speech.evaluate.dnsmos", lambda _: {"dnsmos": 3.0}
    )  # half a second each


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("training.lip_to_speech.systems.LipToSpeech", Reader)
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


def test_quality_of_reference_is_highest() -> None:
    """The quality falls with noise."""
    reference = babble(1)
    noise = np.random.default_rng(0).normal(size=len(reference)).astype(np.float32)
    same, little, much = (quality(reference + level * noise, reference) for level in (0, 0.01, 0.1))
    assert same["stoi"] == pytest.approx(1, abs=1e-3)
    assert same["estoi"] == pytest.approx(1, abs=1e-3)
    for name in same:
        assert same[name] > little[name] > much[name]


@needs_pesq
def test_pesq_of_reference_is_maximum() -> None:
    """PESQ of the reference is the wide-band maximum."""
    reference = babble(1)
    assert quality(reference, reference)["pesq"] == pytest.approx(4.64, abs=0.01)


def test_quality_of_silence_is_zero() -> None:
    """There is no PESQ of silence."""
    reference = babble(1)
    assert quality(np.zeros_like(reference), reference) == {"stoi": 0, "estoi": 0}
    broken = reference.copy()
    broken[100] = np.nan
    assert not comparable(broken, reference).any()


def test_comparable_has_length_of_reference() -> None:
    """The level is the reference's too."""
    reference = babble(1)
    np.testing.assert_allclose(comparable(0.01 * reference, reference), reference, atol=1e-4)
    assert comparable(np.tile(reference, 2), reference).shape == reference.shape
    short = comparable(reference[:RATE], reference)
    assert short.shape == reference.shape
    assert not short[RATE:].any()


def test_missing_pesq_counts_as_lowest() -> None:
    """The mean quality counts it so."""
    spoken, silent = {"stoi": 0.5, "estoi": 0.4, "pesq": 3.043}, {"stoi": 0.0, "estoi": 0.0}
    both = mean_quality([spoken, silent])
    assert both == {"stoi": 0.25, "estoi": 0.2, "pesq": pytest.approx(2.043)}
    assert mean_quality([silent]) == silent


@pytest.mark.parametrize("milliseconds", [-80, -33, 0, 7, 80])
def test_lateness_finds_shift(milliseconds: int) -> None:
    """`earlier` undoes the shift that is found."""
    reference = babble(1)
    samples = RATE // 1000 * milliseconds
    late = earlier(reference, -samples) + 0.003 * babble(2)
    assert lateness(late, reference) == pytest.approx(samples, abs=RATE // 500)
    inside = slice(RATE // 10, -RATE // 10)
    np.testing.assert_array_equal(
        earlier(earlier(reference, -samples), samples)[inside], reference[inside]
    )
    if samples:
        raw, aligned = quality(late, reference), quality(earlier(late, samples), reference)
        assert aligned["stoi"] > raw["stoi"]


def test_synchronised_audio_has_systems_timing(data: Path) -> None:
    class Late:
        name, shipped = "late", False

        def speak(self, video: Path) -> Output:
            return Output(0.1 * earlier(clip.audio, -RATE // 25))

    clip = choose(data, "test")[0]
    moved = SynchronisedAudio([clip], Late()).speak(clip.video).waveform
    assert lateness(moved, clip.audio) == pytest.approx(RATE / 25, abs=RATE / 500)
    assert quality(earlier(moved, RATE // 25), clip.audio)["stoi"] > 0.99


def test_lateness_is_limited() -> None:
    """The lateness of silence is zero."""
    reference = babble(1)
    assert abs(lateness(earlier(reference, -RATE // 2), reference)) <= 0.08 * RATE
    assert lateness(np.zeros_like(reference), reference) == 0


def test_pitch_error_is_in_semitones() -> None:
    """The pitch error is none where speech is unvoiced."""
    low, high = np.array([0, 100, 100, 0.0]), np.array([0, 0, 200, 0.0])
    assert pitch_error(low, high) == pitch_error(high, low) == pytest.approx(12)
    assert pitch_error(low, np.zeros(4)) is None


def test_voice_ranks_are_among_all_speakers() -> None:
    voices = np.eye(3)
    estimates = np.array([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.6, 0.1]])
    assert voice_ranks(estimates, voices, np.array([0, 1, 2])).tolist() == [0, 0.5, 1]


def test_choose_groups_videos_by_speaker(data: Path) -> None:
    """Videos are grouped by how well their speaker is known."""
    clips = choose(data, "test")
    assert [(clip.speaker, clip.group) for clip in clips] == [
        ("S1", "seen"),
        ("s26", "few-shot"),
        ("s9", "unseen"),
        ("u1", "unseen"),
    ]
    assert [len(clip.words) for clip in clips] == [6, 6, 6, 0]
    assert {clip.audio.shape for clip in clips} == {(3 * RATE,)}
    # Words from 0.52 s to 2.32 s, for the labels are 20 ms early; and 0.2 s on either side.
    time = np.arange(3 * RATE) / RATE
    assert clips[0].sentence(time)[[0, -1]] == pytest.approx([0.32, 2.52], abs=1e-3)
    assert len(choose(data, "all")) == 5
    assert len(choose(data, "all", most=1)) == 3
    with pytest.raises(SystemExit, match="no videos"):
        choose(data.parent, "test")


def test_evaluate_writes_table_of_systems(
    data: Path,
    tiny_checkpoints: Path,
    checkpoint: Path,
    judges: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table goes from silence to the reference."""
    out = tmp_path / "rows.json"
    folders = [checkpoint.with_name("lip-to-speech-gone"), checkpoint]
    rows = evaluate(data, tiny_checkpoints / "vocoder", folders, json_out=out)
    assert json.loads(out.read_text())["rows"] == rows  # and so nothing in it is NaN
    printed = capsys.readouterr().out
    assert "seen: 1 videos by 1 speakers; few-shot: 1 videos by 1 speakers; unseen: 2" in printed
    assert "lip-to-speech-gone: its row is left out" in printed
    assert "lip-to-speech refuses" in printed
    ceilings = [
        "reference audio",
        "reference audio, A/V-synchronised",
        "reference mel, griffin-lim",
        "reference mel, neural",
    ]
    assert [row["system"] for row in rows] == 3 * [
        *ceilings,
        "silence",
        "training mean",
        "lip-to-speech, S1",
        "lip-to-speech, TF2",
        "lip-to-speech",
    ]
    assert [row["group"] for row in rows[::9]] == ["seen", "few-shot", "unseen"]
    assert {row["system"] for row in rows if row["shipped"]} == {"lip-to-speech"}
    reference, _, mel, neural, silence, mean, _, _, ours = rows[-9:]
    assert reference["stoi"] == pytest.approx(1, abs=1e-3)
    assert reference["stoi"] > max(mel["stoi"], neural["stoi"])
    assert min(mel["stoi"], neural["stoi"]) > 0.8 > silence["stoi"] == 0
    assert "pesq" not in silence
    assert reference["pitch_error"] == 0
    assert "pitch_error" not in silence
    assert all(0 <= row["wer"] <= 100 and 0 <= row["wer_sphinx"] <= 100 for row in rows)
    assert all(0 <= row["voice_rank"] <= 1 for row in rows[-9:])
    assert all("voice_rank" not in row for row in rows[:-9])
    assert "stoi_aligned" in mean
    assert "wer_caption" not in mean
    # Two of six words of the video by s9; the words of u1, which is refused, are not known.
    assert ours["wer_caption"] == pytest.approx(100 / 3)
    assert ours["refused"] == 1
    vocoder = checkpoint.with_name("vocoder-lips")
    vocoder.mkdir()
    (vocoder / "config.json").write_text("{}")
    (vocoder / "metrics.json").write_text('{"training_hours": {"vocoder": 0.25}}')
    publish(rows, checkpoint.parent)
    assert "0.25 hours" in (vocoder / "README.md").read_text()
    card = (checkpoint / "README.md").read_text()
    assert "reader 1.25; together 1.2" in card
    assert "| lip-to-speech (default) " in card
    assert json.loads((checkpoint / "metrics.json").read_text())["results"] == rows
    again = evaluate(data, tiny_checkpoints / "vocoder", folders, only=["silence"])
    assert [row["system"] for row in again] == 3 * ["silence"]
    again = [row | {"stoi": 0.25} for row in again]
    published = publish(again, checkpoint.parent)
    assert len(published) == len(rows), "what was not measured again stays as it was printed"
    for row in published:
        assert row["stoi"] == 0.25 if row["system"] == "silence" else row in rows


def test_evaluate_needs_no_training_videos(
    data: Path, tiny_checkpoints: Path, judges: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without them, the table leaves out their mean."""
    manifest = data / "av" / "manifest.csv"
    manifest.write_text(manifest.read_text().replace(",train,", ",test,"))
    rows = evaluate(data, tiny_checkpoints / "vocoder", [], split="all", quick=True)
    assert "no videos to train on" in capsys.readouterr().out
    assert "training mean" not in {row["system"] for row in rows}
    assert [row["videos"] for row in rows[::4]] == [2, 1, 2]


def _write_video(path: Path, sound: np.ndarray) -> None:
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
