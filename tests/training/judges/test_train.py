"""Training of the judges on a folder of tones, laid out as the corpora are."""

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.media.constants import SAMPLE_RATE
from training.judges import recogniser
from training.judges import speaker_encoder as speakers

DIGITS = {"one": "W AH N", "two": "T UW"}
SENTENCE = ("bin", "blue", "at", "f", "two", "now")
LABELS = 5_000  # 25 kHz ticks of each word of GRID


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = []
    for speaker in ("fsdd_george", "fsdd_jackson", "fsdd_yweweler"):
        for take in range(5):
            for word, phones in DIGITS.items():
                path = f"{speaker}-{word}-{take}.wav"
                row = {"path": path, "speaker": speaker, "word": word, "pron": phones}
                rows.append(row | {"lang": "en", "official_split": "train"})
                write(tmp_path / "speech/free_spoken_digits" / path, 0.5, rng)
    table(tmp_path / "speech/free_spoken_digits/manifest.csv", rows)
    videos = [("s1", "train"), ("s4", "train"), ("s1", "val")]
    rows = []
    for number, (speaker, split) in enumerate(videos):
        path = tmp_path / "av" / f"{number}.wav"
        rows.append({"path": path.name, "speaker": speaker, "split": split})
        rows[-1] |= {"sentence": " ".join(SENTENCE), "speech_minus_rest_db": ""}
        write(path, 1.5, rng)
        lines = [f"{k * LABELS} {(k + 1) * LABELS} {word}" for k, word in enumerate(SENTENCE)]
        path.with_suffix(".align").write_text("\n".join(lines))
    table(tmp_path / "av/manifest.csv", rows)
    return tmp_path


def test_recogniser_resumes_with_what_it_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recogniser, "BATCH", 2)
    monkeypatch.setattr(recogniser, "STAGES", (recogniser.Stage(2, 1e-3, 0.5, 0.5, 1.0),) * 2)
    model, measured = recogniser.train_recogniser(data, tmp_path, seed=0)
    assert measured["steps"] == 4 and not model.training
    assert measured["val_wer"] > 0 and measured["val_digit_error"] > 0
    again, same = recogniser.train_recogniser(data, tmp_path, seed=0)
    assert same == measured
    assert all((a == b).all() for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_speaker_encoder_resumes_with_measurements(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speakers, "BATCH", 4)
    monkeypatch.setattr(speakers, "MIN_RECORDINGS", 1)
    model, measured = speakers.train_speaker_encoder(data, tmp_path, steps=2, seed=0)
    assert measured["speakers"] == 4 and not model.training
    _, same = speakers.train_speaker_encoder(data, tmp_path, steps=2, seed=0)
    assert same == measured


def write(path: Path, seconds: float, rng: np.random.Generator) -> None:
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    tone = np.sin(2 * np.pi * rng.uniform(100, 900) * time)
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.2 * tone + 0.01 * rng.standard_normal(len(time)), SAMPLE_RATE)


def table(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
