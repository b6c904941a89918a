"""The JSON Schema of test.yaml: it knows what load knows, as far as a schema can."""

import json
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml
from jsonschema import Draft7Validator

from earshot.core.paths import ASSETS
from earshot.study.design import (
    DESIGNS,
    designs,
    document,
    model,
    raters,
    scales,
    spec,
    statements,
)
from earshot.study.design.form import SCHEMA, template
from tests.support.stimuli import make_folder

CONTENT: Final[dict[str, Any]] = json.loads(SCHEMA.read_text(encoding="utf-8"))
DEFINITIONS: Final = CONTENT["$defs"]
PROPERTIES: Final = CONTENT["properties"]
VALIDATOR: Final = Draft7Validator(CONTENT)


def mistakes(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))]


def test_schema_has_every_name() -> None:
    Draft7Validator.check_schema(CONTENT)
    room = PROPERTIES["environment"]["oneOf"][1]
    panel = DEFINITIONS["panel"]["properties"]
    assert {*PROPERTIES} == {*spec.KEYS}
    assert {*DEFINITIONS["trial"]["properties"]} == {*spec.TRIAL_KEYS}
    assert {*DEFINITIONS["question"]["properties"]} == {*raters.QUESTION_KEYS}
    assert {*DEFINITIONS["rules"]["properties"]} == {*raters.Rules.__dataclass_fields__}
    assert {*DEFINITIONS["scale"]["properties"]} == {*scales.SCALE_KEYS}
    assert {*DEFINITIONS["texts"]["properties"]} == {*scales.TEXT_KEYS}
    assert {*room["properties"]} == {*raters.ROOM_KEYS}
    assert {*PROPERTIES["statements"]["properties"]} == {*statements.STATEMENTS}
    assert {*panel} == {*raters.PANEL_KEYS}
    assert {*panel["signed"]["properties"]} == {*raters.SIGNED_KEYS}
    assert {*panel["screened_out"]["properties"]} == {*raters.SCREENS}


def test_schema_has_every_choice_and_limit() -> None:
    choices, properties = DEFINITIONS["choices"], PROPERTIES
    assert properties["design"]["enum"] == [*DESIGNS]
    assert properties["pairing"]["enum"] == [*get_args(model.Pairing)]
    assert properties["disclosure"]["enum"] == [*get_args(model.Disclosure)]
    assert properties["blocks"]["enum"] == [*get_args(raters.Blocks)]
    assert properties["demographics"]["oneOf"][1]["items"]["enum"] == [*raters.demographics()]
    assert DEFINITIONS["question"]["properties"]["when"]["enum"] == [*get_args(raters.When)]
    assert DEFINITIONS["scale"]["properties"]["points"]["enum"] == [*scales.POINTS]
    assert properties["systems"]["maxProperties"] == designs.MAX_SYSTEMS
    assert properties["trials"]["maximum"] == model.MAX_TRIALS_PER_RATER
    assert properties["questions"]["maxItems"] == raters.MAX_QUESTIONS
    assert properties["agree"]["maxItems"] == scales.MAX_BOXES
    assert properties["scales"]["maxProperties"] == scales.MAX_SCALES
    assert (choices["minItems"], choices["maxItems"]) == (2, raters.MAX_CHOICES)
    loudness = properties["loudness"]
    assert (loudness["minimum"], loudness["maximum"]) == spec.LOUDNESS
    pairs = properties["environment"]["oneOf"][1]["properties"]["pairs"]
    assert (pairs["minimum"], pairs["maximum"]) == (raters.MIN_PAIRS, raters.MAX_PAIRS)
    for number in ("seed", "raters", "break_every"):
        assert properties[number]["maximum"] == document.MAX_WHOLE
    assert DEFINITIONS["time"]["oneOf"][1]["maximum"] == raters.MAX_TIME


@pytest.mark.parametrize("design", DESIGNS)
def test_templates_fit(design: str) -> None:
    assert mistakes(template(DESIGNS[design])) == []


@pytest.mark.parametrize(
    "file", sorted(ASSETS.rglob("test.yaml")), ids=lambda file: file.parent.name
)
def test_shipped_tests_fit(file: Path) -> None:
    assert mistakes(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "more",
    [
        {"titel": "x"},
        {"design": "mos"},
        {"seed": -1},
        {"systems": {}},
        {"systems": {"ours": "ours/one.wav"}},
        {"rules": {"failed_checks": 2}},
        {"environment": {"pairs": 20}},
        {"panel": {"completed": "X"}},
        {"questions": [{"ask": "Age?", "when": "never"}]},
        {"texts": {"German": {}}},
        {"statements": {"clam": "x"}},
        {"scales": {"naturalness": {"points": 6}}},
    ],
)
def test_mistake_is_underlined(tmp_path: Path, more: dict[str, Any]) -> None:
    usual = (make_folder(tmp_path / "t") / "test.yaml").read_text()
    assert mistakes(usual) == []
    assert mistakes(yaml.safe_dump(yaml.safe_load(usual) | more))
