"""The model cards of voice conversion, from what is in metrics.json."""

import json
from math import prod
from pathlib import Path
from typing import Any, Final

from earshot.media.constants import FRAMES_PER_SECOND
from earshot.systems.voice_conversion.settings import ANY_VOICE
from training.common.report import markdown, publish_table
from training.voice_conversion.evaluate.any_voice_card import PARTS, any_voice_card, is_any_voice

MODEL: Final = """\
---
license: cc-by-sa-4.0
tags: [voice-conversion, unit-discovery, vq-vae]
---
# {name}: {size} discovered units, {rate:g} a second

A Transformer VQ-VAE that discovers discrete units in speech without text, and an inverter from
units to spectrograms in five voices: SF1, TF2 (women), SM1, TM3 (men) and S1 (speaker 1 of GRID, a
man). After Tjandra, Sakti and Nakamura (ZeroSpeech 2020, arXiv:2005.11676).

{differs} See docs/voice_conversion.md for the whole system.

## Use

    from earshot import VoiceConversion
    VoiceConversion.from_pretrained("checkpoints/{name}")("speech.wav", target="TF2")

## Training data and licence

{speech} by {speakers} speakers, where a recording without a speaker label counts as a
speaker of its own:{more} npVCC2016, GRID, Speech Commands sample and Arabic Speech Commands (CC BY
4.0), DSPSpeech-20 (MIT), Picovoice commands and wake words (Apache-2.0), Free Spoken Digit Dataset
(CC BY-SA 4.0, the strictest, and therefore the licence of these weights). The inverter was trained
on 53 minutes of the five voices.

## Training procedure

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion train --out OUT
    python -m training.voice_conversion export --out OUT

Seed 0, on {cores}. Hours by part: {hours}.

## Evaluation

On recordings that were not trained on; docs/voice_conversion.md defines the metrics.

{results}

## Limits

Trained on read English, commands and single words, recorded close to the microphone. Strong noise,
music, overlapping speakers, singing and whispering are converted to babble. The intonation is
predicted from the units: questions may end like statements.
"""
VOCODER: Final = """\
---
license: cc-by-sa-4.0
tags: [vocoder]
---
# vocoder: log-mel spectrogram and F0 → waveform at 16 kHz

A source-filter vocoder. ConvNeXt blocks at 100 frames a second, as in Vocos (Siuzdak 2023,
arXiv:2306.00814), predict filters for a pulse train at the given F0 and for noise, applied in the
short-time Fourier domain. 80 mel bands, 40 ms window, 10 ms hop.

## Use

`VoiceConversion` loads it and calls it with `vocoder="neural"`.

## Training data and licence

Spectrograms and F0 of 251 speakers of LibriSpeech (CC BY 4.0) 40 %, of telephone prompts by four
others in English, French, Italian and Russian (CC BY-SA 3.0 and CC BY 3.0) 30 %, of npVCC2016 and
GRID (both CC BY 4.0) 15 % each.

## Training procedure

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion train vocoder --out OUT
    python -m training.voice_conversion export --out OUT

Multi-resolution STFT and log-mel losses; from step 1,500 on also a discriminator at each of three
resolutions, and the distance of their features. {steps:,} steps of 8 windows of 0.8 s; the rate
falls to zero over the last fifth. Seed 0, {hours:.1f} hours on one core of a CPU (AMD EPYC) that
other work shared.

## Evaluation

Copy synthesis of recordings that were not trained on; docs/voice_conversion.md defines the metrics.

{results}

## Limits

Trained on speech close to the microphone. Its phases are those of pulses: a voice that is hoarse or
creaks sounds smoother than it is.
"""
OURS: Final = {
    "differs": """\
Unlike the paper's, the inverter predicts a log-F0 contour first, and log-mel spectrograms; and a
contrastive loss makes the units the same for augmented views of the same speech.""",
    "cores": "2 cores of a CPU (AMD EPYC)",
    "speech": "198 minutes of speech",
    "speakers": "1,187",
    "more": "",
}
PAPERS: Final = {
    "differs": """\
The paper's model, to compare ours with: no contrastive loss, no augmented speech for the units, and
an inverter of linear spectrograms, which Griffin-Lim turns into sound. It was trained for as many
steps as vqvae-512, on more speech.""",
    "cores": "one core of a CPU (AMD EPYC) that other work shared",
    "speech": "332 minutes of speech",
    "speakers": "1,428",
    "more": """
LibriSpeech (CC BY 4.0), telephone prompts (CC BY-SA 3.0 and CC BY 3.0), Mandarin syllables (CC BY
3.0),""",
}
EVALUATION: Final = "evaluation"  # the networks that judge
VOCODER_NAME: Final = "vocoder"
BASELINES: Final = ("MFCC", "original")


def publish(rows: list[dict[str, Any]], checkpoints: Path, page: Path) -> None:
    """Write each system's results into its metrics.json, all the model cards, and the tables of
    the page: those of systems that were not measured now, from their metrics.json."""
    published = []
    for name in (EVALUATION, VOCODER_NAME, *_models(checkpoints)):
        folder = checkpoints / name
        own = [row for row in rows if _is_of(row, name)]
        path = folder / "metrics.json"
        metrics = json.loads(path.read_text())
        published += own or metrics["results"]
        if not own:
            continue
        metrics["results"] = own
        path.write_text(json.dumps(metrics, indent=2) + "\n")
        if name != EVALUATION:
            config = json.loads((folder / "config.json").read_text())
            (folder / "README.md").write_text(card(config, metrics["training"], own))
        for part, text in PARTS.items() if name == ANY_VOICE else ():
            if (checkpoints / part).is_dir():
                (checkpoints / part / "README.md").write_text(text)
    publish_table([row for row in published if "group" not in row], page, "results")
    publish_table([row for row in published if "group" in row], page, "open-results")


def _models(checkpoints: Path) -> list[str]:
    """List the checkpoints that convert, as in the table."""
    return [*sorted(folder.name for folder in checkpoints.glob("vqvae-*")), ANY_VOICE]


def _is_of(row: dict[str, Any], name: str) -> bool:
    """Say whether a row of the table is about the checkpoint of this name; baselines, to which none
    belongs, are kept with the networks that judge.
    """
    system = row["system"].split(",")[0]
    if name == ANY_VOICE:
        return is_any_voice(row)
    if name == VOCODER_NAME:
        return system == "copy synthesis"
    if name == EVALUATION:
        return system in BASELINES or system.startswith("k-means")
    return system == name


def card(config: dict[str, Any], training: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Write the card of a checkpoint: its config.json, the hours of each part, and its results."""
    if config.get("name") == ANY_VOICE:
        return any_voice_card(training, rows)
    if "vqvae" not in config:
        return VOCODER.format(results=markdown(rows), **training[VOCODER_NAME])
    hours = ", ".join(f"{part} {result['hours']:.2f}" for part, result in training.items())
    hours += f"; together {sum(result['hours'] for result in training.values()):.1f}"
    return MODEL.format(
        name=config["name"],
        size=config["vqvae"]["codebook_size"],
        rate=FRAMES_PER_SECOND / prod(config["vqvae"]["strides"]),
        hours=hours,
        results=markdown(rows),
        **(OURS if config["inverter"]["pitch"] else PAPERS),
    )
