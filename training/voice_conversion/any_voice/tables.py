"""The tables that a training step reads: states of the recogniser and mels of all speech, computed
once.

Shapes: N frames of 10 ms of all recordings, U = N / 2 steps of 20 ms, V variants, D width of the
states, M mel bands, B batch.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from earshot.media.constants import HOP_LENGTH, N_FFT
from earshot.models.recogniser import RecogniserStates
from training.common.loop import half_precision
from training.voice_conversion.any_voice.augment import Halls, equalise
from training.voice_conversion.any_voice.data import Speech, speed

# How fast each variant of the speech is when the recogniser hears it, and whether it is in a hall.
# The first is the speech itself: its states are what conversions are compared with.
VARIANTS: Final = ((1.0, False), (0.93, False), (1.07, False), (0.97, True), (1.03, True))
PIECE: Final = 1024  # frames that the recogniser hears at once
BATCH: Final = 48
FLOOR: Final = 1e-5  # of the magnitude, as in media.audio.features


class LogMel(nn.Module):
    """A log-mel spectrogram of waveforms, as media.audio.features.log_mel makes it, on any
    device.
    """

    filters: Tensor
    window: Tensor

    def __init__(self, constants: Path) -> None:
        """Load the filters. constants: the file of ``prepare``."""
        super().__init__()
        with np.load(constants) as file:
            self.register_buffer("filters", torch.from_numpy(file["mel_filters"]).float())
        self.register_buffer("window", torch.hann_window(N_FFT))

    def forward(self, waveform: Tensor) -> Tensor:
        """Map waveforms (B, T) to (B, T / 160, M) in nepers: frame t is centred on sample 160 t."""
        spectrum = torch.stft(
            waveform,
            N_FFT,
            HOP_LENGTH,
            window=self.window,
            pad_mode="constant",
            return_complex=True,
        )
        mel = (self.filters @ spectrum.abs()).clamp(min=FLOOR).log()
        return mel.transpose(1, 2)[:, : waveform.shape[1] // HOP_LENGTH]


@dataclass(frozen=True)
class Tables:
    """The tables. states: float16 (V, U, D); mel: float16 (N, M), of the speech itself."""

    states: Tensor
    mel: Tensor

    def states_of(self, variants: Tensor, rows: Tensor) -> Tensor:
        """Look up states (B, S / 2, D) of frames (B, S), each row in its variant (B,)."""
        return self.states[variants[:, None], rows[:, ::2] // 2].float()


@torch.no_grad()
def tables(
    speech: Speech,
    recogniser: RecogniserStates,
    log_mel: LogMel,
    halls: Halls | None = None,
) -> Tables:
    """Compute the tables of speech; without halls only its first variant."""
    device = speech.pitch.device
    n, pieces = len(speech.pitch), torch.arange(0, len(speech.pitch), PIECE, device=device)
    variants = VARIANTS if halls else VARIANTS[:1]
    states = torch.zeros(
        len(variants), (n + PIECE) // 2, recogniser.width, dtype=torch.float16, device=device
    )
    mel = torch.zeros(n + PIECE, log_mel.filters.shape[0], dtype=torch.float16, device=device)
    for starts in pieces.split(BATCH):
        waveform = speech.samples(starts, PIECE)
        rows = starts[:, None] + torch.arange(PIECE, device=device)
        mel[rows.flatten()] = log_mel(waveform).flatten(0, 1).half()
        steps = (rows[:, ::2] // 2).flatten()
        for number, (rate, in_hall) in enumerate(variants):
            heard = waveform
            if halls and in_hall:
                heard = halls.augment(waveform)
            elif halls and number:
                heard = equalise(waveform)
            with half_precision():
                found = recogniser(speed(heard, rate), rate, PIECE // 2)
            states[number, steps] = found.flatten(0, 1).half()
    return Tables(states, mel)
