"""The form of a test: what its three steps ask for, written as the YAML that it stands for."""

import json
import re
from dataclasses import dataclass

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

    def head(self) -> list[str]:
        """Write the lines that stand before the sounds."""
        return [f"title: {quoted(self.title.strip() or TITLE)}", f"design: {self.design}"]

    def rest(self, fitting: int) -> list[str]:
        """Write the lines that stand after the sounds; fitting: so many trials suit a rater."""
        lines = [
            "# How many trials a rater gets. About 20 are done in ten minutes.",
            f"trials: {self.trials or fitting}",
            "practice: 1",
            "# All sounds are brought to this loudness (LUFS); without it they stay as they are.",
            "loudness: -23",
            "seed: 1",
        ]
        if question := self.question.strip():
            lines.append(f"question: {quoted(question)}")
        if self.raters:
            lines.append(f"raters: {self.raters}")
        lines += [
            "",
            "instructions: |",
            *_block(self.instructions or INSTRUCTIONS),
            "consent: |",
            *_block(self.consent or PLACEHOLDER),
        ]
        boxes = [line.strip() for line in self.agree.splitlines() if line.strip()]
        lines += ["agree:", *(f"  - {quoted(box)}" for box in boxes)] if boxes else []
        lines += [f"approval: {quoted(self.approval.strip())}"] if self.approval.strip() else []
        return lines


def quoted(text: str) -> str:
    """Write the text as YAML takes it: with its own letters, for escapes of JSON halve some."""
    return json.dumps(UNPRINTABLE.sub(" ", text), ensure_ascii=False)


def _block(text: str) -> list[str]:
    """Write the lines of a text of several, as a block of YAML."""
    return [f"  {line.strip()}".rstrip() for line in UNPRINTABLE.sub(" ", text).splitlines()]
