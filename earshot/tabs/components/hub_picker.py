"""A choice of models of the Hugging Face hub, in place of ours: nothing is fetched until it is
made.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.pretrained.hub import HubPermission, fetch
from earshot.tabs.shared.events import Update, on_model, reporting, say

logger = logging.getLogger("earshot")
T = TypeVar("T")

HUB_QUEUE: Final = "hub"  # downloads, behind which nothing else waits
DEADLINE: Final = 3600.0  # seconds that a download may take
MAX_LOADED: Final = 2  # models of a kind in memory


@dataclass(frozen=True)
class Kind:
    """The models that can be chosen: model types of transformers; ids with what the list says of
    each; and whether another id may follow (where the server's permission says so, too).
    """

    types: Collection[str]
    listed: Mapping[str, str]
    others: bool = True


class HubModels(Generic[T]):
    """The models of a kind that visitors chose, loaded once each; the first loaded make room."""

    def __init__(
        self, kind: Kind, permission: HubPermission, load: Callable[[str, Path], T]
    ) -> None:
        """Keep the kind and the permission. load: makes the pipeline of an id and the folder with
        its files.
        """
        self.kind, self.permission = kind, permission
        self._load = load
        self._loaded: dict[str, T] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str) -> T:
        """Find a model that was loaded. Raises InputError where it was not, or has made room."""
        if (model := self._loaded.get(name)) is None:
            raise InputError(f"{name} is not loaded. Load it first.")
        return model

    def load(self, name: str | None, progress: gr.Progress | None = None) -> T:
        """Load the model of an id, unless it is loaded already. Raises InputError where it may not
        be, or cannot be.
        """
        if self.permission.refusal:
            raise InputError(self.permission.refusal)
        name = name.strip() if isinstance(name, str) else ""
        if not name:
            raise InputError("Choose a model first.")
        if name not in self.kind.listed and not (self.kind.others and self.permission.any_id):
            raise InputError(f"Here it takes one of these: {', '.join(self.kind.listed)}.")
        with self._lock:
            if name not in self._loaded:
                model = self._fetched(name, progress)
                while len(self._loaded) >= MAX_LOADED:
                    del self._loaded[next(iter(self._loaded))]
                self._loaded[name] = model
            return self._loaded[name]

    def _fetched(self, name: str, progress: gr.Progress | None) -> T:
        def report(done: int, total: int) -> None:
            if progress and total:
                progress(0.9 * done / total, desc=f"Downloading {name}, {total / 1e6:,.0f} MB")

        report(0, 1)
        folder = fetch(name, self.kind.types, report)
        if progress:
            progress(0.9, desc=f"Loading {name}")
        try:
            return self._load(name, folder)
        except InputError:
            raise
        except Exception as error:  # whatever their readers raise, the files are another's
            logger.warning("%s cannot be loaded: %r", name, error)
            raise InputError(f"{name} cannot be loaded: its files are not whole.") from error


@dataclass(frozen=True)
class HubPicker:
    """The components of a choice; name is empty for ours."""

    name: gr.Dropdown
    load: gr.Button
    stop: gr.Button
    message: gr.HTML

    def wire(
        self,
        handler: Callable[..., Update],
        inputs: Sequence[Component],
        outputs: Sequence[Component],
        progress_on: Component,
    ) -> None:
        """Load what is chosen: handler(name, *inputs) returns {component: value}."""

        @wraps(handler)
        def load(name: str | None, *args: Any, **kwargs: Any) -> Update:
            update = handler(name or "", *args, **kwargs)
            return {self.message: say(f"{name or 'Ours'} is ready.", "done"), **update}

        on_model(
            self.load.click,
            reporting(load, self.message),
            [self.name, *inputs],
            [self.message, *outputs],
            progress_on=progress_on,
            start=self.load,
            stop=self.stop,
            queue=HUB_QUEUE,
            seconds=DEADLINE,
        )


def hub_picker(models: HubModels[Any], label: str, ours: str | None = None) -> HubPicker | None:
    """Lay out the choice; where there is none, a line says why.

    ours: what our own model is called, where it can be chosen again.
    """
    if models.permission.refusal:
        gr.HTML(f'<p class="hint">{label}: {models.permission.refusal}</p>')
        return None
    any_id = models.kind.others and models.permission.any_id
    own = [(ours, "")] if ours else []
    listed = [(f"{name} · {about}", name) for name, about in models.kind.listed.items()]
    choices = [*own, *listed]
    name = gr.Dropdown(
        choices,
        value=choices[0][1],
        allow_custom_value=any_id,
        label=label,
        info="Downloaded from the Hugging Face hub when you load it."
        + (" Or type any other id." if any_id else ""),
    )
    load = gr.Button("Load it", size="sm")
    return HubPicker(name, load, gr.Button("Stop", size="sm", visible=False), gr.HTML())
