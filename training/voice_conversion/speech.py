"""Speech on the device: whole corpora, random windows of them by corpus and speaker, their log-mel
spectrograms and contours of log-F0.

Shapes: N frames of 10 ms of all recordings, B batch, T samples, S frames of a window, M mel bands.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from earshot.media.constants import HOP_LENGTH, LOG_F0_BELIEF, LOG_F0_VARIANCE, N_FFT

STEP: Final = 2  # frames between the first frames of windows
FULL_SCALE: Final = 32767
FLOOR: Final = 1e-5  # of the magnitude, as in earshot.media.audio.features
TARGET_VOICES: Final = ("SF1", "TF2", "SM1", "TM3", "S1")  # of the baselines
HEART: Final = "heart"  # a synthetic voice, speaker and corpus
# How often a window is of each corpus.
SHARES: Final = {
    "librispeech_251": 0.37,
    "studio_prompts": 0.21,
    HEART: 0.18,
    "npvcc2016": 0.11,
    "grid": 0.07,
    "picovoice_commands": 0.06,
}


@dataclass(frozen=True)
class Speech:
    """Recordings end to end on one device: waveform int16 (N, 160); pitch in Hz (N,), 0 where
    unvoiced; speaker and corpus (N,), rows of the names."""

    waveform: Tensor
    pitch: Tensor
    speaker: Tensor
    corpus: Tensor
    speakers: tuple[str, ...]
    corpora: tuple[str, ...]

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> "Speech":
        """Read the arrays of ``prepare`` for one split. Raises FileNotFoundError without them."""

        def names(table: str) -> tuple[str, ...]:
            return tuple((folder / f"{table}.txt").read_text().split("\n")[:-1])

        def array(name: str) -> Tensor:
            return torch.from_numpy(np.load(folder / f"{name}.npy")).to(device)

        return cls(
            array("waveform"),
            array("pitch").float(),
            array("speaker").long(),
            array("corpus").long(),
            names("speakers"),
            names("corpora"),
        )

    @property
    def seconds(self) -> float:
        """Measure the length of all recordings."""
        return len(self.pitch) / 100

    def samples(self, starts: Tensor, frames: int) -> Tensor:
        """Read waveforms (B, frames * 160) in [-1, 1] that begin at frames (B,)."""
        rows = starts[:, None] + torch.arange(frames, device=starts.device)
        rows = rows.clamp(0, len(self.waveform) - 1)
        return self.waveform[rows].flatten(1).float() / FULL_SCALE

    def resampled(self, rate: float, piece: int = 1024) -> "Speech":
        """Play all recordings ``rate`` times as fast: as many speakers more, with shorter or longer
        vocal tracts.

        The speech is cut into pieces of so many frames, each resampled by its spectrum.
        """
        starts = torch.arange(0, len(self.pitch) - piece + 1, piece, device=self.pitch.device)
        starts = starts[self.speaker[starts] == self.speaker[starts + piece - 1]]
        frames = int(piece / rate) // STEP * STEP
        parts = [
            speed(self.samples(some, piece), rate)[:, : frames * HOP_LENGTH]
            for some in starts.split(64)
        ]
        waveform = (torch.cat(parts).clamp(-1, 1) * FULL_SCALE).short()
        place = (torch.arange(frames, device=starts.device) * rate).round().long()
        rows = (starts[:, None] + place.clamp(max=piece - 1)).flatten()
        return replace(
            self,
            waveform=waveform.reshape(-1, HOP_LENGTH),
            pitch=self.pitch[rows] * rate,
            speaker=self.speaker[rows],
            corpus=self.corpus[rows],
            speakers=tuple(f"{name} at {rate:g}" for name in self.speakers),
        )

    def of(self, corpus: str) -> "Speech":
        """Take the recordings of one corpus, and its speakers."""
        here = self.corpus == self.corpora.index(corpus)
        numbers, speaker = self.speaker[here].unique(return_inverse=True)
        return Speech(
            self.waveform[here],
            self.pitch[here],
            speaker,
            self.corpus[here],
            tuple(self.speakers[number] for number in numbers.tolist()),
            self.corpora,
        )

    def followed_by(self, other: "Speech") -> "Speech":
        """Join two sets of recordings of the same corpora by different speakers."""
        return Speech(
            torch.cat([self.waveform, other.waveform]),
            torch.cat([self.pitch, other.pitch]),
            torch.cat([self.speaker, other.speaker + len(self.speakers)]),
            torch.cat([self.corpus, other.corpus]),
            self.speakers + other.speakers,
            self.corpora,
        )


class Windows:
    """Random windows of speech, each within one speaker."""

    def __init__(self, speech: Speech, frames: int, step: int = STEP) -> None:
        """Index the windows. frames: the length of a window; step: between their beginnings."""
        device = speech.pitch.device
        self.speech, self.frames = speech, frames
        starts = torch.arange(0, len(speech.pitch) - frames, step, device=device)
        starts = starts[speech.speaker[starts] == speech.speaker[starts + frames - 1]]
        of = speech.speaker[starts]
        counts = torch.bincount(of, minlength=len(speech.speakers))
        self._starts, self._counts = starts, counts
        self._order = torch.argsort(of, stable=True)
        self._first = counts.cumsum(0) - counts
        weights = self._weights(speech.corpus[starts], of)
        self._cumulative = (weights / weights.sum()).cumsum(0)

    def draw(self, size: int) -> Tensor:
        """Draw first frames of windows (size,): a speaker counts by the root of the number of
        windows.
        """
        places = torch.rand(size, dtype=torch.float64, device=self._starts.device)
        rows = torch.searchsorted(self._cumulative, places)
        return self._starts[rows.clamp(max=len(self._starts) - 1)]

    def same_speaker(self, starts: Tensor) -> Tensor:
        """Draw first frames of other windows by the speakers of these: (B,) → (B,)."""
        of = self.speech.speaker[starts]
        place = (torch.rand(len(of), device=of.device) * self._counts[of]).long()
        return self._starts[self._order[self._first[of] + place]]

    def rows(self, starts: Tensor) -> Tensor:
        """List the frames of windows: (B,) → (B, S)."""
        return starts[:, None] + torch.arange(self.frames, device=starts.device)

    def _weights(self, corpus: Tensor, speaker: Tensor) -> Tensor:
        """Weigh every window, in double precision, for there are a million."""
        weights = self._counts[speaker].double().rsqrt()
        for number, name in enumerate(self.speech.corpora):
            here = corpus == number
            weights[here] *= SHARES.get(name, 0.0) / weights[here].sum().clamp(min=1e-9)
        return weights


def pitch_statistics(speech: Speech) -> tuple[Tensor, Tensor]:
    """Compute mean and standard deviation of log-F0 of each speaker (N,), shrunk a little towards
    everyone's.
    """
    voiced = speech.pitch > 0
    log_f0, of = speech.pitch[voiced].double().log(), speech.speaker[voiced]
    n_speakers, belief = len(speech.speakers), LOG_F0_BELIEF
    n = torch.bincount(of, minlength=n_speakers)
    total = torch.bincount(of, log_f0, n_speakers) + belief * log_f0.mean()
    mean = total / (n + belief)
    square = torch.bincount(of, (log_f0 - mean[of]).square(), n_speakers)
    square = square + belief * LOG_F0_VARIANCE
    return mean.float(), (square / (n + belief)).sqrt().float()


def speed(waveform: Tensor, rate: float) -> Tensor:
    """Play waveforms (B, T) ``rate`` times as fast and as high: (B, about T / rate)."""
    if rate == 1:
        return waveform
    length = waveform.shape[1]
    shorter = round(length / rate / 8) * 8
    spectrum = torch.fft.rfft(waveform)
    bins = shorter // 2 + 1
    spectrum = (
        spectrum[:, :bins]
        if bins <= spectrum.shape[1]
        else torch.nn.functional.pad(spectrum, (0, bins - spectrum.shape[1]))
    )
    return torch.fft.irfft(spectrum, shorter) * (shorter / length)


class LogMel(nn.Module):
    """A log-mel spectrogram of waveforms, as earshot.media.audio.features.log_mel makes it, on any
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
        with torch.autocast(waveform.device.type, enabled=False):
            mel = (self.filters @ spectrum.abs()).clamp(min=FLOOR).log()
        return mel.transpose(1, 2)[:, : waveform.shape[1] // HOP_LENGTH]


def relative_contour(pitch: Tensor, mean: Tensor) -> Tensor:
    """Compute the log-F0 contour relative to the voice's mean: (B, S, 2), voicing and log-F0, 0 if
    unvoiced.

    pitch: (B, S) in Hz, 0 where unvoiced; mean: (B,), of log-F0.
    """
    voiced = pitch > 0
    relative = torch.where(voiced, pitch.clamp(min=1).log() - mean[:, None], 0.0)
    return torch.stack([voiced.float(), relative], dim=-1)
