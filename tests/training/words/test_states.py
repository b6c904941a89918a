"""Networks over a recogniser's states: packed states, aligned phonemes, training, export."""

import json
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import PHONEMES, from_arpabet, numbers
from earshot.models.words.word_embedder import ViewConfig, build_embedder, config_from_dict
from training.common import checkpoints
from training.common.zero_shot import zero_shot
from training.words.concatenation import DEVELOPMENT
from training.words.export import export_states
from training.words.states import prepare
from training.words.states.arrays import BASIS_FILE, FILE, KINDS, Packed
from training.words.states.batches import Batches, SpokenBatch, spikes
from training.words.states.train import NETWORKS, Members, Stage, train_states

COMPONENTS = 10


def packed() -> Packed:
    """Words, sentences, synthetic words and words of validation speakers, whose states tell their
    phonemes, and words that nobody said."""
    rng = np.random.default_rng(0)
    codes = rng.integers(-60, 60, (len(PHONEMES), COMPONENTS))
    new = sorted(DEVELOPMENT)[:2]
    words = [*new, *(tuple(rng.integers(1, 20, 5).tolist()) for _ in range(8))]
    transcript = [
        ("word", [w for w in words for _ in range(3)]),
        ("sentence", [tuple(rng.integers(1, 20, 12).tolist()) for _ in range(12)]),
        ("synthetic", [tuple(rng.integers(1, 20, 4).tolist()) for _ in range(8)]),
        ("val", words),
    ]
    flat = [(KINDS.index(kind), word) for kind, some in transcript for word in some]
    states = [np.repeat(codes[list(word)], 3, axis=0) for _, word in flat]
    frames = np.concatenate(states)
    return Packed(
        (frames + rng.integers(-3, 4, frames.shape)).astype(np.int8),
        np.ones((len(frames), 2), np.int8),
        0.05,
        np.array([len(each) for each in states]),
        [word for _, word in flat],
        np.array([kind for kind, _ in flat], np.uint8),
        np.array([number % 3 for number in range(len(flat))], np.uint8),
        [tuple(rng.integers(1, 20, 6).tolist()) for _ in range(30)],
    )


def test_packed_states_are_read_as_saved(tmp_path: Path) -> None:
    arrays_packed = packed()
    arrays_packed.save(tmp_path / FILE)
    read = Packed.read(tmp_path / FILE)
    assert (read.states == arrays_packed.states).all() and (read.pitch == arrays_packed.pitch).all()
    assert read.phonemes == arrays_packed.phonemes and read.lexicon == arrays_packed.lexicon
    assert read.step == arrays_packed.step and (read.lengths == arrays_packed.lengths).all()


def test_prepare_packs_what_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings that are trained on twice, those of validation as they are and in noise, in their
    order: states and pitch, of which little is lost."""
    speech = load(ASSETS / "examples" / "scot-digits.ogg", SAMPLE_RATE).waveform
    words = [
        prepare.Utterance(kind, from_arpabet(word), "en", speech[start : start + 8000])
        for kind, word, start in [("word", "W AH1 N", 0), ("val", "T UW1", 16_000)]
    ]
    monkeypatch.setattr(prepare, "_recordings", lambda *_: iter(words))
    noise = np.random.default_rng(0).standard_normal(16_000).astype(np.float32)
    monkeypatch.setattr(prepare, "noises", lambda *_: [noise])
    monkeypatch.setattr(prepare, "available", lambda: True)
    monkeypatch.setattr(prepare, "in_processes", map)  # pytest's process has threads
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    monkeypatch.setattr(prepare, "_lexicon", lambda _: [(1, 2, 3)])
    monkeypatch.setattr(prepare, "_degraded", lambda waveform, *_: waveform)
    prepare.prepare_states(tmp_path, tmp_path)
    read, basis = Packed.read(tmp_path / FILE), np.load(tmp_path / BASIS_FILE)
    assert [KINDS[kind] for kind in read.kinds] == ["word", "word", "val", "noisy"]
    assert read.phonemes == [
        tuple(numbers(from_arpabet(w))) for w in ["W AH1 N"] * 2 + ["T UW1"] * 2
    ]
    frames = prepare._front_end()(match_loudness(words[1].waveform, SAMPLE_RATE, prepare.LEVEL))
    start = int(read.lengths[:2].sum())
    part = slice(start, start + read.lengths[2])
    decoded = read.states[part] * read.step @ basis["basis"].T * basis["std"] + basis["mean"]
    standard = [(states - basis["mean"]) / basis["std"] for states in (decoded, frames[:, :-2])]
    assert np.corrcoef(standard[0].ravel(), standard[1].ravel())[0, 1] > 0.9
    assert (
        np.abs(read.pitch[part, 0] / prepare.OCTAVE - frames[:, -2]).max() < 0.51 / prepare.OCTAVE
    )
    assert (read.pitch[part, 1] == frames[:, -1]).all() and frames[:, -1].any()
    noisy = read.states[start + read.lengths[2] :]
    assert len(noisy) == read.lengths[3] == read.lengths[2]
    assert np.corrcoef(noisy.ravel(), read.states[part].ravel())[0, 1] < 0.9


def test_prepare_says_what_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "available", lambda: False)
    with pytest.raises(SystemExit, match="pip install -r requirements-evaluate.txt"):
        prepare.prepare_states(tmp_path, tmp_path)


@pytest.mark.parametrize("word", [(1,), (1, 2), (1, 1), (2, 1, 2)])
def test_spikes_lie_on_best_path(word: tuple[int, ...]) -> None:
    log = np.log(np.random.default_rng(len(word)).dirichlet(np.ones(3), 6)).astype(np.float32)
    paths = [
        path
        for path in product(range(3), repeat=len(log))
        if tuple(symbol for symbol, _ in groupby(path) if symbol) == word
    ]
    best = max(paths, key=lambda path: log[np.arange(len(log)), path].sum())
    ends = [t for t in range(len(log)) if best[t] and (t + 1 == len(log) or best[t + 1] != best[t])]
    [times] = spikes(torch.from_numpy(log)[None], torch.tensor([len(log)]), [word])
    assert times is not None and times.tolist() == ends


def test_spikes_need_enough_steps() -> None:
    """More phonemes than steps have none."""
    log = torch.zeros(1, 2, 3).log_softmax(dim=-1)
    assert [*spikes(log, torch.tensor([2]), [(1, 2, 1)])] == [None]


def test_parts_of_batch_hold_it_all() -> None:
    """They are cut to their longest recording, and keep each with its word."""
    lengths = torch.tensor([7, 2, 9, 4, 3, 8, 5])
    frames = torch.arange(7)[:, None, None] * torch.ones(7, 9, 1)
    parts = SpokenBatch(frames, lengths, [(n,) for n in range(7)]).by_length()
    words = [word for part in parts for word in part.words]
    assert words == [(1,), (4,), (3,), (6,), (0,), (5,), (2,)]
    for part in parts:
        assert part.frames.shape[1] == part.lengths.max()
        assert part.frames[:, 0, 0].tolist() == [n for (n,) in part.words]


def test_sentences_hold_no_zero_shot_word() -> None:
    """Not even within a longer word."""
    birds, words = from_arpabet("M EH N IY B ER D Z"), zero_shot("en")
    assert any(prepare._within(word, birds) for word in words)
    assert not any(prepare._within(word, from_arpabet("B ER D IY")[1:]) for word in words)


def test_held_out_words_join_no_batch() -> None:
    batches = Batches(packed(), DEVELOPMENT, torch.device("cpu"), seed=0)
    batches.align(Members(batches.frames.width).bottleneck)
    drawn = {word for _ in range(5) for word in batches.recordings().words}
    assert drawn and not drawn & DEVELOPMENT
    batches.hold_out(())
    batches.align(Members(batches.frames.width).bottleneck)
    assert {word for _ in range(5) for word in batches.recordings().words} & DEVELOPMENT


def test_splicing_needs_words_said_often() -> None:
    """Each word of packed() is said three times."""
    batches = Batches(packed(), (), torch.device("cpu"), seed=0)
    batches.align(Members(batches.frames.width).bottleneck)
    with pytest.raises(SystemExit, match="cannot be spliced"):
        batches.spliced()


def test_spliced_words_have_halves_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is heard of each phoneme is the states of that phoneme."""
    monkeypatch.setattr("training.words.states.batches.MIN_SPLICED", 2)
    arrays_packed = packed()
    languages = np.zeros_like(arrays_packed.languages)
    batches = Batches(replace(arrays_packed, languages=languages), (), torch.device("cpu"), seed=0)
    batches.align(Members(batches.frames.width).bottleneck)
    # Three states a phoneme, as packed() makes them.
    batches._cuts = {
        i: 3 * np.arange(len(word) + 1) for i, word in enumerate(arrays_packed.phonemes)
    }
    monkeypatch.setattr(batches.frames, "_augmented", lambda x, rng: x)
    spliced = batches.spliced()
    recorded = {
        word
        for word, kind in zip(arrays_packed.phonemes, arrays_packed.kinds, strict=True)
        if kind == 0
    }
    new = [n for n, word in enumerate(spliced.words) if word not in recorded]
    assert len(new) > 90  # of 96: two words are spliced, never one with itself
    heard_of = {  # one of the states of each phoneme
        phoneme: batches.frames.values[batches.starts[i] + 3 * place + 1]
        for i, word in enumerate(arrays_packed.phonemes)
        for place, phoneme in enumerate(word)
    }
    for n in new:
        word, size = spliced.words[n], int(spliced.lengths[n])
        middles = ((np.arange(len(word)) + 0.5) * size / len(word)).astype(int)
        middle_states = spliced.frames[n, middles]
        expected = torch.stack([heard_of[phoneme] for phoneme in word])
        assert F.cosine_similarity(middle_states[:, :-2], expected[:, :-2]).min() > 0.9


@pytest.mark.slow
def test_networks_over_states_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exported networks hear the states themselves."""
    monkeypatch.setattr("training.words.states.batches.MIN_SPLICED", 2)
    for name in ("RECORDED", "STRETCHES", "SYNTHETIC", "LEXICON", "MAX_SPLICED"):
        monkeypatch.setattr(f"training.words.states.batches.{name}", 6)
    monkeypatch.setattr("training.words.states.train.SENTENCES", 4)
    small = ViewConfig("conformer", 1, 2, width=32, inner=32, dropout=0.0)
    for name in ("SHALLOW", "DEEP"):
        monkeypatch.setattr(f"training.words.states.train.{name}", small)
    arrays_packed = packed()
    arrays_packed.save(tmp_path / FILE)
    train_states(tmp_path, "states", Stage(4, 1e-3, 1, falling=0.5, phonemes=1, full=1))
    train_states(tmp_path, "states-longer", Stage(1, 1e-3, 1, falling=0.5, start="states"))
    printed = [json.loads(line) for line in (tmp_path / "states.jsonl").read_text().splitlines()]
    assert [row["step"] for row in printed] == [1, 2, 3, 4]
    assert {"validation, whole", "validation, both", "held out, bottleneck"} <= {*printed[0]}
    assert "held out, both" not in printed[-1]  # these words are trained on in the end
    width = 16  # numbers of a state
    rng = np.random.default_rng(1)
    basis = {
        "mean": rng.normal(size=width),
        "std": rng.uniform(1, 2, width),
        "basis": np.linalg.qr(rng.normal(size=(width, COMPONENTS)))[0],
    }
    np.savez(tmp_path / BASIS_FILE, **basis)
    monkeypatch.setattr(checkpoints, "MAX_FILE_BYTES", 6 * 2**20)
    export_states(tmp_path, tmp_path / "checkpoints")
    states, pitch = rng.normal(size=(1, 30, width)), np.ones((1, 30, 2))
    for network, name in NETWORKS.items():
        saved = torch.load(tmp_path / f"states-longer-{network}.pt", weights_only=True)
        result = json.loads((tmp_path / f"states-longer-{network}.json").read_text())
        before = build_embedder(config_from_dict(saved["config"])).eval()
        before.load_state_dict(saved["network"])
        files = sorted((tmp_path / "checkpoints" / name).glob("*.safetensors"))
        assert len(files) == (2 if network == "bottleneck" else 1)
        weights = {key: w.float() for file in files for key, w in load_file(file).items()}
        sizes = saved["config"] | {"n_mels": width + 2}
        after = build_embedder(config_from_dict(sizes)).eval()
        after.load_state_dict(weights)
        components = (states - basis["mean"]) / basis["std"] @ basis["basis"] / result["scale"]
        lengths = torch.tensor([30])
        with torch.inference_mode():
            one, other = (
                network.embed_audio(
                    torch.from_numpy(np.concatenate([x, pitch], 2)).float(), lengths
                )
                for network, x in ((before, components), (after, states))
            )
        assert (one * other).sum() > 0.999
