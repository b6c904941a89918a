"""Training of word embeddings: the words, their voices, disturbances, losses and schedule."""

from dataclasses import replace
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from media.text.phonemes import edit_distance, from_arpabet, from_ipa, numbers
from models.word_embedder import ViewConfig, WordEmbedderConfig
from training.words.data.augment import FLOOR, _clipped, as_recorded, disturb
from training.words.data.batches import Mixture, Words, padded
from training.words.data.lexicon import Word, arabic, english, mandarin, vowelled
from training.words.data.prepare import Columns
from training.words.data.synthesis import as_spoken, rendition, speak
from training.words.data.zero_shot import is_zero_shot
from training.words.recipe import DEVELOPMENT, STAGES
from training.words.train import plateau, train
from training.words.train.losses import _changed
from training.words.train.objectives import MARGIN, contrast, triplets
from training.words.train.train import Stage

TINY = WordEmbedderConfig(
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    channels=4,
    width=12,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_no_made_word_is_one_to_be_kept_out() -> None:
    words = [*mandarin(200, rng()), *arabic(200, rng())]
    assert len({word.phonemes for word in words}) == 400
    for word in words:
        assert not is_zero_shot(word.language, word.text, word.phonemes)
    spellings = dict(english(rng()))
    assert {"hello", "speech", "tree"} <= set(spellings)
    assert not {"bird", "house", "project", "signal", "marvin", "sheila"} & set(spellings)


def test_arabic_is_written_with_every_vowel() -> None:
    assert vowelled(from_ipa("madrasa")) == "مَدْرَسَ"
    assert normalize("NFC", vowelled(from_ipa("kabbaːr"))) == normalize("NFC", "كَبَّارْ")
    assert vowelled(from_ipa("ʔislaːm")) == "إِسْلَامْ"


@pytest.mark.parametrize(
    "word",
    [
        Word("en", "speaker", from_arpabet("S P IY K ER")),
        *mandarin(1, rng(1)),
        *arabic(1, rng(1)),
    ],
    ids=["en", "zh", "ar"],
)
def test_a_voice_says_the_word(word: Word, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.words.data.synthesis.FLITE_SHARE", 0.0)  # flite may not be there
    waveform = speak(rendition(word, rng()))
    assert 0.15 < len(waveform) / 16_000 < 2.5
    assert 0.05 < np.abs(waveform).max() <= 1.0
    edge = np.abs(waveform[:160]).max()
    assert edge < 0.2 * np.abs(waveform).max()  # cut to the word, with a little rest


def test_words_that_a_voice_says_otherwise_are_left_out() -> None:
    said = as_spoken(
        [("speech", [from_arpabet("S P IY CH")]), ("house", [from_arpabet("K AE T S")])]
    )
    assert [word.text for word in said] == ["speech"]
    assert said[0].phonemes == from_arpabet("S P IY CH")


def test_disturbed_words_are_padded_at_the_floor_and_keep_their_sound() -> None:
    word = np.full((40, 80), FLOOR, np.float16)
    word[10:30, 30:40] = 2.0
    noise = np.full((3, 400, 80), -9.0, np.float16)
    mel, lengths = disturb([word] * 64, noise, 0.15, rng())
    assert mel.shape == (64, int(lengths.max()), 80)
    assert bool((mel >= FLOOR - 1e-3).all()) and bool(torch.isfinite(mel).all())
    heard = mel.amax(dim=(1, 2)) > 0.0
    assert heard.float().mean() > 0.9  # a mask may hide it
    assert len({round(float(m), 3) for m in mel.mean(dim=(1, 2))}) > 50  # each another way


def test_smoothed_words_lose_their_harmonics_and_keep_their_shape() -> None:
    bands = np.arange(80)
    word = np.tile(2 * np.cos(2 * np.pi * bands / 80) + (bands % 2), (40, 1)).astype(np.float16)
    noise = np.full((3, 400, 80), -30.0, np.float16)
    as_it_is, _ = disturb([word] * 32, noise, 0.0, rng())
    smooth, _ = disturb([word] * 32, noise, 0.0, rng(), smooth=1.0)
    rough = [mel[mel > -5].diff().abs().median() for mel in (as_it_is, smooth)]
    assert rough[1] < 0.5 * rough[0]


def test_a_synthetic_word_takes_on_the_noise_and_the_band_of_a_recorded_one() -> None:
    synthetic, recorded = np.full((30, 80), FLOOR), np.full((50, 80), -4.0)
    synthetic[10:20] = 1.0
    recorded[20:30], recorded[:, 40:] = 0.0, FLOOR  # nothing above the telephone's band
    heard = as_recorded(synthetic, recorded, rng())
    assert heard.shape == synthetic.shape
    assert heard[:10, :40].mean() == pytest.approx(-4.0, abs=0.3)
    assert heard[10:20, 40:].max() < FLOOR + 2


def test_a_clipped_word_keeps_one_end_and_most_of_the_rest() -> None:
    word = np.arange(40)[:, None].repeat(80, axis=1)
    parts = [_clipped(word, rng(seed))[:, 0].tolist() for seed in range(40)]
    assert all(32 <= len(part) <= 40 and (part[0] == 0 or part[-1] == 39) for part in parts)
    assert any(part[0] > 0 for part in parts) and any(part[-1] < 39 for part in parts)


def test_triplets_vanish_when_words_are_apart_and_not_before() -> None:
    written = torch.eye(12)[:8]
    types = torch.arange(8).repeat(2)
    assert float(triplets(written[types], written, types)) == pytest.approx(0.0)
    same = F.normalize(torch.ones(8, 12), dim=1)
    assert float(triplets(same[types], same, types)) == pytest.approx(3 * MARGIN, abs=1e-4)


def test_contrast_prefers_the_right_word_to_one_that_is_wrong_by_a_phoneme() -> None:
    written, types = torch.eye(12)[:4], torch.arange(4).repeat(2)
    scale, bias = torch.tensor(20.0), torch.tensor(8.0)
    apart = contrast(written[types], written, torch.eye(12)[4:8], types, scale, bias)
    alike = contrast(written[types], written, written, types, scale, bias)
    assert float(apart) < 0.8  # the entropy of two takes is 0.69
    assert float(alike) > float(apart) + 0.5


def test_a_changed_word_is_near_but_another() -> None:
    word = tuple(numbers(from_ipa("kitaːb")))
    sounds = np.arange(1, 60)
    changed = [_changed(word, sounds, numbers(("˥", "˥˩")), rng(seed)) for seed in range(50)]
    assert all(1 <= edit_distance(word, other) <= 4 for other in changed if other != word)
    assert len(set(changed)) > 40


def _arrays(run: Path) -> None:
    """Ten words as tones, of three talkers, one of whom validates; five more are synthetic."""
    words = [from_arpabet(p) for p in ("K AE T", "D AO G", "B EH D", "S IH T", "G OW", "T R IY")]
    for name, speakers in (("recorded", "abv"), ("synthetic-0", "s")):
        columns = Columns()
        for number, word in enumerate(words if name == "recorded" else words[:3] + words[3:]):
            for speaker in speakers:
                time = np.arange(6000 + 400 * ord(speaker) % 1000) / 16_000
                wave = np.sin(2 * np.pi * (300 + 150 * number + ord(speaker)) * time)
                phonemes = word if name == "recorded" else (*word, "z")
                columns.add(0.1 * wave.astype(np.float32), phonemes, speaker, "en", speaker == "v")
        columns.write(run / f"{name}.npz")
    np.save(run / "starts.npy", np.tile(np.array([0, 10, 20], np.uint16), (18, 1)))
    np.savez(run / "noise.npz", frames=np.full((2, 500, 80), -9.0, np.float16))


def test_batches_pair_words_with_their_recordings_and_leave_validation_out(
    tmp_path: Path,
) -> None:
    _arrays(tmp_path)
    left_out = {tuple(numbers(from_arpabet("K AE T")))}
    words = Words(tmp_path, 1, left_out)
    assert len(words.recorded) == 5 and len(words.synthetic) == 6 and len(words.validation) == 6
    batch = next(words.batches(8, torch.Generator().manual_seed(0)))
    assert sum(len(mel) for mel, _ in batch.chunks) == len(batch.types) == 16
    assert torch.bincount(batch.types).tolist() == [2] * 8
    spelled = {tuple(n for n in row if n) for row in batch.phonemes.tolist()}
    assert len(spelled) == 8 and not spelled & left_out
    assert len(spelled & set(words.recorded)) == 2
    assert len(spelled - set(words.recorded) - set(words.synthetic)) == 3  # spliced


def test_new_words_to_validate_on_are_said_by_validation_speakers_and_recorded_by_nobody(
    tmp_path: Path,
) -> None:
    _arrays(tmp_path)
    words = Words(tmp_path, 1)
    new = words.new(20)
    assert not {word for word, _ in new} & set(words.recorded)
    said = {number for number, *_ in words.validation}
    drawn = [words._held.draw(1, rng(seed))[1][0] for seed in range(20)]
    assert all({one, other} <= said for one, _, other, _ in drawn)
    assert [word for word, _ in words.new(20)] == [word for word, _ in new]


def test_a_word_is_heard_from_two_talkers_however_much_one_says_it(tmp_path: Path) -> None:
    columns = Columns()
    for take in range(9):  # of one's eight takes, told apart by their length, and another's one
        columns.add(np.zeros(4800 + 160 * take, np.float32), ("k", "a"), "ab"[take == 8], "en")
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((9, 2), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = Words(tmp_path, 0)
    for seed in range(5):
        takes = words._takes(next(iter(words.recorded)), rng(seed))
        assert sorted(len(take) == len(words.mel(8)) for take in takes) == [False, True]


def test_a_recorded_word_is_heard_where_another_was_recorded(tmp_path: Path) -> None:
    hiss = (rng(0).standard_normal(8000) * np.hanning(8000)).astype(np.float32)
    bins = np.fft.rfft(hiss)
    bins[len(bins) // 2 :] = 0  # as on the telephone: nothing above 4 kHz
    columns = Columns()
    columns.add(hiss, ("k",), "a", "en")
    columns.add(np.fft.irfft(bins).astype(np.float32), ("t",), "b", "en")
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((2, 1), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = Words(tmp_path, 0, mixture=Mixture(exchanged=0.8))
    own, other = words.mel(0), words.mel(1)
    highest = other.max(axis=0)[-5:]
    takes = [words._take(0, rng(seed)) for seed in range(20)]
    dull = [take for take in takes if (take.max(axis=0)[-5:] < highest + 1).all()]
    assert 3 <= len(dull) <= 15  # where the other was recorded
    assert any(np.array_equal(take, own) for take in takes)
    for take in dull:  # it is as loud as ever, when it was
        assert np.corrcoef(take[:, :40].mean(axis=1), own[:, :40].mean(axis=1))[0, 1] > 0.9


@pytest.mark.parametrize("objective", ["contrast", "triplets", "reading"])
@pytest.mark.parametrize("config", [TINY, replace(TINY, near=2, near_width=16)], ids=["", "near"])
def test_training_learns_resumes_and_tells_of_words_left_out(
    tmp_path: Path,
    objective: Literal["contrast", "triplets", "reading"],
    config: WordEmbedderConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _arrays(tmp_path)
    monkeypatch.setattr(train, "N_WORDS", 8)
    monkeypatch.setattr(plateau, "EPOCH", 4)
    left_out = frozenset({tuple(numbers(from_arpabet("K AE T")))})
    mixture = Mixture(dressed=0.5, exchanged=0.5, smooth=0.5)
    stage = Stage(12, 1e-3, 1, left_out, objective=objective, mixture=mixture)
    train.align(tmp_path, "tiny", config, stage)
    assert (tmp_path / "tiny.pt").exists()
    told = (tmp_path / "tiny.json").read_text()
    assert ("phoneme_errors" if objective == "reading" else "unseen_cross_view_ap") in told
    assert "hours" in told
    train.align(tmp_path, "next", config, replace(stage, start="tiny"))
    train.align(tmp_path, "mean", config, replace(stage, start="tiny", kept=0.5))
    start, end, mean = (
        torch.load(tmp_path / f"{name}.pt", weights_only=True)["network"]
        for name in ("tiny", "next", "mean")
    )
    for part, value in mean.items():
        torch.testing.assert_close(value, (start[part] + end[part]) / 2)


def test_the_paper_schedule_goes_back_to_the_best(tmp_path: Path) -> None:
    network = nn.Linear(1, 1)
    scores = iter([0.5, 0.9, 0.9, 0.9, 0.9, *[0.9] * 100])
    told = plateau.descend(
        network,
        lambda _: (network(torch.ones(1, 1)) - 3).square().mean(),
        lambda: next(scores),
        tmp_path / "state.pt",
        10_000,
        1e-3,
    )
    # 1e-3 falls to 1e-7 in five decays of four epochs each, after the epoch that was best.
    assert told["steps"] == plateau.EPOCH * (1 + 5 * plateau.PATIENCE)
    assert told["score"] == 0.5


def test_words_of_development_are_no_test_words() -> None:
    zero = {tuple(numbers(p)) for language in ("en", "ar", "zh") for p in _zero(language)}
    assert not DEVELOPMENT & zero
    assert all(stage.start in ("", *STAGES) for _, stage in STAGES.values())


def _zero(language: str) -> list[tuple[str, ...]]:
    from training.words.data.zero_shot import zero_shot

    return list(zero_shot(language))


def test_padded_spellings() -> None:
    phonemes, lengths = padded([(3, 4), (5,)])
    assert phonemes.tolist() == [[3, 4], [5, 0]] and lengths.tolist() == [2, 1]
