"""The zero-shot words: held out from training in every voice, recorded or synthetic."""

from functools import cache
from typing import TYPE_CHECKING, Final

from earshot.media.text.phonemes import from_arpabet, from_ipa, from_pinyin

if TYPE_CHECKING:  # training needs torch and numpy only, reading the corpora more
    from training.common.corpora import Item

# Spelling → every usual pronunciation: a held-out word must not come back under another spelling.
SPELLINGS: Final = {
    "en": {
        "alexa": ("AH L EH K S AH",),
        "jarvis": ("JH AA R V IH S", "JH AA R V AH S"),
        "snowboy": ("S N OW B OY",),
        "view glass": ("V Y UW G L AE S",),
        "signal": ("S IH G N AH L",),
        "project": ("P R AA JH EH K T", "P R AH JH EH K T"),
        "marvin": ("M AA R V IH N", "M AA R V AH N"),
        "sheila": ("SH IY L AH",),
        "bird": ("B ER D",),
        "house": ("HH AW S", "HH AW Z"),
    },
    "ar": {
        "يسار": ("jasaːr",),
        "تراجع": ("taraːʒuʕ",),
        "ستة": ("sitta",),
        "فتح": ("fatħ",),
        "خيارات": ("xijaːraːt",),
    },
    "zh": {"北京": ("bei3 jing1",), "饭店": ("fan4 dian4",)},
}
PARSERS: Final = {"en": from_arpabet, "ar": from_ipa, "zh": from_pinyin}


@cache
def zero_shot(language: str) -> frozenset[tuple[str, ...]]:
    """List the phonemes of the zero-shot words of a language; none for other languages."""
    words = SPELLINGS.get(language, {}).values()
    return frozenset(PARSERS[language](phones) for variants in words for phones in variants)


def is_zero_shot(language: str, spelling: str, phonemes: tuple[str, ...]) -> bool:
    """Whether a word is held out from training, by its spelling or by its phonemes."""
    is_listed = spelling.lower().replace("_", " ") in SPELLINGS.get(language, {})
    return is_listed or phonemes in zero_shot(language)


def has_zero_shot_word(item: "Item") -> bool:
    """Whether the item's text has a word that no model may be trained on."""
    held_out = SPELLINGS.get(item.language, {})
    text = f" {item.text.lower().replace('_', ' ')} "
    words = "".join(c if c.isalnum() else " " for c in text)
    spoken = {phones for way in held_out.values() for phones in way}
    return item.phones in spoken or any(f" {word} " in words for word in held_out)
