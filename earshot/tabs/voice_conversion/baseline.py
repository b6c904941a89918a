"""SpeechT5 of the hub next to our conversion: heard, and put into a listening test of both."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.pretrained.hub_download import HubPermission, fetch, fetch_from_dataset
from earshot.study.design.folder import DraftItem
from earshot.tabs.components.hub_picker import HubModels, HubPicker, Kind, hub_picker
from earshot.tabs.components.lanes import Lane
from earshot.tabs.components.timeline import SoundLanes, TimelineSpec, timeline
from earshot.tabs.shared.events import Update, on_model, reporting
from earshot.tabs.shared.services import Drafts
from earshot.tabs.voice_conversion.events import draft_item
from earshot.tabs.voice_conversion.view import ConversionResult

if TYPE_CHECKING:
    import numpy as np

    from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion

NAME: Final = "microsoft/speecht5_vc"
VOCODER: Final = "microsoft/speecht5_hifigan"
XVECTORS: Final = ("Matthijs/cmu-arctic-xvectors", "spkrec-xvect.zip")
KIND: Final = Kind(("speecht5",), {NAME: "0.7 GB"}, others=False)
# Four speakers of CMU ARCTIC, on whom it was trained.
VOICES: Final = {
    "bdl, a man": "bdl",
    "rms, a man": "rms",
    "clb, a woman": "clb",
    "slt, a woman": "slt",
}
ABOUT: Final = """<p class="hint">The source above by <a href="https://arxiv.org/abs/2110.07205"
target="_blank">SpeechT5</a>, a larger model, in one of its own voices, up to 30 s. Both can go into
a listening test.</p>"""
NOTHING: Final = "Source, our conversion and SpeechT5’s appear here."
FIRST: Final = "There is nothing to compare it with yet. Convert a recording first."

Baseline = tuple["SpeechT5Conversion", "dict[str, np.ndarray]"]


@dataclass(frozen=True)
class Pair:
    """Our conversion of a source, and SpeechT5's in one of its voices."""

    ours: ConversionResult
    baseline: SoundLanes
    voice: str

    def timeline(self) -> TimelineSpec:
        """Lay out source and both conversions on one time axis."""
        sounds = {"Ours": self.ours.converted, "SpeechT5": self.baseline}
        if self.ours.source:
            sounds = {"Source": self.ours.source, **sounds}
        lanes: list[Lane] = [lane for name, sound in sounds.items() for lane in sound.lanes(name)]
        tracks = [sound.file(name, name.lower()) for name, sound in sounds.items()]
        return TimelineSpec("Source, our conversion and SpeechT5’s", lanes, tracks)

    def draft_items(self) -> list[DraftItem]:
        """Make items of a listening test of both conversions, of one source."""
        ours = draft_item(self.ours)
        if ours is None:
            return []
        settings = {"model": NAME, "vocoder": VOCODER, "target": self.voice}
        baseline = DraftItem(f"SpeechT5 {self.voice}", self.baseline.content, ours.source, settings)
        return [ours, baseline]


def baselines(permission: HubPermission, device: str) -> HubModels[Baseline]:
    """Offer SpeechT5 with its vocoder and voices, loaded when it is asked for."""

    def load(name: str, folder: Path) -> Baseline:
        from earshot.systems.voice_conversion.speecht5 import (  # late: torch
            SpeechT5Conversion,
            read_voices,
        )

        vocoder = fetch(VOCODER, ["hifigan"])
        voices = read_voices(fetch_from_dataset(*XVECTORS), list(VOICES.values()))
        return SpeechT5Conversion.from_pretrained(folder, vocoder, device), voices

    return HubModels(KIND, permission, load)


class BaselinePanel:
    """The folded panel under the result, which compares it with SpeechT5."""

    def __init__(
        self, models: HubModels[Baseline], result: gr.State, drafts: Drafts | None
    ) -> None:
        """Lay the panel out. result: holds the ConversionResult that it is compared with."""
        self.models, self.result = models, result
        self.pair = gr.State(None, time_to_live=3600)
        with gr.Accordion("Compare with SpeechT5", open=False):
            gr.HTML(ABOUT)
            self.picker = hub_picker(models, "Baseline")
            if self.picker:
                self._layout(self.picker, drafts)

    def _layout(self, picker: HubPicker, drafts: Drafts | None) -> None:
        voice = gr.Radio(list(VOICES.items()), value="bdl", label="Voice")
        with gr.Row(elem_classes="rates-button"):
            run = gr.Button("Convert by SpeechT5", size="sm", scale=0, min_width=180)
            halt = gr.Button("Stop", size="sm", scale=0, min_width=180, visible=False)
            if drafts:
                drafts.button(self.pair, _items, "Add both to a listening test")
        self.message = gr.HTML()
        self.shown = timeline("baseline", NOTHING)
        picker.wire(self.load, [], [], self.shown)
        on_model(
            run.click,
            reporting(self.convert, self.message),
            [self.result, voice],
            [self.message, self.pair, self.shown],
            progress_on=self.shown,
            start=run,
            stop=halt,
        )

    def load(
        self,
        name: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Load the baseline."""
        self.models.load(name, progress)
        return {}

    def convert(
        self,
        result: ConversionResult | None,
        voice: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Convert the source of the result by the baseline, and show both."""
        if result is None or result.source is None:
            raise InputError(FIRST)
        pipeline, voices = self.models(NAME)
        if voice not in voices:
            raise InputError(f"There is no voice {voice}. Choose one of {', '.join(voices)}.")
        progress(0.2, desc=f"SpeechT5 speaks as {voice}")
        converted = pipeline(result.source.content, voices[voice]).converted
        pair = Pair(result, SoundLanes.of(converted), voice)
        return {self.message: "", self.pair: pair, self.shown: pair.timeline().value()}


def _items(pair: Pair | None) -> list[DraftItem]:
    return pair.draft_items() if pair else []
