"""Grapheme-to-phoneme network: output slots, batches, greedy CTC decoding, golden outputs."""

import pytest
import torch

from earshot.models.words.g2p import (
    BLANK,
    BOUNDARY,
    G2P,
    LETTERS,
    PHONES,
    G2PConfig,
    letter_numbers,
)


def make(slots: int = 2) -> G2P:
    torch.manual_seed(0)
    return G2P(G2PConfig(width=8, layers=1, slots=slots, dropout=0.0)).eval()


def test_phones_are_the_39_of_arpabet() -> None:
    assert len(PHONES) == 39
    assert {"AA", "NG", "ZH"} <= set(PHONES)


def test_g2p_seeded_gives_golden_logits() -> None:
    with torch.inference_mode():
        logits = make()(torch.tensor([letter_numbers("cat")]))[0, 3, :5]
    expected = torch.tensor([0.2514, 0.2277, -0.1151, -0.0735, -0.0096])
    torch.testing.assert_close(logits, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_forward_gives_slots_for_each_letter(slots: int) -> None:
    """The boundaries have slots too."""
    letters = torch.tensor([letter_numbers("cat"), letter_numbers("dog")])
    assert make(slots)(letters).shape == (2, slots * 5, len(PHONES) + 1)


def test_forward_of_batch_equals_single_words() -> None:
    network, letters = make(), torch.tensor([letter_numbers("cat"), letter_numbers("dog")])
    torch.testing.assert_close(network(letters)[1:], network(letters[1:]))


def test_forward_depends_on_later_letters() -> None:
    network = make()
    hat, hate = (network(torch.tensor([letter_numbers(word)])) for word in ("hat", "hate"))
    assert (hat[0, 4] - hate[0, 4]).abs().max() > 1e-4


def test_letter_numbers_are_distinct() -> None:
    """They begin and end with the boundary."""
    numbers = letter_numbers(LETTERS)
    assert numbers[0] == numbers[-1] == BOUNDARY
    assert len(set(numbers)) == len(LETTERS) + 1


@pytest.mark.parametrize("character", ["A", "é", "-", " ", "1", "猫"])
def test_letter_numbers_of_other_characters_raises(character: str) -> None:
    with pytest.raises(ValueError, match="substring not found"):
        letter_numbers(character)


def test_pronounce_merges_repeats_without_blank_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = make()
    classes = torch.tensor([BLANK, 1, 1, BLANK, 1, 2, BLANK, 2])
    logits = torch.nn.functional.one_hot(classes, len(PHONES) + 1)[None].float()
    monkeypatch.setattr(network, "forward", lambda letters: logits)
    a, b = PHONES[:2]
    assert network.pronounce("ab") == (a, a, b, b)


def test_pronounce_of_blanks_only_is_empty() -> None:
    network = make()
    network.output.bias.data[BLANK] = 100.0
    assert network.pronounce("cat") == ()
