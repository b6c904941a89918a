"""Voice conversion: speech → discovered units → the same words in another voice."""

import hashlib
import time
from math import log2
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from media.audio import features
from media.audio.load import Audio, load, match_loudness
from media.errors import InputError
from models.inverter import Inverter, InverterConfig
from models.vocoder import Vocoder, VocoderConfig
from models.vqvae import VQVAE, VQVAEConfig
from pipelines.checkpoint import choose_device, companion, load_weights, locate, read_config
from pipelines.speech import Conversion, Speech
from pipelines.voice_conversion.units import MUTED, Units, codebook_colors
from pipelines.windows import in_windows

FRAME: Final = features.HOP_LENGTH / features.SAMPLE_RATE  # seconds
PCM_BITS: Final = 16 * features.SAMPLE_RATE  # bit/s of what the units stand for


class VoiceConversion:
    """A VQ-VAE, its inverter and a vocoder, shared by all visitors: nothing they choose stays."""

    VOICES: Final = ("SF1", "TF2", "SM1", "TM3", "S1")
    VOCODERS: Final = ("griffin-lim", "neural")  # the default first
    LEVEL: Final = -23.0  # LUFS at which the networks hear speech
    GATE: Final = -60.0  # dBFS: quieter is silence, and comes out as silence
    MAX_SECONDS: Final = 60.0
    WINDOW: Final = 200  # frames that the networks see at once
    OVERLAP: Final = 40

    def __init__(
        self, name: str, vqvae: VQVAE, inverter: Inverter, vocoder: Vocoder, device: torch.device
    ) -> None:
        self.name = name
        self.device = device
        self.vqvae, self.inverter, self.vocoder = vqvae, inverter, vocoder
        self.codebook_size = vqvae.config.codebook_size
        self.unit_seconds = vqvae.config.stride * FRAME
        codebook = vqvae.codebook.vectors.cpu().numpy()
        self.fingerprint = hashlib.sha256(codebook.tobytes()).hexdigest()[:12]
        self.colors = codebook_colors(codebook)
        # The paper's inverter gives linear spectrograms, which the neural vocoder does not read.
        self.vocoders = self.VOCODERS if inverter.config.pitch else ("griffin-lim",)
        self.silence = self._silence_unit()

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str = "auto") -> "VoiceConversion":
        """Load a checkpoint folder, or a hub id, and the vocoder that its config names.

        Raises FileNotFoundError when there is none.
        """
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        vqvae = VQVAE(VQVAEConfig(**config["vqvae"]))
        inverter = Inverter(InverterConfig(**config["inverter"]))
        load_weights(nn.ModuleDict({"vqvae": vqvae, "inverter": inverter}), folder, place)
        vocoder_folder = companion(folder, config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, place)
        return cls(config["name"], vqvae, inverter, vocoder, place)

    def __call__(
        self, audio: Audio, target: str = "TF2", vocoder: str = "griffin-lim"
    ) -> Conversion:
        """Say the words of ``audio`` in the voice ``target``.

        Raises InputError for audio that cannot be used, or an unknown voice or vocoder.
        """
        began = time.perf_counter()
        source, units, notices = self.encode(audio)
        converted = self.decode(units, target, vocoder)
        taken = time.perf_counter() - began
        bits = log2(self.codebook_size) / self.unit_seconds
        return Conversion(
            source=source,
            units=units,
            converted=converted,
            notices=notices,
            bits_per_second=bits,
            compression=PCM_BITS / bits,
            seconds=taken,
            real_time_factor=taken * source.sample_rate / len(source.waveform),
        )

    @torch.inference_mode()
    def encode(self, audio: Audio) -> tuple[Speech, Units, tuple[str, ...]]:
        """The speech as the networks hear it, its units, and what is to be said about it.

        Raises InputError for audio that cannot be used.
        """
        began = time.perf_counter()
        recording = load(audio, features.SAMPLE_RATE, self.MAX_SECONDS)
        waveform = self._level(self._pad(recording.waveform))
        z = self._encode(features.mfcc(waveform))
        codes = self.vqvae.codebook.nearest(z[None])[0].cpu().numpy()
        codes = np.where(self._silent(waveform, len(codes)), MUTED, codes)
        units = Units(codes, self.unit_seconds, self.name, self.fingerprint)
        source = self._speech(waveform, began)
        return source, units, recording.notices

    @torch.inference_mode()
    def decode(self, units: Units, target: str = "TF2", vocoder: str = "griffin-lim") -> Speech:
        """Speak units in the voice ``target``.

        Raises InputError for units of another model, units that are not in the codebook, none or
        too many of them, or an unknown voice or vocoder.
        """
        self._check(units, target, vocoder)
        began = time.perf_counter()
        muted = units.codes == MUTED
        codes = torch.from_numpy(np.where(muted, self.silence, units.codes)).to(self.device)
        spectrogram, pitch = self._invert(self.vqvae.codebook.vectors[codes], target)
        waveform = self._vocode(spectrogram, pitch, vocoder)
        waveform = waveform * _gate(muted, len(waveform) // len(muted))
        return self._speech(waveform.astype(np.float32), began)

    def _encode(self, mfcc: np.ndarray) -> Tensor:
        """(S, 39) → encoder outputs (U, code_width)."""
        normalized = self.vqvae.normalize(torch.from_numpy(mfcc)[None].to(self.device))[0]
        ratio = 1 / self.vqvae.config.stride
        return in_windows(self.vqvae.encoder, normalized, self.WINDOW, self.OVERLAP, ratio)

    def _invert(self, vectors: Tensor, target: str) -> tuple[Tensor, Tensor]:
        """(U, code_width) → spectrogram (S, n_outputs) and its pitch (S,) in Hz, 0 if unvoiced."""
        number, config = self.VOICES.index(target), self.inverter.config
        voice = torch.tensor(number, device=self.device)

        def invert(batch: Tensor) -> Tensor:
            spectrogram, melody = self.inverter(batch, voice.expand(len(batch)))
            return spectrogram if melody is None else torch.cat([spectrogram, melody], dim=-1)

        size, overlap = self.WINDOW // config.stride, self.OVERLAP // config.stride
        made = in_windows(invert, vectors, size, overlap, ratio=config.stride)
        spectrogram = made[:, : config.n_outputs]
        if not config.pitch:
            return spectrogram, spectrogram.new_zeros(len(made))
        voicing, melody = made[:, config.n_outputs :].T
        pitch = (melody + config.pitch_means[number]).exp()
        return spectrogram, torch.where(voicing > 0, pitch, 0.0)

    def _vocode(self, spectrogram: Tensor, pitch: Tensor, vocoder: str) -> np.ndarray:
        """Spectrogram (S, n_outputs) and pitch (S,) in Hz → waveform (S * HOP_LENGTH,)."""
        if vocoder == "neural":
            return self.vocoder(spectrogram[None], pitch[None])[0].cpu().numpy()
        made = spectrogram.cpu().numpy()
        is_mel = self.inverter.config.pitch
        return features.griffin_lim(
            features.linear_from_log_mel(made) if is_mel else np.maximum(made, 0.0)
        )

    def _check(self, units: Units, target: str, vocoder: str) -> None:
        if target not in self.VOICES:
            raise InputError(f"There is no voice {target}. Choose one of {', '.join(self.VOICES)}.")
        if vocoder not in self.vocoders:
            raise InputError(f"{self.name} speaks through {' or '.join(self.vocoders)} only.")
        if (units.model, units.fingerprint) != (self.name, self.fingerprint):
            raise InputError(
                f"These units are of another model ({units.model}). Choose that one to speak them."
            )
        if len(units.codes) == 0:
            raise InputError("There are no units left to speak. Undo, or convert again.")
        if len(units.codes) * self.unit_seconds > self.MAX_SECONDS:
            raise InputError(f"There are more units than fit in {self.MAX_SECONDS:.0f} s.")
        if units.codes.min() < MUTED or units.codes.max() >= self.codebook_size:
            raise InputError(f"Units of this model are numbered 0 to {self.codebook_size - 1}.")

    def _pad(self, waveform: np.ndarray) -> np.ndarray:
        """Up to whole units with silence."""
        cell = round(self.unit_seconds * features.SAMPLE_RATE)
        return np.pad(waveform, (0, -len(waveform) % cell))

    def _level(self, waveform: np.ndarray) -> np.ndarray:
        if 20 * np.log10(np.abs(waveform).max() + 1e-12) < self.GATE:
            return np.zeros_like(waveform)
        return match_loudness(waveform, features.SAMPLE_RATE, self.LEVEL)

    def _silent(self, waveform: np.ndarray, n_units: int) -> np.ndarray:
        """Whether each unit and its neighbours are under the gate: (U,)."""
        power = np.square(waveform.reshape(n_units, -1)).mean(axis=1)
        loudest = np.max([np.roll(power, -1), power, np.roll(power, 1)], axis=0)
        return loudest < 10 ** (self.GATE / 10)

    @torch.inference_mode()
    def _silence_unit(self) -> int:
        """The unit that stands for silence: what a second of it is mostly heard as."""
        z = self._encode(features.mfcc(np.zeros(features.SAMPLE_RATE, np.float32)))
        return int(self.vqvae.codebook.nearest(z[None])[0].mode().values)

    def _speech(self, waveform: np.ndarray, began: float) -> Speech:
        taken = time.perf_counter() - began
        return Speech(waveform, features.SAMPLE_RATE, features.log_mel(waveform), taken)


def _gate(muted: np.ndarray, cell: int) -> np.ndarray:
    """Gain of every sample: 0 in muted units, fading over 5 ms at their edges: (U * cell,)."""
    gain = np.repeat(1.0 - muted, cell)
    fade = np.hanning(round(0.01 * features.SAMPLE_RATE))
    return np.minimum(gain, np.convolve(gain, fade / fade.sum(), mode="same"))
