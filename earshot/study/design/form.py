"""A test's YAML as we write it: a template to fill in, and what the three steps of the form say."""

import json
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from earshot.study.design.designs import DESIGNS, SAME, Design
from earshot.study.design.model import Test
from earshot.study.design.scales import PLACEHOLDER

SCHEMA: Final = Path(__file__).with_name("test.schema.json")  # by which editors complete and check
TITLE: Final = "My listening test"
INSTRUCTIONS: Final = (
    "Wear headphones and sit somewhere quiet. Listen as often as you like, then answer."
)
# What raters hear in a trial, by the names of its sounds (Design.cards).
SOUNDS_OF_TRIAL: Final[dict[tuple[str, ...], str]] = {
    ("sound",): "one recording, as often as they like",
    ("first", "second"): "the original, then the recording",
    ("reference", "sound"): "a reference and a recording",
    ("A", "B"): "two recordings, A and B",
    ("A", "B", "X"): "A, B, and X, which is one of them",
}
REFERENCED: Final = {  # where there is one and a test may lack it
    "adjustment": "a reference and a recording, again and again",
    "abx": "A and B, one of which is the reference, and X, which is one of them",
}
MAX_CONSENT: Final = 60  # characters of the consent that are repeated
UNPRINTABLE: Final = re.compile(r"[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

HEAD: Final = """\
# yaml-language-server: $schema={schema}
# A listening test. "python -m earshot study check" says what is still missing.

title: {title}
design: {design}    # {designs}

# Where the sounds are: * stands for the stimulus, and must find the same ones for every system.
# Videos as well (ours/*.mp4, or .webm): for all systems, or for none.
systems:
  ours: ours/*.wav
  baseline: baseline/*.wav
"""
AGAINST: Final = """\
# Without it, all pairs of systems are compared; with it, each system with the reference.
# reference: reference/*.wav
"""
REST: Final = """
# How many trials a rater gets; all without this line. Every trial is rated equally often.
# trials: 20
# Trials to begin with that do not count.
practice: 1
# All sounds are brought to this loudness (LUFS); without the line they stay as they are.
loudness: -23
# The order of everything is drawn from this.
seed: 1

question: {question}
instructions: |
  Wear headphones and sit somewhere quiet.
  Listen to every recording as often as you like, then answer.
# Shown before anything else; raters must agree. Say who asks, why, and whom to write to.
consent: |
  Your answers are stored without your name or address, and used for research.
  You can stop at any time, and have your answers deleted.

# Questions about raters, none of which has to be answered; a test of whether their room is quiet
# enough (ITU-T P.808); and after how many trials they are asked to rest.
# demographics: true
# environment: true
# break_every: 20

# Recordings that say what to answer, to see who listens, and trials whose answer is known. With
# tolerance: 1 with expected, an answer may be off by so much.
{checks}"""
CHECK: Final = """\
# {kind}:
#   - sounds: {sounds}{reference}{expected}
"""
GAIN: Final = "gain: [{}, {}]    # dB, the ends of what raters set; it starts anywhere between\n"
NOT_PREFERRED: Final = "no_preference: true    # whether raters may prefer neither\n"


def template(design: Design) -> str:
    """Return the YAML of a test with this design, to be filled in."""
    parts = [
        HEAD.format(schema=SCHEMA.name, title=TITLE, design=design.name, designs=" ".join(DESIGNS))
    ]
    if design.referenced:
        parts.append(f"# {design.about_reference}\nreference: reference/*.wav\n")
    elif design.paired:
        parts.append(AGAINST)
    if SAME in dict(design.scale.answers):
        parts.append(NOT_PREFERRED)
    if design.scale.adjusted:
        parts.append(GAIN.format(*design.scale.bounds))
    several = design.paired or design.scale.ranked
    sounds = "[checks/first.wav, checks/second.wav]" if several else "checks/one.wav"
    answer = design.example
    checks = [
        CHECK.format(
            kind=kind,
            sounds=sounds,
            reference="\n#     reference: checks/reference.wav" if design.referenced else "",
            expected=f"\n#     expected: {answer}    # of the first sound" if answer else "",
        )
        for kind in ("attention", "gold")
    ]
    parts.append(REST.format(question=design.scale.question, checks="".join(checks)))
    return "".join(parts)


@dataclass(frozen=True)
class Form:
    """The form's answers: what is asked, and of whom; an empty question is the standard's, and
    without trials or raters there are as many as fit, or any number. design: by its name; agree:
    what raters tick, a line each.
    """

    design: str = "ab"
    title: str = TITLE
    question: str = ""
    trials: int | None = None
    instructions: str = INSTRUCTIONS
    consent: str = ""
    agree: str = ""
    approval: str = ""
    raters: int | None = None

    @classmethod
    def of(cls, test: Test) -> "Form":
        """Return the form of a test."""
        usual = (test.design.scale.question, test.design.unreferenced)
        return cls(
            design=test.design.name,
            title=test.title,
            question="" if test.question in usual else test.question,
            trials=test.trials_per_rater,
            instructions=test.instructions,
            consent="" if PLACEHOLDER in test.consent else test.consent,
            agree="\n".join(test.agree),
            approval=test.approval,
            raters=test.raters,
        )

    def raters_words(self, referenced: bool = False) -> tuple[str, str, str]:
        """Return what raters will be asked, in their words: what they hear, the question with its
        answers, and what they agree to and do; "" where there is no such design yet. referenced:
        whether there is a reference."""
        design = DESIGNS.get(self.design)
        if design is None:
            return "", "", ""
        question = self.question.strip() or design.scale.question
        count = self.trials or 20
        number = f"{count} trial{'s' * (count > 1)}" + ", or as many as fit" * (not self.trials)
        minutes = f"about {max(1, round(count / 2))} minute{'s' * (count > 2)}"
        answers = " / ".join(word for _, word in design.scale.answers if word)
        alone = "one recording, again and again"
        all_or_one = "all systems of a sentence" if design.together else alone
        sounds = SOUNDS_OF_TRIAL.get(design.cards, all_or_one)
        if referenced:
            sounds = REFERENCED.get(design.name, sounds)
        if design.together and design.switched:
            sounds = f"{sounds}, and switch between them as they play"
            answers = f"a slider each, from {answers}"
        elif design.scale.adjusted:
            answers = "They set its level by a slider"
        elif design.together:
            answers = "It is taken out, again and again, until the best is left"
        title = self.title.strip() or TITLE
        consent = " ".join(self.consent.split())
        start = consent[:MAX_CONSENT] + "…" * (len(consent) > MAX_CONSENT)
        agreement = f"to “{start}”" if consent else "to a consent that is still to be written"
        ticks = sum(bool(line.strip()) for line in self.agree.splitlines())
        boxes = f", tick {ticks} box{'es' * (ticks > 1)}" if ticks else ""
        return (
            f"They hear {sounds}.",
            f"“{question}” {answers}{'. ' * bool(answers)}{number}, {minutes}.",
            f"“{title}” They agree {agreement}{boxes}, set the volume, check their headphones, "
            "practise once, and answer.",
        )

    def head(self) -> list[str]:
        """Return the lines that stand before the sounds."""
        return [*self._lines("title"), *self._lines("design")]

    def rest(self, fitting: int) -> list[str]:
        """Return the lines that stand after the sounds; fitting: so many trials suit a rater."""
        return [
            "# How many trials a rater gets. About 20 are done in ten minutes.",
            *replace(self, trials=self.trials or fitting)._lines("trials"),
            "practice: 1",
            "# All sounds are brought to this loudness (LUFS); without it they stay as they are.",
            "loudness: -23",
            "seed: 1",
            *self._lines("question"),
            *self._lines("raters"),
            "",
            *self._lines("instructions"),
            *self._lines("consent"),
            *self._lines("agree"),
            *self._lines("approval"),
        ]

    def into(self, yaml: str, before: "Form") -> str:
        """Return the YAML with what is other than before, the form of its test; all else stays."""
        lines = yaml.splitlines()
        for field in fields(self):
            if getattr(self, field.name) != getattr(before, field.name):
                start, end = _lines_of(lines, field.name)
                lines[start:end] = self._lines(field.name)
        return "\n".join(lines) + "\n"

    def _lines(self, name: str) -> list[str]:
        """Return one field as lines of YAML: none where it is empty."""
        match name:
            case "title":
                return [f"title: {quoted(self.title.strip() or TITLE)}"]
            case "design":
                return [f"design: {self.design}"]
            case "instructions":
                return ["instructions: |", *_block(self.instructions or INSTRUCTIONS)]
            case "consent":
                return ["consent: |", *_block(self.consent or PLACEHOLDER)]
            case "agree":
                boxes = [line.strip() for line in self.agree.splitlines() if line.strip()]
                return ["agree:", *(f"  - {quoted(box)}" for box in boxes)] if boxes else []
            case "trials" | "raters":
                number: int | None = getattr(self, name)
                return [f"{name}: {number}"] if number else []
        text = str(getattr(self, name)).strip()
        return [f"{name}: {quoted(text)}"] if text else []


def _lines_of(lines: list[str], key: str) -> tuple[int, int]:
    """Return where the key and what belongs to it begin and end; twice the end of all for no such
    key."""
    start = next((i for i, line in enumerate(lines) if line.startswith(f"{key}:")), None)
    if start is None:
        return len(lines), len(lines)
    end = start + 1
    for number, line in enumerate(lines[start + 1 :], start + 1):
        if line.startswith((" ", "\t", "- ")):
            end = number + 1
        elif line.strip():
            break
    return start, end


def quoted(text: str) -> str:
    """Return the text as YAML takes it: with its own letters, for escapes of JSON halve some."""
    return json.dumps(UNPRINTABLE.sub(" ", text), ensure_ascii=False)


def _block(text: str) -> list[str]:
    """Return the lines of a text of several, as a block of YAML."""
    return [f"  {line.strip()}".rstrip() for line in UNPRINTABLE.sub(" ", text).splitlines()]
