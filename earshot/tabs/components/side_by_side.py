"""Systems side by side: up to four of them under one source on one Timeline, at one loudness, with
one playhead, and what was measured of each. A system that fails leaves the others as they are.
"""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final

import gradio as gr
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError, StoppedError
from earshot.study.design.draft import DraftItem
from earshot.systems.registry import Offer
from earshot.tabs.components.blind_vote import BlindVote
from earshot.tabs.components.comparison import Comparison, Source, Take, at_one_loudness
from earshot.tabs.components.timeline import timeline
from earshot.tabs.shared.events import SYSTEMS_QUEUE, Update, Values
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Services

MAX_SYSTEMS: Final = 4
MAX_SECONDS: Final = 3600.0  # of all, of which each has its own limit, and may be downloaded
CHOOSE: Final = f"Choose one to {MAX_SYSTEMS} systems first."
ADD_ALL: Final = "Make a listening test of these"
HOW: Final = "1 to 4 switch between the systems, where the playhead is; all are as loud."
logger = logging.getLogger("earshot")


class SideBySide(Section):
    """The folded panel of a tab whose systems make sounds. offer: its systems; comparison: what it
    makes of their takes."""

    comparison: type[Comparison] = Comparison

    def __init__(self, task: str, offer: Offer[Any], services: Services, hint: str) -> None:
        """Lay the panel out. task: names its elements; hint: stands in it before the first run."""
        self.offer = offer
        self.result = gr.State(None, time_to_live=3600)
        choices = [(label, name) for name, label in offer.labels.items()] + offer.choices
        installed = [name for name in offer.plugged if name not in offer.downloads]
        first = [*list(offer.labels)[:1], *installed][:MAX_SYSTEMS]
        with gr.Accordion("Side by side", open=False, elem_id=f"{task}-side-by-side"):
            gr.HTML(about_systems(HOW, offer, services.plug_in_faults))
            self.systems = gr.Dropdown(
                choices,
                value=first,
                multiselect=True,
                max_choices=MAX_SYSTEMS,
                label="Systems, up to four",
            )
            with gr.Row(elem_classes="rates-button"):
                self.start = gr.Button("Run them", size="sm", scale=0, min_width=160)
                self.stop = gr.Button("Stop", size="sm", scale=0, min_width=160, visible=False)
                if services.drafts:
                    services.drafts.button(self.result, _items, ADD_ALL)
            self.message = gr.HTML()
            self.lanes = timeline(f"{task}-systems", hint)
            self.table = gr.HTML(elem_classes="side-by-side")
            self.blind = BlindVote(task, self.result)
        self.outputs = [self.message, self.result, self.lanes, self.table]

    def wire(self, inputs: Sequence[Component]) -> None:
        """Connect the panel. inputs: that ``source`` and ``take`` read."""
        self.on_model(
            self.start.click,
            self.run,
            {self.systems, *inputs},
            self.outputs,
            progress_on=self.lanes,
            start=self.start,
            stop=self.stop,
            queue=SYSTEMS_QUEUE,
            seconds=MAX_SECONDS,
        )

    @abstractmethod
    def source(self, values: Values) -> Source:
        """Return the source. Raises InputError where there is none."""

    @abstractmethod
    def take(self, name: str, values: Values) -> Take:
        """Run a system on the source. Raises InputError where it cannot be."""

    def run(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Iterator[Update]:
        """Run the systems that were chosen, one after the other, and show each as it is there."""
        names = values[self.systems]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(CHOOSE)
        if not 1 <= len(names) <= MAX_SYSTEMS:
            raise InputError(CHOOSE)
        source = self.source(values)
        takes: list[Take] = []
        faults: list[str] = []
        for place, name in enumerate(dict.fromkeys(names)):
            label = self._label(name)
            progress((place, len(names)), desc=f"Running {label}", unit="systems")
            try:
                takes.append(self.take(name, values))
            except StoppedError:
                raise
            except InputError as error:
                faults.append(str(error))
            except Exception:
                logger.exception("%s failed", name)
                faults.append(f"{label} failed.")
            yield self.show(self.comparison(source, at_one_loudness(takes), tuple(faults)))

    def show(self, comparison: Comparison) -> Update:
        """Show what systems made of a source."""
        return {
            self.message: "",
            self.result: comparison,
            self.lanes: comparison.timeline().value(),
            self.table: comparison.table(),
        }

    def _label(self, name: str) -> str:
        return {**self.offer.labels, **self.offer.plugged}.get(name, name)


def about_systems(hint: str, offer: Offer[Any], faults: Sequence[str]) -> Markup:
    """Write a hint, what is wrong with files of systems, and what cards say of plug-ins, as
    HTML."""
    cards = {
        offer.plugged[name]: {key.replace("_", " "): text for key, text in card.items() if text}
        for name, card in offer.cards.items()
    }
    cards = {label: card for label, card in cards.items() if card}
    return render("components/systems.html", hint=hint, cards=cards, faults=faults)


def _items(comparison: Comparison | None) -> list[DraftItem]:
    return comparison.draft_items() if comparison else []
