"""Model cards are what their templates say of the config and the metrics."""

from collections.abc import Callable
from pathlib import Path

import pytest

from earshot.core.paths import CHECKPOINTS, ROOT
from training.common.report import render_card
from training.lip_to_speech.evaluate import card_tables


def sound_results(_: Path) -> dict[str, str]:
    """The table of all systems, which docs/sound_search.md has too."""
    page = (ROOT / "docs" / "sound_search.md").read_text(encoding="utf-8")
    table = page.split("<!-- sound results -->\n")[1].split("\n<!-- /sound results -->")[0]
    return {"results": table}


# Checkpoint → what its card needs besides config and metrics.
VALUES: dict[str, Callable[[Path], dict[str, str]]] = {
    "lip-to-speech": card_tables,
    "sound-cnn": sound_results,
    "sound-effects": sound_results,
    "sound-passt": sound_results,
}
TEMPLATES = sorted(CHECKPOINTS.glob("*/card.md.jinja"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.parent.name)
def test_card_is_its_template_filled_in(template: Path) -> None:
    card = (template.parent / "README.md").read_bytes()
    values = VALUES.get(template.parent.name, lambda _: {})(template.parent)
    assert render_card(template.parent, **values).encode() == card
