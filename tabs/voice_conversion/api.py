"""Voice conversion for programs: /convert, /encode and /decode, with files and JSON only."""

import json
from dataclasses import dataclass
from typing import Any

import gradio as gr

from pipelines.voice_conversion.units import Units
from tabs.shared.events import MODEL_QUEUE, QUICK_QUEUE, answering
from tabs.voice_conversion.events import Models
from tabs.voice_conversion.view import numbers, wav


@dataclass(frozen=True)
class ConversionAPI:
    """The endpoints. Errors of the input reach the client as gr.Error, with what to do."""

    models: Models

    @answering
    def convert(
        self, audio: str, target: str, model: str, vocoder: str
    ) -> tuple[bytes, dict[str, Any], str]:
        """Convert speech to another voice.

        Args:
            audio: a recording of speech, 0.1 to 60 s.
            target: the voice: SF1, TF2, SM1, TM3 or S1.
            model: vqvae-512, vqvae-256, vqvae-128 or vqvae-64.
            vocoder: griffin-lim or neural.

        Returns:
            speech: the converted speech, a 16 kHz WAV file.
            units: the discovered units, as /decode takes them: {"model": name, "fingerprint": of
                its codebook, "step": seconds a unit, "codes": list of int, -1 for silence}.
            numbers: units, bit/s, compression and computing time, in words.
        """
        conversion = self.models.pipeline(model)(audio, target, vocoder)
        return wav(conversion.converted), _document(conversion.units), numbers(conversion)

    @answering
    def encode(self, audio: str, model: str) -> dict[str, Any]:
        """Encode speech as discovered units.

        Args:
            audio: a recording of speech, 0.1 to 60 s.
            model: vqvae-512, vqvae-256, vqvae-128 or vqvae-64.

        Returns:
            units: {"model", "fingerprint", "step", "codes"}, as /convert returns them.
        """
        _, units, _ = self.models.pipeline(model).encode(audio)
        return _document(units)

    @answering
    def decode(self, units: dict[str, Any], target: str, vocoder: str) -> bytes:
        """Synthesise units, which may have been edited, in a voice.

        Args:
            units: {"model", "fingerprint", "step", "codes"}, as /convert returns them.
            target: the voice: SF1, TF2, SM1, TM3 or S1.
            vocoder: griffin-lim or neural.

        Returns:
            speech: a 16 kHz WAV file.
        """
        parsed = Units.from_json(json.dumps(units))
        return wav(self.models.pipeline(parsed.model).decode(parsed, target, vocoder))


def declare(
    models: Models, audio: gr.Audio, voice: gr.HTML, model: gr.Radio, vocoder: gr.Radio
) -> None:
    """Adds the endpoints to the page. Their inputs have the types of the tab's components."""
    api = ConversionAPI(models)
    with gr.Row(visible=False):
        call = gr.Button()
        speech = gr.Audio(label="speech")
        units = gr.JSON(label="units")
        line = gr.Textbox(label="numbers")
    run = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1}
    call.click(
        api.convert,
        [audio, voice, model, vocoder],
        [speech, units, line],
        api_name="convert",
        **run,
    )
    call.click(api.encode, [audio, model], units, api_name="encode", **run)
    quick = {**run, "concurrency_id": QUICK_QUEUE}
    call.click(api.decode, [units, voice, vocoder], speech, api_name="decode", **quick)


def _document(units: Units) -> dict[str, Any]:
    return json.loads(units.to_json())
