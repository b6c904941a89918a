"""Export trained networks as checkpoints, calibrated on validation speakers."""

import json
from pathlib import Path
from typing import Any, Final

import torch

from earshot.systems.words import Words
from training.common.checkpoints import update_metrics, write_weights
from training.common.commands import front_end_of
from training.common.sounds import TRAINING_FOLDS
from training.words.calibration import calibration, in_conditions
from training.words.recipe import (
    DURATIONS,
    ENSEMBLES,
    MEASURED,
    OVER_STATES_STAGES,
    SHIPPED,
    STAGES,
)
from training.words.recordings import (
    load_recordings,
    phonemes_of,
    unrecorded_words,
    validation_items,
    word_items,
)
from training.words.states.arrays import LAYERS, on_states, read_basis
from training.words.states.train import NETWORKS
from training.words.test_set import noises

N_UNRECORDED: Final = 1000  # words, on which probabilities are fitted


def export(data: Path, run: Path, out: Path) -> None:
    """Write the shipped checkpoints to ``out``, and those for comparison, which may be too large to
    push, to run/validation.

    The config gets the temperature of the softmax over written words, the cosine of an unknown
    word, and the operating curve, all measured on validation speakers, the first two also in noise
    and on words concatenated from their recordings; evaluate --part calibration fits those of the
    default anew.
    """
    if not any((run / f"{network}.pt").exists() for network in MEASURED.values()):
        return
    items = word_items(data)
    vocabulary = sorted({phonemes_of(item) for item in items})
    recordings = list(load_recordings(validation_items(items)))
    concatenated = unrecorded_words(recordings, vocabulary, N_UNRECORDED)
    queries = list(in_conditions([*recordings, *concatenated], noises(data, TRAINING_FOLDS)))
    # The members of an ensemble are exported first: it is calibrated together with them.
    for name, network in sorted(MEASURED.items(), key=lambda item: item[0] in ENSEMBLES):
        if not (run / f"{network}.pt").exists():
            continue
        ships = name in SHIPPED
        folder = (out if ships else run / "validation") / name
        saved: dict[str, Any] = torch.load(run / f"{network}.pt", weights_only=True)
        config: dict[str, Any] = {"name": name, "network": saved["config"]}
        if front_end := front_end_of(run):
            config["front_end"] = front_end
        if name in ENSEMBLES:
            config |= {
                "ensemble_with": ENSEMBLES[name],
                "g2p": "g2p",
                "durations": DURATIONS,
            }
        write_weights(folder, config, saved["network"], limited=ships)
        config |= calibration(Words.from_pretrained(folder, "cpu"), recordings, queries, vocabulary)
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        members = [other for other in ENSEMBLES.get(name, ()) if other in MEASURED]
        networks = [network, *(MEASURED[other] for other in members)]
        parts = {part: _result(run, part) for each in networks for part in _lineage(each)}
        validation = {
            part: {k: v for k, v in result.items() if k not in ("hours", "score", "steps")}
            for part, result in parts.items()
        }
        hours = {part: round(result["hours"], 2) for part, result in parts.items()}
        update_metrics(folder, {"training_hours": hours, "validation": validation})


def export_states(run: Path, out: Path) -> None:
    """Write the checkpoints of the networks over states, of the last stage that was trained. They
    encode the recogniser's own states: what prepare and train did to these becomes part of the
    first layer."""
    trained = [name for name in OVER_STATES_STAGES if (run / f"{name}-whole.pt").exists()]
    if not trained:
        return
    basis = read_basis(run)
    for network, name in NETWORKS.items():
        results = {stage: _result(run, f"{stage}-{network}") for stage in trained}
        saved: dict[str, Any] = torch.load(run / f"{trained[-1]}-{network}.pt", weights_only=True)
        weights = on_states(saved["network"], results[trained[-1]]["scale"], basis)
        sizes = saved["config"] | {"n_mels": weights["frames.weight"].shape[1]}
        config = {"name": name, "network": sizes, "recogniser_layers": list(LAYERS)}
        write_weights(out / name, config, {key: weight.cpu() for key, weight in weights.items()})
        hours = {stage: result["hours"] for stage, result in results.items()}
        update_metrics(out / name, {"training_hours": hours})


def _lineage(name: str) -> list[str]:
    """List the stages that a network was trained in, its own last."""
    start = STAGES[name][1].start
    return [*(_lineage(start) if start else []), name]


def _result(run: Path, name: str) -> dict[str, float]:
    return json.loads((run / f"{name}.json").read_text())
