"""The handlers of voice conversion: of the tab's events, and of the endpoints for programs, which
take files and JSON.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from earshot.core.errors import InputError
from earshot.provenance.detection import notices_of_mark
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.timeline import File, SoundLanes, TimelineSpec, nothing, wav
from earshot.tabs.shared.events import CONVERSION_QUEUE, Update, Values, answering, offer, say
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.voice_conversion.speaking import ALONE, Speaking, SpeakingInputs
from earshot.tabs.voice_conversion.view import (
    ConversionResult,
    apply_edit,
    numbers,
    read_finished,
)

if TYPE_CHECKING:
    from earshot.systems.voice_conversion import Conversion
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
        """Whether there are models that take any voice as their target."""
        return settings.CONTINUOUS in self.names

    @property
    def live(self) -> bool:
        """Whether a checkpoint that converts live is installed."""
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
        if result is None:
            return {self.components.lanes: nothing(FIRST)}
        return self._show(result, answer=False)

    def convert(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Iterator[Update]:
        """Convert the recording, or else what is shown; show it, play it, and look for a mark."""
        spoken = self.components.speaking.read(values)
        progress(0.1, desc=f"Loading {spoken.model}")
        pipeline = self.models.pipeline(spoken.model)
        progress(0.4, desc=f"Encoding, then speaking as {spoken.label}")
        result, conversion = self._converted(values, pipeline, spoken)
        notice = " ".join(conversion.notices)
        yield self._show(result, notice)
        if result.recording and (marks := notices_of_mark(conversion.source)):
            yield {self.components.message: say(" ".join([notice, *marks]).strip())}

    def change_voice(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Update]:
        """Convert what is shown, or the recording, to the voice that was chosen, and play it."""
        result: ConversionResult | None = values[self.components.result]
        recording: str | None = values[self.components.audio]
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(spoken.model)
        # Nobody has a tempo of their own, which units that were edited keep.
        anew = settings.NOBODY in (result.target if result else "", spoken.voice)
        if result and result.source and not result.past and anew:
            yield from self.convert(values, progress)
        elif result and (result.is_of(recording, pipeline) or not (recording or result.source)):
            yield self.speak(values, progress)
        else:
            yield from self.convert(values, progress)

    def in_all_voices(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Convert the recording, or what is shown, to every voice; they play one after another."""
        result: ConversionResult | None = values[self.components.result]
        recording: str | None = values[self.components.audio]
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(spoken.model)
        if result is None or result.source is None or not result.is_of(recording, pipeline):
            progress(0.1, desc="Encoding")
            result, _ = self._converted(values, pipeline, spoken)
        tracks, lanes = [], list(result.source_lanes())
        each = [replace(spoken, voice=voice, other=ALONE) for voice in pipeline.voices]
        for i, way in enumerate(each):
            progress((i, len(each)), desc=f"Speaking as {way.label}", unit="voices")
            sound = SoundLanes.of(result.speak(pipeline, way))
            tracks.append(sound.file(way.label, way.voice))
            lanes.append(sound.lanes(way.label)[0])
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
        data = event_data(event)
        if result is None:
            raise InputError(NO_UNITS)
        if data.get("action") == "undo":
            return self._show(result.undone(), answer=False)
        units = apply_edit(
            data.get("action"),
            result.units,
            data.get("cells", []),
            unit=data.get("number"),
            codebook_size=len(result.colors),
        )
        return self._show(result.edited(units), answer=False)

    def hear(self, values: Values, event: gr.EventData) -> Update:
        """Speak one unit of the palette for a moment."""
        result: ConversionResult | None = values[self.components.result]
        if result is None:
            raise InputError(NO_UNITS)
        spoken = self.components.speaking.read(values)
        pipeline = self.models.pipeline(result.units.model)
        count = round(UNIT_SECONDS / result.units.step)
        several = result.units.at(np.zeros(count, int))
        unit = apply_edit(
            "replace",
            several,
            range(count),
            unit=event_data(event).get("number"),
            codebook_size=len(result.colors),
        )
        speech = pipeline.decode(replace(unit, intonation=None), *spoken.arguments(pipeline))
        files = [File("unit", "unit.wav", wav(speech)).data()]
        sound = {"html": "", "files": files}
        return {self.components.message: "", self.components.unit_sound: sound}

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
        return self._show(result.respoken(result.speak(pipeline, spoken), spoken))

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

    def _converted(
        self, values: Values, pipeline: "Converter", spoken: Speaking
    ) -> tuple[ConversionResult, "Conversion"]:
        """Convert the recording, or the source that is shown: what the tab shows of it, and the
        conversion.

        Raises InputError where there is neither.
        """
        recording: str | None = values[self.components.audio]
        past: ConversionResult | None = values[self.components.result]
        sound = recording or (past.source.content if past and past.source else None)
        conversion = pipeline(sound, *spoken.arguments(pipeline))
        if past and not recording:  # what is shown has lost the metadata of its file
            origin = conversion.converted.origin
            origin = origin and replace(origin, ingredient=past.ingredient)
            speech = replace(conversion.converted, origin=origin)
            conversion = replace(conversion, converted=speech)
        return ConversionResult.of(conversion, pipeline, spoken, recording), conversion

    def _show(self, result: ConversionResult, notice: str = "", answer: bool = True) -> Update:
        return {
            self.components.message: say(notice),
            self.components.result: result,
            self.components.lanes: result.timeline(answer).value(),
            self.components.numbers: result.line(),
        }


@dataclass(frozen=True)
class ConversionAPI:
    """The endpoints. Errors of the input reach the client as gr.Error, with what to do."""

    models: Models

    @answering
    def convert(
        self, audio: str, target: str, model: str, vocoder: str, intonation: str
    ) -> tuple[bytes, dict[str, Any], str]:
        """Convert speech to another voice.

        Args:
            audio: a recording of speech, 0.1 to 60 s.
            target: the voice: SF1, TF2, SM1, TM3, S1, Nell, Odile, Vera or Heart. The page calls
                the first five Sophie, Tessa, Simon, Theo and Stan, which are understood, too; vqvae
                models have these alone. Or nobody, as /speak_as_nobody draws it.
            model: continuous, units-512x3, units-512x2, units-512, units-256, units-128, units-64,
                vqvae-512, vqvae-256, vqvae-128 or vqvae-64.
            vocoder: neural or griffin-lim.
            intonation: keep, the source's, or predicted. vqvae models predict it always.

        Returns:
            speech: the converted speech, a 16 kHz WAV file.
            units: the units, as /decode takes them: {"model": name, "fingerprint": of
                its codebook, "step": seconds a unit, "codes": list of int, -1 for silence; where
                the model has them "vectors", one a unit, and "intonation"; "edited": indices of
                the units that an edit put in; "notices": sentences about the recording. Of clean
                speech none says that it is not English: /transcribe does, where it is offered}.
            numbers: units, bit/s, compression and computing time, in words.
        """
        return self._converted(
            audio, model, Speaking(target, vocoder=vocoder, intonation=intonation)
        )

    @answering
    def speak_as_nobody(
        self, audio: str, strength: float, model: str
    ) -> tuple[bytes, dict[str, Any], str]:
        """Convert speech to a voice that is nobody's, drawn anew at each call.

        Args:
            audio: a recording of speech, 0.1 to 60 s.
            strength: how much of the speaker goes, from 0.2, a little, to 1.
            model: as /convert takes it, but none of vqvae.

        Returns:
            speech: as /convert returns it.
            units: as /convert returns them.
            numbers: as /convert returns them.
        """
        return self._converted(audio, model, Speaking(settings.NOBODY, strength=strength))

    def _converted(
        self, audio: str, model: str, spoken: Speaking
    ) -> tuple[bytes, dict[str, Any], str]:
        pipeline = self.models.pipeline(model)
        conversion = pipeline(audio, *spoken.arguments(pipeline))
        units = _document(
            conversion.units, (*conversion.notices, *notices_of_mark(conversion.source))
        )
        return wav(conversion.converted), units, numbers(conversion)

    @answering
    def encode(self, audio: str, model: str) -> dict[str, Any]:
        """Encode speech as units.

        Args:
            audio: a recording of speech, 0.1 to 60 s.
            model: continuous, units-512x3, units-512x2, units-512, units-256, units-128, units-64,
                vqvae-512, vqvae-256, vqvae-128 or vqvae-64.

        Returns:
            units: as /convert returns them.
        """
        source, units, notices = self.models.pipeline(model).encode(audio)
        return _document(units, (*notices, *notices_of_mark(source)))

    @answering
    def decode(self, units: dict[str, Any], target: str, vocoder: str, intonation: str) -> bytes:
        """Synthesise units, which may have been edited, in a voice.

        Args:
            units: as /convert returns them.
            target: the voice, as /convert takes it: SF1, TF2, SM1, TM3, S1, Nell, Odile, Vera or
                Heart. Or nobody, who has the tempo of the units.
            vocoder: neural or griffin-lim.
            intonation: keep, the source's, or predicted. vqvae models predict it always.

        Returns:
            speech: a 16 kHz WAV file.
        """
        parsed = Units.from_json(json.dumps(units))
        pipeline = self.models.pipeline(parsed.model)
        spoken = Speaking(target, vocoder=vocoder, intonation=intonation, strength=1.0)
        return wav(pipeline.decode(parsed, *spoken.arguments(pipeline)))


def declare_endpoints(
    models: Models,
    audio: gr.Audio,
    voice: gr.HTML,
    model: gr.Dropdown,
    vocoder: gr.Dropdown,
    intonation: gr.Dropdown,
    strength: gr.Slider,
) -> None:
    """Add the endpoints to the page. Their inputs have the types of the tab's components."""
    api = ConversionAPI(models)
    with gr.Row(visible=False):
        call = gr.Button()
        speech = gr.Audio(label="speech")
        units = gr.JSON(label="units")
        line = gr.Textbox(label="numbers")
    spoken = [vocoder, intonation]
    inputs, outputs = [audio, voice, model, *spoken], [speech, units, line]
    offer(call, api.convert, inputs, outputs, CONVERSION_QUEUE)
    offer(call, api.speak_as_nobody, [audio, strength, model], outputs, CONVERSION_QUEUE)
    offer(call, api.encode, [audio, model], units, CONVERSION_QUEUE)
    offer(call, api.decode, [units, voice, *spoken], speech)


def _document(units: Units, notices: Sequence[str]) -> dict[str, Any]:
    return json.loads(units.to_json()) | {"notices": list(notices)}
