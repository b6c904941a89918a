"""Training of sound search: captions, augmentation, the loss, and the stages."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.models.sound_search.sound_embedder import (
    SoundCNNConfig,
    SoundEmbedder,
    SoundEmbedderConfig,
    kind_logits,
)
from earshot.systems.sound_search.encoder import EarshotEncoder
from training.common.loop import save
from training.sound_search import export, train
from training.sound_search.batches import FLOOR, FRAMES, Shares, SoundDataset, augment, mix, window
from training.sound_search.corpus import (
    IN_SEQUENCE,
    SIMULTANEOUS,
    describe,
    kinds,
    mentioned,
    real_clips,
)
from training.sound_search.train import (
    Stage,
    class_accuracy,
    fit_kinds,
    load,
    nt_xent,
    target_weights,
)

pytestmark = pytest.mark.slow


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_mentioned_gives_kinds_in_caption() -> None:
    assert mentioned("A dog barks") == ["dog"]
    assert set(mentioned("Rain falls and a dog barks")) == {"dog", "rain"}
    assert not [kind for kind in mentioned("") if kind]


def test_templates_of_every_kind_name_it() -> None:
    for kind, entry in kinds().items():
        assert len(entry["texts"]) >= 10, kind
        for template in (*SIMULTANEOUS, *IN_SEQUENCE):
            text = template.format(a=entry["event"], name_a=entry["name"], b="", name_b="")
            assert entry["event"] in text or entry["name"] in text or "a" not in template


def test_describe_takes_training_captions_only(tmp_path: Path) -> None:
    sounds = tmp_path / "sounds"
    (sounds / "captions").mkdir(parents=True)
    (sounds / "manifest.csv").write_text(
        "path,set,label,fold,source_title,notes\n"
        "a.ogg,esc50_16k,dog,2,My_Dog-Barking 03.wav,\n"
        "b.ogg,other,rain,,Rain (freesound 12),same freesound source as ESC-50 fold 4\n"
        "c.ogg,other,odd noise,,,\n"
    )
    (sounds / "captions/audiocaps.csv").write_text(
        "id,split,caption\n1,train,A puppy barks\n2,test,A dog barks loudly\n"
        "3,train,A dog barks as rain falls\n"
    )
    clips = list(real_clips(tmp_path))
    assert [(clip.kind, clip.fold) for clip in clips] == [("dog", 2), ("rain", 4), ("odd_noise", 0)]
    assert clips[0].captions == ("dog barking",)
    captions = describe(tmp_path, [{"captions": clip.captions} for clip in clips])
    assert [captions.texts[number] for number in captions.audiocaps["dog"]] == ["A puppy barks"]
    assert "A dog barks loudly" not in captions.texts  # of the test split
    both = [
        pair for pair in captions.pairs if captions.texts[pair[3]] == "A dog barks as rain falls"
    ]
    assert [(set(pair[:2]), pair[2]) for pair in both] == [({"dog", "rain"}, False)]


@pytest.mark.parametrize("frames", [30, 500, 1000])
def test_window_of_short_clip_keeps_event(frames: int) -> None:
    mel = torch.full((frames, 128), FLOOR)
    mel[frames // 2, 64] = 5.0
    taken = window(mel, 500, generator())
    assert taken.shape == (500, 128)
    if frames <= 500:  # a longer clip is cut
        assert abs(int(taken.amax(dim=0).argmax()) - 64) <= 4


def test_mix_adds_powers_at_similar_levels() -> None:
    low, high = torch.full((50, 128), FLOOR), torch.full((50, 128), FLOOR)
    low[:, 10], high[:, 90] = 3.0, -4.0
    mixed = mix(low, high, generator())
    assert mixed[0, 10] == pytest.approx(3.0, abs=0.01)
    assert abs(mixed[0, 90] - 3.0) < 6.1 * math.log(10) / 10


def test_augment_keeps_most_of_the_spectrogram() -> None:
    time, band = torch.arange(500.0)[:, None], torch.arange(128.0)[None]
    mel = (-4 + 3 * torch.sin(time / 20) * torch.cos(band / 8)).expand(16, -1, -1)
    augmented = augment(mel, generator())
    assert augmented.isfinite().all()
    for row in augmented:
        correlation = torch.corrcoef(torch.stack([row[:, :60].flatten(), mel[0, :, :60].flatten()]))
        assert correlation[0, 1] > 0.3
    assert (augmented[0] - augmented[1]).abs().mean() > 0.3


def test_target_weights_are_overlap_of_kinds() -> None:
    audio = torch.tensor([[1.0, 0, 0], [1, 1, 0]])
    text = torch.tensor([[1.0, 0, 0], [1, 1, 0], [0, 0, 1]])
    assert target_weights(audio, text).tolist() == [[1.5, 0.5, 0.0], [0.5, 1.5, 0.0]]


def test_nt_xent_is_equation_2() -> None:
    """With one caption a clip, the loss is equation (2)."""
    torch.manual_seed(0)
    audio, text = (torch.nn.functional.normalize(torch.randn(4, 8), dim=1) for _ in range(2))
    logits = 7 * audio @ text.t()
    right = torch.arange(4)
    expected = torch.nn.functional.cross_entropy(logits, right) / 2
    expected += torch.nn.functional.cross_entropy(logits.t(), right) / 2
    loss = nt_xent(audio, text, torch.tensor(7.0), torch.eye(4))
    torch.testing.assert_close(loss, expected)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Prepared arrays of two kinds, one of them intermittent, with a sentence vector each."""
    rng = np.random.default_rng(0)
    for name, folds in (("real", [1, 2, 4]), ("speech", []), ("noise", []), ("synthetic", [0])):
        rows, frames = [], []
        for fold in folds:
            for kind in ("dog", "rain"):
                mel = rng.normal(-8, 1, (FRAMES, 128))
                if kind == "dog":
                    mel[np.arange(FRAMES) % 20 < 10] += 8
                start = FRAMES * len(frames)
                rows.append(
                    {"kind": kind, "fold": fold, "start": start, "end": start + FRAMES}
                    | {"captions": []}
                )
                frames.append(mel)
        mels = np.concatenate([np.zeros((0, 128)), *frames])
        np.save(tmp_path / f"{name}.npy", mels.astype(np.float16))
        np.save(tmp_path / f"{name}-effects.npy", np.zeros((len(rows), 1, 4), np.float32))
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    np.save(tmp_path / "captions.npy", np.eye(384, dtype=np.float16)[:3])
    table = {"written": {"dog": [0], "rain": [1]}, "audiocaps": {}, "own": {}}
    pairs = [["dog", "rain", False, 2], ["dog", "rain", True, 2]]
    (tmp_path / "captions.json").write_text(json.dumps({**table, "pairs": pairs}))
    return tmp_path


def test_batch_comes_from_the_given_folds(run: Path) -> None:
    sounds = SoundDataset(run, [1, 0])
    assert {clip["fold"] for clip in sounds.clips} == {0, 1}
    batch = sounds.batch(20, Shares(), generator())
    assert batch.mel.shape == (20, FRAMES, 128)
    mixed = batch.kinds.sum(dim=1) == 2
    assert 3 < int(mixed.sum()) < 17
    assert (batch.captions[mixed].argmax(dim=1) == 2).all()
    assert (batch.captions[~mixed].argmax(dim=1) == batch.kinds[~mixed].argmax(dim=1)).all()


def test_training_leaves_out_unseen_kinds(
    run: Path,
) -> None:
    """Training has neither their clips nor their captions."""
    (run / "unseen.json").write_text('["rain"]')
    stage = Stage(0, 0.0, Shares(), without_unseen=True)
    assert replace(stage, without_unseen=False).left_out(run) == frozenset()
    sounds = SoundDataset(run, [0, 1, 2], stage.left_out(run))
    assert {clip["kind"] for clip in sounds.clips} == set(sounds.written) == {"dog"}
    assert not sounds.pairs and len(SoundDataset(run, [0, 1, 2]).pairs) == 2
    batch = sounds.batch(8, Shares(), generator())
    assert (batch.captions.argmax(dim=1) == 0).all()


def test_train_separates_kinds(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network trained alone separates kinds, and so does a distilled one."""
    monkeypatch.setattr(train, "BATCH", 8)
    config = SoundEmbedderConfig(SoundCNNConfig(channels=(8,), blocks=(1,)), width=8)
    stage = Stage(40, 3e-3, Shares(), folds=(0, 1, 2))
    train.train(run, "teacher", config, stage)
    assert class_accuracy(load(run, "teacher"), run) == 1.0
    train.train(run, "student", config, replace(stage, steps=40, teacher="teacher"))
    assert class_accuracy(load(run, "student"), run) == 1.0
    saved = json.loads((run / "student.json").read_text())
    assert saved["score"] == 0.0


def test_fit_kinds_takes_keys_from_captions(run: Path) -> None:
    """The values come from clips."""
    torch.manual_seed(0)
    config = SoundEmbedderConfig(SoundCNNConfig(channels=(8,), blocks=(1,)), width=8)
    before = SoundEmbedder(config).eval()
    save(run, "plain", config, before, {"hours": 0.1, "score": 0.5})
    fit_kinds(run, "plain-kinds", "plain", Stage(0, 0.0, Shares(), folds=(0, 1, 2)))
    network = load(run, "plain-kinds")
    assert network.config.n_kinds == 2
    sounds = SoundDataset(run, (0, 1, 2))
    attention = kind_logits(sounds.vectors, network.kind_keys).softmax(dim=1)
    assert attention[[0, 1], [0, 1]].min() > 0.9  # "dog", "rain"
    assert attention[2].min() > 0.3  # a mixture of both
    with torch.inference_mode():
        rain = torch.cat(
            [before.embed_audio(sounds.whole(n)[None]) for n in sounds.of_kind["rain"]]
        )
    mean = torch.nn.functional.normalize(rain.mean(dim=0), dim=0)
    torch.testing.assert_close(network.kind_values[1], mean)


def test_export_writes_shipped_and_evaluated_networks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "calibrate", lambda encoder, data, fold: 0.25)
    monkeypatch.setattr(export, "calibrate_own", lambda encoder, data: (0.15, 0.1))
    config = SoundEmbedderConfig(SoundCNNConfig(channels=(8,), blocks=(1,)), width=8)
    parts = ("cnn-first", "cnn-123", "cnn-1234", "cnn-123-kinds", "cnn-1234-kinds")
    parts += ("cnn-unseen-kinds",)
    for seed, name in enumerate(parts):
        torch.manual_seed(seed)
        save(tmp_path, name, config, SoundEmbedder(config), {"hours": 0.5, "score": 0.2})
    export.export(tmp_path, tmp_path, tmp_path / "checkpoints")
    shipped, measured = (
        EarshotEncoder.from_pretrained(tmp_path / folder / "sound-cnn", "cpu")
        for folder in ("checkpoints", "validation")
    )
    assert shipped.threshold == measured.threshold == 0.25
    assert shipped.fingerprint != measured.fingerprint
    saved = json.loads((tmp_path / "checkpoints/sound-cnn/metrics.json").read_text())
    lineage = ("cnn-first", "cnn-123", "cnn-1234", "cnn-1234-kinds")
    assert saved["training_hours"] == dict.fromkeys(lineage, 0.5)
    folds = [
        json.loads((tmp_path / folder / "sound-cnn/config.json").read_text())["folds"]
        for folder in ("checkpoints", "validation")
    ]
    assert folds == [[1, 2, 3, 4], [1, 2, 3]]
    without = [
        json.loads((tmp_path / folder / "sound-cnn/config.json").read_text())["without_unseen"]
        for folder in ("checkpoints", "unseen")
    ]
    assert without == [False, True]
