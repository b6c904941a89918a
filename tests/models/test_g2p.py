"""The network that reads spellings: slots beside letters, one word like the other in a batch."""

import pytest
import torch

from models.g2p import BLANK, EDGE, G2P, LETTERS, PHONES, G2PConfig, letter_numbers


def make(slots: int = 2) -> G2P:
    torch.manual_seed(0)
    return G2P(G2PConfig(width=8, layers=1, slots=slots, dropout=0.0)).eval()


def test_the_inventory_is_arpabet() -> None:
    assert len(PHONES) == 39
    assert {"AA", "NG", "ZH"} <= set(PHONES)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_each_letter_and_each_edge_has_its_slots(slots: int) -> None:
    letters = torch.tensor([letter_numbers("cat"), letter_numbers("dog")])
    assert make(slots)(letters).shape == (2, slots * 5, len(PHONES) + 1)


def test_a_word_is_read_alike_alone_and_in_a_batch() -> None:
    network, letters = make(), torch.tensor([letter_numbers("cat"), letter_numbers("dog")])
    torch.testing.assert_close(network(letters)[1:], network(letters[1:]))


def test_letters_after_a_sound_matter_to_it() -> None:
    network = make()
    hat, hate = (network(torch.tensor([letter_numbers(word)])) for word in ("hat", "hate"))
    assert (hat[0, 4] - hate[0, 4]).abs().max() > 1e-4


def test_edges_and_letters_have_numbers_of_their_own() -> None:
    numbers = letter_numbers(LETTERS)
    assert numbers[0] == numbers[-1] == EDGE
    assert len(set(numbers)) == len(LETTERS) + 1


@pytest.mark.parametrize("character", ["A", "é", "-", " ", "1", "猫"])
def test_other_characters_are_refused(character: str) -> None:
    with pytest.raises(ValueError, match="substring not found"):
        letter_numbers(character)


def test_repeats_are_one_phone_unless_a_blank_parts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    network = make()
    classes = torch.tensor([BLANK, 1, 1, BLANK, 1, 2, BLANK, 2])
    logits = torch.nn.functional.one_hot(classes, len(PHONES) + 1)[None].float()
    monkeypatch.setattr(network, "forward", lambda letters: logits)
    a, b = PHONES[:2]
    assert network.pronounce("ab") == (a, a, b, b)


def test_a_silent_network_says_nothing() -> None:
    network = make()
    network.output.bias.data[BLANK] = 100.0
    assert network.pronounce("cat") == ()
