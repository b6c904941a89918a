"""The model cards of voice conversion, from what is in metrics.json."""

import json
from pathlib import Path
from typing import Any, Final

from training.evaluators.report import markdown

MODEL: Final = """\
---
license: cc-by-sa-4.0
tags: [voice-conversion, unit-discovery, vq-vae]
---
# {name}: {size} discovered units, {rate:g} a second

A Transformer VQ-VAE that finds discrete units in speech without any text, and an inverter that
speaks them in five voices: SF1, TF2 (women), SM1, TM3 (men) and S1 (GRID's talker 1, a man). After
Tjandra, Sakti and Nakamura (ZeroSpeech 2020, arXiv:2005.11676).

{inverter}

    VoiceConversion.from_pretrained("checkpoints/{name}")("speech.wav", target="TF2")

## Training

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion train --out OUT
    python -m training.voice_conversion export --out OUT

Seed 0, on {cores}; hours by part: {hours}.

198 minutes of speech by 1,187 speakers (whom a corpus
does not name counts as a speaker of one recording): npVCC2016, GRID, Speech Commands sample and
Arabic Speech Commands (CC BY 4.0), DSPSpeech-20 (MIT), Picovoice commands and wake words
(Apache-2.0), Free Spoken Digit Dataset (CC BY-SA 4.0, the strictest, and therefore the licence of
these weights). The inverter learned from 53 minutes of the five voices.

## Results

On recordings that were never trained on (see the README of the project for how they are made):

{results}

## Limits

Trained on read English, commands and single words, recorded close to the microphone. Strong noise,
music, several talkers at once, singing and whispering come out as babble. The melody is guessed
from the units: questions may end like statements.
"""
VOCODER: Final = """\
---
license: cc-by-4.0
tags: [vocoder]
---
# vocoder: log-mel spectrogram and pitch → waveform at 16 kHz

ConvNeXt blocks at 100 frames a second, as in Vocos (Siuzdak 2023, arXiv:2306.00814), shape pulses
at the given pitch, and noise, in the short-time Fourier domain. 80 mel bands, 40 ms window, 10 ms
hop.

## Training

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion train --out OUT
    python -m training.voice_conversion export --out OUT

Seed 0, on {cores}; hours by part: {hours}. On the real spectrograms and pitch of 53 minutes of five
voices of npVCC2016 and GRID (both CC BY 4.0), with spectral losses only.

## Results

{results}

## Limits

It knows five voices; others keep their words but may sound rough. Griffin-Lim measures as well or
slightly better, and is the default of the app.
"""
PAPERS_INVERTER: Final = "This is the paper's inverter: linear spectrograms, for Griffin-Lim."
OUR_INVERTER: Final = (
    "Unlike the paper's, the inverter makes the melody first and gives log-mel spectrograms, and "
    "the units are trained to be the same for disturbed copies of the same speech."
)
CORES: Final = "2 cores of a CPU (AMD EPYC)"


def publish(rows: list[dict[str, Any]], checkpoints: Path) -> None:
    """Write each system's results into its metrics.json, and all the model cards."""
    for folder in sorted(checkpoints.iterdir()):
        own = [row for row in rows if row["system"].split(",")[0] == folder.name]
        if folder.name == "vocoder":
            own = [row for row in rows if row["system"].startswith("copy synthesis")]
        if not own:
            continue
        path = folder / "metrics.json"
        metrics = {**json.loads(path.read_text()), "results": own}
        path.write_text(json.dumps(metrics, indent=2) + "\n")
        config = json.loads((folder / "config.json").read_text())
        (folder / "README.md").write_text(_card(config, metrics["training"], own))


def _card(config: dict[str, Any], training: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    hours = ", ".join(f"{part} {told['hours']:.2f}" for part, told in training.items())
    hours += f"; together {sum(told['hours'] for told in training.values()):.1f}"
    common = {"cores": CORES, "hours": hours, "results": markdown(rows)}
    if "vqvae" not in config:
        return VOCODER.format(**common)
    stride = 1
    for factor in config["vqvae"]["strides"]:
        stride *= factor
    return MODEL.format(
        name=config["name"],
        size=config["vqvae"]["codebook_size"],
        rate=100 / stride,
        inverter=OUR_INVERTER if config["inverter"]["pitch"] else PAPERS_INVERTER,
        **common,
    )
