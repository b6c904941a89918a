"""The wording of a test for a rater, in their language."""

from dataclasses import dataclass, replace

from earshot.study.design import Scale, Test
from earshot.study.design.scales import ASKED_BY, KNOWN
from earshot.study.design.texts import Texts
from earshot.study.web import languages


@dataclass(frozen=True)
class Wording:
    """The texts of a test in one language: see earshot.study.design.Test; words are those of the
    scale. scales: where a trial has several.
    """

    title: str
    instructions: str
    consent: str
    question: str
    words: tuple[str, ...]
    agree: tuple[str, ...]
    scales: tuple[Scale, ...]


def written(test: Test) -> tuple[str, ...]:
    """List the languages in which there is a text of the test's own."""
    return (test.language, *test.texts)


def wording(test: Test, language: str) -> Wording:
    """Choose the test's texts in the language; where they are not written, its question and scale
    are still those of the standard where it asks by these, and the rest is in its own language.
    """
    given = test.texts.get(language, Texts())
    return Wording(
        title=given.title or test.title,
        instructions=given.instructions or test.instructions,
        consent=given.consent or test.consent,
        question=given.question or _question(test, language),
        words=given.words or _words(test, language),
        agree=given.agree or test.agree,
        scales=tuple(_scale(scale, given, language) for scale in test.scales),
    )


def _scale(scale: Scale, given: Texts, language: str) -> Scale:
    """Choose the scale in the language, where it is written there, or asked by a text of ours."""
    question, answers = given.scales.get(scale.name, (None, ()))
    ours, said = KNOWN.get(scale.name), languages.words(language)
    key = ASKED_BY.get(scale.name, scale.name)
    if ours and question is None and scale.question == ours.question:
        question = said.get(f"question.{key}")
    if ours and not answers:  # of another number of points, the ends have the same words
        translated = said.get(f"scale.{key}", {})
        words = {word: translated.get(str(value), word) for value, word in ours.answers}
        answers = tuple((value, words.get(word, word)) for value, word in scale.answers)
    return replace(scale, question=question or scale.question, answers=answers or scale.answers)


def _question(test: Test, language: str) -> str:
    name, design = test.design.name, test.design
    keys = {design.scale.question: name, design.unreferenced: f"{name}.alone"}
    key = f"question.{keys.get(test.question)}"
    return languages.words(language).get(key, test.question)


def _words(test: Test, language: str) -> tuple[str, ...]:
    standard = {word for _, word in test.design.scale.answers}
    if not {*test.words} <= standard:
        return test.words
    values = [str(value) for value, _ in test.scale]
    translated = languages.words(language).get(f"scale.{test.design.name}", {})
    return tuple(
        translated.get(value, word) for value, word in zip(values, test.words, strict=True)
    )
