"""The text of a query: the sounds in it, "a dog barks, then a door slams", and what it excludes,
"rain without thunder".

A small grammar of connecting words, without a model: imports no torch. It splits only where both
sides can stand alone as sounds. What stands in double quotes is one sound, taken as it is.
"""

import re
from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rapidfuzz.distance import OSA

from earshot.core.errors import InputError
from earshot.media.text.phonemes import pronunciations
from earshot.systems.sound_search.request import Amount, amount_of, as_caption
from earshot.systems.sound_search.translation import (
    MAX_CHARACTERS,
    Translation,
    english_words,
    is_english,
    translate,
)

Link = Literal["then", "with"]

MAX_PARTS: Final = 6
TOO_MANY: Final = (
    "This names {count} sounds. Name {limit} at most: leave some out, or search for them "
    "separately."
)

_CONNECTORS: Final = {
    "then": r"(?:,? and|,|;)? then\b(?: after that)?,?|,? (?:(?:is|are) )?(?:soon )?followed by"
    r"|,? after which|,? before|,? and (?:finally|afterwards|after that),?|,? (?:->|→)",
    "after": r",? after",
    "with": r",? (?:while|whilst|meanwhile|together with|along with|accompanied by"
    r"|and at the same time|at the same time as)",
    "as": r",? as",
    "and": r",? and|,? (?:\+|&)",
}
CONNECTOR: Final = re.compile(
    "|".join(f"(?P<{name}>(?:{pattern})) " for name, pattern in _CONNECTORS.items()), re.IGNORECASE
)
LEADING: Final = re.compile(
    r"(?P<word>after|before|while|whilst|as|first) (?P<first>[^,]+), (?:then )?(?P<second>.+)",
    re.IGNORECASE,
)
BACKGROUND: Final = re.compile(
    r"(?P<first>.+?),? (?:with|over) (?P<second>.+?) in the (?:background|distance)", re.IGNORECASE
)
WEATHER: Final = re.compile(
    r"it (?:is |'s )?(?:rain|snow|hail|thunder|storm|pour|drizzl)", re.IGNORECASE
)
# A part that begins so belongs to the sound before it: "lightning strikes and it rumbles".
DEPENDENT: Final = re.compile(
    r"(?:it|its|it's|they|their|them|he|his|she|her|him|this|that|which|who|whose|what|how|you|your"
    r"|we|our|i|my|there|is|are|was|again|back|off|so|not"
    r"|up|down|in|out|on|away|high|low|rising|falling)\b",
    re.IGNORECASE,
)
# "breathing out", "entering the house": of the same source; "barking dogs" is a sound.
PARTICIPLE: Final = re.compile(
    r"\w+ing (?:in|out|up|down|on|off|away|over|by|to|at|from|into|the|a|an|his|her|its|their)\b",
    re.IGNORECASE,
)
# What refers back to the sound before it: "the postman comes and somebody does not like him".
ANAPHOR: Final = re.compile(r"\b(?:it|its|he|him|his|she|her|they|them|their)\b", re.IGNORECASE)
DEFINITE: Final = re.compile(r"the\b", re.IGNORECASE)
SUBJECT: Final = re.compile(
    r"(?:an?|the|some|somebody|someone|people|children|birds|two|three|several|many|another|one)\b",
    re.IGNORECASE,
)
SIMILE: Final = re.compile(r"\b(?:as|so|just|such|same|sounds?)(?: \w+)?$", re.IGNORECASE)
PHRASES: Final = re.compile(
    r"\b(?:up and down|back and forth|now and then|on and off|to and fro|in and out|and so on"
    r"|cats and dogs|before long|even then|and all|after (?:all|dark|work)"
    r"|one after (?:the other|another)"
    r"|(?P<twice>\w+) (?:and|after|then) (?P=twice))\b",
    re.IGNORECASE,
)
QUOTED: Final = re.compile(r'["“]([^"“”]*\w[^"“”]*)["”]')
MASK: Final = "\ue000"  # stands for a quoted sound while the text is split
CLAUSE: Final = re.compile(r"\w+ (?:.* )?(?:\w+(?<!s)s|\w+ed|\w+ing|is|are)\b", re.IGNORECASE)
NEGATION: Final = re.compile(
    r"(?:^|(?P<before>[\w\"”’)]+)?[,;]?\s+)(?:(?:but|and|with|there is|there are)\s+)*"
    r"(?:not|without|no)\s+(?:any\s+)?(?=[\w\"“])",
    re.IGNORECASE,
)
# "is not", "can not": of a verb, and no sound. The same for "n't".
NEGATED_VERBS: Final = frozenset(
    "is are was were be been am do does did can could will would shall should has have had may "
    "might must or if why".split()
)
# "no one", "not only", "no longer": no sound follows.
NEGATED_PHRASES: Final = re.compile(
    r"(?:one|longer|matter|only|so|too|very|yet|quite|doubt|more|less|much|at all|just|far|long"
    r"|even|always|really|to|being|knowing|stopping|it|him|her|them|you|me|us)\b",
    re.IGNORECASE,
)
NONE_LEFT: Final = "No sound passes these filters. Loosen them, or empty them."
# A word so long, that no dictionary has in any form, may be misspelled: of shorter ones in 57,188
# captions, most that differ in a letter from another word were no mistakes ("cheep").
MISSPELLED: Final = re.compile(r"\b[^\W\d_]{6,}\b")
ENDINGS: Final = ("s", "es", "ed", "d", "ing", "ings", "er", "ers", "r", "y", "ly")
MAX_SHORT_WORDS: Final = 2  # two names as short as these are two sounds: "dog and rain"


@dataclass(frozen=True)
class Compound:
    """Sounds of one query. links: how each part relates to the next: it comes before it ("then"),
    or both are in the sound, at any time ("with"). quoted: the parts that are taken as they are,
    with numbers in them. One part: no compound."""

    parts: tuple[str, ...]
    links: tuple[Link, ...] = ()
    quoted: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        """Check the compound. Raises InputError for more than MAX_PARTS parts, and ValueError for a
        wrong number of links.
        """
        if len(self.links) != max(0, len(self.parts) - 1):
            raise ValueError(f"{len(self.parts)} parts have no {len(self.links)} links.")
        if len(self.parts) > MAX_PARTS:
            raise InputError(TOO_MANY.format(count=len(self.parts), limit=MAX_PARTS))

    @property
    def captions(self) -> tuple[str, ...]:
        """List the parts without how often or how long they are to be heard."""
        return tuple(caption for caption, _ in self._split)

    @property
    def amounts(self) -> tuple[Amount | None, ...]:
        """List how often and how long each part is to be heard."""
        return tuple(amount for _, amount in self._split)

    @property
    def _split(self) -> list[tuple[str, Amount | None]]:
        return [(part, None) if part in self.quoted else amount_of(part) for part in self.parts]

    def anyhow(self, part: int) -> "Compound":
        """Leave out how often and how long one of the parts is to be heard."""
        parts = list(self.parts)
        parts[part] = self.captions[part]
        return replace(self, parts=tuple(parts))

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """List positions of the parts, in order of time; those of one step sound together."""
        steps: list[tuple[int, ...]] = [(0,)]
        for number, link in enumerate(self.links, start=1):
            if link == "then":
                steps.append((number,))
            else:
                steps[-1] += (number,)
        return tuple(steps)

    def toggled(self, link: int) -> "Compound":
        """Change the relation at one place to the other."""
        links = list(self.links)
        links[link] = "with" if links[link] == "then" else "then"
        return replace(self, links=tuple(links))

    def without(self, part: int) -> "Compound":
        """Leave out one of the parts, and the link before it (or after the first)."""
        links = list(self.links)
        if links:
            del links[max(0, part - 1)]
        parts = self.parts[:part] + self.parts[part + 1 :]
        return replace(self, parts=parts, links=tuple(links))

    def swapped(self, link: int) -> "Compound":
        """Exchange the parts on both sides of a link."""
        parts = list(self.parts)
        parts[link], parts[link + 1] = parts[link + 1], parts[link]
        return replace(self, parts=tuple(parts))


def parse(text: str) -> Compound:
    """Find the sounds that a text names, in order of time. Raises InputError for too many."""
    quoted = QUOTED.findall(text)
    numbers = iter(range(len(quoted)))
    masked = QUOTED.sub(lambda _: f" {MASK}{next(numbers)} ", text)
    parts, links = _split(" ".join(masked.split()).strip(" .;,"))
    whole = [re.sub(rf"{MASK}(\d+)", lambda m: quoted[int(m[1])], part).strip() for part in parts]
    named = {quote.strip() for quote in quoted}
    return Compound(tuple(whole), tuple(links), frozenset(named & set(whole)))


def as_text(compound: Compound) -> str:
    """Write a text that parses to the compound: "a dog barks, then a door slams"."""
    texts = [
        f'"{part}"' if part in compound.quoted or parse(part).parts != (part,) else part
        for part in compound.parts
    ]
    joined = [", then " if link == "then" else " together with " for link in compound.links]
    text = "".join(a + b for a, b in zip(texts, [*joined, ""], strict=True))
    if parse(text) == compound:
        return text
    return "".join(f'"{a}"{b}' for a, b in zip(compound.parts, [*joined, ""], strict=True))


def _split(text: str) -> tuple[list[str], list[Link]]:
    if whole := LEADING.fullmatch(text):
        first, second, word = whole["first"], whole["second"], whole["word"].lower()
        if _stands(first) and _stands(second):
            if word in ("after", "first"):
                return _joined(first, "then", second)
            return _joined(
                *((second, "then", first) if word == "before" else (second, "with", first))
            )
    behind = BACKGROUND.fullmatch(text)
    if behind and _stands(behind["first"]) and _stands(behind["second"]):
        return _joined(behind["first"], "with", behind["second"])
    phrases = [match.span() for match in PHRASES.finditer(text)]
    position = 0
    while match := CONNECTOR.search(text, position):
        position = match.start() + 1
        if any(start < match.end() and match.start() < end for start, end in phrases):
            continue
        before, after, kind = text[: match.start()], text[match.end() :], match.lastgroup or ""
        if not _separates(kind, before, after):
            continue
        if kind == "after":
            return _joined(after, "then", before)
        return _joined(before, "then" if kind == "then" else "with", after)
    return [text], []


def _joined(first: str, link: Link, second: str) -> tuple[list[str], list[Link]]:
    (parts, links), (more, more_links) = _split(first), _split(second)
    return [*parts, *more], [*links, link, *more_links]


def _separates(kind: str, before: str, after: str) -> bool:
    """Whether a connecting word stands between two sounds, and not within one."""
    if not (_stands(before, begins=True) and _stands(after)) or SIMILE.search(before):
        return False
    if kind in ("then", "with"):
        return True
    head = _head(after)
    if ANAPHOR.search(head) and not WEATHER.match(head):
        return False
    both_short = max(_words(before), _words(head)) <= MAX_SHORT_WORDS
    starts = bool(SUBJECT.match(after) or WEATHER.match(after) or after.startswith(MASK))
    if kind == "after":  # "after a long run" is no sound, "after a dog barks" is
        return both_short or bool(CLAUSE.match(head))
    # "someone flushes and the tank refills": a part of the scene that the first sound opened.
    if DEFINITE.match(head) and not DEFINITE.match(before):
        return False
    return starts or (kind == "and" and both_short)


def _stands(part: str, begins: bool = False) -> bool:
    """Whether a part can be a sound by itself: "knocking on a door" where it begins the text."""
    if WEATHER.match(part) or part.startswith(MASK):
        return True
    return (
        bool(re.search(r"\w", part))
        and ":" not in part
        and not (DEPENDENT.match(part) or (PARTICIPLE.match(part) and not begins))
    )


def _head(text: str) -> str:
    """Cut the text before its first connecting word."""
    match = CONNECTOR.search(text)
    return text[: match.start()] if match else text


def _words(text: str) -> int:
    return len(text.split())


def split_unwanted(text: str) -> tuple[str, str]:
    """Split a text into what it searches for and what it excludes; the latter is "" for most."""
    for match in NEGATION.finditer(text):
        rest = text[match.end() :]
        quoted = text[: match.end()].count('"') % 2 or "“" in text[: match.end()].rpartition("”")[2]
        word = (match["before"] or "").lower()
        if quoted or word in NEGATED_VERBS or NEGATED_PHRASES.match(rest):
            continue
        # What comes after "then" or "while" is searched for again.
        end = next((m.start() for m in CONNECTOR.finditer(rest) if m.lastgroup != "and"), len(rest))
        before = text[: match.end("before") if match["before"] else match.start()]
        unwanted, more = split_unwanted(rest[:end])
        searched = (before + rest[end:]).strip(" ,;.")
        return searched, " and ".join(filter(None, (unwanted.strip(" ,;."), more)))
    return text, ""


def understand(text: str) -> tuple[Translation, str, str]:
    """Translate a text, and split it into what it searches for, as a caption, and what it
    excludes."""
    translation = translate(text)
    searched, unwanted = split_unwanted(as_caption(translation.english))
    return translation, as_caption(searched) if unwanted else searched, unwanted


def correct_spelling(text: str, vocabulary: Set[str]) -> str:
    """Write words that no dictionary has, outside of quotes, as the word of the vocabulary, or of
    ours, that differs in one letter, or in two that changed places, and begins alike."""

    def correction(match: re.Match[str]) -> str:
        word = match[0].casefold()
        before = text[: match.start()]
        quoted = before.count('"') % 2 or "“" in before.rpartition("”")[2]
        if quoted or _is_word(word, vocabulary):
            return match[0]
        near = (
            other
            for other in {*vocabulary, *english_words()}
            if other[:1] == word[0] and OSA.distance(word, other, score_cutoff=1) == 1
        )
        return min(
            near, key=lambda other: (other not in vocabulary, len(other), other), default=match[0]
        )

    return MISSPELLED.sub(correction, text)


def _is_word(word: str, vocabulary: Set[str]) -> bool:
    """Whether a dictionary has a word, or one of which it is a form."""
    return (
        word in vocabulary
        or is_english(word)
        or any(form in pronunciations() or form in vocabulary for form in _stems(word))
    )


def _stems(word: str) -> set[str]:
    """List a word, and what it may be a form of."""
    stems = {word}
    for ending in ENDINGS:
        root = word.removesuffix(ending)
        if root != word and len(root) > 2:
            stems |= {root, f"{root}e", root[:-1] if root[-1] == root[-2] else root}
            stems.add(f"{root[:-1]}y" if root[-1] == "i" else root)
    return stems


def clean(text: str) -> str:
    """Take off lone surrogates, which cannot be encoded, and surrounding white space."""
    return text.encode("utf-8", "ignore").decode().strip()


def check(text: str) -> None:
    """Check a text. Raises InputError for one that is too long, and for one without words."""
    check_length(text)
    if not any(character.isalnum() for character in text):
        raise InputError(
            "There are no words in this. Describe the sound, “a dog barks” for example."
        )


def check_length(text: str) -> None:
    """Check the length of a text. Raises InputError for one that is too long."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"This is too long ({len(text):,} characters). "
            f"Describe the sound in {MAX_CHARACTERS:,} characters or fewer."
        )
