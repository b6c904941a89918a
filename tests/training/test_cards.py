"""Model cards are what their templates say of the config and the metrics."""

from pathlib import Path

import pytest

from earshot.core.paths import CHECKPOINTS
from training.common.cards import render_card

TEMPLATES = sorted(CHECKPOINTS.glob("*/card.md.jinja"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.parent.name)
def test_card_is_its_template_filled_in(template: Path) -> None:
    card = (template.parent / "README.md").read_bytes()
    assert render_card(template.parent).encode() == card
