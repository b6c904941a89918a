"""What raters read: several scales on one trial (how natural, how intelligible, how similar, and
what is said in it), and a test's own texts in further languages.

More than 400 lines, since scales and their translations are read and checked alike.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from earshot.study.design.designs import (
    ACR,
    COMMENT,
    FAULTS,
    SAME,
    SMOS,
    TRANSCRIPTION,
    Design,
    Labels,
    Scale,
)
from earshot.study.design.document import REQUIRED, Pattern, Value, is_line

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
SCALE_KEYS: Final = ("question", "points", "words", "ends", "guidelines")
REWORDED_KEYS: Final = ("question", "words", "guidelines")  # of a design's own scale
TYPED_KEYS: Final = ("question", "guidelines")  # of a scale on which raters write
SCALE_TEXTS: Final = ("question", "words", "ends", "guidelines")  # what of a scale is translated
POINTS: Final = {5: range(1, 6), 7: range(1, 8), 11: range(11)}  # 0 to 10, as in ITU-T P.910
MAX_SCALES: Final = 6  # on one trial
MAX_SENTENCE: Final = 500  # characters of what is said in a stimulus, and of what a rater heard
MAX_COMMENT: Final = 1000  # characters
MAX_GUIDELINES: Final = 2000  # characters
MAX_FAULTS: Final = 20  # that raters may tick of a sound
MAX_FAULT: Final = 60  # characters of one
TRIAL: Final = ""  # as the name of a scale: the whole trial
TEXT_KEYS: Final = (
    *("title", "instructions", "consent", "question", "words", "agree", "scales"),
    *("guidelines", "faults"),
)
LINE: Final = "a line of text"
MAX_BOXES: Final = 10
PLACEHOLDER: Final = "Say here who asks, what for, and whom to write to."
UNWRITTEN: Final = (
    "The consent is still the one to fill in: say who asks, what for, and whom to write to."
)
LANGUAGE: Final = re.compile(r"[a-z]{2,3}")
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
STANDARD: Final[Mapping[str, Scale]] = {
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
    scales: dict[str, Value] = value.cast(dict, "scales")
    if not 1 <= len(scales) <= MAX_SCALES:
        value.problem(f'"scales" takes 1 to {MAX_SCALES} scales.')
    if design.reworded:
        left_out = () if document.take("no_preference", bool, True) else (SAME,)
        return tuple(_reworded(name, each, design, left_out) for name, each in scales.items())
    return tuple(_scale(name, each, design) for name, each in scales.items())


def _reworded(name: str, value: Value, design: Design, left_out: Collection[str]) -> Scale:
    """Read a scale of a design whose scales are all like its own, but for what is asked, without
    the answers that are left out."""
    _check_name(name, value)
    answers = tuple(each for each in design.scale.answers if each[0] not in left_out)
    scale = replace(design.scale, name=name, answers=answers)
    if not value.is_section(REWORDED_KEYS):
        return scale
    words = value.lines("words") if value.has("words") else tuple(word for _, word in answers)
    if len(words) != len(answers):
        value.at("words").problem(f'"words" must be {len(answers)}, as many as there are answers.')
        return scale
    values = [answer for answer, _ in answers]
    question = read_question(value)
    return replace(scale, question=question, answers=tuple(zip(values, words, strict=True)))


def _check_name(name: str, value: Value) -> None:
    if not NAME.fullmatch(name) or name in (COMMENT, FAULTS):
        value.problem(
            f'"{name}" cannot name a scale: use a to z, digits and _, and begin with a letter.'
        )


def _scale(name: str, value: Value, design: Design) -> Scale:
    _check_name(name, value)
    standard = STANDARD.get(name)
    if name == SIMILARITY.name and design.reference != "open":
        value.problem(f'"{name}" asks about a reference, which {design.name} lacks: take smos.')
    if value.content is None and standard:
        return standard
    base = _base(name)
    if not isinstance(value.content, dict):
        have = ", ".join(STANDARD)
        value.problem(f"write {', '.join(SCALE_KEYS)} here. Nothing more is needed for {have}.")
        return base
    value.only(TYPED_KEYS if base.typed else SCALE_KEYS)
    question = read_question(value, standard.question if standard else REQUIRED)
    if base.typed:
        return replace(base, question=question)
    points = value.take("points", int, 5, POINTS.__contains__, ", ".join(map(str, POINTS)))
    values = [*POINTS.get(points, POINTS[5])][::-1]
    points = len(values)
    words = words_of(value, points)
    if words is None:
        if standard is None and not (value.has("words") or value.has("ends")):
            value.problem('write "ends", the lowest and the highest, or "words" for every point.')
        usual = [word for _, word in base.answers]
        whole = points == len(usual)
        words = tuple(usual) if whole else spread(usual[0], usual[-1], points)
    return _of_points(base, question, words)


def _base(name: str) -> Scale:
    """Return what a scale of that name differs from in its question and answers alone."""
    return STANDARD.get(name) or replace(QUALITY, name=name, measure="Mean")


def _of_points(base: Scale, question: str, words: Sequence[str]) -> Scale:
    """Return the scale with this question, and an answer for each of the words, best first."""
    points = len(words)
    values = [*POINTS[points]][::-1]
    return replace(
        base,
        question=question,
        answers=tuple(zip(values, words, strict=True)),
        measure=base.measure if points == 5 else "Mean",
        bounds=(values[-1], values[0]),
        differences=tuple(round(each * (points - 1) / 4, 2) for each in base.differences),
    )


def is_scale(scale: Scale, design: Design) -> bool:
    """Whether a test of the design can have the scale: whether all of it but its name, question and
    words is as read_scales makes it."""
    if not NAME.fullmatch(scale.name) or scale.name in (COMMENT, FAULTS) or not design.several:
        return False
    values, words = zip(*scale.answers, strict=True) if scale.answers else ((), ())
    base = design.scale if design.reworded else _base(scale.name)
    usual = [value for value, _ in base.answers]
    scales = []
    if values in (tuple(usual), tuple(value for value in usual if value != SAME)):
        own = {"name": scale.name, "question": scale.question, "answers": scale.answers}
        scales.append(replace(base, **own))
    if len(words) in POINTS and not (design.reworded or base.typed):
        scales.append(_of_points(base, scale.question, words))
    return any(vars(scale) == vars(each) for each in scales)


def words_of(value: Value, points: int) -> tuple[str, ...] | None:
    """Read the words of a scale, from best to worst: of all points, or of its ends alone, which
    YAML names from the lowest to the highest; None where there are neither."""
    if value.has("words") and value.has("ends"):
        value.at("ends").problem('write "words" or "ends", not both.')
    if value.has("words"):
        words = value.lines("words")
        if len(words) == points:
            return words
        value.at("words").problem(f'"words" must be {points}, from best to worst.')
    elif value.has("ends"):
        ends = value.lines("ends")
        if len(ends) == 2:
            return spread(ends[1], ends[0], points)
        value.at("ends").problem('"ends" must be two: the lowest, then the highest.')
    return None


def read_question(value: Value, default: str | None = REQUIRED) -> Any:
    """Read what raters are asked, which is a text, or the default."""
    return value.take("question", str, default, lambda text: text or text is default, "a text")


def spread(best: str, worst: str, points: int) -> tuple[str, ...]:
    """Put words at the ends of a scale only."""
    return (best, *[""] * (points - 2), worst)


def read_words(
    value: Value, scales: Collection[Scale], reworded: bool = False
) -> dict[str, tuple[str | None, Labels]]:
    """Read the texts of scales in another language: the question, None where it is not written, and
    the answers with their words, none where they are not; reworded: whether all are like the
    design's own (Design.reworded)."""
    by_name = {scale.name: scale for scale in scales}
    translations = {}
    sections: dict[str, Value] = value.take("scales", dict, {})
    for name, each in sections.items():
        scale = by_name.get(name)
        if scale is None or not isinstance(each.content, dict):
            each.problem(f"write {', '.join(SCALE_TEXTS)} of one of: {', '.join(by_name)}.")
            continue
        keys = TYPED_KEYS if scale.typed else REWORDED_KEYS if reworded else SCALE_TEXTS
        each.only(keys)
        words = (words_of(each, len(scale.answers)) or ()) if {*each.content} <= {*keys} else ()
        values = [answer for answer, _ in scale.answers]
        answers = tuple(zip(values, words, strict=bool(words)))
        question = read_question(each, None)
        translations[name] = (question, answers)
    return translations


def read_guidelines(value: Value) -> dict[str, str]:
    """Read what counts as a fault and how much it weighs, of a test or of its texts in a language:
    by scale, that of the whole trial by TRIAL."""
    scales = value.at("scales").content if value.has("scales") else {}
    places = {TRIAL: value, **(scales if isinstance(scales, dict) else {})}
    guidelines = {
        name: each.take("guidelines", str)
        for name, each in places.items()
        if each.has("guidelines")
    }
    for name, text in guidelines.items():
        if not 1 <= len(text) <= MAX_GUIDELINES:
            places[name].at("guidelines").problem(
                f'"guidelines" must have 1 to {MAX_GUIDELINES} characters.'
            )
    return guidelines


def read_faults(value: Value, design: Design | None = None) -> tuple[str, ...]:
    """Read what raters may tick of each sound; design: where it is the test's own list."""
    faults = value.lines("faults")
    if len(faults) > MAX_FAULTS or len({*faults}) < len(faults):
        value.at("faults").problem(f'"faults" takes {MAX_FAULTS} at most, each once.')
    if not all(1 <= len(fault) <= MAX_FAULT for fault in faults):
        value.at("faults").problem(f'each of "faults" must have 1 to {MAX_FAULT} characters.')
    if faults and design and design.scale.chance and design.paired:
        value.at("faults").problem(f"{design.name} asks which sound is which: leave faults out.")
    return faults


def by_checks(scales: tuple[Scale, ...]) -> Iterator[Scale]:
    """Yield the scales that a check may expect an answer on: those with numbers, then all."""
    yield from (scale for scale in scales if not scale.typed)
    yield from scales


def read_sentences(document: Value, folder: Path, stimuli: Collection[str]) -> dict[str, str]:
    """Read what is said in each stimulus: from files, or as it is written; empty where neither is
    there."""
    if not document.has("sentences"):
        return {}
    value = document.at("sentences")
    if isinstance(value.content, dict):
        sentences = {name: each.cast(str, "sentences") for name, each in value.content.items()}
    else:
        pattern = Pattern(folder, value, "sentences")
        sentences = {name: _sentence(pattern.path(name), value) for name in pattern.stimuli}
    if missing := sorted({*stimuli} - {*sentences}):
        value.problem(f"there is no sentence for {', '.join(missing[:5])}.")
    for name, sentence in sentences.items():
        if not words_in(sentence) or len(sentence) > MAX_SENTENCE:
            value.problem(f"the sentence of {name} must have words, and {MAX_SENTENCE} characters.")
    return sentences


def _sentence(path: Path, value: Value) -> str:
    try:
        if path.stat().st_size <= 4 * MAX_SENTENCE:
            return " ".join(path.read_text(encoding="utf-8-sig").split())
        value.problem(f"{path.name} has more than {MAX_SENTENCE} characters.")
    except (OSError, UnicodeDecodeError):
        value.problem(f"{path.name} is not a text file in UTF-8.")
    return "-"


def words_in(text: str) -> list[str]:
    """Return the words of a text as they are compared: without case, punctuation and the way in
    which accents are written; of Chinese and Japanese, its characters."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(UNREAD)
    # Marks are parts of words, as the vowels of Hindi are.
    letters = (
        each if each.isalnum() or unicodedata.category(each)[0] == "M" else " " for each in plain
    )
    return IDEOGRAM.sub(r" \g<0> ", "".join(letters)).split()


@dataclass(frozen=True)
class Texts:
    """The texts of a test in a language; None: what it says in its own. words are the scale's;
    agree: what raters tick before they begin. scales: question and answers of each, where a trial
    has several. guidelines: see read_guidelines. faults: none where they are not
    translated.
    """

    title: str | None = None
    instructions: str | None = None
    consent: str | None = None
    question: str | None = None
    words: tuple[str, ...] | None = None
    agree: tuple[str, ...] | None = None
    scales: Mapping[str, tuple[str | None, Labels]] = field(default_factory=dict)
    guidelines: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def read_language(document: Value) -> str:
    """Read the language of the test, by its code: English where none is written."""
    language = document.take("language", str, "en")
    if not LANGUAGE.fullmatch(language):
        document.at("language").problem(f'"{language}" is no language: write its code, as in de.')
    return language


def read_agree(document: Value) -> tuple[str, ...]:
    """Read what raters tick before they begin."""
    boxes = document.texts("agree")
    if not all(boxes):
        document.at("agree").problem('each of "agree" must be a text.')
    if len(boxes) > MAX_BOXES:
        document.at("agree").problem(f'"agree" takes {MAX_BOXES} boxes at most.')
    return boxes


def read_texts(
    document: Value,
    words: int,
    boxes: int,
    scales: tuple[Scale, ...] = (),
    faults: int = 0,
    reworded: bool = False,
) -> dict[str, Texts]:
    """Read the texts by language. words: how many the scale has; boxes: how many there are to tick;
    scales: where a trial has several, and whether they are reworded (see read_words); faults: how
    many the test has."""
    languages: dict[str, Value] = document.take("texts", dict, {})
    return {
        name: _texts(name, value, words, boxes, scales, faults, reworded)
        for name, value in languages.items()
    }


def _texts(
    name: str,
    value: Value,
    words: int,
    boxes: int,
    scales: tuple[Scale, ...],
    faults: int,
    reworded: bool,
) -> Texts:
    if not LANGUAGE.fullmatch(name):
        value.problem(f'"{name}" is no language: write its code, as in de.')
    if not value.is_section(TEXT_KEYS, ", whichever are to be translated"):
        return Texts()
    for key in ("question", "words") if scales else ():
        if value.has(key):
            value.at(key).problem(f'write "{key}" within "scales", below one of them.')
    lists = {
        "words": value.lines("words"),
        "agree": read_agree(value),
        "faults": read_faults(value),
    }
    numbers = (("words", words, "scale"), ("agree", boxes, "test"), ("faults", faults, "test"))
    for key, number, whose in numbers:
        if value.has(key) and len(lists[key]) != number:
            value.at(key).problem(f'"{key}" must be {number}, as many as the {whose} has.')
    return Texts(
        title=value.take("title", str, None, lambda text: text is None or is_line(text), LINE),
        instructions=value.take("instructions", str, None),
        consent=value.take("consent", str, None),
        question=read_question(value, None),
        words=lists["words"] if value.has("words") else None,
        agree=lists["agree"] if value.has("agree") else None,
        scales=read_words(value, scales, reworded),
        guidelines=read_guidelines(value),
        faults=lists["faults"],
    )


def unwritten(consents: Iterable[str | None]) -> list[str]:
    """Return what still has to be written, where one of these consents is as it was drafted."""
    return [UNWRITTEN] if any(PLACEHOLDER in (consent or "") for consent in consents) else []
