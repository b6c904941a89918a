"""Write trained networks as the checkpoints that the systems load."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.vqvae import VQVAEConfig
from training.common.checkpoints import update_metrics, write_weights
from training.common.commands import front_end_of
from training.voice_conversion.conversion import VOCODER
from training.voice_conversion.networks import Sizes, System
from training.voice_conversion.speech import (
    HEART,
    TARGET_VOICES,
    LogMel,
    Speech,
    Windows,
    pitch_statistics,
)

SHIPPED: Final = {  # speaker → name
    **{name: name for name in TARGET_VOICES},
    "en1": "Nell",
    "fr1": "Odile",
    "ru1": "Vera",
    HEART: "Heart",
}
REFERENCES: Final = 64  # windows of a voice, of whose vectors the mean is shipped
WINDOW: Final = 256  # frames
NAME: Final = "any-voice"
INVERTER: Final = "any-voice-inverter"
UNITS_512, UNITS_256 = ("plain-512", "vqvae-512"), ("plain-512", "vqvae-512", "vqvae-256")
FIRST: Final = ("inverter-first", "inverter-256-first")
# Checkpoint → its VQ-VAE and its inverter, as named in the recipe, each after those it starts from.
BASELINES: Final = {
    "vqvae-64": ((*UNITS_256, "vqvae-64"), (*FIRST, "inverter-64")),
    "vqvae-128": ((*UNITS_256, "vqvae-128"), (*FIRST, "inverter-128")),
    "vqvae-256": (UNITS_256, (*FIRST, "inverter-256")),
    "vqvae-512": (UNITS_512, ("inverter-first", "inverter-second", "inverter-512")),
    "vqvae-512-paper": (("paper-512",), ("inverter-paper-512",)),
}
FRONT_END: Final = {
    "kmeans-front-end": (("kmeans",), ("inverter-kmeans",)),
    "vqvae-front-end": (("vq",), ("inverter-vq",)),
}


def export(run: Path, out: Path) -> None:
    """Write any-voice and its inverter below ``out``, and the vocoder where it was trained."""
    if (run / f"{VOCODER}.pt").exists():
        config, weights, result = _read(run, VOCODER)
        write_weights(out / VOCODER, config, weights)
        update_metrics(out / VOCODER, {"training": {VOCODER: _length(result)}})
    if not (run / "conversion.pt").exists():
        return
    _, weights, result = _read(run, "conversion")
    sizes, system = Sizes(), System(len(weights["pitch_mean"])).eval()
    system.load_state_dict(weights)
    speech = Speech.load(run / "train", torch.device("cpu"))
    voices = shipped_voices(system, speech, LogMel(run / "constants.npz"))
    shipped = system.shipped()
    inner = [name for name in shipped if name.startswith("inverter.")]
    inverter = {name.removeprefix("inverter."): shipped[name] for name in inner}
    others = {name: weight for name, weight in shipped.items() if name not in inner}
    config = {
        "name": NAME,
        "vocoder": VOCODER,
        "mel_inverter": INVERTER,
        "voices": [name for speaker, name in SHIPPED.items() if speaker in speech.speakers],
        "adapter": asdict(sizes.adapter),
        "bottleneck": asdict(sizes.bottleneck),
        "reference": asdict(sizes.reference),
        "contour": {
            "content_width": sizes.inverter.content_width,
            "voice_width": sizes.inverter.voice_width,
        },
    }
    write_weights(out / NAME, config, others | voices)
    write_weights(out / INVERTER, asdict(sizes.inverter), inverter)
    for folder in (NAME, INVERTER):
        update_metrics(out / folder, {"training": {"conversion": _length(result)}})


def _length(result: dict[str, float]) -> dict[str, float]:
    return {"steps": result["steps"], "hours": result["hours"]}


@torch.no_grad()
def shipped_voices(system: System, speech: Speech, log_mel: LogMel) -> dict[str, Tensor]:
    """Compute the voices that travel with the checkpoint: vectors (N, V), log-F0 mean and std
    (N,).
    """
    torch.manual_seed(0)
    windows = Windows(speech, WINDOW)
    numbers = torch.tensor([speech.speakers.index(s) for s in SHIPPED if s in speech.speakers])
    vectors = []
    for number in numbers:
        own = (speech.speaker == number).nonzero()[:1, 0]
        starts = windows.same_speaker(own.expand(REFERENCES))
        mel = system.inverter.normalize(log_mel(speech.samples(starts, WINDOW)))
        vector = system.reference(mel).mean(dim=0)
        vectors.append(F.layer_norm(vector, vector.shape))
    mean, std = pitch_statistics(speech)
    return {
        "voices.vector": torch.stack(vectors),
        "voices.pitch_mean": mean[numbers],
        "voices.pitch_std": std[numbers],
    }


def export_baselines(run: Path, out: Path) -> None:
    """Write every baseline whose networks have been trained in ``run`` below ``out``."""
    for name, (units, inverter) in (FRONT_END if front_end_of(run) else BASELINES).items():
        if all((run / f"{part}.pt").exists() for part in (units[-1], inverter[-1])):
            _export_baseline(run, out / name, units[-1], inverter[-1])
            results = {part: _read(run, part)[2] for part in (*units, *inverter)}
            update_metrics(out / name, {"training": results})
    if (run / "vocoder.pt").exists():
        config, weights, result = _read(run, "vocoder")
        write_weights(out / "vocoder", config, weights)
        update_metrics(out / "vocoder", {"training": {"vocoder": result}})


def _export_baseline(run: Path, folder: Path, units: str, inverter: str) -> None:
    units_config, units_weights, _ = _read(run, units)
    inverter_config, inverter_weights, _ = _read(run, inverter)
    kind = "vqvae" if "strides" in units_config else "kmeans"
    if kind == "vqvae":
        # Only training needs the embeddings of the training speakers: their mean is exported.
        units_config = asdict(VQVAEConfig(**units_config | {"n_speakers": 1}))
        speakers = units_weights["speakers.weight"].mean(dim=0, keepdim=True)
        units_weights["speakers.weight"] = speakers
    config = {
        "name": folder.name,
        "vocoder": "vocoder",
        "voices": list(TARGET_VOICES),
        kind: units_config,
        "inverter": inverter_config,
    }
    if front_end := front_end_of(run):
        config["front_end"] = front_end
    write_weights(
        folder,
        config,
        {
            **{f"{kind}.{name}": weight for name, weight in units_weights.items()},
            **{f"inverter.{name}": weight for name, weight in inverter_weights.items()},
        },
    )


def _read(run: Path, name: str) -> tuple[dict[str, Any], dict[str, Tensor], dict[str, float]]:
    """Read a trained network: its config, its weights, and the result of its training."""
    saved = torch.load(run / f"{name}.pt", weights_only=True, map_location="cpu")
    return saved["config"], saved["network"], json.loads((run / f"{name}.json").read_text())
