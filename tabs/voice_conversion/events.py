"""What the buttons of the voice conversion tab do."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from media.errors import InputError
from tabs.components.timeline.lanes import Lane, Spectrogram, UnitCells
from tabs.components.timeline.timeline import File, TimelineSpec, nothing
from tabs.shared.events import answering, inline, say
from tabs.voice_conversion import edits
from tabs.voice_conversion.example import read_finished
from tabs.voice_conversion.view import Result, numbers, wav

if TYPE_CHECKING:
    from pipelines.speech import Conversion
    from pipelines.voice_conversion import VoiceConversion
    from pipelines.voice_conversion.units import Units
    from study.design.draft import Take

FIRST: Final = (
    "Record or upload speech, or try an example: its spectrogram, the units that the model heard "
    "in it and its conversion appear here, on one time axis."
)


@dataclass(frozen=True)
class ConversionEvents:
    """Handlers that know the models by name; what a visitor made comes in and goes out."""

    pipelines: Callable[[str], "VoiceConversion"]
    models: Sequence[str]

    def pipeline(self, model: str) -> "VoiceConversion":
        """The pipeline of a model that is here, loaded if need be."""
        if model not in self.models:
            raise InputError(f"There is no model {model!r} here, only {', '.join(self.models)}.")
        return self.pipelines(model)

    def first_look(self) -> tuple:
        """What the result shows before the first run → result, sheet, numbers."""
        result = read_finished()
        if result is None:
            return None, nothing(FIRST), ""
        return result, result.sheet().value(), result.line()

    @inline(outputs=3)
    def convert(
        self,
        audio: str | None,
        target: str,
        model: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> tuple:
        """→ message, result, sheet, numbers."""
        progress(0.1, desc=f"Loading {model}")
        pipeline = self.pipeline(model)
        progress(0.4, desc=f"Listening, then speaking as {target}")
        conversion = pipeline(audio, target, vocoder)
        result = Result.of(conversion, pipeline, target, vocoder)
        return say(" ".join(conversion.notices)), result, result.sheet().value(), result.line()

    @inline(outputs=2)
    def edit(self, result: Result | None, event: gr.EventData) -> tuple:
        """→ message, result, sheet."""
        if result is None:
            raise InputError("There are no units yet. Convert something first.")
        action, cells, number = (event._data.get(key) for key in ("action", "cells", "number"))
        codes = result.units.codes
        if action == "undo":
            result = result.undone()
        elif action == "mute":
            result = result.edited(edits.mute(codes, cells))
        elif action == "delete":
            result = result.edited(edits.delete(codes, cells))
        elif action == "repeat":
            result = result.edited(edits.repeat(codes, cells, result.units.step))
        elif action == "replace":
            if not isinstance(number, int) or not 0 <= number < len(result.colors):
                raise InputError(f"Units are numbered from 0 to {len(result.colors) - 1}.")
            result = result.edited(edits.replace(codes, cells, number))
        return "", result, result.sheet().value()

    @inline(outputs=3)
    def speak(
        self,
        result: Result | None,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple:
        """Says the edited units → message, result, sheet, numbers."""
        if result is None:
            raise InputError("There are no units yet. Convert something first.")
        progress(0.3, desc=f"Speaking {len(result.units.codes)} units as {target}")
        speech = self.pipeline(result.units.model).decode(result.units, target, vocoder)
        result = result.respoken(speech, target, vocoder)
        return "", result, result.sheet().value(), result.line()

    @inline(outputs=3)
    def load(
        self,
        file: str,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> tuple:
        """Says the units of a JSON file → message, result, sheet, numbers."""
        units = _units(Path(file).read_text(errors="replace"))
        progress(0.3, desc=f"Speaking {len(units.codes)} units as {target}")
        pipeline = self.pipeline(units.model)
        speech = pipeline.decode(units, target, vocoder)
        result = Result.loaded(units, speech, pipeline, target, vocoder)
        return "", result, result.sheet().value(), result.line()

    @inline(outputs=1)
    def sizes(
        self,
        result: Result | None,
        target: str,
        vocoder: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[tuple]:
        """The source that is shown through every model, one after the other → message, sheet."""
        if result is None or result.source is None:
            raise InputError("This needs a recording. Convert one first.")
        source = result.source
        lanes: list[Lane] = []
        tracks = [source.file("Source", "source")]
        for i, model in enumerate(self.models):
            progress((i, len(self.models)), desc=f"Through {model}", unit="sizes")
            pipeline = self.pipeline(model)
            conversion = pipeline(source.content, target, vocoder)
            lanes += _size_lanes(model, conversion, pipeline.colors)
            tracks.append(File(model, f"{model}.wav", wav(conversion.converted)))
            sheet = TimelineSpec(f"The same speech as {target} through every model", lanes, tracks)
            yield "", sheet.value()

    @answering
    def api_convert(self, audio: str, target: str, model: str, vocoder: str) -> tuple:
        """Speech in another voice → WAV file, units, line of numbers."""
        conversion = self.pipeline(model)(audio, target, vocoder)
        units = json.loads(conversion.units.to_json())
        return wav(conversion.converted), units, numbers(conversion)

    @answering
    def api_encode(self, audio: str, model: str) -> dict[str, Any]:
        """The units of speech, as /decode takes them."""
        _, units, _ = self.pipeline(model).encode(audio)
        return json.loads(units.to_json())

    @answering
    def api_decode(self, units: dict[str, Any], target: str, vocoder: str) -> bytes:
        """The speech of units, as a WAV file."""
        parsed = _units(json.dumps(units))
        return wav(self.pipeline(parsed.model).decode(parsed, target, vocoder))


def take(result: Result | None) -> "Take | None":
    """The conversion for a listening test, beside the recording it was made from; None where there
    is no recording."""
    if result is None or result.source is None:
        return None
    from study.design.draft import Take  # late, for it loads scipy

    units = result.spoken
    settings = {"model": units.model, "target": result.target, "vocoder": result.vocoder}
    return Take(
        system=" ".join(settings.values()),
        sound=result.converted.content,
        source=result.source.content,
        settings=settings | {"units": units.codes.tolist(), "numbers": result.numbers},
    )


def _units(text: str) -> "Units":
    from pipelines.voice_conversion.units import Units  # late, for it loads torch

    return Units.from_json(text)


def _size_lanes(model: str, conversion: "Conversion", colors: Sequence[str]) -> list[Lane]:
    units, speech = conversion.units, conversion.converted
    label = f"{model} · {conversion.bits_per_second:.0f} bit/s · {len(units.codes)} units"
    return [
        UnitCells(label, tuple(units.codes.tolist()), units.step, colors),
        Spectrogram.of(label, speech.log_mel, len(speech.waveform) / speech.sample_rate),
    ]
