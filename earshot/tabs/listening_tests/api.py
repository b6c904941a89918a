"""Listening tests for programs: check one, and draft one. People open them."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.study.design import DESIGNS, folder
from earshot.study.design.form import INSTRUCTIONS, TITLE, Form
from earshot.tabs.listening_tests.form import MAX_DIGITS, MAX_TEXT, TOO_LONG
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.events import answering

HAS_TEST: Final = (
    "There is a test.yaml in this zip: check_listening_test says what is wrong with it. A draft is "
    "made of sounds alone."
)
OPENING: Final = (
    "A person puts the YAML into the zip as test.yaml, uploads it in the tab Listening tests, and "
    "opens it to raters; on their own machine: python -m earshot study new --from FOLDER."
)


def declare() -> None:
    """Declare the endpoints for programs, which check a test, and draft one: people open it."""
    with gr.Row(visible=False):
        call, file, report = gr.Button(), gr.File(label="file"), gr.JSON(label="report")
        draft, drafted = gr.Button(), gr.JSON(label="draft")
        design = gr.Dropdown([*DESIGNS], value="ab", label="design")
        texts = [
            gr.Textbox(label=name) for name in ("title", "question", "instructions", "consent")
        ]
        numbers = [gr.Textbox(label=name) for name in ("trials", "raters")]
    call.click(check_listening_test, file, report, api_name="check_listening_test")
    inputs = [file, design, *texts, *numbers]
    draft.click(draft_listening_test, inputs, drafted, api_name="draft_listening_test")


@answering
def check_listening_test(file: str | None) -> dict[str, Any]:
    """Check a listening test without opening it.

    Args:
        file: a zip with a folder of sounds for each system and, if there is one, a test.yaml.

    Returns:
        report: {"problems": a list of sentences, empty where the test can be opened;
            "trials_per_rater": how many trials a rater gets, 0 where the YAML cannot be read;
            "yaml": the test's YAML, or one that fits the sounds}.
    """
    workspace = Workspace.new()
    try:
        folder.unpack([Path(file)] if file else [], workspace.empty())
        yaml = workspace.yaml(Form())
        workspace.write(yaml)
        test, problems = workspace.check()
        trials = test.trials_per_rater if test else 0
        return {"problems": problems, "trials_per_rater": trials, "yaml": yaml}
    finally:
        workspace.clear()


@answering
def draft_listening_test(
    file: str | None,
    design: str = "ab",
    title: str = "",
    question: str = "",
    instructions: str = "",
    consent: str = "",
    trials: str = "",
    raters: str = "",
) -> dict[str, Any]:
    """Draft a listening test of sounds: its YAML, what is still wrong, and what raters would be
    asked. Nobody can take it before a person has opened it.

    Args:
        file: a zip with a folder of sounds for each system, the same file names in each, and a
            folder called reference for the originals, where the design has them.
        design: what raters do: one of the choices, as ab (which of two is better) or acr (MOS).
        title: what raters read first; empty for a usual one.
        question: what they are asked; empty for the standard's question of the design.
        instructions: what they read before they begin; empty for the usual ones.
        consent: who asks, what for, and whom to write to; without it the draft cannot be opened.
        trials: how many trials a rater gets, in digits; empty for as many as fit.
        raters: how many raters are wanted, in digits; empty for any number.

    Returns:
        draft: {"yaml": the test's YAML, to be put into the zip as test.yaml; "problems": a list of
            sentences, empty where the test can be opened; "asked": what raters will be asked, in
            their words: what they hear, the question, and what they agree to and do;
            "trials_per_rater": how many trials a rater gets, 0 where the YAML cannot be read;
            "next": what a person does to open it}.
    """
    form = _form(design, title, question, instructions, consent, trials, raters)
    workspace = Workspace.new()
    try:
        folder.unpack([Path(file)] if file else [], workspace.empty())
        if workspace.has_test:
            raise InputError(HAS_TEST)
        yaml = workspace.yaml(form)
        workspace.write(yaml)
        test, problems = workspace.check()
        number = test.trials_per_rater if test else 0
        if test:  # whose question is another where it has no reference
            form = replace(form, trials=number, question=test.question)
        words = form.raters_words(test is not None and test.has_reference)
        return {
            "yaml": yaml,
            "problems": problems,
            "asked": [*words],
            "trials_per_rater": number,
            "next": OPENING,
        }
    finally:
        workspace.clear()


def _form(
    design: str,
    title: str,
    question: str,
    instructions: str,
    consent: str,
    trials: str,
    raters: str,
) -> Form:
    """Make a form of what a program says. Raises InputError for a design that there is not, a text
    that is too long, and a number that is none."""
    texts = {"title": title, "question": question, "instructions": instructions, "consent": consent}
    if design not in DESIGNS:
        raise InputError(f"There is no such design: there are {', '.join(DESIGNS)}.")
    if any(len(text or "") > MAX_TEXT for text in texts.values()):
        raise InputError(TOO_LONG)
    numbers: dict[str, int | None] = {}
    for name, text in (("trials", trials), ("raters", raters)):
        digits = (text or "").strip()
        if digits and not (digits.isdecimal() and len(digits) <= MAX_DIGITS and int(digits)):
            raise InputError(f'"{name}" must be a whole number of 1 or more, in digits.')
        numbers[name] = int(digits) if digits else None
    usual = {"title": TITLE, "instructions": INSTRUCTIONS}
    written = {name: (text or "").strip() or usual.get(name, "") for name, text in texts.items()}
    fields: dict[str, Any] = {"design": design} | written | numbers
    return Form(**fields)
