"""Model cards: the README.md of a checkpoint, from the template that lies with it."""

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from earshot.core.paths import CHECKPOINTS
from training.common.report import markdown


def render_card(folder: Path, name: str | None = None, **values: Any) -> str:
    """Return the model card of a checkpoint, from the template checkpoints/NAME/card.md.jinja.

    The name is the folder's unless given. The template's variables are ``name``, ``config`` and
    ``metrics`` (the JSON files in the folder) and further values; the filter ``markdown`` writes
    rows of results as a table. Raises jinja2.UndefinedError where the template needs what is
    missing.
    """
    environment = Environment(
        loader=FileSystemLoader(CHECKPOINTS),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markdown"] = markdown
    config, metrics = (
        json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))
        for file in ("config", "metrics")
    )
    name = name or folder.name
    template = environment.get_template(f"{name}/card.md.jinja")
    return template.render(name=name, config=config, metrics=metrics, **values)


def write_card(folder: Path, name: str | None = None, **values: Any) -> None:
    """Write the model card of a checkpoint into its folder, as README.md."""
    (folder / "README.md").write_text(render_card(folder, name, **values), encoding="utf-8")
