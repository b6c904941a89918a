"""Voice conversion for programs: /convert, /encode and /decode, with files and JSON only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.timeline import wav
from earshot.tabs.shared.events import CONVERSION_QUEUE, QUICK_QUEUE, answering
from earshot.tabs.voice_conversion.events import Models
from earshot.tabs.voice_conversion.speaking import Speaking
from earshot.tabs.voice_conversion.view import numbers


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
            target: the voice: SF1, TF2, SM1, TM3, S1, Nell, Odile, Vera or Heart. vqvae models have
                the first five.
            model: continuous, units-512x3, units-512x2, units-512, units-256, units-128, units-64,
                vqvae-512, vqvae-256, vqvae-128 or vqvae-64.
            vocoder: neural or griffin-lim.
            intonation: keep, the source's, or predicted. vqvae models predict it always.

        Returns:
            speech: the converted speech, a 16 kHz WAV file.
            units: the units, as /decode takes them: {"model": name, "fingerprint": of
                its codebook, "step": seconds a unit, "codes": list of int, -1 for silence; where
                the model has them "vectors", one a unit, and "intonation"; "edited": indices of
                the units that an edit put in; "notices": sentences about the recording}.
            numbers: units, bit/s, compression and computing time, in words.
        """
        pipeline = self.models.pipeline(model)
        spoken = Speaking(target, vocoder=vocoder, intonation=intonation)
        conversion = pipeline(audio, *spoken.arguments(pipeline))
        units = _document(conversion.units, conversion.notices)
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
        _, units, notices = self.models.pipeline(model).encode(audio)
        return _document(units, notices)

    @answering
    def decode(self, units: dict[str, Any], target: str, vocoder: str, intonation: str) -> bytes:
        """Synthesise units, which may have been edited, in a voice.

        Args:
            units: as /convert returns them.
            target: the voice: SF1, TF2, SM1, TM3, S1, Nell, Odile, Vera or Heart. vqvae models have
                the first five.
            vocoder: neural or griffin-lim.
            intonation: keep, the source's, or predicted. vqvae models predict it always.

        Returns:
            speech: a 16 kHz WAV file.
        """
        parsed = Units.from_json(json.dumps(units))
        pipeline = self.models.pipeline(parsed.model)
        spoken = Speaking(target, vocoder=vocoder, intonation=intonation)
        return wav(pipeline.decode(parsed, *spoken.arguments(pipeline)))


def declare(
    models: Models,
    audio: gr.Audio,
    voice: gr.HTML,
    model: gr.Dropdown,
    vocoder: gr.Dropdown,
    intonation: gr.Dropdown,
) -> None:
    """Add the endpoints to the page. Their inputs have the types of the tab's components."""
    api = ConversionAPI(models)
    with gr.Row(visible=False):
        call = gr.Button()
        speech = gr.Audio(label="speech")
        units = gr.JSON(label="units")
        line = gr.Textbox(label="numbers")
    run = {"concurrency_id": CONVERSION_QUEUE, "concurrency_limit": 1}
    spoken = [vocoder, intonation]
    given = [audio, voice, model, *spoken]
    call.click(api.convert, given, [speech, units, line], api_name="convert", **run)
    call.click(api.encode, [audio, model], units, api_name="encode", **run)
    quick = {**run, "concurrency_id": QUICK_QUEUE}
    call.click(api.decode, [units, voice, *spoken], speech, api_name="decode", **quick)


def _document(units: Units, notices: Sequence[str]) -> dict[str, Any]:
    return json.loads(units.to_json()) | {"notices": list(notices)}
