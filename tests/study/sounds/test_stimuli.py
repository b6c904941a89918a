"""Checks of sounds, the copies that raters get, and BS.1534-3's demands on anchors."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.core.errors import InputError
from earshot.study.design import ANCHORS, DESIGNS, REFERENCE
from earshot.study.design.spec import load
from earshot.study.sounds import stimuli
from earshot.study.sounds.copies import as_wav
from earshot.study.sounds.stimuli import LOUDNESS_TOLERANCE, check, low_pass, prepare
from tests.support.stimuli import RATE, make_folder, noise


def write(path: Path, samples: np.ndarray, subtype: str = "FLOAT") -> None:
    soundfile.write(path, samples, RATE, subtype)


def tone(level: float) -> np.ndarray:
    return level * np.sin(2 * np.pi * 440 * np.arange(RATE // 2) / RATE)


@pytest.mark.parametrize("design", ["acr", "ab", "dcr", "mushra"])
def test_prepare_without_loudness_keeps_every_sample(tmp_path: Path, design: str) -> None:
    test = load(make_folder(tmp_path / "t", design))
    assert check(test) == []
    copies = prepare(test, tmp_path / "copies")
    for trial in test.trials:
        for name, path in trial.sounds.items():
            copy, seconds, picture = copies[path]
            assert picture is None
            assert copy.parent == tmp_path / "copies" and copy.suffix == ".flac"
            assert seconds == pytest.approx(0.6)
            if name not in ANCHORS:
                assert np.array_equal(soundfile.read(copy)[0], soundfile.read(path)[0])


@pytest.mark.parametrize(
    ("name", "problem"),
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
        ("over", "over full scale"),
    ],
)
def test_check_names_problem_of_unusable_file(tmp_path: Path, name: str, problem: str) -> None:
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
    assert problems[0].startswith("ours/two.wav: ") and problem in problems[0]


def test_check_takes_floats_that_are_levelled(tmp_path: Path) -> None:
    """They may be over full scale."""
    folder = make_folder(tmp_path / "t", loudness=-30)
    write(folder / "ours" / "two.wav", tone(1.6))
    assert check(load(folder)) == []


def test_check_of_peak_finds_no_clipping(tmp_path: Path) -> None:
    """A single sample at full scale is a peak."""
    folder = make_folder(tmp_path / "t")
    write(folder / "ours" / "two.wav", np.append(tone(0.3), [1.0, 0.2]), "PCM_16")
    assert check(load(folder)) == []


@pytest.mark.parametrize("design", DESIGNS)
def test_check_names_formats_that_differ(tmp_path: Path, design: str) -> None:
    """It does so where the sounds are compared."""
    folder = make_folder(tmp_path / "t", design)
    noise(folder / "ours" / "one.wav", rate=22_050)
    noise(folder / "ours" / "two.wav", channels=2)
    noise(folder / "ours" / "three.wav", seconds=0.7)
    problems = "\n".join(check(load(folder)))
    compared = design not in ("acr", "adjustment", "similarity", "smos")
    assert ("sampling rates differ (16000 Hz, 22050 Hz)" in problems) == compared
    assert ("two" in problems and "some are mono" in problems) == compared
    assert ("lengths differ by 0.100 s" in problems) == (design == "mushra")
    assert ("one" in problems) == compared


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_prepare_copies_have_the_stated_loudness(
    tmp_path: Path, channels: int, seconds: float
) -> None:
    folder = make_folder(tmp_path / "t", "mushra", loudness=-25)
    for level, path in enumerate(sorted(folder.rglob("*.wav")), 1):
        noise(path, seconds, 24_000, 0.01 * level, channels)
    test = load(folder)
    assert check(test) == []
    prepared = prepare(test, folder / "prepared")
    paths = {copy.path for copy in prepared.values()}
    assert len(paths) == 3 * 5 and {path.parent.name for path in paths} == {"prepared"}
    for path in paths:
        copy = stimuli.read_stimulus(path)
        assert (copy.sample_rate, copy.channels) == (24_000, channels)
        assert copy.seconds == pytest.approx(seconds, abs=1e-3)
        assert abs(copy.level - -25) < LOUDNESS_TOLERANCE / 10
    assert prepare(test, folder / "prepared") == prepared


def test_check_names_loudness_out_of_reach(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", loudness=-12)
    click = np.zeros(RATE)
    click[::4000] = 0.5
    write(folder / "ours" / "one.wav", click)
    (problem,) = check(load(folder))
    assert "ours/one.wav: Its peaks allow -" in problem and "-12.0 is stated" in problem


def test_anchors_are_low_passed_and_aligned(tmp_path: Path) -> None:
    test = load(make_folder(tmp_path / "t", "mushra"))
    copies = prepare(test, tmp_path / "copies")
    trial = test.trials[0]
    hidden = stimuli.read_stimulus(copies[trial.sounds[REFERENCE]].path).samples[:, 0]
    assert test.design.referenced and trial.sounds[REFERENCE] == trial.reference
    for name, cutoff in ANCHORS.items():
        anchor = stimuli.read_stimulus(copies[trial.sounds[name]].path).samples[:, 0]
        frequency = np.fft.rfftfreq(len(anchor), 1 / RATE)
        power, whole = (np.abs(np.fft.rfft(each)) ** 2 for each in (anchor, hidden))
        low, high = frequency < 0.95 * cutoff, frequency > 1.1 * cutoff
        assert 0.95 < power[low].sum() / whole[low].sum() < 1.01
        assert power[high].sum() < 1e-3 * whole[high].sum()
        lags = np.correlate(hidden, anchor[50:-50], "valid")
        assert np.argmax(lags) == 50


def test_check_names_anchors_above_nyquist(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", "mushra")
    for path in folder.rglob("*.wav"):
        noise(path, rate=8000)
    problems = check(load(folder))
    assert len(problems) == 3 and all("anchor at 7000 Hz" in each for each in problems)


def test_prepare_makes_changed_copy_anew(tmp_path: Path) -> None:
    """The copies of other files stay as they are."""
    folder = make_folder(tmp_path / "t", loudness=-30)
    before = prepare(load(folder), folder / "prepared")
    noise(folder / "ours" / "one.wav", seconds=0.9)
    after = prepare(load(folder), folder / "prepared")
    changed = folder / "ours" / "one.wav"
    assert {path for path in after if after[path] != before[path]} == {changed}
    assert after[changed].seconds == pytest.approx(0.9)
    left = {path.name for path in (folder / "prepared").iterdir()}
    assert left == {copy.path.name for copy in after.values()} | {"checked.json"}


def test_prepare_again_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = load(make_folder(tmp_path / "t", "mushra", loudness=-30))
    first = prepare(test, tmp_path / "copies")

    def read(path: Path) -> stimuli.Stimulus:
        raise AssertionError(f"{path} is decoded again")

    monkeypatch.setattr(stimuli, "read_stimulus", read)
    assert prepare(test, tmp_path / "copies") == first


def test_read_of_flac_bomb_is_refused(tmp_path: Path) -> None:
    """It has kilobytes and would unpack to gigabytes."""
    path = tmp_path / "silence.flac"
    with soundfile.SoundFile(path, "w", 192_000, 8, "PCM_16") as file:
        for _ in range(60):
            file.write(np.zeros((192_000, 8), dtype=np.int16))
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    with pytest.raises(InputError, match="too many samples"):
        stimuli.read_stimulus(path)
    assert tracemalloc.get_traced_memory()[1] < 400_000_000
    tracemalloc.stop()


def test_check_with_budget_names_it(tmp_path: Path) -> None:
    """The budget is for all sounds together."""
    test = load(make_folder(tmp_path / "t"))
    assert check(test, max_samples=6 * 9600) == []
    (problem,) = check(test, max_samples=6 * 9600 - 1)
    assert "last too long together" in problem


def test_as_wav_differs_by_one_step(tmp_path: Path) -> None:
    """The same sound at another position differs by one step of 24 bits."""
    path = tmp_path / "a.flac"
    samples = tone(0.9)
    soundfile.write(path, samples, RATE, "PCM_24")
    sent = []
    for seed in (b"1" * 32, b"2" * 32, b"1" * 32):
        size, blocks = as_wav(path, seed)
        sent.append(b"".join(blocks))
        assert len(sent[-1]) == size == 44 + 3 * len(samples)
        copy, rate = soundfile.read(io.BytesIO(sent[-1]))
        assert rate == RATE and np.abs(copy - samples).max() <= 1.5 * 2**-23
    assert sent[0] == sent[2] != sent[1]


@pytest.mark.parametrize("sample_rate", [16_000, 22_050, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("cutoff", [3500.0, 7000.0])
def test_low_pass_response_meets_bs1534(sample_rate: int, cutoff: float) -> None:
    impulse = np.zeros(sample_rate)
    impulse[sample_rate // 2] = 1.0
    response = 20 * np.log10(np.abs(np.fft.rfft(low_pass(impulse, sample_rate, cutoff))) + 1e-9)
    frequency = np.arange(len(response))
    assert np.abs(response[frequency <= cutoff]).max() < 0.11
    assert response[frequency >= cutoff * 4 / 3.5].max(initial=-99) < -25
    assert response[frequency >= cutoff * 4.5 / 3.5].max(initial=-99) < -50


def test_low_pass_filters_channels_alike() -> None:
    samples = np.random.default_rng(0).standard_normal((4000, 2)).astype(np.float32)
    both = low_pass(samples, 16_000, 3500.0)
    assert both.shape == samples.shape and both.dtype == np.float32
    assert np.allclose(both[:, 1], low_pass(samples[:, 1], 16_000, 3500.0), atol=1e-5)
