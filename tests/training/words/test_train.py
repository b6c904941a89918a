"""Training of word embeddings: lexicon, synthesis, augmentation, batches, stages, schedule."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest
import torch
from torch import nn

from media.audio.pitch import log_mel_and_pitch
from media.text.phonemes import from_arpabet, from_ipa, from_pinyin, numbers
from models.view_encoder import ViewConfig
from models.word_embedder import PhonemeBottleneckConfig, WordEmbedderConfig
from tests.word_arrays import write_arrays
from training.common.loop import fit
from training.words.data.augment import FLOOR, _clipped, augment, match_channel
from training.words.data.batch import Mixture
from training.words.data.batches import Words
from training.words.data.columns import Columns
from training.words.data.lexicon import Word, arabic, english, mandarin, vowelled
from training.words.data.padding import padded
from training.words.data.synthesis import consistent_with_voice, rendition, speak
from training.words.data.zero_shot import is_zero_shot
from training.words.recipe import DEVELOPMENT, STAGES
from training.words.train import schedule
from training.words.train.schedule import DecayOnPlateau
from training.words.train.stage import Stage, train_stage

pytestmark = pytest.mark.slow

TINY = WordEmbedderConfig(
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    ViewConfig("conformer", 1, 2, width=16, inner=16),
    channels=4,
    width=12,
)

BOTTLENECK = PhonemeBottleneckConfig(
    TINY.acoustic, TINY.written, channels=4, width=12, local_layers=2, local_width=16
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_lexicon_has_no_zero_shot_words() -> None:
    words = [*mandarin(200, rng()), *arabic(200, rng())]
    assert len({word.phonemes for word in words}) == 400
    for word in words:
        assert not is_zero_shot(word.language, word.text, word.phonemes)
    spellings = dict(english(rng()))
    assert {"hello", "speech", "tree"} <= set(spellings)
    assert not {"bird", "house", "project", "signal", "marvin", "sheila"} & set(spellings)


def test_vowelled_writes_every_vowel_mark() -> None:
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
def test_speak_gives_a_trimmed_word_at_the_level_of_speech(
    word: Word, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.words.data.synthesis.FLITE_SHARE", 0.0)  # flite may not be there
    waveform = speak(rendition(word, rng()))
    assert 0.15 < len(waveform) / 16_000 < 2.5
    assert 0.05 < np.abs(waveform).max() <= 1.0
    edge = np.abs(waveform[:160]).max()
    assert edge < 0.2 * np.abs(waveform).max()  # cut to the word, with a little rest


def test_consistent_with_voice_drops_words_pronounced_otherwise() -> None:
    said = consistent_with_voice(
        [("speech", [from_arpabet("S P IY CH")]), ("house", [from_arpabet("K AE T S")])]
    )
    assert [word.text for word in said] == ["speech"]
    assert said[0].phonemes == from_arpabet("S P IY CH")


def test_augment_pads_with_the_floor_and_keeps_the_words_audible() -> None:
    word = np.full((40, 80), FLOOR, np.float16)
    word[10:30, 30:40] = 2.0
    noise = np.full((3, 400, 80), -9.0, np.float16)
    mel, lengths = augment([word] * 64, noise, 0.15, rng())
    assert mel.shape == (64, int(lengths.max()), 80)
    assert bool((mel >= FLOOR - 1e-3).all()) and bool(torch.isfinite(mel).all())
    heard = mel.amax(dim=(1, 2)) > 0.0
    assert heard.float().mean() > 0.9  # a mask may hide it
    assert len({round(float(m), 3) for m in mel.mean(dim=(1, 2))}) > 50  # each another way


def test_augment_liftered_removes_harmonics() -> None:
    bands = np.arange(80)
    word = np.tile(2 * np.cos(2 * np.pi * bands / 80) + (bands % 2), (40, 1)).astype(np.float16)
    noise = np.full((3, 400, 80), -30.0, np.float16)
    as_it_is, _ = augment([word] * 32, noise, 0.0, rng())
    smooth, _ = augment([word] * 32, noise, 0.0, rng(), liftered=1.0)
    rough = [mel[mel > -5].diff().abs().median() for mel in (as_it_is, smooth)]
    assert rough[1] < 0.5 * rough[0]


def test_augment_keeps_the_pitch_of_most_words_and_makes_none_up() -> None:
    word = np.full((40, 81), 0.0, np.float16)
    word[10:30, 80] = 7.0
    noise = np.full((3, 400, 80), -9.0, np.float16)
    clean, noisy = (
        augment([word] * 200, noise, 0.0, rng(), noisy=share)[0][..., 80] for share in (0.0, 1.0)
    )
    for octaves in (clean, noisy):
        assert set(octaves.unique().tolist()) == {0.0, 7.0}  # stretched, but not in between
    assert (clean > 0).any(dim=1).float().mean() == pytest.approx(0.9, abs=0.06)
    assert (noisy > 0).any(dim=1).float().mean() == pytest.approx(0.7, abs=0.08)


def test_match_channel_keeps_the_pitch() -> None:
    synthetic, recorded = np.full((30, 81), 0.0), np.full((50, 81), 1.0)
    synthetic[10:20, 80] = 7.5
    assert np.array_equal(match_channel(synthetic, recorded, rng())[:, 80], synthetic[:, 80])


def test_match_channel_adds_the_noise_and_the_band_limit_of_a_recording() -> None:
    synthetic, recorded = np.full((30, 80), FLOOR), np.full((50, 80), -4.0)
    synthetic[10:20] = 1.0
    recorded[20:30], recorded[:, 40:] = 0.0, FLOOR  # nothing above the telephone's band
    heard = match_channel(synthetic, recorded, rng())
    assert heard.shape == synthetic.shape
    assert heard[:10, :40].mean() == pytest.approx(-4.0, abs=0.3)
    assert heard[10:20, 40:].max() < FLOOR + 2


def test_clipped_keeps_one_end_and_most_frames() -> None:
    word = np.arange(40)[:, None].repeat(80, axis=1)
    parts = [_clipped(word, rng(seed))[:, 0].tolist() for seed in range(40)]
    assert all(32 <= len(part) <= 40 and (part[0] == 0 or part[-1] == 39) for part in parts)
    assert any(part[0] > 0 for part in parts) and any(part[-1] < 39 for part in parts)


def test_batches_pair_words_with_utterances_and_leave_out_validation(
    tmp_path: Path,
) -> None:
    write_arrays(tmp_path)
    held_out = {tuple(numbers(from_arpabet("K AE T")))}
    words = Words(tmp_path, 1, held_out)
    assert len(words.recorded) == 5 and len(words.synthetic) == 6 and len(words.validation) == 6
    batch = next(words.batches(8, torch.Generator().manual_seed(0)))
    assert sum(len(mel) for mel, _ in batch.chunks) == len(batch.labels) == 16
    assert torch.bincount(batch.labels).tolist() == [2] * 8
    spelled = {tuple(n for n in row if n) for row in batch.phonemes.tolist()}
    assert len(spelled) == 8 and not spelled & held_out
    assert len(spelled & set(words.recorded)) == 2
    assert len(spelled - set(words.recorded) - set(words.synthetic)) == 3  # concatenated


def test_batches_hold_their_share_of_words_with_other_tones(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    columns = Columns()
    for tone in "1234":
        columns.add(np.zeros(4800, np.float32), from_pinyin(f"bei{tone} jing2"), "", "zh")
    columns.write(tmp_path / "tone-changed.npz")
    words = Words(tmp_path, 1, mixture=Mixture(tone_changed=0.25))
    batch = next(words.batches(8, torch.Generator().manual_seed(3)))
    spelled = {tuple(n for n in row if n) for row in batch.phonemes.tolist()}
    tone_changed = {tuple(numbers(from_pinyin(f"bei{tone} jing2"))) for tone in "1234"}
    assert 1 <= len(spelled & tone_changed) <= 2  # two are drawn, perhaps the same one twice
    assert not tone_changed & (set(words.recorded) | set(words.synthetic))


def test_unrecorded_words_come_from_validation_speakers_only(
    tmp_path: Path,
) -> None:
    write_arrays(tmp_path)
    words = Words(tmp_path, 1)
    new = words.unrecorded(20)
    assert not {word for word, _ in new} & set(words.recorded)
    rows = {utterance.number for utterance in words.validation}
    draw = words._validation_concatenations.draw
    drawn = [draw(1, rng(seed))[1][0] for seed in range(20)]
    assert all({parts.first, parts.second} <= rows for parts in drawn)
    assert [word for word, _ in words.unrecorded(20)] == [word for word, _ in new]


def test_batches_sample_utterances_by_speaker_not_by_recording(tmp_path: Path) -> None:
    columns = Columns()
    for utterance in range(
        9
    ):  # eight utterances of one speaker, by their length, and one of another
        columns.add(
            np.zeros(4800 + 160 * utterance, np.float32), ("k", "a"), "ab"[utterance == 8], "en"
        )
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((9, 2), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = Words(tmp_path, 0)
    for seed in range(5):
        utterances = words._utterances(next(iter(words.recorded)), rng(seed))
        assert sorted(len(utterance) == len(words.mel(8)) for utterance in utterances) == [
            False,
            True,
        ]


def test_utterance_channel_swapped_has_the_band_limit_of_another_recording(tmp_path: Path) -> None:
    hiss = (rng(0).standard_normal(8000) * np.hanning(8000)).astype(np.float32)
    bins = np.fft.rfft(hiss)
    bins[len(bins) // 2 :] = 0  # as on the telephone: nothing above 4 kHz
    columns = Columns()
    columns.add(hiss, ("k",), "a", "en")
    columns.add(np.fft.irfft(bins).astype(np.float32), ("t",), "b", "en")
    columns.write(tmp_path / "recorded.npz")
    np.save(tmp_path / "starts.npy", np.zeros((2, 1), np.uint16))
    np.savez(tmp_path / "noise.npz", frames=np.zeros((1, 500, 80), np.float16))
    words = Words(tmp_path, 0, mixture=Mixture(channel_swapped=0.8))
    own, other = words.mel(0), words.mel(1)
    highest = other.max(axis=0)[75:80]
    utterances = [words._utterance(0, rng(seed)) for seed in range(20)]
    dull = [
        utterance for utterance in utterances if (utterance.max(axis=0)[75:80] < highest + 1).all()
    ]
    assert 3 <= len(dull) <= 15  # where the other was recorded
    assert any(np.array_equal(utterance, own) for utterance in utterances)
    for utterance in dull:  # it is as loud as ever, when it was
        assert np.corrcoef(utterance[:, :40].mean(axis=1), own[:, :40].mean(axis=1))[0, 1] > 0.9


@pytest.mark.parametrize("objective", ["contrastive", "triplet", "ctc"])
@pytest.mark.parametrize("config", [TINY, BOTTLENECK], ids=["conformer", "bottleneck"])
def test_train_stage_starts_from_another_and_interpolates_weights(
    tmp_path: Path,
    objective: Literal["contrastive", "triplet", "ctc"],
    config: WordEmbedderConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_arrays(tmp_path)
    monkeypatch.setattr(schedule, "EPOCH", 4)
    held_out = frozenset({tuple(numbers(from_arpabet("K AE T")))})
    mixture = Mixture(channel_matched=0.5, channel_swapped=0.5, liftered=0.5)
    stage = Stage(12, 1e-3, 1, held_out, objective=objective, mixture=mixture, n_words=8)
    train_stage(tmp_path, "tiny", config, stage)
    assert (tmp_path / "tiny.pt").exists()
    told = (tmp_path / "tiny.json").read_text()
    assert ("phoneme_errors" if objective == "ctc" else "unseen_cross_view_ap") in told
    assert "hours" in told
    train_stage(tmp_path, "next", config, replace(stage, start="tiny"))
    train_stage(tmp_path, "mean", config, replace(stage, start="tiny", wise_ft_alpha=0.5))
    start, end, mean = (
        torch.load(tmp_path / f"{name}.pt", weights_only=True)["network"]
        for name in ("tiny", "next", "mean")
    )
    for part, value in mean.items():
        torch.testing.assert_close(value, (start[part] + end[part]) / 2)


def test_train_stage_with_pitch_starts_from_a_network_without(tmp_path: Path) -> None:
    write_arrays(tmp_path, log_mel_and_pitch)
    train_stage(tmp_path, "tiny", TINY, Stage(4, 1e-3, 1, n_words=8))
    pitch = replace(TINY, pitch=True)
    train_stage(tmp_path, "next", pitch, Stage(4, 1e-3, 1, start="tiny", n_words=8))
    saved = torch.load(tmp_path / "next.pt", weights_only=True)
    assert saved["config"]["pitch"] and saved["network"]["pitch.out.weight"].any()


def test_decay_on_plateau_ends_below_the_lowest_rate_with_the_best_weights(tmp_path: Path) -> None:
    network = nn.Linear(1, 1)
    validated: list[float] = []

    def validate() -> float:
        """Best at the first epoch, worse ever after."""
        validated.append(float(network.weight))
        return 0.5 if len(validated) == 1 else 0.9

    fit(
        network,
        lambda _: (network(torch.ones(1, 1)) - 3).square().mean(),
        validate,
        tmp_path / "state.pt",
        10_000,
        1e-3,
        schedule_of=partial(DecayOnPlateau, network=network, validate=validate),
    )
    # 1e-3 falls to 1e-7 in five decays of PATIENCE epochs each; then fit scores once more.
    assert len(validated) == 1 + 5 * schedule.PATIENCE + 1
    assert validated[-1] == validated[0] == float(network.weight)


def test_decay_on_plateau_resumes_where_it_ended(tmp_path: Path) -> None:
    network = nn.Linear(1, 1)
    scores = iter([0.5, *[0.9] * 100])
    run = partial(
        fit,
        network,
        lambda _: (network(torch.ones(1, 1)) - 3).square().mean(),
        lambda: next(scores),
        tmp_path / "state.pt",
        10_000,
        1e-3,
        schedule_of=partial(DecayOnPlateau, network=network, validate=lambda: next(scores)),
    )
    run()
    weight = float(network.weight)
    run()
    assert float(network.weight) == weight


def test_recipe_development_words_are_not_zero_shot() -> None:
    zero = {tuple(numbers(p)) for language in ("en", "ar", "zh") for p in _zero(language)}
    assert not DEVELOPMENT & zero
    assert all(stage.start in ("", *STAGES) for _, stage in STAGES.values())


def _zero(language: str) -> list[tuple[str, ...]]:
    from training.words.data.zero_shot import zero_shot

    return list(zero_shot(language))


def test_padded_fills_with_zero() -> None:
    phonemes, lengths = padded([(3, 4), (5,)])
    assert phonemes.tolist() == [[3, 4], [5, 0]] and lengths.tolist() == [2, 1]
