"""The form of a listening test: the question to raters, and who takes part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import gradio as gr
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.study.design import DESIGNS
from earshot.study.design.form import INSTRUCTIONS, TITLE, Form
from earshot.tabs.shared.events import HIDDEN, LAST
from earshot.tabs.shared.parts import optional_number, read_number

STEP: Final = Markup('<h3 class="step">{} <span>{}</span></h3>')
STEPS: Final = ("1 · Sounds", "2 · Questions", "3 · People")
ZIP: Final = "a zip, or single ones. "
MAX_DIGITS: Final = 6  # of a number that is read while it is typed
MAX_TEXT: Final = 20_000  # characters of a field
TOO_LONG: Final = f"A text of the form has {MAX_TEXT:,} characters at most."


@dataclass(frozen=True)
class FormFields:
    """The components of the form, by what they say in earshot.study.design.form.Form."""

    design: gr.Dropdown
    title: gr.Textbox
    question: gr.Textbox
    trials: gr.Textbox
    instructions: gr.Textbox
    consent: gr.Textbox
    agree: gr.Textbox
    approval: gr.Textbox
    raters: gr.Textbox

    @property
    def components(self) -> set[Component]:
        return {getattr(self, name) for name in self.__dataclass_fields__}

    def show(self, form: Form) -> dict[Component, Any]:
        """Return what the form says, by component."""
        return {getattr(self, name): getattr(form, name) for name in self.__dataclass_fields__}

    def read(self, values: Mapping[Component, Any]) -> Form:
        """Read the form from the values of the components. Raises InputError for a text that is too
        long."""
        inputs = {name: values[getattr(self, name)] for name in self.__dataclass_fields__}
        if any(isinstance(each, str) and len(each) > MAX_TEXT for each in inputs.values()):
            raise InputError(TOO_LONG)
        numbers: dict[str, int | None] = {}
        for name in ("trials", "raters"):
            number = read_number(getattr(self, name), inputs[name], 1)
            numbers[name] = None if number is None else int(number)
        texts = {name: each or "" for name, each in inputs.items() if name not in numbers}
        fields: dict[str, Any] = texts | numbers
        return Form(**fields)


def headings(form: Form) -> list[str]:
    """Write the headings of the three steps, each with what raters will be asked by it."""
    texts = zip(STEPS, (ZIP, "", ""), form.raters_words(), strict=True)
    return [STEP.format(step, before + text) for step, before, text in texts]


def _reworded(
    design: str, title: str, question: str, trials: str, consent: str, agree: str
) -> list[str]:
    """Write the headings anew, of what is typed so far."""
    digits = (trials or "").strip()
    number = int(digits) if digits.isdecimal() and len(digits) <= MAX_DIGITS else None
    form = Form(
        design=design,
        title=(title or "")[:MAX_TEXT],
        question=(question or "")[:MAX_TEXT],
        trials=number,
        consent=(consent or "")[:MAX_TEXT],
        agree=(agree or "")[:MAX_TEXT],
    )
    return headings(form)


def build(sounds: gr.HTML) -> FormFields:
    """Lay out the second and the third step. sounds: the heading of the first."""
    first = headings(Form())
    sounds.value = first[0]
    questions = gr.HTML(first[1])
    with gr.Row():
        names = [(DESIGNS[name].summary, name) for name in sorted(DESIGNS)]
        wide: dict[str, Any] = {"min_width": 220}  # below each other on a phone, not cut off
        design = gr.Dropdown(names, value="ab", label="Raters say", **wide)
        title = gr.Textbox(TITLE, label="Title, which raters read", max_lines=1, **wide)
    with gr.Row():
        question = gr.Textbox(
            label="Question", placeholder="The standard\u2019s", max_lines=2, scale=3
        )
        trials = optional_number("Trials a rater", "as many as fit", min_width=150)
    people = gr.HTML(first[2])
    instructions = gr.Textbox(INSTRUCTIONS, label="Instructions", lines=2, max_lines=8)
    consent = gr.Textbox(
        label="Consent: who asks, what for, and whom to write to",
        placeholder="We are … and study …. Write to ….",
        lines=3,
        max_lines=12,
        elem_id="study-consent",
    )
    with gr.Row():
        agree = gr.Textbox(
            label="Boxes to tick, one a line", placeholder="I am 18 or older.", lines=1, max_lines=6
        )
        approval = gr.Textbox(label="Approval of an ethics committee", max_lines=1)
        raters = optional_number("Raters wanted", "any number", min_width=150)
    typed = [design, title, question, trials, consent, agree]
    gr.on(
        [each.change for each in typed],
        _reworded,
        typed,
        [sounds, questions, people],
        **HIDDEN,
        **LAST,
    )
    return FormFields(
        design, title, question, trials, instructions, consent, agree, approval, raters
    )
