"""What the buttons of the voice conversion tab do."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from media.errors import InputError
from pipelines.voice_conversion.units import Units
from study.design.draft import Take
from tabs.components.timeline.lanes import Lane, Spectrogram, UnitCells
from tabs.components.timeline.timeline import File, TimelineSpec, nothing
from tabs.shared.events import say
from tabs.shared.gradio_internals import event_data
from tabs.voice_conversion import edits
from tabs.voice_conversion.example import read_finished
from tabs.voice_conversion.view import Result, wav

if TYPE_CHECKING:
    from pipelines.voice_conversion import Conversion, VoiceConversion

Update = dict[Component, Any]

FIRST: Final = (
    "Record or upload speech, or try an example: its spectrogram, its units and its conversion "
    "appear here, on one time axis."
)
NO_UNITS: Final = "There are no units yet. Convert something first."


@dataclass(frozen=True)
class Outputs:
    """The components that the handlers update."""

    message: gr.HTML
    result: gr.State
    lanes: gr.HTML
    numbers: gr.HTML
    sizes_message: gr.HTML
    sizes: gr.HTML


@dataclass(frozen=True)
class Models:
    """The pipelines of the models that are installed, by name; loaded when first asked for."""

    load: Callable[[str], "VoiceConversion"]
    names: Sequence[str]

    def pipeline(self, model: str) -> "VoiceConversion":
        """The pipeline of a model. Raises InputError when it is not installed."""
        if model not in self.names:
            raise InputError(f"There is no model {model!r} here, only {', '.join(self.names)}.")
        return self.load(model)


@dataclass(frozen=True)
class ConversionEvents:
    """Handlers; each returns the components that change with their values.

    The result, which is a visitor's own, comes in from a gr.State and goes back to it.
    """

    models: Models
    to: Outputs

    def first_look(self) -> Update:
        """Show the finished example, or what to do where there is none."""
        result = read_finished()
        return self._show(result) if result else {self.to.lanes: nothing(FIRST)}

    def convert(
        self,
        audio: str | None,
        target: str,
        model: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Convert the recording and show it."""
        progress(0.1, desc=f"Loading {model}")
        pipeline = self.models.pipeline(model)
        progress(0.4, desc=f"Encoding, then speaking as {target}")
        conversion = pipeline(audio, target, vocoder)
        return self._show(
            Result.of(conversion, pipeline, target, vocoder), " ".join(conversion.notices)
        )

    def edit(self, result: Result | None, event: gr.EventData) -> Update:
        """Apply an edit button to the selected units, without speaking them."""
        if result is None:
            raise InputError(NO_UNITS)
        data = event_data(event)
        if data.get("action") == "undo":
            return self._show(result.undone())
        codes = edits.apply(
            data.get("action"),
            result.units.codes,
            data.get("cells", []),
            unit=data.get("number"),
            codebook_size=len(result.colors),
            step=result.units.step,
        )
        return self._show(result.edited(codes))

    def speak(
        self,
        result: Result | None,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Synthesise the edited units."""
        if result is None:
            raise InputError(NO_UNITS)
        progress(0.3, desc=f"Speaking {len(result.units.codes)} units as {target}")
        speech = self.models.pipeline(result.units.model).decode(result.units, target, vocoder)
        return self._show(result.respoken(speech, target, vocoder))

    def load(
        self,
        file: str,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Synthesise the units of a JSON file."""
        units = Units.from_json(Path(file).read_text(errors="replace"))
        progress(0.3, desc=f"Speaking {len(units.codes)} units as {target}")
        pipeline = self.models.pipeline(units.model)
        speech = pipeline.decode(units, target, vocoder)
        return self._show(Result.loaded(units, speech, pipeline, target, vocoder))

    def compare_sizes(
        self,
        result: Result | None,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Update]:
        """Convert the source shown by every model in turn."""
        if result is None or result.source is None:
            raise InputError("This needs a recording. Convert one first.")
        source = result.source
        lanes: list[Lane] = []
        tracks = [source.file("Source", "source")]
        names = self.models.names
        for i, model in enumerate(names):
            progress((i, len(names)), desc=f"Converting by {model}", unit="sizes")
            pipeline = self.models.pipeline(model)
            conversion = pipeline(source.content, target, vocoder)
            lanes += _size_lanes(model, conversion, pipeline.colors)
            tracks.append(File(model, f"{model}.wav", wav(conversion.converted)))
            spec = TimelineSpec(f"The same speech as {target} by every model", lanes, tracks)
            yield {self.to.sizes_message: "", self.to.sizes: spec.value()}

    def _show(self, result: Result, notice: str = "") -> Update:
        return {
            self.to.message: say(notice),
            self.to.result: result,
            self.to.lanes: result.timeline().value(),
            self.to.numbers: result.line(),
        }


def take(result: Result | None) -> Take | None:
    """The conversion and its source, for a listening test; None where there is no source."""
    if result is None or result.source is None:
        return None
    units = result.spoken
    settings = {"model": units.model, "target": result.target, "vocoder": result.vocoder}
    return Take(
        system=" ".join(settings.values()),
        sound=result.converted.content,
        source=result.source.content,
        settings=settings | {"units": units.codes.tolist(), "numbers": result.numbers},
    )


def _size_lanes(model: str, conversion: "Conversion", colors: Sequence[str]) -> list[Lane]:
    units, speech = conversion.units, conversion.converted
    label = f"{model} · {conversion.bits_per_second:.0f} bit/s · {len(units.codes)} units"
    return [
        UnitCells(label, tuple(units.codes.tolist()), units.step, colors),
        Spectrogram.of(label, speech.log_mel, len(speech.waveform) / speech.sample_rate),
    ]
