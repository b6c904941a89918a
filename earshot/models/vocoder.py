"""A small source-filter vocoder: ConvNeXt blocks predict filters for a pulse train and noise.

The backbone is that of Vocos (Siuzdak 2023), which predicts phases and trains for days. Here the
phases come from the excitation instead, a pulse train at the given F0 and white noise, and the
network predicts one filter a frame for each, as in the neural homomorphic vocoder (Liu et al.
2020). Both filters are applied in the short-time Fourier domain.

Shapes: B batch, S frames of 10 ms, T = S * hop_length samples, F = n_fft // 2 + 1 bins.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.audio.spectrum import hz_to_mel
from earshot.media.constants import HOP_LENGTH, N_FFT, N_MELS, SAMPLE_RATE


@dataclass(frozen=True)
class VocoderConfig:
    """Sizes of the network, and the analysis of its input: that of
    earshot.media.audio.features.log_mel.
    """

    n_mels: int = N_MELS
    width: int = 256
    inner: int = 768
    layers: int = 5
    n_fft: int = N_FFT  # samples
    hop_length: int = HOP_LENGTH  # samples
    sample_rate: int = SAMPLE_RATE  # Hz
    learned_phase: bool = False  # whether the harmonic filter's phase is minimum phase and a rest


class Vocoder(nn.Module):
    """A vocoder: log-mel spectrogram and F0 → waveform; frame rate up to the inverse STFT."""

    MAX_LOG_GAIN = 6.0  # nepers

    window: Tensor

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.config = config
        self.input = nn.Conv1d(config.n_mels + 1, config.width, 7, padding=3)
        self.input_norm = nn.LayerNorm(config.width)
        self.blocks = nn.Sequential(*(ConvNeXtBlock(config) for _ in range(config.layers)))
        self.output_norm = nn.LayerNorm(config.width)
        self.filters = nn.Linear(config.width, config.n_fft + 2)
        # Both filters are initialised to the interpolated log-mel spectrogram itself.
        self.envelope = nn.Linear(config.n_mels, config.n_fft + 2)
        with torch.no_grad():
            self.envelope.weight.copy_(_interpolation(config).repeat(2, 1))
            nn.init.zeros_(self.envelope.bias)
            nn.init.zeros_(self.filters.weight)
            nn.init.zeros_(self.filters.bias)
        if config.learned_phase:
            self.phase = nn.Linear(config.width, config.n_fft // 2 + 1)
            nn.init.zeros_(self.phase.weight)
            nn.init.zeros_(self.phase.bias)
        self.register_buffer("window", torch.hann_window(config.n_fft))

    def forward(self, log_mel: Tensor, pitch: Tensor) -> Tensor:
        """Map log_mel (B, S, n_mels) and pitch (B, S) in Hz, 0 where unvoiced, to waveforms (B, T).
        Returns (B, T).
        """
        harmonic, noise = self.responses(log_mel, pitch)
        pulses = pulse_train(pitch, self.config.hop_length, self.config.sample_rate)
        white = _noise(pulses)
        return self._istft(self._stft(pulses) * harmonic + self._stft(white) * noise)

    def responses(self, log_mel: Tensor, pitch: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the frequency responses of each frame's filters: for the pulses, complex, and for
        the noise.

        log_mel and pitch as above. Returns two of (B, F, S).
        """
        voiced = (pitch > 0).to(log_mel.dtype)[..., None]
        x = self.input(torch.cat([log_mel, voiced], dim=-1).transpose(1, 2)).transpose(1, 2)
        x = self.output_norm(self.blocks(self.input_norm(x)))
        gains = self.filters(x).float() + self.envelope(log_mel).float()
        gains = gains.clamp(max=self.MAX_LOG_GAIN).transpose(1, 2)
        harmonic, noise = gains.chunk(2, dim=1)  # log gains (B, F, S)
        response = minimum_phase(harmonic)
        if self.config.learned_phase:
            rest = math.pi * torch.tanh(self.phase(x).float()).transpose(1, 2)
            response = response * torch.polar(torch.ones_like(rest), rest)
        return response, noise.exp()

    def _stft(self, waveform: Tensor) -> Tensor:
        """Transform waveforms (B, T) to (B, F, S): the frame after the last sample is left out."""
        n_fft, hop = self.config.n_fft, self.config.hop_length
        spectrum = torch.stft(waveform, n_fft, hop, window=self.window, return_complex=True)
        return spectrum[..., :-1]

    def _istft(self, spectrum: Tensor) -> Tensor:
        """Transform spectra (B, F, S) to (B, T): one more frame, so that the windows cover the last
        hop.
        """
        n_fft, hop = self.config.n_fft, self.config.hop_length
        padded = torch.cat([spectrum, spectrum[..., -1:]], dim=-1)
        return torch.istft(padded, n_fft, hop, window=self.window)


class ConvNeXtBlock(nn.Module):
    """Depthwise convolution, layer norm, two projections (Liu et al. 2022)."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(config.width, config.width, 7, padding=3, groups=config.width)
        self.norm = nn.LayerNorm(config.width)
        self.inner = nn.Sequential(
            nn.Linear(config.width, config.inner), nn.GELU(), nn.Linear(config.inner, config.width)
        )
        self.scale = nn.Parameter(torch.full((config.width,), 1 / config.layers))

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (B, S, width) → (B, S, width)."""
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return x + self.scale * self.inner(self.norm(y))


def pulse_train(pitch: Tensor, hop_length: int, sample_rate: int) -> Tensor:
    """Make a band-limited pulse train of power 1: all harmonics below the Nyquist frequency, in
    phase.

    pitch: (B, S) in Hz, 0 where unvoiced. Returns (B, S * hop_length).
    """
    hz = steady_pitch(pitch, hop_length)
    half = torch.cumsum(math.pi * hz / sample_rate, dim=1) % math.pi
    voiced = (pitch > 0).repeat_interleave(hop_length, dim=1)
    return (harmonic_sum(half, hz, sample_rate) * voiced).to(pitch.dtype)


def steady_pitch(pitch: Tensor, hop_length: int) -> Tensor:
    """Interpolate F0 in Hz for every sample, some positive one where unvoiced: (B, S) → double (B,
    T).
    """
    steady = torch.where(pitch > 0, pitch, torch.full_like(pitch, 100.0))
    return F.interpolate(steady[:, None], scale_factor=hop_length, mode="linear")[:, 0].double()


def harmonic_sum(half_phase: Tensor, hz: Tensor, sample_rate: int) -> Tensor:
    """Add up all cosines at multiples of hz below the Nyquist frequency, to power 1.

    half_phase: half the phase of the fundamental, in [0, π); it and hz: (B, T). Returns (B, T).
    """
    harmonics = (sample_rate / 2 / hz).floor()
    # The sum of N cosines in closed form (Dirichlet's kernel).
    sine = half_phase.sin()
    total = ((2 * harmonics + 1) * half_phase).sin() / (2 * sine.clamp(min=1e-4)) - 0.5
    return torch.where(sine < 1e-4, harmonics, total) * (2 / harmonics).sqrt()


def minimum_phase(log_gain: Tensor) -> Tensor:
    """Compute the minimum-phase filter of a log gain, by folding its cepstrum: (B, F, S) →
    complex.
    """
    cepstrum = torch.fft.irfft(log_gain, dim=1)
    n = cepstrum.shape[1]
    fold = torch.zeros(n, 1, device=log_gain.device)
    fold[0] = fold[n // 2] = 1.0
    fold[1 : n // 2] = 2.0
    folded = torch.fft.rfft(cepstrum * fold, dim=1)
    return torch.polar(folded.real.exp(), folded.imag)


def _interpolation(config: VocoderConfig) -> Tensor:
    """Compute the weights from mel bands to the bins between their centres: (F, n_mels)."""
    mel = torch.from_numpy(hz_to_mel(np.linspace(0, config.sample_rate / 2, config.n_fft // 2 + 1)))
    position = mel / mel[-1] * (config.n_mels + 1) - 1
    distance = (position.clamp(0, config.n_mels - 1)[:, None] - torch.arange(config.n_mels)).abs()
    return (1 - distance).clamp(min=0.0).float()


def _noise(like: Tensor) -> Tensor:
    """Draw white noise of power 1, the same at every call, so that the same units sound the
    same.
    """
    generator = torch.Generator(like.device).manual_seed(0)
    return torch.randn(like.shape, generator=generator, device=like.device, dtype=like.dtype)
