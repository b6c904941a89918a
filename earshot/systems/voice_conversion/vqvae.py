"""Speech → units discovered by a VQ-VAE → the same words in another voice (Tjandra et al. 2020)."""

import hashlib
import time
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.audio.speech import Speech, muted
from earshot.media.constants import FRAME_SECONDS, SAMPLE_RATE
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import (
    VQVAE,
    CodebookInverter,
    CodebookInverterConfig,
    KMeans,
    KMeansConfig,
    VQVAEConfig,
)
from earshot.pretrained.checkpoint import (
    choose_device,
    companion,
    load_weights,
    read_config,
    weights_hash,
)
from earshot.pretrained.voice import Voice
from earshot.pretrained.windows import in_windows
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.converter import Content, Converter, as_speech, silent_units
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Units, codebook_colors

# Names in checkpoints that were trained before the code was renamed: the beginning of a weight's
# name, and a key of the config. To go when the weights are next trained.
RENAMED_WEIGHTS: Final = {"inverter.melody.": "inverter.contour."}
RENAMED_SETTINGS: Final = {"contrast": "contrastive_weight"}


class VQVAEConversion(Converter):
    """A VQ-VAE or k-means, its inverter and a vocoder. Stateless, so that visitors share one."""

    voices: tuple[str, ...]

    VOCODERS: Final = settings.VOCODERS
    INTONATIONS: Final = ("predicted",)
    MAX_SECONDS: Final = settings.MAX_SECONDS
    WINDOW: Final = 200  # frames in one pass of a network
    OVERLAP: Final = 40  # frames

    def __init__(
        self,
        name: str,
        voices: Sequence[str],
        vqvae: VQVAE | KMeans,
        inverter: CodebookInverter,
        vocoder: Vocoder,
        device: torch.device,
        frames: Callable[[np.ndarray], np.ndarray] = features.mfcc,
    ) -> None:
        """Speak by these networks.

        voices: names, in the order of the inverter's; frames: speech (T,) → what the units are
        made of, (S, n_features).
        """
        self._frames = frames
        self.name = name
        self.device = device
        self.vqvae, self.inverter, self.vocoder = vqvae, inverter, vocoder
        self.codebook_size = vqvae.config.codebook_size
        self.unit_seconds = vqvae.config.stride * FRAME_SECONDS
        codebook = vqvae.codebook.vectors.cpu().numpy()
        self.fingerprint = hashlib.sha256(codebook.tobytes()).hexdigest()[:12]
        self.encoder = self.fingerprint  # no two checkpoints share networks
        self.colors = codebook_colors(codebook)
        # The paper's inverter predicts linear spectrograms, the neural vocoder needs log-mel ones.
        self.vocoders = self.VOCODERS if inverter.config.pitch else ("griffin-lim",)
        self.intonations, self.voices = self.INTONATIONS, tuple(voices)
        self.silence = self._silence_unit()

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> "VQVAEConversion":
        """Load a checkpoint folder, and the vocoder that its config names.

        Raises FileNotFoundError when there is none.
        """
        place = choose_device(device)
        conversion = cls(*load_networks(folder, place), place, load_features(folder, place))
        conversion.weights = weights_hash(folder)
        return conversion

    def encode_waveform(self, waveform: np.ndarray) -> tuple[np.ndarray, None]:
        return self._encode(self._frames(waveform)).cpu().numpy(), None

    def _units(self, content: Content) -> Units:
        vectors = torch.from_numpy(content.vectors).to(self.device)
        codes = self.vqvae.codebook.nearest(vectors[None])[0].cpu().numpy()
        silent = silent_units(content.source.waveform, len(codes))
        units = np.where(silent, MUTED, codes)
        return Units(units, self.unit_seconds, self.name, self.fingerprint)

    def bits_per_second(self, intonation: str) -> tuple[float, float]:
        """Compute the rate of the units, if all were as likely, and none of the intonation, which
        is predicted.
        """
        return log2(self.codebook_size) / self.unit_seconds, 0.0

    def _speak(self, units: Units, target: str | Voice, vocoder: str, intonation: str) -> Speech:
        voice = self._check(target, vocoder, intonation)
        began = time.perf_counter()
        silent = units.codes == MUTED
        codes = torch.from_numpy(np.where(silent, self.silence, units.codes)).to(self.device)
        spectrogram, pitch = self.invert(self.vqvae.codebook.vectors[codes], voice)
        waveform = self._vocode(spectrogram, pitch, vocoder)
        return as_speech(muted(waveform, silent), began)

    def _encode(self, frames: np.ndarray) -> Tensor:
        """Encode frames (S, n_features) as encoder outputs (U, code_width)."""
        normalized = self.vqvae.normalize(torch.from_numpy(frames)[None].to(self.device))[0]
        ratio = 1 / self.vqvae.config.stride
        return in_windows(self.vqvae.encoder, normalized, self.WINDOW, self.OVERLAP, ratio)

    def invert(self, vectors: Tensor, target: str) -> tuple[Tensor, Tensor]:
        """Map vectors (U, code_width) to a spectrogram (S, n_outputs) and F0 (S,) in Hz, 0 where
        unvoiced.
        """
        number, config = self.voices.index(target), self.inverter.config
        voice = torch.tensor(number, device=self.device)

        def invert(batch: Tensor) -> Tensor:
            spectrogram, contour = self.inverter(batch, voice.expand(len(batch)))
            return spectrogram if contour is None else torch.cat([spectrogram, contour], dim=-1)

        size, overlap = self.WINDOW // config.stride, self.OVERLAP // config.stride
        output = in_windows(invert, vectors, size, overlap, ratio=config.stride)
        spectrogram = output[:, : config.n_outputs]
        if not config.pitch:
            return spectrogram, spectrogram.new_zeros(len(output))
        voicing, log_f0 = output[:, config.n_outputs :].T
        pitch = (log_f0 + config.pitch_means[number]).exp()
        return spectrogram, torch.where(voicing > 0, pitch, 0.0)

    def _vocode(self, spectrogram: Tensor, pitch: Tensor, vocoder: str) -> np.ndarray:
        """Vocode a spectrogram (S, n_outputs) and F0 (S,) in Hz as a waveform (S * HOP_LENGTH,)."""
        if vocoder == "neural":
            return self.vocoder(spectrogram[None], pitch[None])[0].cpu().numpy()
        predicted = spectrogram.cpu().numpy()
        is_mel = self.inverter.config.pitch
        return features.griffin_lim(
            features.linear_from_log_mel(predicted) if is_mel else np.maximum(predicted, 0.0)
        )

    def _check(self, target: str | Voice, vocoder: str, intonation: str) -> str:
        if isinstance(target, Voice) or target not in self.voices:
            name = target.name if isinstance(target, Voice) else target
            raise InputError(
                f"{self.name} has no voice {name}. Choose one of {', '.join(self.voices)}."
            )
        if vocoder not in self.vocoders:
            raise InputError(f"{self.name} speaks through {' or '.join(self.vocoders)} only.")
        if intonation not in self.intonations:
            raise InputError(f"{self.name} predicts the intonation: it cannot keep the source's.")
        return target

    @torch.inference_mode()
    def _silence_unit(self) -> int:
        """Find the unit that a second of silence is encoded as most often."""
        z = self._encode(self._frames(np.zeros(SAMPLE_RATE, np.float32)))
        return int(self.vqvae.codebook.nearest(z[None])[0].mode().values)


def load_networks(
    folder: Path, device: torch.device
) -> tuple[str, list[str], VQVAE | KMeans, CodebookInverter, Vocoder]:
    """Load the name, voices and networks of a checkpoint folder, with its vocoder.

    Raises FileNotFoundError when there is no such vocoder, CheckpointError when a file cannot be
    used.
    """
    config = read_config(folder)
    kind = "kmeans" if "kmeans" in config else "vqvae"
    vqvae = (
        KMeans(KMeansConfig(**config[kind]))
        if kind == "kmeans"
        else VQVAE(vqvae_config(config[kind]))
    )
    inverter = CodebookInverter(CodebookInverterConfig(**config["inverter"]))
    networks = nn.ModuleDict({kind: vqvae, "inverter": inverter})
    load_weights(networks, folder, device, RENAMED_WEIGHTS)
    vocoder_folder = companion(folder, config["vocoder"])
    vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
    load_weights(vocoder, vocoder_folder, device)
    return config["name"], config["voices"], vqvae, inverter, vocoder


def load_features(folder: Path, device: torch.device) -> Callable[[np.ndarray], np.ndarray]:
    """Load the function that the units are made by: speech (T,) → frames of 10 ms (S, D). MFCC, or
    a frozen speech model where the config names a front end.

    Raises FileNotFoundError where that model cannot be loaded.
    """
    config = read_config(folder)
    if "front_end" not in config:
        return features.mfcc
    from earshot.pretrained.speech_encoder import SpeechEncoder  # late, for it loads transformers

    encoder = SpeechEncoder.from_pretrained(config["front_end"], str(device))
    return lambda waveform: encoder.on_grid(waveform).repeat(2, axis=0)  # they are of 20 ms


def vqvae_config(saved: dict[str, Any]) -> VQVAEConfig:
    """Read the VQ-VAE's part of a config.json, whose keys may be older than the code's."""
    return VQVAEConfig(**{RENAMED_SETTINGS.get(key, key): saved[key] for key in saved})
