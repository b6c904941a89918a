"""Training of conversion to any voice, for a few steps on made-up speakers."""

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.media.audio import features
from earshot.models.any_voice.voices import Voices
from earshot.pretrained.any_voice import Networks
from training.common.corpora import Item
from training.common.loop import Budget
from training.common.zero_shot import has_zero_shot_word
from training.voice_conversion import conversion, prepare, vocoder
from training.voice_conversion.conversion import Halls
from training.voice_conversion.export import export
from training.voice_conversion.networks import adapted_contour
from training.voice_conversion.remote import pack, unpack
from training.voice_conversion.speech import (
    FULL_SCALE,
    LogMel,
    Speech,
    Windows,
    pitch_statistics,
    relative_contour,
)

CPU = torch.device("cpu")
pytestmark = pytest.mark.slow

SECONDS = 4
SPEAKERS = {"SF1": 210.0, "TF2": 190.0, "SM1": 110.0}  # Hz


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Arrays of three buzzing speakers, prepared as the corpora are."""
    root = tmp_path_factory.mktemp("any_voice")
    folder = root / "data" / "speech" / "npvcc2016"
    folder.mkdir(parents=True)
    rows = []
    time = np.arange(SECONDS * 16_000) / 16_000
    for speaker, hz in SPEAKERS.items():
        for number in range(7):  # of each speaker's sentences the last six validate
            phase = 2 * np.pi * hz * time * (1 + 0.05 * number)
            buzz = sum(np.sin(k * phase) / k for k in range(1, 15))
            syllables = np.sin(2 * np.pi * (2 + number / 5) * time) > -0.3
            name = f"{speaker}-{number}.wav"
            noise = 0.01 * np.random.default_rng(number).normal(size=len(time))
            soundfile.write(folder / name, 0.1 * buzz * syllables + noise, 16_000)
            rows.append((name, speaker, "en", "", SECONDS, "train", f"{number}"))
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("path speaker lang text seconds split sentence_id".split())
        writer.writerows(rows)
    (root / "sounds").mkdir()
    hiss = 0.1 * np.random.default_rng(0).normal(size=32_000)
    soundfile.write(root / "sounds" / "hiss.ogg", hiss, 16_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "SOUNDS", root / "sounds")
        prepare.prepare(root / "data", root / "run")
    return root / "run"


@pytest.fixture
def trained(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to train in, with the arrays, and batches that take no time."""
    for name in ("train", "val", "constants.npz", "noise.npy"):
        (tmp_path / name).symlink_to(run / name)
    for module in (conversion, vocoder):
        monkeypatch.setattr(module, "CPU_BATCH", 2)
        monkeypatch.setattr(module, "VALIDATED", 2)
    monkeypatch.setattr(conversion, "LISTENING_FROM", 0.5)
    return tmp_path


def test_windows_have_one_speaker(run: Path) -> None:
    """References have the same speaker."""
    windows = Windows(Speech.load(run / "train", CPU), 200)
    starts, speaker = windows.draw(50), windows.speech.speaker
    assert torch.equal(speaker[starts], speaker[starts + 199])
    assert torch.equal(speaker[starts], speaker[windows.same_speaker(starts)])
    assert windows.speech.samples(starts[:2], 200).shape == (2, 200 * 160)


def test_log_f0_of_speakers_is_known(run: Path) -> None:
    """The log F0 is known of every speaker."""
    speech = Speech.load(run / "train", CPU)
    mean, _ = pitch_statistics(speech)
    for name, value in zip(speech.speakers, mean, strict=True):
        assert float(value.exp()) == pytest.approx(SPEAKERS[name], rel=0.15)


def test_faster_speech_is_of_higher_speakers(run: Path) -> None:
    """Speakers of faster speech count as others."""
    speech = Speech.load(run / "train", CPU)
    assert speech.of("npvcc2016").speakers == speech.speakers
    faster = speech.of("npvcc2016").resampled(1.25, piece=200)
    both = speech.followed_by(faster)
    n = len(speech.speakers)
    assert len(both.speakers) == 2 * n and faster.seconds < speech.seconds / 1.2
    mean, _ = pitch_statistics(both)
    higher = mean[n:] - mean[:n]  # drawn a little to everyone's
    assert torch.allclose(higher, torch.tensor(1.25).log(), atol=0.1)
    assert both.waveform.shape == (len(both.pitch), 160)


def test_mel_of_training_equals_features(run: Path) -> None:
    speech = Speech.load(run / "val", CPU)
    waveform = speech.samples(torch.tensor([0]), 100)
    mel = LogMel(run / "constants.npz")(waveform)[0].numpy()
    expected = features.log_mel(waveform[0].numpy())
    np.testing.assert_allclose(mel, expected[:100], atol=1e-3)


def test_halls_add_noise_of_drawn_level(run: Path) -> None:
    torch.manual_seed(0)
    speech = Speech.load(run / "train", CPU)
    sounds = torch.from_numpy(np.load(run / "noise.npy")).float() / FULL_SCALE
    clean = speech.samples(torch.zeros(16, dtype=torch.long), 200)
    noisy = Halls(speech, sounds).augment(clean)
    assert noisy.shape == clean.shape and bool(noisy.isfinite().all())
    louder = noisy.square().mean(dim=1) / clean.square().mean(dim=1)
    assert 0.2 < louder.median() < 8
    assert (noisy - clean).abs().mean() > 0.1 * clean.abs().mean()


def test_batches_are_heard_in_halls(run: Path) -> None:
    """What is heard is compared with what was said."""
    source = conversion.source(run, "train")
    batch = source.batch(2 * conversion.GROUPS)
    steps = conversion.WINDOW // 2
    assert batch.states.shape[:2] == (2 * conversion.GROUPS, steps)
    assert batch.mel.shape == batch.reference.shape == (2 * conversion.GROUPS, 2 * steps, 80)
    # Later speech of the same window is analysed with what is before and after it.
    waveform = batch.waveform[0, 800:].numpy()
    np.testing.assert_allclose(batch.mel[0, 7:-2], features.log_mel(waveform)[2:-2], atol=0.02)
    assert not torch.allclose(batch.states, source.recogniser(batch.waveform), atol=1.0)


def test_listener_hears_words_whoever_speaks(run: Path) -> None:
    """A listener hears the mel of speech as the speech itself, and other speech as other."""
    source = conversion.source(run, "val")
    listener = conversion.Listener(conversion.shipped_vocoder(), source.recogniser.encoder)
    torch.manual_seed(0)
    batch = source.batch(4)
    mel = batch.mel.requires_grad_()
    states = listener.speech(batch.waveform)
    again = (listener(mel, batch.pitch) - states).square().mean()
    other = (listener(mel.detach().flip(0), batch.pitch.flip(0)) - states).square().mean()
    assert again.item() < 0.7 * other.item()
    again.backward()
    assert mel.grad is not None and float(mel.grad.abs().max()) > 0
    assert all(weight.grad is None for weight in listener.parameters())


def test_heart_reads_no_held_out_words(tmp_path: Path) -> None:
    """Its texts are captions and lists, without words held out."""
    captions = tmp_path / "captions.csv"
    sentences = ["A bird sings", "A dog barks"]
    rows = [f"{n},train,{text}" for n, text in enumerate(sentences)]
    captions.write_text("\n".join(["id,split,caption", *rows, "3,test,A cat"]))
    texts = [text for text, _ in zip(prepare.heart_texts(captions), range(40), strict=False)]
    assert texts[1::2] == ["A dog barks"] * 20
    assert all(text.count(",") == prepare.LISTED - 1 for text in texts[::2])
    assert len(set(texts[::2])) == 20


def test_resumed_training_exports_what_loads(trained: Path) -> None:
    conversion.train_conversion(trained, "conversion", Budget(steps=1))
    conversion.train_conversion(trained, "conversion", Budget(steps=2))
    lines = (trained / "conversion.jsonl").read_text().splitlines()
    assert len(lines) == 2
    saved = torch.load(trained / "conversion.state", weights_only=True)
    assert saved["step"] == 2
    assert all(bool(w.isfinite().all()) for w in saved["schedule"]["average"].values())
    vocoder.train_vocoder(trained, "any-voice-vocoder", Budget(steps=1))
    export(trained, trained / "checkpoints")
    networks = Networks.load(trained / "checkpoints" / "any-voice", CPU)
    assert set(networks.voices) == set(SPEAKERS)
    system = conversion.System(len(SPEAKERS))
    conversion.load_shipped(system, trained / "checkpoints" / "any-voice")


def test_packed_speech_is_the_same_again(run: Path, tmp_path: Path) -> None:
    pack(run, tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "run")
    for name in ("pitch", "speaker", "corpus"):
        expected = np.load(run / "train" / f"{name}.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "run" / "train" / f"{name}.npy"), expected)
    there, here = (
        np.load(folder / "train" / "waveform.npy").ravel().astype(float)
        for folder in (tmp_path / "run", run)
    )
    assert there.shape == here.shape
    assert np.corrcoef(there, here)[0, 1] > 0.9


def test_contour_moves_as_widely_as_targets() -> None:
    vector = torch.zeros(1, 4)
    source = Voices(vector, torch.tensor([5.0]), torch.tensor([0.2]))
    target = Voices(vector, torch.tensor([4.6]), torch.tensor([0.3]))
    contour = relative_contour(torch.tensor([[0.0, 180.0]]), source.pitch_mean)
    assert contour[0, 0].tolist() == [0.0, 0.0]
    moved = adapted_contour(contour, source, target)
    assert float(moved[0, 1, 1] / contour[0, 1, 1]) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("text", "language", "held_out"),
    [
        ("a bird sang", "en", True),
        ("view_glass", "en", True),
        ("birds sang", "en", False),
        ("北京", "zh", True),
        ("", "en", False),
    ],
)
def test_zero_shot_words_are_held_out(text: str, language: str, held_out: bool) -> None:
    item = Item("x", Path("x"), "x", "train", text=text, language=language)
    assert has_zero_shot_word(item) == held_out
