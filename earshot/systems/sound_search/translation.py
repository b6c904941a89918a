"""The translation of a query into English, word by word, by dictionaries of five languages.

words.csv has a line an English word or phrase and a column a language; words of one meaning are
separated by commas. They are compared without case, accents, vowel signs and articles; inflection
is met by comparing beginnings. English, and what is not recognised, stays as it is. More than 400
lines, for lists of words are among them.
"""

import csv
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from earshot.media.text.letters import usual_letters
from earshot.media.text.phonemes import pronunciations

MAX_CHARACTERS: Final = 1000  # of a query, and of its translation
LANGUAGES: Final = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "zh": "Chinese",
    "ar": "Arabic",
}
LATIN: Final = ("de", "fr", "es")
# What is not translated, but named: by the first word of a letter's Unicode name, or by words that
# are frequent in queries and not in the languages above.
OTHER_SCRIPTS: Final = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "a language in Cyrillic letters",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "a language in Devanagari letters",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
}
OTHER_WORDS: Final = {
    "Italian": "che il gli della del nel cane gatto abbaia pioggia acqua piange suona campana",
    "Portuguese": "um uma cao cachorro late latindo chuva agua chora chorando toca sino gato",
    "Dutch": "een het van hond blaft regen huilt kat water klok deur lacht vrouw",
    "Swedish or Danish": "ett och som hund skaller gor regn grater katt klocka graeder",
    "Polish": "pies szczeka deszcz woda placze dziecko kot dzwon smieje sie",
    "Turkish": "bir kopek havliyor havlayan yagmur su aglayan bebek kedi zil",
    "Finnish": "koira haukkuu sade vesi itkee vauva kissa kello soi",
    "Indonesian": "seekor anjing menggonggong hujan air bayi menangis kucing",
    "Vietnamese": "con cho sua mua nuoc em be khoc tieng",
}
ENDINGS: Final = ("s", "es", "d", "ed", "ing", "er", "ly")
# English words that are spelled like words of the other languages, and not on the English side.
ALSO_ENGLISH: Final = frozenset(
    "adolescent aerodrome aide al alas alt alter alto am anime arc arrive art aspire attend auto "
    "automobile bach bah balance bald ballast baton belle blast blitz bonito boot boutique branch "
    "brand brief bub bum bureau burros cafe canasta canon canto carafe carillon cascade "
    "celebration cent chaise chalet champ chant chat chats chauffeur chiffon chose chute "
    "circulation clique coca collision combat come comic commence comment compose conductor "
    "conduit conference contra corral coupe course court cri crier d dame debut deluge den dental "
    "dents detonation dice dick die diner ding dire disco dit divide dose e emission encore "
    "ensemble escape essence et expire explosion expose fallen fanfare fatigue fern fest fiesta "
    "file final fizz flex flexible fort forte foyer fracas fur gang gauche gene glockenspiel "
    "golden gorge grab grand grande grange griff grill grille ha habits haha halle halt handy "
    "hang heli hell herein hunger hut image index inspire instant interior invite j jogger "
    "journal klaxon l la labor laden lame lance land las lava legumes lent lever lied limo links "
    "lit llama llamas loch lunge lurch m main mains malt mankind manner mantel mar marches mare "
    "matinee maul me mere messing met metro micro mince minuscule mist mit mon mono motors "
    "motorsport mousse mutter n o offending omnibus ovation pace pages pale par parole part "
    "partner passe pasta pastel pastor patio pc pendant persona petard petit petite photo pic pie "
    "pigeons pile placard plateau plume pop port portable porter pose pour prairie pre premiere "
    "prudent pulsar quitter reactor regular reservoir respiration reveille robe robot rose rote "
    "rouge route s sac sachet sack sage sale sales salon sang sausage saute scene scooter see "
    "sent serpent sierra siesta sin singe slurp smartphone solo sombrero son sonar souffle stall "
    "stark start stein stern stock strand stridulation stuck suit t tac tacker tag tags talon "
    "talons tambourine taste te tempo temporal tic ton torture tot tote tour tourist tout trains "
    "traverse tremble tu u usa vague vent ventilator verse visage voyage wand wanderer was wc "
    "will y zip".split()
)
MARKS: Final = ",.;:!?()&+"  # that stay between translated words
JAPANESE: Final = frozenset({"HIRAGANA", "KATAKANA"})
SCRIPTS: Final = {"ARABIC": "ar", "CJK": "zh"}  # first word of a letter's Unicode name → language
WORDS: Final = Path(__file__).with_name("words.csv")
DROPPED: Final = "-"  # the English of words that English has no word for
MAX_AMBIGUOUS: Final = 2  # words of a query that may be in two languages
MAX_WORDS: Final = 6  # words of a phrase, or Chinese characters
MIN_STEM: Final = 4  # letters that inflected words share
MIN_SHARE: Final = 0.6  # of the letters of both
MIN_PART: Final = 3  # letters of a part of a compound
MAX_COMPOUND: Final = 40  # letters: more parts take too long to find
LINKS: Final = ("", "s", "n", "en", "es")  # between the parts of a German compound
# Words that are no parts of compounds: articles, pronouns, prepositions and the like.
GRAMMAR: Final = frozenset(
    "- a the and or of in into on off up i you he she it we us my your his her is as at by for from"
    " not so the then to too under what who why how where when with about over through".split()
)

PUNCTUATION: Final = str.maketrans("，、。；：！？（）؟،؛「」『』«»„“”", ',,.;:!?()?,;"""""""""')
# Spellings of one letter that writers exchange freely.
SAME: Final = str.maketrans({"œ": "oe", "æ": "ae", "ى": "ي", "ة": "ه", "ـ": None})
UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
HAN: Final = "㐀-䶿一-鿿"
PIECES: Final = re.compile(rf"[{HAN}]+|[^\W{HAN}]+|[^\w\s]")

# Arabic writes these together with the word: conjunctions, prepositions, the article, pronouns.
ARTICLE: Final = "ال"
BEFORE: Final = (*"وال فال بال كال لل".split(), ARTICLE, *"وفبلكس")
BEHIND: Final = "ها هم هن نا كم ات ون ين ان ته ه ي ك ا ت".split()
MIN_ROOT: Final = 3  # letters that remain of an Arabic word
PERSONS: Final = "تنا"  # first letters of Arabic verbs that are listed with ي


def folded(text: str) -> str:
    """Fold a text to lower case, without accents, vowel signs and invisible characters."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(SAME))
    return "".join(c for c in plain if unicodedata.category(c) not in ("Mn", "Cf"))


def spellings(word: str) -> set[str]:
    """Spell the word as it is, folded, and with its umlauts written as two letters."""
    return {
        word.casefold(),
        folded(word),
        folded(unicodedata.normalize("NFC", word).translate(UMLAUTS)),
    }


def pieces(text: str) -> list[str]:
    """Split a text into words, runs of Chinese characters and punctuation marks, in order."""
    composed = unicodedata.normalize("NFC", text).translate(PUNCTUATION)
    visible = "".join(c for c in composed if unicodedata.category(c) not in ("Mn", "Cf"))
    return PIECES.findall(re.sub(r"['’‘_-]", " ", visible))


def arabic_stems(word: str) -> Iterator[tuple[str, bool]]:
    """Yield the forms under which a folded Arabic word may be listed, the longest first, each with
    whether an "and" was taken off.
    """
    for start in ("", *BEFORE):
        if not word.startswith(start):
            continue
        rest = word[len(start) :]
        for end in ("", *BEHIND):
            stem = rest.removesuffix(end)
            if not rest.endswith(end) or len(stem) < MIN_ROOT:
                continue
            yield stem, start.startswith("و")
            if stem[0] in PERSONS:
                yield "ي" + stem[1:], start.startswith("و")


def is_latin(word: str) -> bool:
    """Whether all letters are Latin ones."""
    return all(ord(character) < 0x250 for character in word)


class Segment(NamedTuple):
    """Words of a text, and their English. listed: as they are written, or as a compound."""

    words: tuple[str, ...]
    english: str
    listed: bool


class Dictionary:
    """Words and phrases of one language with their English."""

    def __init__(self, language: str, english: dict[str, str]) -> None:
        """Keep the words. english: of each word or phrase as it is written, and folded."""
        self.language = language
        self.english = english
        comparable = (word for word in english if " " not in word and word[:2] != ARTICLE)
        self._sorted = sorted(comparable)

    def segments(self, words: list[str]) -> Iterator[Segment]:
        """Yield the longest listed phrases, from the left; what is unknown keeps its Latin letters,
        and is left out in other scripts.
        """
        position = 0
        while position < len(words):
            word = words[position]
            if self.language == "zh" and not word.isascii():
                yield from self._characters(word)
                position += 1
                continue
            segment = self._phrase(words[position : position + MAX_WORDS]) or self._word(word)
            yield segment
            position += len(segment.words)

    def translate(self, words: list[str]) -> str:
        """Translate words that follow each other into English."""
        english = (segment.english for segment in self.segments(words))
        return " ".join(word for word in english if word not in ("", DROPPED))

    def _phrase(self, words: list[str]) -> Segment | None:
        for length in range(len(words), 0, -1):
            written = " ".join(words[:length]).casefold()
            for key in (written, folded(written)):
                if key in self.english:
                    return Segment(tuple(words[:length]), self.english[key], True)
        return None

    def _word(self, word: str) -> Segment:
        """Translate a word that is not listed itself."""
        key = folded(word)
        if self.language == "ar":
            return Segment((word,), self._arabic(key) or (word if is_latin(word) else ""), False)
        compound = self.language == "de" and len(key) <= MAX_COMPOUND
        if compound and (parts := self._parts(word.casefold()) or self._parts(key)):
            return Segment((word,), " ".join(parts), True)
        return Segment((word,), self._nearest(key) or (word if is_latin(word) else ""), False)

    def _characters(self, text: str) -> Iterator[Segment]:
        """Yield the longest listed words from the left, for Chinese has no spaces."""
        position = 0
        while position < len(text):
            parts = (text[position : position + n] for n in range(MAX_WORDS, 0, -1))
            part = next((part for part in parts if part in self.english), text[position])
            yield Segment((part,), self.english.get(part, ""), part in self.english)
            position += len(part)

    def _arabic(self, word: str) -> str:
        stems = list(arabic_stems(word))
        for find in (self.english.get, self._nearest):
            for stem, conjunction in stems:
                if english := find(stem):
                    return f"and {english}" if conjunction else english
        return ""

    def _nearest(self, word: str) -> str:
        """Find the English of the word with the longest common beginning, or ""."""
        for length in range(len(word), MIN_STEM - 1, -1):
            if length < MIN_SHARE * len(word):
                break
            first = bisect_left(self._sorted, word[:length])
            last = bisect_left(self._sorted, word[:length] + "\U0010ffff")
            near = [w for w in self._sorted[first:last] if length >= MIN_SHARE * len(w)]
            if near:
                return self.english[min(near, key=len)]
        return ""

    def _parts(self, word: str) -> list[str]:
        """Translate the parts of a German compound; none if it is not one."""
        for length in range(len(word) - MIN_PART, MIN_PART - 1, -1):
            english = self.english.get(word[:length], DROPPED)
            if english in GRAMMAR:
                continue
            for link in LINKS:
                rest = word[length:].removeprefix(link)
                if len(rest) < MIN_PART or not word[length:].startswith(link):
                    continue
                last = self.english.get(rest, DROPPED)
                behind = [last] if last not in GRAMMAR else self._parts(rest)
                if behind:
                    return [english, *behind]
        return []


@cache
def dictionaries() -> dict[str, Dictionary]:
    """Read the dictionaries, by the code of the language."""
    rows = _rows()
    languages = [language for language in rows[0] if language != "en"]
    return {language: _dictionary(rows, language) for language in languages}


@cache
def english_words() -> frozenset[str]:
    """Collect every word of the English side."""
    return frozenset(word for row in _rows() for word in row["en"].split())


def _rows() -> list[dict[str, str]]:
    with WORDS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|"))


def _dictionary(rows: list[dict[str, str]], language: str) -> Dictionary:
    """Make the dictionary of a language. Of several meanings of a word, that of its own spelling
    comes first, then none at all, the shortest, and that whose line names the word earliest.
    """
    best: dict[str, tuple[tuple[bool, int, int, int], str]] = {}
    for number, row in enumerate(rows):
        meaning = row["en"]
        length = 0 if meaning == DROPPED else len(meaning.split())
        for place, word in enumerate(filter(None, row[language].split(","))):
            for key in spellings(word):
                rank = (key != word.casefold(), length, place, number)
                best[key] = min(best.get(key, (rank, meaning)), (rank, meaning))
    return Dictionary(language, {key: meaning for key, (_, meaning) in best.items()})


@dataclass(frozen=True)
class Translation:
    """A query in English.

    english: what is searched for. language: the code in LANGUAGES of what was typed, "" if nothing
    was translated; other: the language that was not translated, "" where it has no name here.
    """

    english: str
    language: str = ""
    other: str = ""

    @property
    def notice(self) -> str:
        """Remark on what was understood, or that nothing was; "" where none is needed."""
        if self.language:
            return f"{LANGUAGES[self.language]}, read as “{self.english}”."
        *names, last = LANGUAGES.values()
        advice = f"Describe the sound in English, {', '.join(names)} or {last} if you can."
        if self.other:
            return f"This looks like {self.other}, which is not known here. {advice}"
        letters = [character for character in self.english if character.isalpha()]
        strange = 2 * sum(character.isascii() for character in letters) < len(letters)
        return advice if strange else ""


def translate(text: str) -> Translation:
    """Translate a text that is in one of LANGUAGES into English; any other stays as it is, in
    letters of normal width."""
    text = usual_letters(text) or text
    parts = pieces(text)
    words = [part for part in parts if part.isalnum()]
    if other := _other_language(words):
        return Translation(text, other=other)
    dictionary = _dictionary_for(words)
    if dictionary is None:
        return Translation(text)
    english = _translated(dictionary, parts)
    if not any(character.isalnum() for character in english):
        return Translation(text)
    return Translation(english[:MAX_CHARACTERS], dictionary.language)


def _other_language(words: list[str]) -> str:
    """Name the language that the words are in, if it is none of LANGUAGES: by the script of most
    letters, Japanese by any of its own, or by words of its own, if more than are of LANGUAGES; ""
    otherwise."""
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in "".join(words))
    if scripts.keys() & JAPANESE:
        return OTHER_SCRIPTS["HIRAGANA"]
    script = max(scripts, key=scripts.__getitem__, default="?")
    if script != "LATIN":
        return OTHER_SCRIPTS.get(script, "")
    foreign = [folded(word) for word in words if not is_english(word)]
    counts = {name: sum(w in own.split() for w in foreign) for name, own in OTHER_WORDS.items()}
    best = max(counts, key=counts.__getitem__)
    if not counts[best] or _may_be_english(words):
        return ""
    ours = max(_evidence(dictionaries()[language], words)[0] for language in LATIN)
    return best if counts[best] > ours and 3 * counts[best] >= len(words) else ""


def _dictionary_for(words: list[str]) -> Dictionary | None:
    """Choose the dictionary for the language of the words: by their script, or for Latin letters
    where more words are of that language alone than are English."""
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in "".join(words))
    script = max(scripts, key=scripts.__getitem__, default="?")
    if script in SCRIPTS and not scripts.keys() & JAPANESE:
        return dictionaries()[SCRIPTS[script]]
    if script != "LATIN":
        return None
    evidence = {language: _evidence(dictionaries()[language], words) for language in LATIN}
    dictionary = dictionaries()[max(evidence, key=evidence.__getitem__)]
    if evidence[dictionary.language] == (0, 0):
        return None
    listed = all(segment.listed for segment in dictionary.segments(words))
    return dictionary if listed or not _may_be_english(words) else None


def _evidence(dictionary: Dictionary, words: list[str]) -> tuple[int, int]:
    """Count the words that only this language has, less those that only English has; and, where
    languages are even, words that have the accents of this one."""
    surplus = accents = 0
    for segment in dictionary.segments(words):
        for word in segment.words:
            english = is_english(word)
            if segment.listed:
                surplus += not english
                accents += word.casefold() in dictionary.english
            else:
                surplus -= english
    return (surplus, accents) if surplus > 0 else (0, 0)


def _may_be_english(words: list[str]) -> bool:
    """Whether one or two words are English ones as well, "cane toad" and "em dash": the dictionary
    has names and words of other languages too, so that of more words it would not tell."""
    return len(words) <= MAX_AMBIGUOUS and all(
        is_english(word) or folded(word) in pronunciations() for word in words
    )


def is_english(word: str) -> bool:
    """Whether a word, or one of which it is a form, is on the English side, or also English."""
    key = folded(word)
    stems = (key, *(key.removesuffix(end) for end in ENDINGS), key.removesuffix("ing") + "e")
    return any(stem in english_words() or stem in ALSO_ENGLISH for stem in stems)


def _translated(dictionary: Dictionary, parts: list[str]) -> str:
    """Translate runs of words; punctuation stays between them."""
    text, run = "", []
    for part in [*parts, ""]:
        if part.isalnum():
            run.append(part)
            continue
        text += f" {dictionary.translate(run)}" if run else ""
        text += part if part in MARKS else ' " ' if part == '"' else " "
        run = []
    return " ".join(text.split())
