"""Several scales on one trial: how natural, how intelligible, how similar, and what was said."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from earshot.study.design.designs import ACR, COMMENT, SMOS, TRANSCRIPTION, Design, Labels, Scale
from earshot.study.design.patterns import Pattern
from earshot.study.design.yaml_lines import Value

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
KEYS: Final = ("question", "points", "words", "ends")
TEXTS: Final = ("question", "words", "ends")  # what of a scale is translated
POINTS: Final = {5: range(1, 6), 7: range(1, 8), 11: range(11)}  # 0 to 10, as in ITU-T P.910
MAX_SCALES: Final = 6  # on one trial
MAX_SENTENCE: Final = 500  # characters of what is said in a stimulus, and of what a rater heard
MAX_COMMENT: Final = 1000  # characters
IDEOGRAM: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # of Chinese and Japanese
# Apostrophes, and the vowels of Arabic, which few write.
UNREAD: Final = dict.fromkeys(map(ord, "'’\u0640\u0670" + "".join(map(chr, range(0x64B, 0x653)))))

NATURALNESS: Final = replace(
    ACR.scale,
    name="naturalness",
    question="How natural does the speech sound?",
    answers=(
        (5, "Completely natural"),
        (4, "Mostly natural"),
        (3, "Equally natural and unnatural"),
        (2, "Mostly unnatural"),
        (1, "Completely unnatural"),
    ),
)
# The listening-effort scale of ITU-T P.800.
INTELLIGIBILITY: Final = replace(
    ACR.scale,
    name="intelligibility",
    question="How much effort does it take to understand what is said?",
    answers=(
        (5, "No effort"),
        (4, "Attention, but no effort to speak of"),
        (3, "Some effort"),
        (2, "Considerable effort"),
        (1, "Not understood with any effort"),
    ),
)
QUALITY: Final = replace(ACR.scale, name="quality")
SIMILARITY: Final = replace(SMOS.scale, name="similarity")
KNOWN: Final[Mapping[str, Scale]] = {
    scale.name: scale
    for scale in (QUALITY, NATURALNESS, INTELLIGIBILITY, SIMILARITY, TRANSCRIPTION)
}
# Those that a design asks too, by its name: their translations are the same.
ASKED_BY: Final = {QUALITY.name: ACR.name, SIMILARITY.name: SMOS.name}


def read_scales(document: Value, design: Design) -> tuple[Scale, ...]:
    """Read the scales of a test that has several; none where the design's own is all."""
    if not document.has("scales"):
        return ()
    value = document.at("scales")
    if not design.several:
        value.problem(f'{design.name} has one scale: leave "scales" out.')
        return ()
    for key in ("question", "words"):
        if document.has(key):
            document.at(key).problem(f'write "{key}" within one of the scales.')
    given: dict[str, Value] = value.be(dict, "scales")
    if not 1 <= len(given) <= MAX_SCALES:
        value.problem(f'"scales" takes 1 to {MAX_SCALES} scales.')
    return tuple(_scale(name, each, design) for name, each in given.items())


def _scale(name: str, value: Value, design: Design) -> Scale:
    if not NAME.fullmatch(name) or name == COMMENT:
        value.problem(
            f'"{name}" cannot name a scale: use a to z, digits and _, and begin with a letter.'
        )
    known = KNOWN.get(name)
    if name == SIMILARITY.name and design.reference != "open":
        value.problem(f'"{name}" asks about a reference, which {design.name} lacks: take smos.')
    if value.content is None and known:
        return known
    if not isinstance(value.content, dict):
        have = ", ".join(KNOWN)
        value.problem(f"write {', '.join(KEYS)} here. Nothing more is needed for {have}.")
        return known or replace(QUALITY, name=name)
    value.only(("question",) if known and known.typed else KEYS)
    base = known or replace(QUALITY, name=name, measure="Mean")
    question = value.take("question", str, known.question if known else None)
    if base.typed:
        return replace(base, question=question)
    points = value.take("points", int, 5)
    if points not in POINTS:
        value.at("points").problem(f'"points" must be {", ".join(map(str, POINTS))}.')
        points = 5
    values = [*POINTS[points]][::-1]
    measure = base.measure if points == 5 else "Mean"
    standard = [word for _, word in base.answers]
    words = words_of(value, points)
    if words is None:
        if known is None and not (value.has("words") or value.has("ends")):
            value.problem('write "ends", the lowest and the highest, or "words" for every point.')
        whole = points == len(standard)
        words = tuple(standard) if whole else spread(standard[0], standard[-1], points)
    return replace(
        base,
        question=question,
        answers=tuple(zip(values, words, strict=True)),
        measure=measure,
        bounds=(values[-1], values[0]),
        wanted=tuple(round(each * (points - 1) / 4, 2) for each in base.wanted),
    )


def words_of(value: Value, points: int) -> tuple[str, ...] | None:
    """Read the words of a scale, from best to worst: of all points, or of its ends alone, which
    YAML names from the lowest to the highest; None where there are neither."""
    if value.has("words") and value.has("ends"):
        value.at("ends").problem('write "words" or "ends", not both.')
    if value.has("words"):
        words = tuple(each.be(str, "words") for each in value.take("words", list))
        if len(words) != points:
            value.at("words").problem(f'"words" must be {points}, from best to worst.')
            return None
        return words
    if value.has("ends"):
        ends = [each.be(str, "ends") for each in value.take("ends", list)]
        if len(ends) != 2:
            value.at("ends").problem('"ends" must be two: the lowest, then the highest.')
            return None
        return spread(ends[1], ends[0], points)
    return None


def spread(best: str, worst: str, points: int) -> tuple[str, ...]:
    """Put words at the ends of a scale only."""
    return (best, *[""] * (points - 2), worst)


def read_words(value: Value, scales: Collection[Scale]) -> dict[str, tuple[str | None, Labels]]:
    """Read the texts of scales in another language: the question, None where it is not written, and
    the answers with their words, none where they are not."""
    given: dict[str, Value] = value.take("scales", dict, {})
    known = {scale.name: scale for scale in scales}
    found = {}
    for name, each in given.items():
        scale = known.get(name)
        if scale is None or not isinstance(each.content, dict):
            each.problem(f"write {', '.join(TEXTS)} of one of: {', '.join(known)}.")
            continue
        each.only(TEXTS)
        question = each.take("question", str) if each.has("question") else None
        words = words_of(each, len(scale.answers)) or ()
        values = [answer for answer, _ in scale.answers]
        found[name] = (question, tuple(zip(values, words, strict=bool(words))))
    return found


def by_checks(scales: tuple[Scale, ...]) -> Iterator[Scale]:
    """Find the scales that a check may expect an answer on: those with numbers, else the others."""
    yield from (scale for scale in scales if not scale.typed)
    yield from scales


def read_sentences(document: Value, folder: Path, stimuli: Collection[str]) -> dict[str, str]:
    """Read what is said in each stimulus: from files, or as it is written; empty where neither is
    there."""
    if not document.has("sentences"):
        return {}
    value = document.at("sentences")
    if isinstance(value.content, dict):
        found = {name: each.be(str, "sentences").strip() for name, each in value.content.items()}
    else:
        pattern = Pattern(folder, value, "sentences")
        found = {name: _sentence(pattern.path(name), value) for name in pattern.stimuli}
    if missing := sorted({*stimuli} - {*found}):
        value.problem(f"there is no sentence for {', '.join(missing[:5])}.")
    for name, sentence in found.items():
        if not words_in(sentence) or len(sentence) > MAX_SENTENCE:
            value.problem(f"the sentence of {name} must have words, and {MAX_SENTENCE} characters.")
    return found


def _sentence(path: Path, value: Value) -> str:
    try:
        if path.stat().st_size <= 4 * MAX_SENTENCE:
            return " ".join(path.read_text(encoding="utf-8-sig").split())
        value.problem(f"{path.name} has more than {MAX_SENTENCE} characters.")
    except (OSError, UnicodeDecodeError):
        value.problem(f"{path.name} is not a text file in UTF-8.")
    return "-"


def words_in(text: str) -> list[str]:
    """Divide a text into words as they are compared: without case, punctuation and the way in which
    accents are written; of Chinese and Japanese, into characters."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(UNREAD)
    # Marks are parts of words, as the vowels of Hindi are.
    kept = (
        each if each.isalnum() or unicodedata.category(each)[0] == "M" else " " for each in plain
    )
    return IDEOGRAM.sub(r" \g<0> ", "".join(kept)).split()
