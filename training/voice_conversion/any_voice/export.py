"""Write trained states as the checkpoints that the pipeline loads; needs only torch."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F

from training.common.checkpoints import update_metrics, write_weights
from training.voice_conversion.any_voice.conversion import VOCODER
from training.voice_conversion.any_voice.data import HEART, Speech, Windows, pitch_statistics
from training.voice_conversion.any_voice.log_mel import LogMel
from training.voice_conversion.any_voice.system import Sizes, System

SHIPPED: Final = {  # speaker → name
    **{name: name for name in ("SF1", "TF2", "SM1", "TM3", "S1")},
    "en1": "Nell",
    "fr1": "Odile",
    "ru1": "Vera",
    HEART: "Heart",
}
REFERENCES: Final = 64  # windows of a voice, of whose vectors the mean is shipped
WINDOW: Final = 256  # frames
NAME: Final = "any-voice"
INVERTER: Final = "any-voice-inverter"


def export(run: Path, out: Path) -> None:
    """Write any-voice and its inverter below ``out``, and the vocoder where it was trained."""
    if (run / f"{VOCODER}.pt").exists():
        _export_vocoder(run, out / VOCODER)
    if not (run / "conversion.pt").exists():
        return
    (saved, trained), sizes = _trained(run, "conversion"), Sizes()
    system = System(len(saved["network"]["pitch_mean"])).eval()
    system.load_state_dict(saved["network"])
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
        update_metrics(out / folder, {"training": {"conversion": trained}})


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


def _export_vocoder(run: Path, folder: Path) -> None:
    saved, trained = _trained(run, VOCODER)
    write_weights(folder, saved["config"], saved["network"])
    update_metrics(folder, {"training": {VOCODER: trained}})


def _trained(run: Path, name: str) -> tuple[dict[str, Any], dict[str, float]]:
    """Load a trained network with its config, and how many steps and hours its training took."""
    saved = torch.load(run / f"{name}.pt", weights_only=True, map_location="cpu")
    result = json.loads((run / f"{name}.json").read_text())
    return saved, {"steps": result["steps"], "hours": result["hours"]}
