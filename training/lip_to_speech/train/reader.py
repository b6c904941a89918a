"""Train a reader of lips to draw speech, and to read the words.

Shapes: B batch, F frames of 40 ms, S mel frames of 10 ms, M mel bands, V size of a voice.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.lip_reader import Drawn, LipReader, LipReaderConfig
from models.voice_encoder import VoiceEncoder, VoiceEncoderConfig
from training.common.loop import device, fit, save
from training.lip_to_speech.data.batches import Batch, Clips
from training.lip_to_speech.data.encoded_clips import Seen
from training.lip_to_speech.train.stoi_loss import frames_apart
from training.lip_to_speech.train.vocoder_loss import Ear

BATCH: Final = 8
READING: Final = 0.3  # weight of the words that are read (CTC)
CHANGE: Final = 1.0  # of the change from frame to frame
VOICING: Final = 0.2
MELODY: Final = 1.0
# Of the word that is said in each frame: told so, the network finds the words many times sooner.
MOMENTS: Final = 0.5
HEARD: Final = 2.0  # weight of the intelligibility of the sound
NEPERS: Final = 2.5  # the deviation of log-mel frames: errors are in its unit


@dataclass(frozen=True)
class Stage:
    """start: the reader whose weights it goes on from, where they fit; painted: whether it sees the
    painted talkers too; ear: the vocoder from whose sound it learns, if any; films: the real ones,
    of ``prepare`` or of ``sync``; envelopes: the weight of the intelligibility of the frames;
    looks: if any, the eye stays as it is, and looks so many times at each film; half: 0 or 1,
    where only every second film is seen, from the first or the second on; contrast: of what it
    draws, afterwards; for parallel decoders."""

    config: LipReaderConfig
    steps: int
    learning_rate: float = 7e-4
    start: str = ""
    painted: bool = False
    ear: str = ""
    films: str = "clips"
    envelopes: float = 1.0
    looks: int = 0
    half: int | None = None
    contrast: float = 1.0


def train_reader(run: Path, name: str, stage: Stage) -> None:
    """Train on the arrays of ``prepare`` and the voices of run/voices.pt; write run/name.pt."""
    films = [stage.films] + (["painted"] if stage.painted else [])
    train = Clips([run / f"{name}.npz" for name in films], "train")
    if stage.half is not None:
        train.keep(slice(stage.half, None, 2))
    val = Clips([run / "clips.npz"], "val")
    voices = load_voices(run)
    network = LipReader(stage.config).to(device())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if stage.start:
        _go_on(network, run / f"{stage.start}.pt")
    ear = Ear(run / f"{stage.ear}.pt").to(device()) if stage.ear else None
    eye = network.eye.eval()
    if stage.looks:
        train, val = Seen(train, eye, stage.looks), Seen(val, eye, 1)
        network.eye = nn.Identity()

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = _on_device(train.batch(BATCH, generator))
        states, words = network.watch(batch.crops, batch.points)
        drawn = network.draw(
            states, words, voices(batch.log_mel), batch.log_mel.shape[1], batch.log_mel
        )
        losses = _losses(drawn, words, batch)
        losses["envelopes"] = stage.envelopes * losses["envelopes"]
        heard = [HEARD * ear(drawn, batch)] if ear else []
        return torch.stack([*losses.values(), *heard]).sum()

    result = fit(
        network,
        step_loss,
        lambda: held_out(network, val, voices)["mel"],
        run / f"{name}-state.pt",
        stage.steps,
        stage.learning_rate,
        weight_decay=0.05,
    )
    if stage.contrast != 1:
        _sharpen(network, val, voices, stage.contrast)
    result |= held_out(network, val, voices)
    network.eye = eye
    save(run, name, stage.config, network, result)


@torch.inference_mode()
def _sharpen(network: LipReader, clips: Clips, voices: VoiceEncoder, contrast: float) -> None:
    """Give the drawn frames so many times their distance from the mean frame, by the weights of the
    last layer. The mean is that of the validation films. Loud moments become louder beside quiet
    ones than they are in speech."""
    network.eval()
    means = []
    for first in range(0, len(clips), BATCH):
        batch = _on_device(clips.rows(first, first + BATCH))
        states, words = network.watch(batch.crops, batch.points)
        drawn = network.draw(states, words, voices(batch.log_mel), batch.log_mel.shape[1])
        means.append(drawn.log_mel.mean(dim=(0, 1)))
    config, out = network.config, network.decoder.out
    mean = (torch.stack(means).mean(dim=0) - config.mean) / config.deviation
    out.weight[: config.n_mels] *= contrast
    out.bias[: config.n_mels] = contrast * out.bias[: config.n_mels] + (1 - contrast) * mean


def _go_on(network: LipReader, path: Path) -> None:
    """Take the weights of a trained reader; those of another kind of decoder do not fit."""
    own, trained = network.state_dict(), torch.load(path, weights_only=True)["network"]
    fitting = {
        key: value for key, value in trained.items() if key in own and own[key].shape == value.shape
    }
    network.load_state_dict(own | fitting)


@torch.inference_mode()
def held_out(network: LipReader, clips: Clips, voices: VoiceEncoder) -> dict[str, float]:
    """Losses on clips in their order, undisturbed, without hearing what was really said."""
    network.eval()
    sums: dict[str, float] = {}
    for first in range(0, len(clips), BATCH):
        batch = _on_device(clips.rows(first, first + BATCH))
        states, words = network.watch(batch.crops, batch.points)
        drawn = network.draw(states, words, voices(batch.log_mel), batch.log_mel.shape[1])
        losses = _losses(drawn, words, batch)
        for name, loss in losses.items():
            sums[name] = sums.get(name, 0.0) + loss.item() * len(batch.words) / len(clips)
    network.train()
    print({name: round(value, 4) for name, value in sums.items()}, flush=True)
    return sums


def _losses(drawn: Drawn, words: Tensor, batch: Batch) -> dict[str, Tensor]:
    return {
        "mel": _distance(drawn, batch),
        "envelopes": frames_apart(drawn.log_mel, batch.log_mel),
        **_melody(drawn, batch),
        "words": READING * _reading(words, batch),
        "moments": MOMENTS * F.cross_entropy(words.flatten(0, 1).float(), batch.spoken.flatten()),
    }


def _distance(drawn: Drawn, batch: Batch) -> Tensor:
    """Mean absolute difference of the frames, and of their change."""
    made, real = drawn.log_mel / NEPERS, batch.log_mel / NEPERS
    change = F.l1_loss(made.diff(dim=1), real.diff(dim=1))
    return F.l1_loss(made, real) + CHANGE * change


def _melody(drawn: Drawn, batch: Batch) -> dict[str, Tensor]:
    voicing = F.binary_cross_entropy_with_logits(drawn.voicing, batch.voiced)
    away = (drawn.melody - batch.melody).abs() * batch.voiced
    melody = away.sum() / batch.voiced.sum().clamp(min=1)
    return {"voicing": VOICING * voicing, "melody": MELODY * melody}


def _reading(words: Tensor, batch: Batch) -> Tensor:
    count, length = words.shape[:2]
    return F.ctc_loss(
        words.float().log_softmax(dim=-1).transpose(0, 1),
        batch.words,
        torch.full((count,), length),
        torch.full((count,), batch.words.shape[1]),
    )


def load_reader(path: Path) -> LipReader:
    """A trained reader, to be used as it is, on the CPU."""
    saved = torch.load(path, weights_only=True)
    network = LipReader(LipReaderConfig(**saved["config"]))
    network.load_state_dict(saved["network"])
    return network.eval()


def load_voices(run: Path) -> VoiceEncoder:
    saved = torch.load(run / "voices.pt", weights_only=True)
    network = VoiceEncoder(VoiceEncoderConfig(**saved["config"])).to(device())
    network.load_state_dict(saved["network"])
    return network.eval().requires_grad_(False)


def _on_device(batch: Batch) -> Batch:
    parts = {name: value.to(device()) for name, value in vars(batch).items()}
    return replace(batch, **parts)
