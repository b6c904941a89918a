"""Handlers of the events of the voice conversion tab."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np

from earshot.core.errors import InputError
from earshot.study.design.folder import DraftItem
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.lanes import Lane, Spectrogram, UnitCells
from earshot.tabs.components.timeline import File, SoundLanes, TimelineSpec, nothing, wav
from earshot.tabs.shared.events import Update, Values, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.voice_conversion import edits
from earshot.tabs.voice_conversion.example import read_finished
from earshot.tabs.voice_conversion.speaking import ALONE, Speaking, SpeakingInputs
from earshot.tabs.voice_conversion.view import ConversionResult, rate

if TYPE_CHECKING:
    from earshot.systems.voice_conversion import Content, Conversion
    from earshot.systems.voice_conversion.converter import Converter


FIRST: Final = (
    "Record or upload speech, or try an example: its spectrogram, its units and its conversion "
    "appear here, on one time axis."
)
NO_UNITS: Final = "There are no units yet. Convert something first."
UNIT_SECONDS: Final = 0.3  # for which one unit of the palette is heard


@dataclass(frozen=True)
class ConversionComponents:
    """The components that the handlers read and update."""

    audio: gr.Audio
    speaking: SpeakingInputs
    message: gr.HTML
    result: gr.State
    lanes: gr.HTML
    numbers: gr.HTML
    unit_sound: gr.HTML
    units_file: gr.UploadButton
    rates_message: gr.HTML
    rates: gr.HTML


@dataclass(frozen=True)
class Models:
    """The models that are installed, with what a menu calls each by its name; loaded when first
    asked for.
    """

    load: Callable[[str], "Converter"]
    labels: Mapping[str, str]

    @property
    def names(self) -> Sequence[str]:
        """List the names, the default first."""
        return tuple(self.labels)

    @property
    def any_voice(self) -> bool:
        """Say whether there are models that take any voice as their target."""
        return settings.CONTINUOUS in self.names

    @property
    def live(self) -> bool:
        """Say whether a checkpoint that converts live is installed."""
        return any(settings.MODELS[name] in settings.LIVE for name in self.names)

    @property
    def voices(self) -> Sequence[str]:
        """List the voices that can be chosen."""
        return settings.VOICES if self.any_voice else settings.VQVAE_VOICES

    def pipeline(self, model: str | None) -> "Converter":
        """Load the pipeline of a model, None for the default. Raises InputError when it is not
        installed.
        """
        model = model or self.names[0]
        if model not in self.names:
            raise InputError(f"There is no model {model!r} here, only {', '.join(self.names)}.")
        return self.load(model)


@dataclass(frozen=True)
class ConversionEvents:
    """Handlers of events, of which each returns the components that change with their values.

    The result, which is a visitor's own, comes in from a gr.State and goes back to it.
    """

    models: Models
    components: ConversionComponents

    def first_look(self) -> Update:
        """Show the finished example, or what to do where there is none."""
        result = read_finished()
        return (
            self._show(result, answer=False) if result else {self.components.lanes: nothing(FIRST)}
        )

    def convert(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Convert the recording, or else the source that is shown; show it and play it."""
        spoken = self.components.speaking.read(values)
        progress(0.1, desc=f"Loading {spoken.model}")
        pipeline = self.models.pipeline(spoken.model)
        progress(0.4, desc=f"Encoding, then speaking as {spoken.label}")
        return self._show(*self._converted(values, pipeline, spoken))

    def change_voice(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Say what is shown, or the recording, in the voice that was chosen, and play it."""
        result: ConversionResult | None = values[self.components.result]
        recording: str | None = values[self.components.audio]
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(spoken.model)
        if result and (result.is_of(recording, pipeline) or not (recording or result.source)):
            return self.speak(values, progress)
        return self.convert(values, progress)

    def in_all_voices(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Say the recording, or what is shown, in every voice; they play one after another."""
        result: ConversionResult | None = values[self.components.result]
        recording: str | None = values[self.components.audio]
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(spoken.model)
        if result is None or result.source is None or not result.is_of(recording, pipeline):
            progress(0.1, desc="Encoding")
            result, _ = self._converted(values, pipeline, spoken)
        tracks, lanes = [], list(result.source_lanes())
        each = [replace(spoken, voice=voice, other=ALONE) for voice in pipeline.voices]
        for i, said in enumerate(each):
            progress((i, len(each)), desc=f"Speaking as {said.label}", unit="voices")
            speech = pipeline.decode(result.units, *said.arguments(pipeline))
            sound = SoundLanes.of(speech)
            tracks.append(sound.file(said.label, said.voice))
            lanes.append(sound.lanes(said.label)[0])
        source = [result.source.file("Source", "source")] if result.source else []
        spec = TimelineSpec(
            f"The same speech in {len(each)} voices",
            lanes,
            [*source, *tracks],
            answer=range(len(source), len(source) + len(tracks)),
        )
        line = f"<b>{len(each)}</b> voices, one after another. Click one to stay with it."
        return {
            self.components.message: "",
            self.components.result: result,
            self.components.lanes: spec.value(),
            self.components.numbers: line,
        }

    def edit(self, result: ConversionResult | None, event: gr.EventData) -> Update:
        """Apply an edit button to the selected units, without speaking them."""
        if result is None:
            raise InputError(NO_UNITS)
        data = event_data(event)
        if data.get("action") == "undo":
            return self._show(result.undone(), answer=False)
        units = edits.apply(
            data.get("action"),
            result.units,
            data.get("cells", []),
            unit=data.get("number"),
            codebook_size=len(result.colors),
        )
        return self._show(result.edited(units), answer=False)

    def hear(self, values: Values, event: gr.EventData) -> Update:
        """Say one unit of the palette for a moment."""
        result: ConversionResult | None = values[self.components.result]
        if result is None:
            raise InputError(NO_UNITS)
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(result.units.model)
        count = round(UNIT_SECONDS / result.units.step)
        several = result.units.at(np.zeros(count, int))
        unit = edits.apply(
            "replace",
            several,
            range(count),
            unit=event_data(event).get("number"),
            codebook_size=len(result.colors),
        )
        speech = pipeline.decode(replace(unit, intonation=None), *spoken.arguments(pipeline))
        sound = File("unit", "unit.wav", wav(speech))
        return {
            self.components.message: "",
            self.components.unit_sound: {"html": "", "files": [sound.data()]},
        }

    def speak(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Synthesise the units that are shown, and play them."""
        result: ConversionResult | None = values[self.components.result]
        if result is None:
            raise InputError(NO_UNITS)
        spoken = self.components.speaking.read(values)
        progress(0.3, desc=f"Speaking {len(result.units.codes)} units as {spoken.label}")
        pipeline = self.models.pipeline(result.units.model)
        speech = pipeline.decode(result.units, *spoken.arguments(pipeline))
        return self._show(result.respoken(speech, spoken))

    def load(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Synthesise the units of a JSON file, and play them."""
        units = Units.from_json(
            Path(values[self.components.units_file]).read_text(errors="replace")
        )
        spoken = self.components.speaking.read(values)
        progress(0.3, desc=f"Speaking {len(units.codes)} units as {spoken.label}")
        pipeline = self.models.pipeline(units.model)
        speech = pipeline.decode(units, *spoken.arguments(pipeline))
        return self._show(ConversionResult.loaded(units, speech, pipeline, spoken))

    def compare_rates(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Update]:
        """Convert the source shown by every model in turn, the fewest bits first."""
        result: ConversionResult | None = values[self.components.result]
        if result is None or result.source is None:
            raise InputError("This needs a recording. Convert one first.")
        source, spoken = result.source, self.components.speaking.read(values)
        lanes: list[Lane] = []
        tracks = [source.file("Source", "source")]
        models = [self.models.pipeline(name) for name in reversed(self.models.names)]
        models = [model for model in models if spoken.suits(model)]
        heard: dict[str, Content] = {}  # by encoder, which the models of one checkpoint share
        for i, pipeline in enumerate(models):
            progress((i, len(models)), desc=f"Converting by {pipeline.name}", unit="rates")
            if pipeline.encoder not in heard:
                heard[pipeline.encoder] = pipeline.encode_content(source.content)
            conversion = pipeline(heard[pipeline.encoder], *spoken.arguments(pipeline))
            lanes += _rate_lanes(pipeline.name, conversion, pipeline.colors)
            tracks.append(File(pipeline.name, f"{pipeline.name}.wav", wav(conversion.converted)))
            name = f"The same speech as {spoken.label} by every model"
            spec = TimelineSpec(name, lanes, tracks)
            yield {self.components.rates_message: "", self.components.rates: spec.value()}

    def _converted(
        self, values: Values, pipeline: "Converter", spoken: Speaking
    ) -> tuple[ConversionResult, str]:
        """Convert the recording, or the source that is shown: the conversion, and what to know of
        it.

        Raises InputError where there is neither.
        """
        recording: str | None = values[self.components.audio]
        shown: ConversionResult | None = values[self.components.result]
        sound = recording or (shown.source.content if shown and shown.source else None)
        conversion = pipeline(sound, *spoken.arguments(pipeline))
        result = ConversionResult.of(conversion, pipeline, spoken, recording)
        return result, " ".join(conversion.notices)

    def _show(self, result: ConversionResult, notice: str = "", answer: bool = True) -> Update:
        return {
            self.components.message: say(notice),
            self.components.result: result,
            self.components.lanes: result.timeline(answer).value(),
            self.components.numbers: result.line(),
        }


def draft_item(result: ConversionResult | None) -> DraftItem | None:
    """Make an item of a listening test of the conversion and its source; None where there is no
    source.
    """
    if result is None or result.source is None:
        return None
    units = result.spoken
    chosen = {"model": units.model, "target": result.target, "vocoder": result.vocoder}
    return DraftItem(
        system=" ".join(chosen.values()),
        sound=result.converted.content,
        source=result.source.content,
        settings=chosen | {"units": units.codes.tolist(), "numbers": result.numbers},
    )


def _rate_lanes(model: str, conversion: "Conversion", colors: Sequence[str]) -> list[Lane]:
    units, speech = conversion.units, conversion.converted
    label = f"{model} · {rate(conversion)}"
    return [
        UnitCells(label, tuple(units.codes.tolist()), units.step, colors),
        Spectrogram.of(label, speech.log_mel, len(speech.waveform) / speech.sample_rate),
    ]
