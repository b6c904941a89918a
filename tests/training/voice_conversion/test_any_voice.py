"""Training of conversion to any voice, for a few steps on made-up speakers."""

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.media.constants import MFCC_FLOOR
from earshot.models.any_voice.inverter import Voices
from training.common.corpora import Item
from training.common.zero_shot import has_zero_shot_word
from training.voice_conversion.any_voice import conversion, loop, vocoder
from training.voice_conversion.any_voice.augment import augment
from training.voice_conversion.any_voice.data import Corpus
from training.voice_conversion.any_voice.prepare import prepare
from training.voice_conversion.any_voice.system import Schedule, adapted_contour, relative_contour
from training.voice_conversion.data.cepstra import Cepstra

pytestmark = pytest.mark.slow

SECONDS = 3
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
    prepare(root / "data", root / "run")
    return root / "run"


def test_windows_have_one_speaker_and_references_the_same(run: Path) -> None:
    corpus = Corpus(run / "train", 200)
    generator = torch.Generator().manual_seed(0)
    starts = corpus.draw(50, generator)
    ends = starts + corpus.frames - 1
    assert torch.equal(corpus.speaker[starts], corpus.speaker[ends])
    others = corpus.same_speaker(starts, generator)
    assert torch.equal(corpus.speaker[starts], corpus.speaker[others])
    assert corpus.read("waveform", starts[:2]).shape == (2, 200 * 160)


def test_log_f0_is_known_of_every_speaker(run: Path) -> None:
    speakers = Corpus(run / "train", 200).speakers
    for name, mean in zip(speakers.names, speakers.pitch_mean, strict=True):
        assert float(mean.exp()) == pytest.approx(SPEAKERS[name], rel=0.15)


def test_training_resumes_where_it_was(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("train", "val", "constants.npz"):
        (tmp_path / name).symlink_to(run / name)
    monkeypatch.setattr(conversion, "BATCH", 4)
    monkeypatch.setattr(conversion, "VALIDATED", 4)
    schedule = Schedule(units=1, conversions=0, discriminator=2)
    conversion.train_conversion(tmp_path, "first", 1, schedule)
    conversion.train_conversion(tmp_path, "conversion", 2, schedule, "first")
    conversion.train_conversion(tmp_path, "conversion", 3, schedule, "first")
    told = (tmp_path / "conversion.jsonl").read_text().splitlines()
    assert len(told) == 2
    saved = torch.load(tmp_path / "conversion.state", weights_only=True)
    assert saved["step"] == 3
    assert all(bool(w.isfinite().all()) for w in saved["average"].values())


def test_bands_of_the_cepstra_are_found_from_a_mel(run: Path) -> None:
    corpus = Corpus(run / "val", 200)
    system = conversion.new_system(corpus, Cepstra(run / "constants.npz"))
    starts = corpus.draw(20, torch.Generator().manual_seed(2))
    mel, bands = corpus.read("log_mel", starts), corpus.read("log_bands", starts)
    found = ((2 * mel).exp() @ system.bands + MFCC_FLOOR).log()
    loud = bands > bands.mean()
    assert (found - bands)[loud].abs().mean() < 0.3 * bands.std()


def test_the_vocoder_trains(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("train", "val", "constants.npz"):
        (tmp_path / name).symlink_to(run / name)
    monkeypatch.setattr(vocoder, "BATCH", 2)
    monkeypatch.setattr(vocoder, "VALIDATED", 2)
    monkeypatch.setattr(vocoder, "ADVERSARIAL_FROM", 1)
    vocoder.train_vocoder(tmp_path, "vocoder", 2)
    assert torch.load(tmp_path / "vocoder.state", weights_only=True)["step"] == 2


def test_averaged_weights_follow_the_network() -> None:
    network, average = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).requires_grad_(False)
    loop._follow(average, network, 0.0)
    torch.testing.assert_close(average.weight, network.weight)


def test_augmentations_keep_shape_and_numbers() -> None:
    bands = torch.randn(16, 50, 40, generator=torch.Generator().manual_seed(0))
    augmented = augment(bands, torch.Generator().manual_seed(1))
    assert augmented.shape == bands.shape
    assert bool(augmented.isfinite().all())
    assert torch.equal(augmented, augment(bands, torch.Generator().manual_seed(1)))


def test_training_stops_where_a_loss_is_not_a_number(tmp_path: Path) -> None:
    network = torch.nn.Linear(2, 1)

    def losses(step: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        return {"sum": network(torch.full((1, 2), 1.0 if step < 3 else float("nan"))).sum()}

    with pytest.raises(FloatingPointError, match="at step 4"):
        loop.train(network, losses, lambda average: {}, tmp_path, "run", 6, 1e-3)
    assert all(bool(weight.isfinite().all()) for weight in network.parameters())


def test_a_contour_moves_as_widely_as_the_targets() -> None:
    vector = torch.zeros(1, 4)
    source = Voices(vector, torch.tensor([5.0]), torch.tensor([0.2]))
    target = Voices(vector, torch.tensor([4.6]), torch.tensor([0.3]))
    contour = relative_contour(torch.tensor([[0.0, 180.0]]), source)
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
def test_zero_shot_words_are_not_trained_on(text: str, language: str, held_out: bool) -> None:
    item = Item("x", Path("x"), "x", "train", text=text, language=language)
    assert has_zero_shot_word(item) == held_out
