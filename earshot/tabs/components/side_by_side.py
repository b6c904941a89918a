"""Systems side by side: up to four of them under one source on one Timeline, at one loudness, with
one playhead, and what was measured of each. A system that fails leaves the others as they are.
"""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component
from markupsafe import Markup

from earshot.core.errors import InputError, StoppedError
from earshot.study.design.folder import DraftItem
from earshot.systems.registry import Offer
from earshot.tabs.components.blind_vote import BlindVote
from earshot.tabs.components.lanes import Lane
from earshot.tabs.components.timeline import File, SoundLanes, TimelineSpec, timeline, wav
from earshot.tabs.shared.events import LONG_QUEUE, Update, Values
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Services

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech

MAX_SYSTEMS: Final = 4
CHOOSE: Final = f"Choose one to {MAX_SYSTEMS} systems first."
ADD_ALL: Final = "Make a listening test of these"
TABLE: Final = "components/side_by_side.html"
HOW: Final = "1 to 4 switch between the systems, where the playhead is; all are as loud."
logger = logging.getLogger("earshot")


@dataclass(frozen=True)
class Take:
    """What a system made of a source. label: what the menu calls the system; speech: the sound;
    settings: how it was made, by name; lanes: of more than its sound; notices: sentences about it;
    measures: what judges say of it, by what a table calls that.
    """

    label: str
    speech: "Speech"
    settings: dict[str, str]
    lanes: Sequence[Lane] = ()
    notices: Sequence[str] = ()
    measures: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Return how long its sound is, in seconds."""
        return len(self.speech.waveform) / self.speech.sample_rate

    def row(self) -> dict[str, Any]:
        """List what a table says of it."""
        computed = self.speech.compute_seconds
        return {
            "system": self.label,
            "settings": ", ".join(self.settings.values()),
            "computed": f"{computed:.1f}",
            "factor": f"{computed / self.seconds:.2f}",
            "seconds": f"{self.seconds:.1f}",
            "measures": self.measures,
        }


@dataclass(frozen=True)
class Source:
    """What systems are given. content: the file or text of a listening test; lanes: that show it;
    track: plays it, where it has a sound; silent: the frames of a video, MP4, which go with what
    the systems make."""

    content: bytes | str
    lanes: Sequence[Lane]
    track: File | None = None
    silent: bytes | None = None


@dataclass(frozen=True)
class Comparison:
    """The takes of several systems on one source, at one loudness, and a sentence on each that
    failed."""

    source: Source
    takes: Sequence[Take]
    faults: Sequence[str] = ()

    @property
    def ending(self) -> str:
        """Return the ending of a file with the sound of a take."""
        return "mp4" if self.source.silent else "wav"

    @property
    def stimulus(self) -> str:
        """Return a name of the source."""
        return DraftItem("", b"", self.source.content, {}).stimulus

    def timeline(self) -> TimelineSpec:
        """Lay out the source and each take on one time axis."""
        lanes = list(self.source.lanes)
        tracks = []
        for place, take in enumerate(self.takes, 1):
            sound = SoundLanes.of(take.speech)
            lanes += [*take.lanes, *sound.lanes(f"{place} · {take.label}")]
            tracks.append(File(take.label, f"{place}.{self.ending}", self.content(take)))
        tracks += [self.source.track] if self.source.track else []
        return TimelineSpec("The source and each system on one time axis", lanes, tracks)

    def content(self, take: Take) -> bytes:
        """Write the sound of a take, with the frames of the video where there are any."""
        if not self.source.silent:
            return wav(take.speech)
        from earshot.media.encode import add_audio  # late, for it loads av

        return add_audio(self.source.silent, take.speech.waveform, take.speech.sample_rate)

    def table(self) -> Markup:
        """Write what was measured, and what went wrong, as HTML."""
        notices = [notice for take in self.takes for notice in take.notices]
        rows = [take.row() for take in self.takes]
        columns = [*dict.fromkeys(name for take in self.takes for name in take.measures)]
        return render(TABLE, rows=rows, columns=columns, notices=notices, faults=self.faults)

    def draft_items(self) -> list[DraftItem]:
        """Make items of a listening test, one a system, of the one source."""
        return [
            DraftItem(
                " ".join([take.label, *take.settings.values()]),
                self.content(take),
                self.source.content,
                {"system": take.label, **take.settings},
                video=self.source.silent is not None,
            )
            for take in self.takes
        ]


class SideBySide(Section):
    """The folded panel of a tab whose systems make sounds. offer: its systems."""

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

    def wire(self, inputs: Sequence[Component]) -> None:
        """Connect the panel. inputs: that ``source`` and ``take`` read."""
        self.on_model(
            self.start.click,
            self.run,
            {self.systems, *inputs},  # type: ignore[arg-type]
            [self.message, self.result, self.lanes, self.table],
            progress_on=self.lanes,
            start=self.start,
            stop=self.stop,
            queue=LONG_QUEUE,
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
            comparison = Comparison(source, at_one_loudness(takes), tuple(faults))
            yield {
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


def at_one_loudness(takes: Sequence[Take]) -> list[Take]:
    """Bring the takes to the loudness of the one that can be the least loud without clipping."""
    from earshot.media.audio.load import equally_loud  # late, for it loads SciPy

    sounds = [(take.speech.waveform, take.speech.sample_rate) for take in takes]
    return [
        replace(take, speech=replace(take.speech, waveform=waveform))
        for take, waveform in zip(takes, equally_loud(sounds), strict=True)
    ]


def _items(comparison: Comparison | None) -> list[DraftItem]:
    return comparison.draft_items() if comparison else []
