"""What is found wrong with sounds, and the copies that raters hear."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from study.design import ANCHORS, REFERENCE, REFERENCED
from study.design.spec import load
from study.sounds import sound
from study.sounds.stimuli import LOUDNESS_TOLERANCE, check, prepare
from tests.stimuli import RATE, make_folder, noise


def write(path: Path, samples: np.ndarray, subtype: str = "FLOAT") -> None:
    soundfile.write(path, samples, RATE, subtype)


def tone(level: float) -> np.ndarray:
    return level * np.sin(2 * np.pi * 440 * np.arange(RATE // 2) / RATE)


@pytest.mark.parametrize("design", ["acr", "ab", "dcr", "mushra"])
def test_good_sounds_are_left_alone(tmp_path: Path, design: str) -> None:
    test = load(make_folder(tmp_path / "t", design))
    assert check(test) == []
    for before, after in zip(test.trials, prepare(test).trials, strict=True):
        assert before.reference == after.reference
        unchanged = {name: path for name, path in before.sounds.items() if name not in ANCHORS}
        assert all(after.sounds[name] == path for name, path in unchanged.items())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("missing", "The file is missing"),
        ("text", "cannot be read as audio"),
        ("empty", "is empty"),
        ("cut", "damaged or cut off"),
        ("header", "cannot be read as audio"),
        ("nan", "not numbers"),
        ("infinite", "not numbers"),
        ("silent", "It is silent"),
        ("clipped", "It is clipped"),
        ("over", "It is clipped"),
    ],
)
def test_hostile_files(tmp_path: Path, name: str, told: str) -> None:
    folder = make_folder(tmp_path / "t")
    path = folder / "ours" / "two.wav"
    content = path.read_bytes()
    path.unlink()
    bad = tone(0.3)
    if name == "text":
        path.write_text("I am no sound, whatever my name says.\n" * 20)
    elif name == "empty":
        path.touch()
    elif name == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif name == "header":
        path.write_bytes(content[:20])
    elif name == "nan":
        bad[100] = np.nan
        write(path, bad)
    elif name == "infinite":
        bad[100] = np.inf
        write(path, bad)
    elif name == "silent":
        write(path, 0 * bad)
    elif name == "clipped":
        write(path, np.clip(tone(1.6), -1, 1), "PCM_16")
    elif name == "over":
        write(path, tone(1.6))
    problems = check(load(folder))
    assert len(problems) == 1, problems
    assert problems[0].startswith("ours/two.wav: ") and told in problems[0]


def test_a_peak_at_full_scale_is_not_clipped(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    write(folder / "ours" / "two.wav", np.append(tone(0.3), [1.0, 0.2]), "PCM_16")
    assert check(load(folder)) == []


@pytest.mark.parametrize("design", ["ab", "abx", "ccr", "dcr", "mushra", "acr", "similarity"])
def test_what_is_compared_must_be_alike(tmp_path: Path, design: str) -> None:
    folder = make_folder(tmp_path / "t", design)
    noise(folder / "ours" / "one.wav", rate=22_050)
    noise(folder / "ours" / "two.wav", channels=2)
    noise(folder / "ours" / "three.wav", seconds=0.7)
    problems = "\n".join(check(load(folder)))
    compared = design not in ("acr", "similarity")
    assert ("sampling rates differ (16000 Hz, 22050 Hz)" in problems) == compared
    assert ("two" in problems and "some are mono" in problems) == compared
    assert ("lengths differ by 0.100 s" in problems) == (design == "mushra")
    assert ("one" in problems) == compared


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_copies_are_as_loud_as_stated(tmp_path: Path, channels: int, seconds: float) -> None:
    folder = make_folder(tmp_path / "t", "mushra", loudness=-25)
    for level, path in enumerate(sorted(folder.rglob("*.wav")), 1):
        noise(path, seconds, 24_000, 0.01 * level, channels)
    test = load(folder)
    assert check(test) == []
    prepared = prepare(test)
    paths = {path for trial in prepared.trials for path in trial.sounds.values()}
    paths |= {trial.reference for trial in prepared.trials if trial.reference}
    assert len(paths) == 3 * 5 and {path.parent.name for path in paths} == {"prepared"}
    for path in paths:
        copy = sound.read(path)
        assert (copy.sample_rate, copy.channels) == (24_000, channels)
        assert copy.seconds == pytest.approx(seconds, abs=1e-3)
        assert abs(copy.level - -25) < LOUDNESS_TOLERANCE / 10
    assert prepared.fingerprint == test.fingerprint
    assert prepare(test) == prepared


def test_what_cannot_be_as_loud_is_told(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", loudness=-12)
    click = np.zeros(RATE)
    click[::4000] = 0.5
    write(folder / "ours" / "one.wav", click)
    (problem,) = check(load(folder))
    assert "ours/one.wav: Its peaks allow -" in problem and "-12.0 is stated" in problem


def test_anchors_lack_the_highs_and_are_in_time(tmp_path: Path) -> None:
    test = prepare(load(make_folder(tmp_path / "t", "mushra")))
    trial = test.trials[0]
    hidden = sound.read(trial.sounds[REFERENCE]).samples[:, 0]
    assert test.design in REFERENCED and trial.sounds[REFERENCE] == trial.reference
    for name, cutoff in ANCHORS.items():
        anchor = sound.read(trial.sounds[name]).samples[:, 0]
        frequency = np.fft.rfftfreq(len(anchor), 1 / RATE)
        power, whole = (np.abs(np.fft.rfft(each)) ** 2 for each in (anchor, hidden))
        low, high = frequency < 0.95 * cutoff, frequency > 1.1 * cutoff
        assert 0.95 < power[low].sum() / whole[low].sum() < 1.01
        assert power[high].sum() < 1e-3 * whole[high].sum()
        lags = np.correlate(hidden, anchor[50:-50], "valid")
        assert np.argmax(lags) == 50


def test_an_anchor_needs_highs_to_lack(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", "mushra")
    for path in folder.rglob("*.wav"):
        noise(path, rate=8000)
    problems = check(load(folder))
    assert len(problems) == 3 and all("anchor at 7000 Hz" in each for each in problems)


def test_copies_follow_their_files(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", loudness=-30)
    first = next(iter(prepare(load(folder)).trials[0].sounds.values()))
    before = first.read_bytes()
    noise(folder / "ours" / "one.wav", seconds=0.9)
    again = {path for t in prepare(load(folder)).trials for path in t.sounds.values()}
    assert first in again and first.read_bytes() != before
    assert not list((folder / "prepared").glob("*.part"))
