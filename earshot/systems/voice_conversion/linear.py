"""Voice conversion by linear regression, after LinearVC: one matrix is a voice.

Kamper, van Niekerk, Zaïdi and Carbonneau, *LinearVC* (2025), arXiv:2506.01510, section 2: every
state of a source is matched with the nearest states of the target by their cosine, and the matrix
W = (XᵀX)⁻¹XᵀY, which minimises ‖Y − XW‖², maps whatever the source says.

What differs: the states are those of our recogniser; X has states of many speakers, so that one
matrix converts anybody; Y is the target's log-mel spectrogram at the matches, and not their states,
for the vocoder here takes spectrograms. A pitch is therefore an input, too: where its harmonics lie
in the mel bands. ``training/voice_conversion/linear.py`` fits the shipped voices so, to minutes of
each. Seconds of a recording hold too few states to be matched with: a voice of these is the mean of
the shipped matrices, moved towards the recording's own states and spectrogram.

Shapes: T samples, U steps of 20 ms, D width of the states, M mel bands, N rows of a regression,
V voices, K = D + M + 2 inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import load
from earshot.media.audio.pitch import track_pitch
from earshot.media.audio.speech import muted
from earshot.media.audio.voice_activity import words
from earshot.media.constants import N_MELS, SAMPLE_RATE
from earshot.models.any_voice.inverter import Harmonics
from earshot.models.recogniser import STEP, RecogniserStates
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.pretrained.any_voice import ENCODER_OVERLAP, ENCODER_WINDOW
from earshot.pretrained.checkpoint import choose_device, companion, load_weights, read_config
from earshot.pretrained.recogniser import load_states
from earshot.pretrained.voice import pitch_statistics
from earshot.pretrained.windows import in_windows
from earshot.systems.voice_conversion.converter import at_level, silent_units
from earshot.systems.voice_conversion.settings import MAX_SECONDS, OF_RECORDING, REFERENCE_SECONDS

BELIEF: Final = 1.0  # in the mean of the shipped matrices: added to the variance of each input
MAX_RATIO: Final = 1.5  # by which a contour of pitch is widened or narrowed for another voice
MIN_SPEECH: Final = 5.0  # seconds, in a recording that a voice is made from


@dataclass(frozen=True, eq=False)
class LinearVoice:
    """A voice. matrix: float32 (2, K, M), of the first and of the second frame of a step; mean and
    standard deviation of its log-F0."""

    name: str
    matrix: Tensor
    pitch_mean: float
    pitch_std: float


@dataclass(frozen=True, eq=False)
class Analysis:
    """An analysis of speech. waveform: float32 (T,) at the networks' level; states: (U, D),
    standardised; mel: (U, 2, M); pitch: (U, 2) in Hz, 0 where unvoiced."""

    waveform: np.ndarray
    states: Tensor
    mel: Tensor
    pitch: Tensor


class Matrices(nn.Module):
    """What travels with the checkpoint: mean and standard deviation of the states (D,), and the
    matrices (V, 2, K, M) and pitches (V,) of voices."""

    mean: Tensor
    std: Tensor
    matrix: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __init__(self, width: int, voices: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("std", torch.ones(width))
        self.register_buffer("matrix", torch.zeros(voices, 2, width + N_MELS + 2, N_MELS))
        self.register_buffer("pitch_mean", torch.zeros(voices))
        self.register_buffer("pitch_std", torch.ones(voices))

    def standardise(self, states: Tensor) -> Tensor:
        """Scale states (N, D) to mean 0 and variance 1 in each component."""
        return (states - self.mean) / self.std


class LinearVC:
    """A system for voice conversion: states → the matrix of the target → log-mel → vocoder.

    It is shared by all visitors: nothing of theirs stays.
    """

    def __init__(
        self,
        recogniser: RecogniserStates,
        matrices: Matrices,
        vocoder: Vocoder,
        voices: Sequence[str] = (),
    ) -> None:
        """Keep the networks, and the voices of ``matrices`` by their names."""
        self._recogniser, self._matrices, self._vocoder = recogniser, matrices, vocoder
        self._device = matrices.mean.device
        self._harmonics = Harmonics(N_MELS).to(self._device)
        rows = zip(voices, matrices.matrix, matrices.pitch_mean, matrices.pitch_std, strict=True)
        self._voices = {n: LinearVoice(n, w, float(mean), float(std)) for n, w, mean, std in rows}
        self.voices: tuple[str, ...] = tuple(voices)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> "LinearVC":
        """Load a checkpoint folder, the vocoder that its config names, and the recogniser.

        Raises FileNotFoundError where there is none, CheckpointError where a file cannot be used.
        """
        place, config = choose_device(device), read_config(folder)
        recogniser = load_states(tuple(config["layers"]), config.get("recogniser"), place.type)
        matrices = Matrices(recogniser.width, len(config["voices"]))
        load_weights(matrices, folder, place)
        vocoder_folder = companion(folder, config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, place)
        return cls(recogniser, matrices, vocoder, config["voices"])

    @torch.inference_mode()
    def __call__(
        self, waveform: np.ndarray, sample_rate: int, target: str | LinearVoice
    ) -> tuple[np.ndarray, int]:
        """Speak the words of a waveform (T,) in a voice: as long, float32 at 16 kHz, and its rate.

        target: one of ``voices``, or what ``voice_from`` returned. Raises InputError for audio that
        cannot be used, and for a voice that does not exist.
        """
        if not isinstance(target, LinearVoice) and target not in self._voices:
            raise InputError(f"There is no voice {target}. Choose one of {', '.join(self.voices)}.")
        voice = target if isinstance(target, LinearVoice) else self._voices[target]
        recording = load((sample_rate, waveform), SAMPLE_RATE, MAX_SECONDS).waveform
        source = self.analyse(recording)
        pitch = shift_pitch(source.pitch, voice)
        cancellation.check()
        mel = (self.inputs(source.states, pitch) @ voice.matrix).transpose(0, 1).flatten(0, 1)
        speech = self._vocoder(mel[None], pitch.reshape(1, -1))[0].cpu().numpy()
        silent = silent_units(source.waveform, len(source.states))
        return muted(speech, silent)[: len(recording)], SAMPLE_RATE

    def voice_from(self, waveform: np.ndarray, sample_rate: int) -> LinearVoice:
        """Make a voice of 10 to 30 s of a person's speech (T,), who agreed to it.

        Raises InputError for a recording that is shorter or longer, or holds too little speech.
        """
        shortest, longest = REFERENCE_SECONDS
        recording = load((sample_rate, waveform), SAMPLE_RATE, longest, shortest).waveform
        segments = words(at_level(recording, 1))
        if sum(end - start for start, end in segments) < MIN_SPEECH:
            raise InputError(
                f"Less than {MIN_SPEECH:.0f} s of the recording are speech.",
                f"Choose {shortest:.0f} to {longest:.0f} s of one person speaking, without music.",
            )
        rate = SAMPLE_RATE
        pieces = [recording[round(a * rate) : round(b * rate)] for a, b in segments]
        own, mean = self.analyse(np.concatenate(pieces)), self._matrices.matrix.mean(dim=0)
        outputs = own.mel.transpose(0, 1)
        matrix = least_squares(self.inputs(own.states, own.pitch), outputs, BELIEF, mean)
        return LinearVoice(
            OF_RECORDING, matrix, *pitch_statistics(own.pitch.flatten().cpu().numpy())
        )

    @torch.inference_mode()
    def analyse(self, waveform: np.ndarray) -> Analysis:
        """Analyse speech (T,) at 16 kHz, after silence up to whole steps."""
        leveled = at_level(waveform, STEP)
        steps = torch.from_numpy(leveled).to(self._device).reshape(-1, STEP)
        states = in_windows(
            lambda batch: self._recogniser(batch.flatten(1)), steps, ENCODER_WINDOW, ENCODER_OVERLAP
        )
        arrays = (log_mel(leveled).astype(np.float32), track_pitch(leveled).astype(np.float32))
        mel, pitch = (torch.from_numpy(each).to(self._device) for each in arrays)
        standardised = self._matrices.standardise(states)
        return Analysis(leveled, standardised, mel.reshape(-1, 2, N_MELS), pitch.reshape(-1, 2))

    def inputs(self, states: Tensor, pitch: Tensor) -> Tensor:
        """Join states (U, D) with the pattern of the harmonics of a pitch (U, 2), whether it is
        voiced, and 1: (2, U, K)."""
        patterns, voiced = self._harmonics(pitch.T), (pitch.T > 0).to(states)[..., None]
        rest = [patterns, voiced, torch.ones_like(voiced)]
        return torch.cat([states.expand(2, -1, -1), *rest], dim=-1)


def least_squares(
    inputs: Tensor, outputs: Tensor, belief: float, prior: Tensor | None = None
) -> Tensor:
    """Solve W = (XᵀX + λ I)⁻¹ (XᵀY + λ W₀) for inputs X (2, N, K), whose last is 1 and is left
    alone, and outputs Y (2, N, M): (2, K, M).

    belief: λ / N, in W₀, the prior (2, K, M), or without one in 0.
    """
    penalty = torch.full(inputs.shape[-1:], belief * inputs.shape[1]).to(inputs).double()
    penalty[-1] = 0
    squares = (inputs.mT @ inputs).double() + penalty.diag()
    products = (inputs.mT @ outputs).double()
    if prior is not None:
        products = products + penalty[:, None] * prior.double()
    return torch.linalg.solve(squares, products).float()


def shift_pitch(pitch: Tensor, voice: LinearVoice) -> Tensor:
    """Move a pitch in Hz (U, 2), 0 where unvoiced, to the height and the range of a voice."""
    mean, std = pitch_statistics(pitch.flatten().cpu().numpy())
    ratio = min(max(voice.pitch_std / std, 1 / MAX_RATIO), MAX_RATIO)
    raised = ((pitch.clamp(min=1).log() - mean) * ratio + voice.pitch_mean).exp()
    return torch.where(pitch > 0, raised, torch.zeros_like(pitch))
