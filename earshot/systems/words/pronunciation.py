"""The phonemes of a typed word: from the dictionary, predicted by the grapheme-to-phoneme network,
or as typed in IPA, ARPAbet, pinyin, Chinese or Arabic.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import torch

from earshot.core.errors import InputError
from earshot.media.text.letters import composed, usual_letters
from earshot.media.text.phonemes import (
    ARABIC_SCRIPT,
    ARPABET,
    CHINESE_SCRIPT,
    from_arabic,
    from_arpabet,
    from_chinese,
    from_ipa,
    from_pinyin,
    pronunciations,
)
from earshot.models.words.g2p import G2P, LETTERS, G2PConfig
from earshot.pretrained.checkpoint import kind_of, load_weights, locate, read_config

Source = Literal[
    "dictionary", "name", "guess", "IPA", "ARPAbet", "pinyin", "Chinese", "Arabic", "Arabic guess"
]

MAX_LETTERS: Final = 40
MAX_CHARACTERS: Final = 80  # signs take as long to read as letters
MAX_TYPED: Final = 1_000  # characters, with those that are invisible: they are read one by one
TOO_LONG: Final = f"That is too long: {MAX_CHARACTERS} characters are the most."
VOWELS: Final = frozenset(symbol for symbol in ARPABET if symbol[0] in "AEIOU")
_SYMBOL: Final = f"(?:{'|'.join(ARPABET)})"
ARPABET_TEXT: Final = re.compile(rf"{_SYMBOL}(?: {_SYMBOL})+")
STRESSED: Final = re.compile(rf"\b(?:{'|'.join(sorted(VOWELS))})[012]\b")
IPA_LETTER: Final = re.compile(r"[\u0250-\u02ffæðħŋθχ]")
BRACKETED: Final = re.compile(r"/.*/|\[.*\]")
PINYIN: Final = re.compile(r"(?:[a-zü]+[1-5] ?)+")
TONE_MARK: Final = re.compile(r"[aeiouü][\u0304\u030c]")  # of the first and third tone
# As word processors and other keyboards write them.
PLAIN: Final = str.maketrans("‘’ʼ`´′‐‑‒–—―−", "''''''-------")
# The beginning of a weight's name in the checkpoint, which was trained before modules were renamed,
# → its name in the network. The table goes when g2p is next trained.
RENAMED: Final = {"reader.": "letter_encoder.", "speaker.": "slot_encoder."}
# Names that the dictionary has as somebody who reads English letters would say them, or not at all.
NAMES: Final = {
    "aisling": "AE SH L IH NG",
    "aoife": "IY F AH",
    "caoimhe": "K IY V AH",
    "eilidh": "EY L IY",
    "eoghan": "OW AH N",
    "grainne": "G R AO N Y AH",
    "niamh": "N IY V",
    "oisin": "AH SH IY N",
    "roisin": "R OW SH IY N",
    "saoirse": "S ER SH AH",
    "siobhan": "SH AH V AO N",
    "tadhg": "T AY G",
}
PUNCTUATION: Final = '.,;:!?"“”„«»()…'


@dataclass(frozen=True)
class Pronunciation:
    """A pronunciation. phonemes: of earshot.media.text.phonemes.PHONEMES; source: "name" where any
    part is of NAMES, "guess" where any was predicted, "Arabic guess" where vowels were.
    """

    phonemes: tuple[str, ...]
    source: Source


class Pronouncer:
    """A reader of typed words, as phonemes. Shared by all visitors; keeps no state."""

    def __init__(self, network: G2P) -> None:
        """Keep the network, which is in evaluation mode, on the CPU."""
        self._network = network

    @classmethod
    def from_pretrained(cls, name: str | Path = "g2p") -> "Pronouncer":
        """Load the network of a shipped name, a folder or a hub id.

        Raises FileNotFoundError where there is no checkpoint.
        """
        return cls(load_g2p(name))

    def __call__(self, text: str) -> Pronunciation:
        """Read a word or short phrase in English, IPA ("/kæt/", or any text with a letter that only
        IPA has), ARPAbet in capitals ("K AE1 T"), pinyin ("bei3 jing1"), Chinese or Arabic script.

        Raises InputError where it cannot be pronounced, and says what to type instead.
        """
        if len(text) > MAX_TYPED:
            raise InputError(TOO_LONG)
        text = _tidy(text)
        _check(text)
        pronunciation = self._read(text)
        if not pronunciation.phonemes:
            raise InputError(f"There is no sound in “{text}”. Type a word, such as “hello”.")
        return pronunciation

    def _read(self, text: str) -> Pronunciation:
        if CHINESE_SCRIPT.search(text):
            return Pronunciation(from_chinese(_one_script(text, CHINESE_SCRIPT)), "Chinese")
        if ARABIC_SCRIPT.search(text):
            phonemes, certain = from_arabic(_one_script(text, ARABIC_SCRIPT))
            return Pronunciation(phonemes, "Arabic" if certain else "Arabic guess")
        if BRACKETED.fullmatch(text) or IPA_LETTER.search(text):
            return Pronunciation(from_ipa(text), "IPA")
        # "T V" is two letters, not ARPAbet: it has no vowel.
        symbols = ARPABET_TEXT.fullmatch(text) and VOWELS & set(text.split())
        if symbols or STRESSED.search(text):
            return Pronunciation(from_arpabet(text), "ARPAbet")
        text = text.lower()
        if PINYIN.fullmatch(text):
            syllables = re.sub(r"(\d) ?", r"\1 ", text)
            return Pronunciation(from_pinyin(syllables), "pinyin")
        _check_english(text)
        return self._english(text)

    def _english(self, text: str) -> Pronunciation:
        """Read each word from NAMES or the dictionary; else its hyphenated parts; else
        predicted."""
        phonemes: list[str] = []
        source: Source = "dictionary"
        dictionary = pronunciations()
        for word in text.split():
            bare = bare_word(word)
            if name := NAMES.get(bare):
                source = "guess" if source == "guess" else "name"
                phonemes += from_arpabet(name)
                continue
            entry = next((w for w in (word, bare, bare.strip("'")) if w in dictionary), None)
            parts = [entry] if entry else bare.strip("'").split("-")
            for part in filter(None, parts):
                if part not in dictionary:
                    source = "guess"
                phonemes += from_arpabet(dictionary.get(part) or self._guess(part))
        return Pronunciation(tuple(phonemes), source)

    def _guess(self, word: str) -> str:
        """Predict the ARPAbet of a word that is not in the dictionary."""
        for letter in word:
            if letter not in LETTERS:
                raise InputError(
                    f"“{letter}” has no sound in English. Leave it out, or write the word in IPA."
                )
        phones = self._network.pronounce(word)
        if not VOWELS & set(phones):
            raise InputError(
                f"“{word}” cannot be said: it has no vowel. Write it as it sounds, or in IPA."
            )
        return " ".join(phones)


def load_g2p(folder: str | Path) -> G2P:
    """Load the network of a folder or hub id, on the CPU.

    Raises FileNotFoundError where there is no checkpoint, CheckpointError for one that is of
    another task or cannot be used.
    """
    folder = locate(folder)
    config = read_config(folder).get("network", {})
    kind_of(folder, config, "grapheme-to-phoneme conversion", ["slots"])
    network = G2P(G2PConfig(**config))
    load_weights(network, folder, torch.device("cpu"), RENAMED)
    return network


def _tidy(text: str) -> str:
    """Tidy a text: usual letters, single spaces, plain apostrophes and hyphens, composed accents,
    nothing invisible."""
    visible = "".join(c for c in usual_letters(text) if c.isprintable() or c.isspace())
    return composed(" ".join(visible.split())).translate(PLAIN)


def _check(text: str) -> None:
    """Raise InputError for text that is no word in any notation."""
    if not text:
        raise InputError("Nothing is typed yet. Type a word, such as “hello”.")
    letters = [c for c in text if c.isalpha()]
    if len(letters) > MAX_LETTERS:
        raise InputError(
            f"That has {len(letters)} letters; {MAX_LETTERS} are the most. "
            "Type one word or a short phrase."
        )
    if len(text) > MAX_CHARACTERS:
        raise InputError(TOO_LONG)
    for letter in letters:
        readable = any(kind.match(letter) for kind in (IPA_LETTER, CHINESE_SCRIPT, ARABIC_SCRIPT))
        if not (readable or unicodedata.name(letter, "").startswith("LATIN")):
            raise InputError(
                f"“{letter}” is of another script. Write the word in English letters, in IPA, in "
                "Chinese or in Arabic."
            )
    if not letters and not re.search(r"\d", text):
        raise InputError("There is no word in this. Type one in letters, such as “hello”.")


def _one_script(text: str, script: re.Pattern[str]) -> str:
    """Remove the punctuation of a text. Raises InputError where another script is mixed in."""
    words = [word.strip(PUNCTUATION + "，。！？；：、؟،؛") for word in text.split()]
    words = [word for word in words if word]
    if not all(script.fullmatch(word) for word in words):
        raise InputError("Two scripts are mixed in this. Type one word in one script.")
    return " ".join(words)


def _check_english(text: str) -> None:
    """Raise InputError for pinyin with tone marks, and for numbers."""
    if TONE_MARK.search(unicodedata.normalize("NFD", text)):
        raise InputError(
            "If this is pinyin, write its tones as numbers, such as bei3 jing1; "
            "if not, leave out the accents."
        )
    if re.search(r"\d", text):
        raise InputError(
            "Write numbers as words, “three” rather than “3”. In pinyin, a tone from 1 to 5 "
            "follows every syllable, such as bei3 jing1."
        )


def bare_word(word: str) -> str:
    """Strip a word of its accents and of the punctuation around it."""
    letters = unicodedata.normalize("NFKD", word.strip(PUNCTUATION))
    return "".join(c for c in letters if not unicodedata.combining(c))
