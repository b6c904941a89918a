"""What only the authors of a test know and a reviewer asks, as its YAML states it; and what a
reviewer will miss in a test, before anybody has rated.

After Cooper, Le Maguer, Klabbers and Yamagishi, Good practices for evaluation of synthesized speech
(arXiv 2503.03250, 2025), in our words: theirs is a living document, to be read as well.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from earshot.study.design.document import Value
from earshot.study.design.model import CHECKS, Test

# What the author states, by its name in the YAML.
STATEMENTS: Final[Mapping[str, str]] = {
    "claim": "what the paper claims of these systems, and which results bear on it",
    "use": "what the speech is for and who will listen to it, or that no use is meant",
    "systems": "what each system and baseline is: its version, its data, who trained it",
    "material": "where sentences and speakers come from, how they were chosen, and that no system "
    "was trained on them",
    "recruitment": "how raters were found",
    "countries": "where raters live, and which languages they speak",
    "qualification": "what makes these raters fit to judge this: language, hearing, experience",
    "payment": "what raters were paid, and for how long a sitting",
    "measures": "which objective measures stand next to the ratings, and what they do not show",
    "availability": "where samples, code and models are to be had",
}
MAX_STATEMENT: Final = 1000  # characters


def read_statements(document: Value) -> dict[str, str]:
    """Read what the author states; empty where nothing is written."""
    value = document.at("statements")
    if not document.has("statements") or not value.is_section(STATEMENTS, ", whichever you know"):
        return {}
    statements = {name: value.take(name, str) for name in STATEMENTS if value.has(name)}
    for name, text in statements.items():
        if len(text) > MAX_STATEMENT:
            value.at(name).problem(f'"{name}" must have {MAX_STATEMENT} characters at most.')
    return {name: text for name, text in statements.items() if text}


def reviewer_gaps(test: Test) -> Iterator[str]:
    """Yield what a reviewer will miss in the test as it is written, and how to add it."""
    if len(test.conditions) < 2:
        yield "one system alone: a score means nothing next to those of other tests; add a baseline"
    if not test.has_reference:
        yield "recordings of people, unless a system holds them: how good could it have been?"
    # Where levels are what is asked, one loudness may take the difference away.
    if test.loudness is None and not (test.staircase or test.design.scale.adjusted):
        yield "equal loudness: what is louder is often liked better; write loudness: -23"
    if not test.instructions:
        yield 'what raters were told: write "instructions"'
    if not any(test.of_kind(kind) for kind in CHECKS):
        yield 'whether raters paid attention: add "attention" or "gold" trials'
    if not test.questions:
        yield "who the raters are: write demographics: true, or questions of your own"
    if test.raters is None:
        yield (
            'how many raters were planned, and why: write "raters"; earshot study simulate says '
            "what differences they can find"
        )
    if not test.consent:
        yield 'what raters agreed to: write "consent"'
    if not test.approval:
        yield 'who approved it, or why nobody had to: write "approval"'
    for name, what in STATEMENTS.items():
        if name not in test.statements:
            yield f'{what}: write "{name}" below "statements"'
