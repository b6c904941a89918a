"""SpeechT5 of the Hugging Face hub, as a baseline of our voice conversion (Ao et al. 2022).

A Transformer from waveform to log-mel spectrogram, given an x-vector of the target speaker, and a
HiFi-GAN. Larger and slower than ours, and not shipped: whoever names it downloads it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import numpy as np
import torch
from transformers import SpeechT5ForSpeechToSpeech, SpeechT5HifiGan

from earshot.core.errors import InputError
from earshot.media.audio import features
from earshot.media.audio.load import Audio, load
from earshot.media.audio.speech import REFERENCE, Origin, Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.accelerator import choose_device, lent
from earshot.pretrained.hub import load_model, precision


@dataclass(frozen=True, eq=False)
class SpeechT5Result:
    """The result of a conversion by SpeechT5. source: as the network was given it; notices: for the
    visitor, about the input.
    """

    source: Speech
    converted: Speech
    notices: tuple[str, ...]


class SpeechT5Conversion:
    """A conversion of anybody's speech to the same words in the voice of an x-vector. Keeps no
    state.
    """

    NAME: Final = "microsoft/speecht5_vc"
    VOCODER: Final = "microsoft/speecht5_hifigan"
    MAX_SECONDS: Final = 30.0
    LENGTHS: Final = (0.6, 2.5)  # mel frames a frame of the encoder; 1.25 is as long as the source

    def __init__(
        self, model: SpeechT5ForSpeechToSpeech, vocoder: SpeechT5HifiGan, device: torch.device
    ) -> None:
        self._model, self._vocoder, self._device = model, vocoder, device
        self._speak = lent(f"speecht5 {id(self)}", self._generate)
        self.voice_width: int = model.config.speaker_embedding_dim

    @classmethod
    def from_pretrained(
        cls, name: str | Path = NAME, vocoder: str | Path = VOCODER, device: str = "auto"
    ) -> "SpeechT5Conversion":
        """Load both networks, from folders or by hub ids. Raises FileNotFoundError where there is
        no such network."""
        place = choose_device(device, large=True)
        options = {"dtype": precision(place)}
        model = load_model(SpeechT5ForSpeechToSpeech, name, **options)
        generator = load_model(SpeechT5HifiGan, vocoder, **options)
        for network in (model, generator):
            torch.nn.Module.to(network.eval().requires_grad_(False), place)
        return cls(model, generator, place)

    def __call__(self, audio: Audio, voice: np.ndarray) -> SpeechT5Result:
        """Say the words of ``audio`` in the voice of an x-vector (512,).

        Raises InputError for audio that cannot be used, and for what is no such vector.
        """
        began = time.perf_counter()
        if voice.shape != (self.voice_width,) or not np.isfinite(voice).all():
            raise InputError(f"A voice is an x-vector: {self.voice_width} numbers.")
        recording = load(audio, SAMPLE_RATE, self.MAX_SECONDS)
        converted = self._speak(recording.waveform, voice)
        speech = _speech(converted, time.perf_counter() - began)
        speech = replace(speech, origin=Origin(self.NAME, voice=REFERENCE))
        return SpeechT5Result(_speech(recording.waveform, 0.0), speech, recording.notices)

    @torch.inference_mode()
    def _generate(self, waveform: np.ndarray, voice: np.ndarray) -> np.ndarray:
        """Convert a waveform (T,), with an x-vector (512,), to a waveform (T',)."""
        shortest, longest = self.LENGTHS
        waveform_out = self._model.generate_speech(
            self._tensor(waveform),
            self._tensor(voice),
            minlenratio=shortest,
            maxlenratio=longest,
            vocoder=self._vocoder,
        )
        return waveform_out.float().clamp(-1, 1).cpu().numpy()

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        """Batch values (…) as (1, …) in the precision of the network."""
        return torch.from_numpy(values)[None].to(self._device, self._model.dtype)


def read_voice(path: Path) -> np.ndarray:
    """Read the x-vector of a .npy file, float32 (512,). Raises InputError where it holds none."""
    try:
        return np.load(path).astype(np.float32).reshape(-1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} holds no x-vector: a .npy file of numbers is needed.") from error


def read_voices(archive: Path, speakers: Sequence[str]) -> dict[str, np.ndarray]:
    """Read an x-vector (512,) of each speaker of CMU ARCTIC, from a zip file of one .npy an
    utterance.

    Raises OSError where the archive lacks a speaker.
    """
    voices = {}
    with ZipFile(archive) as files:
        for speaker in speakers:
            own = sorted(n for n in files.namelist() if f"_{speaker}_" in n and n.endswith(".npy"))
            if not own:
                raise OSError(f"{archive} has no speaker {speaker}")
            vector = np.load(BytesIO(files.read(own[0])), allow_pickle=False)
            voices[speaker] = vector.astype(np.float32).reshape(-1)
    return voices


def _speech(waveform: np.ndarray, seconds: float) -> Speech:
    return Speech(waveform, SAMPLE_RATE, features.log_mel(waveform), seconds)
