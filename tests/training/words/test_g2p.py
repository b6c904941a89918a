"""Training of grapheme-to-phoneme conversion: splits, loss, error rates, checkpoint."""

import json
from pathlib import Path

import pytest
import torch

from earshot.models.words.g2p import G2P, PHONES, G2PConfig, letter_numbers
from earshot.systems.words.pronunciation import Pronouncer
from training.words import g2p as train
from training.words.g2p import ctc_loss, error_rates, majority_rule, split_of

WORDS = {"cat": ["K AE T"], "dog": ["D AO G", "D AA G"], "box": ["B AA K S"], "ax": ["AE K S"]}
TINY = G2PConfig(width=32, layers=1, dropout=0.0)


@pytest.mark.parametrize(
    "forms",
    [
        ("cat", "cats", "cat's", "cats'"),
        ("box", "boxes", "box's"),
        ("like", "likes"),
    ],
)
def test_inflected_forms_are_in_one_split(forms: tuple[str, ...]) -> None:
    assert len({split_of(form) for form in forms}) == 1


def test_split_leaves_tenth_for_test() -> None:
    """Validation and test each have about a tenth."""
    splits = [split_of(f"word{chr(97 + a)}{chr(97 + b)}") for a in range(26) for b in range(26)]
    assert 0.85 < splits.count("train") / len(splits) < 0.94
    assert min(splits.count("val"), splits.count("test")) > 15


@pytest.mark.slow
def test_prepare_g2p_writes_plain_words(tmp_path: Path) -> None:
    """The words are written with all pronunciations."""
    train.prepare_g2p(tmp_path)
    splits = json.loads((tmp_path / "g2p-words.json").read_text())
    words = splits["train"] | splits["val"] | splits["test"]
    assert sum(map(len, splits.values())) == len(words) > 120_000
    assert words["read"] == ["R EH D", "R IY D"]
    assert not {"read(2)", "a.m.", "ad-hoc"} & set(words)


def test_uniform_logits_score_all_alignments() -> None:
    """One phone in S slots that are all alike: S (S + 1) / 2 runs of it among blanks."""
    network = G2P(G2PConfig(width=8, layers=1, dropout=0.0))
    network.output.weight.data.zero_()
    network.output.bias.data.zero_()
    slots, classes = 6, len(PHONES) + 1
    runs = slots * (slots + 1) / 2
    expected = slots * torch.tensor(float(classes)).log() - torch.tensor(runs).log()
    torch.testing.assert_close(ctc_loss(network, [(letter_numbers("a"), [1])] * 2), expected)


def test_ctc_loss_of_network_is_golden() -> None:
    """A seeded network gives the golden value."""
    torch.manual_seed(0)
    network = G2P(G2PConfig(width=8, layers=1, dropout=0.0))
    batch = [(letter_numbers("cat"), [1, 2, 3]), (letter_numbers("dog"), [4, 5, 6])]
    assert float(ctc_loss(network, batch)) == pytest.approx(9.27772, rel=1e-4)


def test_error_rates_count_the_closest_pronunciation() -> None:
    dictionary = {"cat": ("K", "AE", "T"), "dog": ("D", "AA", "G"), "box": ("B", "S"), "ax": ()}
    rates = error_rates(lambda spelling: dictionary[spelling], WORDS)
    assert rates["wer"] == 50.0
    assert rates["per"] == pytest.approx(100 * (2 + 3) / (3 + 3 + 4 + 3))


def test_majority_rule_gives_most_frequent_phone() -> None:
    """Each letter has its most frequent phone."""
    rule = majority_rule(WORDS | {"cot": ["K AA T"], "cod": ["K AA D"]})
    assert rule("cod") == ("K", "AA", "D")
    assert rule("czt") == ("K", "T")  # z is in no word


@pytest.mark.slow
def test_exported_g2p_pronounces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training and export give a checkpoint that pronounces."""
    monkeypatch.setattr(train, "CONFIG", TINY)
    monkeypatch.setattr(train, "STEPS", 500)
    monkeypatch.setattr(train, "BATCH", 8)
    monkeypatch.setattr(train, "LEARNING_RATE", 1e-2)
    out, checkpoints = tmp_path / "out", tmp_path / "checkpoints"
    out.mkdir()
    too_long = {"w": ["D AH B AH L Y UW"]}  # for the slots of one letter
    splits = {"train": WORDS | too_long, "val": WORDS, "test": WORDS}
    (out / "g2p-words.json").write_text(json.dumps(splits))
    train.train_g2p(out)
    train.export_g2p(out, checkpoints)
    train.evaluate_g2p(out, checkpoints)
    metrics = json.loads((checkpoints / "g2p/metrics.json").read_text())
    baseline, ours = metrics["results"]
    assert ours["system"] == "g2p"
    assert max(ours["per"], metrics["val_per"]) < 15 < baseline["per"]
    assert "| g2p (default)" in (checkpoints / "g2p/README.md").read_text()
    assert Pronouncer.from_pretrained(checkpoints / "g2p")("cat").phonemes == ("k", "æ", "t")
