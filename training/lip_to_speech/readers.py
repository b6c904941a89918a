"""Train the lip readers: one that predicts speech, with a CTC head that recognises the words; and
readers of words alone, that shall read people whom they never saw: front-end, conformer and CTC
head from random weights, on mouths changed far more.

Shapes: B batch, N frames of 40 ms, S mel frames of 10 ms, M mel bands, V size of a voice embedding,
H side of what a layer makes of a crop, C channels.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.text.grammar import GRID
from earshot.models.lip_to_speech import (
    LipReader,
    LipReaderConfig,
    Prediction,
    VisualFrontend,
    VoiceEncoder,
    VoiceEncoderConfig,
    WordReader,
    WordReaderConfig,
)
from training.common.checkpoints import load_matching_weights
from training.common.loop import device, fit, save
from training.lip_to_speech.augment import other_faces
from training.lip_to_speech.batches import Batch, Clips, EncodedClips
from training.lip_to_speech.losses import VocoderLoss, stoi_loss_mel

BATCH: Final = 8
CTC_WEIGHT: Final = 0.3
DELTA_WEIGHT: Final = 1.0  # of the frame-to-frame differences of the mel frames
VOICING_WEIGHT: Final = 0.2
LOG_F0_WEIGHT: Final = 1.0
# Cross-entropy of the word at each frame: with it, the CTC head converges many times sooner.
FRAME_WORD_WEIGHT: Final = 0.5
VOCODER_WEIGHT: Final = 2.0
MEL_STD: Final = 2.5  # nepers, std of log-mel frames: the unit of mel errors
CLEAN: Final = 0.25  # share of clips that are not changed
MIXUP_SHARE: Final = 0.5  # share of batches in which a layer's statistics are changed
NOISE: Final = 1e-6  # variance added to statistics, so that their root has a gradient


@dataclass(frozen=True)
class Stage:
    """One stage of the training of a reader. start: the reader whose weights it starts from, where
    their shapes fit; rendered: whether the synthetic heads are in the training set; vocoder: that
    of the vocoder loss, if any; videos: the recorded ones, of ``prepare`` or of ``av_sync``;
    stoi_weight: of the STOI loss of mel frames; views: if any, the front-end is frozen, and each
    clip encoded in so many augmented views; half: 0 or 1, to train on every second video only;
    mel_variance_scale: of the deviation of predicted frames from their mean, applied after training
    (parallel decoders only).
    """

    config: LipReaderConfig
    steps: int
    learning_rate: float = 7e-4
    start: str = ""
    rendered: bool = False
    vocoder: str = ""
    videos: str = "clips"
    stoi_weight: float = 1.0
    views: int = 0
    half: int | None = None
    mel_variance_scale: float = 1.0


def train_reader(run: Path, name: str, stage: Stage) -> None:
    """Train on the arrays of ``prepare`` and the voices of run/voices.pt; write run/name.pt."""
    videos = [stage.videos] + (["rendered"] if stage.rendered else [])
    train = Clips([run / f"{video}.npz" for video in videos], "train")
    if stage.half is not None:
        train.keep(slice(stage.half, None, 2))
    val = Clips([run / "clips.npz"], "val")
    voices = load_voices(run)
    network = LipReader(stage.config).to(device())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if stage.start:
        load_matching_weights(network, run / f"{stage.start}.pt")
    vocoder = VocoderLoss(run / f"{stage.vocoder}.pt").to(device()) if stage.vocoder else None
    frontend = network.frontend.eval()
    if stage.views:
        train, val = EncodedClips(train, frontend, stage.views), EncodedClips(val, frontend, 1)
        network.frontend = nn.Identity()

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = _on_device(train.batch(BATCH, generator))
        states, ctc_logits = network.encode(batch.crops)
        predicted = network.decode(
            states, ctc_logits, voices(batch.log_mel), batch.log_mel.shape[1], batch.log_mel
        )
        losses = reader_losses(predicted, ctc_logits, batch)
        losses["envelopes"] = stage.stoi_weight * losses["envelopes"]
        if vocoder:
            losses["vocoder"] = VOCODER_WEIGHT * vocoder(predicted, batch)
        return torch.stack([*losses.values()]).sum()

    result = fit(
        network,
        step_loss,
        lambda: held_out(network, val, voices)["mel"],
        run / f"{name}-state.pt",
        stage.steps,
        stage.learning_rate,
        weight_decay=0.05,
    )
    if stage.mel_variance_scale != 1:
        _scale_variance(network, val, voices, stage.mel_variance_scale)
    result |= held_out(network, val, voices)
    network.frontend = frontend
    save(run, name, stage.config, network, result)


@torch.inference_mode()
def _scale_variance(network: LipReader, clips: Clips, voices: VoiceEncoder, scale: float) -> None:
    """Scale the deviation of predicted frames from their mean over the validation clips, in the
    weights of the last layer. It lifts PESQ; the dynamics exceed those of reference speech."""
    network.eval()
    means = []
    for first in range(0, len(clips), BATCH):
        batch = _on_device(clips.rows(first, first + BATCH))
        states, ctc_logits = network.encode(batch.crops)
        frames = batch.log_mel.shape[1]
        predicted = network.decode(states, ctc_logits, voices(batch.log_mel), frames)
        means.append(predicted.log_mel.mean(dim=(0, 1)))
    config, out = network.config, network.decoder.out
    mean = (torch.stack(means).mean(dim=0) - config.mean) / config.std
    out.weight[: config.n_mels] *= scale
    out.bias[: config.n_mels] = scale * out.bias[: config.n_mels] + (1 - scale) * mean


@torch.inference_mode()
def held_out(network: LipReader, clips: Clips, voices: VoiceEncoder) -> dict[str, float]:
    """Compute the losses on clips in their order, neither augmented nor with teacher forcing."""
    network.eval()
    sums: dict[str, float] = {}
    for first in range(0, len(clips), BATCH):
        batch = _on_device(clips.rows(first, first + BATCH))
        states, ctc_logits = network.encode(batch.crops)
        frames = batch.log_mel.shape[1]
        predicted = network.decode(states, ctc_logits, voices(batch.log_mel), frames)
        for name, loss in reader_losses(predicted, ctc_logits, batch).items():
            sums[name] = sums.get(name, 0.0) + loss.item() * len(batch.words) / len(clips)
    network.train()
    print({name: round(value, 4) for name, value in sums.items()}, flush=True)
    return sums


def reader_losses(predicted: Prediction, ctc_logits: Tensor, batch: Batch) -> dict[str, Tensor]:
    """Compute the weighted losses of a prediction and its CTC logits (B, N, W): scalars by name,
    which are those in metrics.json. envelopes: the STOI loss; words: CTC; moments: the word at each
    frame.
    """
    frame_words = F.cross_entropy(ctc_logits.flatten(0, 1).float(), batch.spoken.flatten())
    return {
        "mel": _mel_loss(predicted, batch),
        "envelopes": stoi_loss_mel(predicted.log_mel, batch.log_mel),
        **_f0_losses(predicted, batch),
        "words": CTC_WEIGHT * ctc_loss(ctc_logits, batch.words),
        "moments": FRAME_WORD_WEIGHT * frame_words,
    }


def ctc_loss(ctc_logits: Tensor, words: Tensor) -> Tensor:
    """Compute the CTC loss (Graves et al. 2006) of the words (B, 6) of each clip, given logits (B,
    N, W): a scalar."""
    count, length = ctc_logits.shape[:2]
    return F.ctc_loss(
        ctc_logits.float().log_softmax(dim=-1).transpose(0, 1),
        words,
        torch.full((count,), length),
        torch.full((count,), words.shape[1]),
    )


def _mel_loss(predicted: Prediction, batch: Batch) -> Tensor:
    """Compute the mean absolute error of the mel frames, and of their frame-to-frame
    differences.
    """
    estimate, reference = predicted.log_mel / MEL_STD, batch.log_mel / MEL_STD
    deltas = F.l1_loss(estimate.diff(dim=1), reference.diff(dim=1))
    return F.l1_loss(estimate, reference) + DELTA_WEIGHT * deltas


def _f0_losses(predicted: Prediction, batch: Batch) -> dict[str, Tensor]:
    voicing = F.binary_cross_entropy_with_logits(predicted.voicing, batch.voiced)
    error = (predicted.log_f0 - batch.log_f0).abs() * batch.voiced
    log_f0 = error.sum() / batch.voiced.sum().clamp(min=1)
    return {"voicing": VOICING_WEIGHT * voicing, "log_f0": LOG_F0_WEIGHT * log_f0}


def load_reader(path: Path) -> LipReader:
    """Load a trained reader for inference, on the CPU."""
    saved = torch.load(path, weights_only=True, map_location="cpu")
    network = LipReader(LipReaderConfig(**saved["config"]))
    network.load_state_dict(saved["network"])
    return network.eval()


def load_voices(run: Path) -> VoiceEncoder:
    """Load the trained voice encoder of a run, frozen."""
    saved = torch.load(run / "voices.pt", weights_only=True, map_location=device())
    network = VoiceEncoder(VoiceEncoderConfig(**saved["config"])).to(device())
    network.load_state_dict(saved["network"])
    return network.eval().requires_grad_(False)


def _on_device(batch: Batch) -> Batch:
    parts = {name: value.to(device()) for name, value in vars(batch).items()}
    return replace(batch, **parts)


@dataclass(frozen=True)
class WordStage:
    """The training of a reader of words. left_out: speakers none of whose videos is trained on, and
    by whom it is validated instead: see calibration.py."""

    config: WordReaderConfig
    steps: int
    learning_rate: float = 1e-3
    left_out: tuple[str, ...] = ()
    seed: int = 0


def train_words(run: Path, name: str, stage: WordStage) -> None:
    """Train on the arrays of ``prepare``; write run/name.pt."""
    train = Clips([run / "clips.npz", run / "rendered.npz"], "train", other_faces)
    if stage.left_out:
        val = Clips([run / "clips.npz"], "train")
        val.keep(np.isin(val.arrays["speaker"], stage.left_out))
        train.keep(~np.isin(train.arrays["speaker"], stage.left_out))
    else:
        val = Clips([run / "clips.npz"], "val")
    network = WordReader(stage.config).to(device())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert isinstance(network.frontend, VisualFrontend)
    rng = np.random.default_rng(stage.seed)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(BATCH, generator, CLEAN)
        _, ctc_logits = network.encode(batch.crops.to(device()))
        frame_words = F.cross_entropy(
            ctc_logits.flatten(0, 1).float(), batch.spoken.flatten().to(device())
        )
        return CTC_WEIGHT * ctc_loss(ctc_logits, batch.words) + FRAME_WORD_WEIGHT * frame_words

    def mix(layer: nn.Module, _: tuple[Tensor, ...], x: Tensor) -> Tensor:
        return (
            with_mixed_statistics(x, BATCH) if layer.training and rng.random() < MIXUP_SHARE else x
        )

    hooks = [block.register_forward_hook(mix) for block in list(network.frontend.blocks)[:-1]]
    result = fit(
        network,
        step_loss,
        lambda: wrong_words(network, val),
        run / f"{name}-state.pt",
        stage.steps,
        stage.learning_rate,
        weight_decay=0.05,
        seed=stage.seed,
    )
    for hook in hooks:
        hook.remove()
    save(run, name, stage.config, network, result)


def with_mixed_statistics(x: Tensor, batch: int) -> Tensor:
    """Draw the mean and the standard deviation of each channel anew for each clip of a batch, about
    its own, as they vary in the batch: (B * N, C, H, H) → the same (Li et al. 2022, Uncertainty
    modeling for out-of-distribution generalization, Eqs. (3) to (7))."""
    clips = x.unflatten(0, (batch, -1))
    mean = clips.mean(dim=(1, 3, 4), keepdim=True)
    std = (clips.var(dim=(1, 3, 4), keepdim=True) + NOISE).sqrt()
    other_mean, other_std = (
        each + torch.randn_like(each) * (each.var(dim=0, keepdim=True) + NOISE).sqrt()
        for each in (mean, std)
    )
    return ((clips - mean) / std * other_std + other_mean).flatten(0, 1)


@torch.inference_mode()
def wrong_words(network: WordReader, clips: Clips) -> float:
    """Compute the share of wrong words of clips, one by one and not augmented: of each slot of the
    sentence the word that is most probable at any frame is read. Captions are a little better."""
    network.eval()
    ends = np.cumsum([len(slot) for slot in GRID])
    wrong = 0
    for row in range(len(clips)):
        batch = clips.rows(row, row + 1)
        _, logits = network.encode(batch.crops.to(device()))
        highest = logits[0].float().softmax(dim=-1)[:, 1:].amax(dim=0).cpu().numpy()
        slots = np.split(highest, ends[:-1])
        read = [end - len(slot) + slot.argmax() for end, slot in zip(ends, slots, strict=True)]
        wrong += int((np.array(read) + 1 != batch.words[0].numpy()).sum())
    network.train()
    return wrong / (len(clips) * len(GRID))


def load_word_reader(path: Path) -> WordReader:
    """Load a trained reader of words for inference, on the CPU."""
    saved = torch.load(path, weights_only=True, map_location="cpu")
    network = WordReader(WordReaderConfig(**saved["config"]))
    network.load_state_dict(saved["network"])
    return network.eval()
