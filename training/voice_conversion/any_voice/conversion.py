"""Train content encoder, bottlenecks, reference encoder and inverter together."""

from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import MFCC_FLOOR
from earshot.models.any_voice.inverter import Voices
from training.common.loop import device
from training.voice_conversion.any_voice.augment import augment
from training.voice_conversion.any_voice.data import Corpus
from training.voice_conversion.any_voice.loop import train
from training.voice_conversion.any_voice.system import (
    CHOSEN,
    Batch,
    Schedule,
    System,
    adapted_contour,
    relative_contour,
)
from training.voice_conversion.data.cepstra import Cepstra

WINDOW: Final = 200  # frames
BATCH: Final = 8
VALIDATED: Final = 64  # windows


def train_conversion(
    run: Path,
    name: str,
    steps: int,
    schedule: Schedule,
    start: str | None = None,
    learning_rate: float = 6e-4,
    seed: int = 0,
) -> None:
    """Train on the arrays of ``prepare`` in ``run`` up to step ``steps``: run/name.state.

    start: name of a finished training whose averaged weights initialise this one.
    """
    cepstra = Cepstra(run / "constants.npz")
    corpus, val = Corpus(run / "train", WINDOW), Corpus(run / "val", WINDOW)
    system = new_system(corpus, cepstra).to(device())
    if start:
        saved = torch.load(run / f"{start}.state", weights_only=True, map_location=device())
        system.load_state_dict(saved["average"])
    draw = torch.Generator().manual_seed(1)
    starts = val.draw(VALIDATED, draw)
    bands = cepstra(val.read("log_bands", starts))
    held_out = _batch(val, starts, val.same_speaker(starts, draw), bands)
    means, stds = val.speakers.pitch_mean, val.speakers.pitch_std
    pitch = (means[held_out.speaker].to(device()), stds[held_out.speaker].to(device()))
    held_out = held_out.to(device())

    def step_losses(step: int, generator: torch.Generator) -> dict[str, Tensor]:
        starts = corpus.draw(BATCH, generator)
        reference = corpus.same_speaker(starts, generator)
        bands = augment(corpus.read("log_bands", starts), generator)
        batch = _batch(corpus, starts, reference, cepstra(bands))
        chosen = torch.zeros(BATCH, dtype=torch.long)
        if step >= schedule.units:
            chosen = torch.multinomial(
                torch.tensor(CHOSEN), BATCH, replacement=True, generator=generator
            )
        return system.losses(batch.to(device()), chosen.to(device()), step, schedule)

    def validate(average: nn.Module) -> dict[str, float]:
        assert isinstance(average, System)
        return measure(average, held_out, *pitch)

    train(system, step_losses, validate, run, name, steps, learning_rate, seed=seed)


def new_system(corpus: Corpus, cepstra: Cepstra) -> System:
    """An untrained system with the statistics of the corpus in its buffers."""
    torch.manual_seed(0)
    system = System(cepstra, len(corpus.speakers.names))
    system.pitch_mean.copy_(corpus.speakers.pitch_mean)
    system.pitch_std.copy_(corpus.speakers.pitch_std)
    starts = corpus.draw(400, torch.Generator().manual_seed(0))
    bands, mel = corpus.read("log_bands", starts), corpus.read("log_mel", starts)
    features = cepstra(bands)
    level = features[..., 0]
    loud = level >= level.mean(dim=1, keepdim=True)
    system.content.feature_mean.copy_(features[loud].mean(dim=0))
    system.content.feature_std.copy_(features.flatten(0, 1).std(dim=0))
    system.inverter.output_mean.copy_(mel.mean(dim=(0, 1)))
    system.inverter.output_std.copy_(mel.flatten(0, 1).std(dim=0))
    system.bands.copy_(_band_weights(mel.flatten(0, 1), bands.flatten(0, 1)))
    return system


@torch.no_grad()
def measure(
    system: System, batch: Batch, pitch_mean: Tensor, pitch_std: Tensor
) -> dict[str, float]:
    """On speech of validation, for the continuous bottleneck and 512 units: how far the mel is,
    how much of the content comes back from conversions, and how often the classifier, trained
    beside, takes a conversion for its target rather than its source (by cosine to references)."""
    values = {}
    content = system.content(system.content.normalize(batch.features))
    vector = system.reference(system.inverter.normalize(batch.reference))
    voices = Voices(vector, pitch_mean, pitch_std)
    contour = relative_contour(batch.pitch, voices)
    real, said = system.inverter.normalize(batch.mel), system.encode_mel(batch.mel)
    order = torch.arange(len(real)).roll(len(real) // 2)
    targets = voices[order]
    moved = adapted_contour(contour, voices, targets)
    known = system.classifier.encoder(system.inverter.normalize(batch.reference))
    for name in ("continuous", "units-512"):
        number = system.bottleneck.config.names.index(name)
        chosen = torch.full((len(real),), number, device=real.device)
        passed, _ = system.bottleneck(content, chosen)
        values[f"mel {name}"] = F.l1_loss(system.inverter(passed, contour, voices, chosen), real)
        converted = system.inverter(passed, moved, targets, chosen)
        again = system.encode_mel(system.inverter.denormalize(converted))
        values[f"again {name}"] = F.mse_loss(again, said)
        vector = system.classifier.encoder(converted)
        to_target = F.cosine_similarity(vector, known[order])
        to_source = F.cosine_similarity(vector, known)
        values[f"nearer {name}"] = (to_target > to_source).float().mean()
    return {key: float(value) for key, value in values.items()}


def _band_weights(mel: Tensor, log_bands: Tensor) -> Tensor:
    """What the power of the mel bands (N, M) adds to that of the cepstra's bands (N, 40): (M, 40).

    Least squares without what is negative, then right in the median frame.
    """
    power, bands = (2 * mel.double()).exp(), log_bands.double().exp()
    weights = torch.linalg.lstsq(power, bands).solution.clamp(min=0)
    found = (power @ weights + MFCC_FLOOR).log()
    return weights * (log_bands - found).median(dim=0).values.exp()


def _batch(corpus: Corpus, starts: Tensor, reference: Tensor, features: Tensor) -> Batch:
    return Batch(
        features,
        corpus.read("log_mel", starts),
        corpus.read("log_mel", reference),
        corpus.read("pitch", starts),
        corpus.speaker[starts],
    )
