"""Trained networks as checkpoints, calibrated on validation speakers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipelines.words import Words
from training.common.checkpoints import update_metrics, write_weights
from training.words.data.lexicon import FREQUENT, frequent
from training.words.data.recordings import Recorded, phonemes_of, recorded, validating, word_items
from training.words.evaluate.calibration import calibrate
from training.words.evaluate.metrics import operating_curve
from training.words.recipe import BESIDE, MEASURED, SHIPPED, STAGES


def export(data: Path, run: Path, out: Path) -> None:
    """Write the shipped checkpoint below ``out``, and those to compare it with below
    run/validation, which are too large to be pushed.

    Each has the temperature of its guesses, the cosine that another word is taken to have, and its
    operating curve, all of validation speakers.
    """
    items = word_items(data)
    vocabulary = sorted({phonemes_of(item) for item in items})
    held = list(recorded(validating(items)))
    # What stands beside another is there before that other is calibrated.
    for name, network in sorted(MEASURED.items(), key=lambda item: item[0] in BESIDE):
        if not (run / f"{network}.pt").exists():
            continue
        ships = name in SHIPPED
        folder = (out if ships else run / "validation") / name
        saved: dict[str, Any] = torch.load(run / f"{network}.pt", weights_only=True)
        config: dict[str, Any] = {"name": name, "network": saved["config"]}
        if name in BESIDE:
            config |= {"beside": BESIDE[name], "g2p": "g2p"}
        write_weights(folder, config, saved["network"], limited=ships)
        config |= _calibration(Words.from_pretrained(folder, "cpu"), held, vocabulary)
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        networks = [network, *(MEASURED[other] for other in BESIDE.get(name, ()))]
        parts = {part: _result(run, part) for each in networks for part in _lineage(each)}
        validation = {
            part: {k: v for k, v in result.items() if k not in ("hours", "score", "steps")}
            for part, result in parts.items()
        }
        hours = {part: round(result["hours"], 2) for part, result in parts.items()}
        update_metrics(folder, {"training_hours": hours, "validation": validation})


def _calibration(
    words: Words, held: list[Recorded], vocabulary: list[tuple[str, ...]]
) -> dict[str, Any]:
    spoken = words.embed_waveforms([word.waveform for word in held])
    labels = np.array([vocabulary.index(word.phonemes) for word in held])
    speakers = np.array([word.item.speaker for word in held])
    curve = operating_curve(spoken, labels, speakers)
    # Among as many written words as a visitor's word will be.
    written = list(dict.fromkeys([*vocabulary, *frequent(FREQUENT)]))
    temperature, another = calibrate(spoken, words.embed_phonemes(written), labels)
    guesses = {"temperature": round(temperature, 5), "another": round(another, 5)}
    return {**guesses, "operating_curve": curve}


def _lineage(name: str) -> list[str]:
    """The stages that led to a network, its own the last."""
    start = STAGES[name][1].start
    return [*(_lineage(start) if start else []), name]


def _result(run: Path, name: str) -> dict[str, float]:
    return json.loads((run / f"{name}.json").read_text())
