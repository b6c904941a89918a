"""Write trained states as the checkpoints that the pipeline loads."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from earshot.models.any_voice.bottleneck import BottleneckConfig
from earshot.models.any_voice.content import ContentConfig
from earshot.models.any_voice.inverter import InverterConfig
from earshot.models.any_voice.reference import ReferenceConfig
from earshot.models.vocoder import VocoderConfig
from training.common.checkpoints import update_metrics, write_weights
from training.common.corpora import TARGET_VOICES
from training.voice_conversion.any_voice.conversion import WINDOW, new_system
from training.voice_conversion.any_voice.data import Corpus
from training.voice_conversion.any_voice.system import System
from training.voice_conversion.data.cepstra import Cepstra

SHIPPED: Final = {  # speaker → name
    **{name: name for name in TARGET_VOICES},
    "en1": "Nell",
    "fr1": "Odile",
    "ru1": "Vera",
}
REFERENCES: Final = 64  # windows of a voice, of whose vectors the mean is shipped
VOCODER: Final = "vocoder"
PARTS: Final = ("content", "bottleneck", "reference", "inverter", "contour")


def export(run: Path, out: Path) -> None:
    """Write any-voice, and the vocoder where there is a state of it, below ``out``."""
    corpus = Corpus(run / "train", WINDOW)
    system = new_system(corpus, Cepstra(run / "constants.npz")).eval()
    saved = _state(run, "conversion")
    system.load_state_dict(saved["average"])
    vectors, pitch_mean, pitch_std = shipped_voices(system, corpus)
    weights = {
        f"{part}.{name}": weight
        for part in PARTS
        for name, weight in getattr(system, part).state_dict().items()
    }
    weights |= {"voices.vector": vectors}
    weights |= {"voices.pitch_mean": pitch_mean, "voices.pitch_std": pitch_std}
    config = {
        "name": "any-voice",
        "vocoder": VOCODER,
        "voices": list(SHIPPED.values()),
        "content": asdict(ContentConfig()),
        "bottleneck": asdict(BottleneckConfig()),
        "reference": asdict(ReferenceConfig()),
        "inverter": asdict(InverterConfig()),
    }
    write_weights(out / "any-voice", config, weights)
    stages = {name: _state(run, name) for name in ("conversion-first", "conversion")}
    trained = {n: {"steps": s["step"], "hours": s["hours"]} for n, s in stages.items()}
    update_metrics(out / "any-voice", {"training": trained})
    if (run / f"{VOCODER}.state").exists():
        _export_vocoder(run, out / VOCODER)


@torch.no_grad()
def shipped_voices(system: System, corpus: Corpus) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors (N, V), and mean and standard deviation of log-F0 (N,), of the shipped voices."""
    generator = torch.Generator().manual_seed(0)
    numbers = torch.tensor([corpus.speakers.names.index(name) for name in SHIPPED])
    vectors = []
    for number in numbers:
        own = corpus.starts[corpus.speaker[corpus.starts] == number][:1]
        starts = corpus.same_speaker(own.expand(REFERENCES), generator)
        mel = system.inverter.normalize(corpus.read("log_mel", starts))
        vector = system.reference(mel).mean(dim=0)
        vectors.append(torch.nn.functional.layer_norm(vector, vector.shape))
    return torch.stack(vectors), system.pitch_mean[numbers], system.pitch_std[numbers]


def _export_vocoder(run: Path, folder: Path) -> None:
    saved = _state(run, VOCODER)
    weights = {
        name.removeprefix("vocoder."): weight
        for name, weight in saved["average"].items()
        if name.startswith("vocoder.")
    }
    write_weights(folder, asdict(VocoderConfig()), weights)
    trained = {"steps": saved["step"], "hours": saved["hours"]}
    update_metrics(folder, {"training": {VOCODER: trained}})


def _state(run: Path, name: str) -> dict[str, Any]:
    return torch.load(run / f"{name}.state", weights_only=True, map_location="cpu")
