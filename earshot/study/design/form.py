"""The form of a test: what its three steps ask for, written as the YAML that it stands for."""

import json
import re
from dataclasses import dataclass, fields, replace

from earshot.study.design.model import Test
from earshot.study.design.texts import PLACEHOLDER

TITLE = "My listening test"
INSTRUCTIONS = "Wear headphones and sit somewhere quiet. Listen as often as you like, then answer."
UNPRINTABLE = re.compile(r"[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
        """Read the form from a test."""
        asked = test.design.scale.question
        return cls(
            design=test.design.name,
            title=test.title,
            question="" if test.question in (asked, test.design.unreferenced) else test.question,
            trials=test.trials_per_rater,
            instructions=test.instructions,
            consent="" if PLACEHOLDER in test.consent else test.consent,
            agree="\n".join(test.agree),
            approval=test.approval,
            raters=test.raters,
        )

    def head(self) -> list[str]:
        """Write the lines that stand before the sounds."""
        return [*self._lines("title"), *self._lines("design")]

    def rest(self, fitting: int) -> list[str]:
        """Write the lines that stand after the sounds; fitting: so many trials suit a rater."""
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
        """Write into the YAML what is other than before, the form of its test; all else stays."""
        lines = yaml.splitlines()
        for field in fields(self):
            if getattr(self, field.name) != getattr(before, field.name):
                start, end = _found(lines, field.name)
                lines[start:end] = self._lines(field.name)
        return "\n".join(lines) + "\n"

    def _lines(self, name: str) -> list[str]:
        """Write one thing as lines of YAML: none where it is not said."""
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


def _found(lines: list[str], key: str) -> tuple[int, int]:
    """Find where the key and what belongs to it begins and ends; the end of all where it is not."""
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
    """Write the text as YAML takes it: with its own letters, for escapes of JSON halve some."""
    return json.dumps(UNPRINTABLE.sub(" ", text), ensure_ascii=False)


def _block(text: str) -> list[str]:
    """Write the lines of a text of several, as a block of YAML."""
    return [f"  {line.strip()}".rstrip() for line in UNPRINTABLE.sub(" ", text).splitlines()]
