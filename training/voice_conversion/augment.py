"""Augmentation of waveforms: another microphone, room and hall for the same words.

A conference hall is babble at 5 to 15 dB: it is made of the corpora's own speakers.

Shapes: B batch, T samples.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from training.voice_conversion.speech import Speech

KNOTS: Final = 6
EQUALISER_STD: Final = 0.5  # nepers at each knot
SNR: Final = (0.0, 22.0)  # dB, lowest and highest
TALKING: Final = 6  # voices of the babble
BABBLE, SOUND, COLOURED = 0.5, 0.2, 0.15  # shares of windows with each noise; the rest have none
ROOM: Final = 0.3  # share of windows in a room
DECAY: Final = (0.1, 0.6)  # seconds in which a room fades by 60 dB
DIRECT: Final = (0.0, 12.0)  # dB of the direct sound to the room's
LEVEL_STD: Final = 3.0  # dB


class Halls:
    """A source of noise for waveforms, from other speech and from sounds."""

    def __init__(self, speech: Speech, sounds: Tensor) -> None:
        """Keep speech and sounds: (N,) at 16 kHz in [-1, 1], no voices."""
        self._speech, self._sounds = speech, sounds

    def augment(self, clean: Tensor) -> Tensor:
        """Put waveforms (B, T) into rooms and noise."""
        batch, length = clean.shape
        device = clean.device
        speech = equalise(self._in_rooms(clean))
        kind = torch.rand(batch, 1, device=device)
        noise = torch.where(
            kind < BABBLE,
            unit_power(self._in_rooms(self._babble(batch, length))),
            torch.where(
                kind < BABBLE + SOUND,
                unit_power(self._sound(batch, length)),
                unit_power(equalise(torch.randn(batch, length, device=device), 1.0)),
            ),
        )
        snr = torch.empty(batch, 1, device=device).uniform_(*SNR)
        power = speech.square().mean(dim=1, keepdim=True).sqrt()
        noisy = kind < BABBLE + SOUND + COLOURED
        mixed = speech + noisy * noise * power * 10 ** (-snr / 20)
        level = LEVEL_STD * torch.randn(batch, 1, device=device)
        return mixed * 10 ** (level / 20)

    def _babble(self, batch: int, length: int) -> Tensor:
        frames = length // HOP_LENGTH + 1
        device = self._speech.pitch.device
        starts = torch.randint(len(self._speech.pitch), (batch * TALKING,), device=device)
        voices = self._speech.samples(starts, frames)[:, :length]
        return voices.reshape(batch, TALKING, length).sum(dim=1)

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
