"""Speech → content and intonation → the same words in any voice."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from media.audio import features
from media.audio.load import Audio, load, match_loudness
from media.audio.pitch import track_pitch
from media.audio.voice_activity import words
from media.constants import HOP_LENGTH, SAMPLE_RATE
from media.errors import InputError
from models.conversion.bottleneck import CONTINUOUS, Bottleneck
from models.conversion.content import STRIDE, ContentEncoder
from models.conversion.inverter import ContourPredictor, Inverter, Voices
from models.conversion.reference import ReferenceEncoder
from models.vocoder import Vocoder, VocoderConfig
from pipelines.checkpoint import choose_device, load_weights, locate, read_config
from pipelines.speech import Speech
from pipelines.voice_conversion.content import AnyVoiceResult, Content
from pipelines.voice_conversion.contour import BITS_PER_SECOND, Contour
from pipelines.voice_conversion.networks import build, shipped
from pipelines.voice_conversion.voice import Voice, pitch_statistics
from pipelines.windows import in_windows

CELL: Final = STRIDE * HOP_LENGTH  # samples in a step


class AnyVoiceConversion:
    """One network for all bottlenecks and voices, shared by all visitors: nothing of theirs stays.

    get the content (encode) → give it a voice (decode); voice() makes one from a recording.
    """

    VOCODERS: Final = ("neural", "griffin-lim")  # the default first
    INTONATIONS: Final = ("keep", "predicted")
    LEVEL: Final = -23.0  # LUFS of the speech that the networks were trained on
    GATE: Final = -60.0  # dBFS: quieter is silence, and comes out as silence
    MAX_SECONDS: Final = 60.0
    REFERENCE_SECONDS: Final = (10.0, 30.0)  # of a recording that a voice is made from
    LEAST_SPEECH: Final = 5.0  # seconds of it
    WINDOW: Final = 200  # frames that the networks see at once
    OVERLAP: Final = 40

    def __init__(
        self,
        name: str,
        networks: nn.ModuleDict,
        names: list[str],
        vocoder: Vocoder,
        device: torch.device,
    ) -> None:
        self.name, self.device = name, device
        self.vocoder = vocoder
        self._content: ContentEncoder = networks["content"]  # type: ignore[assignment]
        self._bottleneck: Bottleneck = networks["bottleneck"]  # type: ignore[assignment]
        self._reference: ReferenceEncoder = networks["reference"]  # type: ignore[assignment]
        self._inverter: Inverter = networks["inverter"]  # type: ignore[assignment]
        self._contour: ContourPredictor = networks["contour"]  # type: ignore[assignment]
        self.bottlenecks = self._bottleneck.config.names
        self.voices = shipped(names, networks["voices"])

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str = "auto") -> "AnyVoiceConversion":
        """Load a checkpoint folder, or a hub id, and the vocoder that its config names.

        Raises FileNotFoundError when there is none.
        """
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        networks = build(config)
        load_weights(networks, folder, place)
        vocoder_folder = locate(folder.parent / config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, place)
        return cls(config["name"], networks, config["voices"], vocoder, place)

    def __call__(
        self,
        audio: Audio,
        target: str | Voice = "TF2",
        bottleneck: str = CONTINUOUS,
        intonation: str = "keep",
        vocoder: str = "neural",
    ) -> AnyVoiceResult:
        """Say the words of ``audio`` in the voice ``target``: a name of ``voices``, or a Voice.

        Raises InputError for audio that cannot be used, and for choices that do not exist.
        """
        began = time.perf_counter()
        voice = self._voice(target)
        source, content, notices = self.encode(audio, bottleneck)
        converted = self.decode(content, voice, intonation, vocoder)
        taken = time.perf_counter() - began
        return AnyVoiceResult(
            source=source,
            content=content,
            converted=converted,
            voice=voice,
            notices=notices,
            content_bits=self._bottleneck.bits_per_second(bottleneck),
            contour_bits=BITS_PER_SECOND if intonation == "keep" else 0.0,
            seconds=taken,
            real_time_factor=taken * source.sample_rate / len(source.waveform),
        )

    @torch.inference_mode()
    def encode(
        self, audio: Audio, bottleneck: str = CONTINUOUS
    ) -> tuple[Speech, Content, tuple[str, ...]]:
        """The speech at the level of the networks, its content, and what is to be said about it.

        Raises InputError for audio that cannot be used, or an unknown bottleneck.
        """
        _check("bottleneck", bottleneck, self.bottlenecks)
        began = time.perf_counter()
        recording = load(audio, SAMPLE_RATE, self.MAX_SECONDS)
        waveform = self._level(recording.waveform)
        waveform = np.pad(waveform, (0, -len(waveform) % CELL))
        vectors = self._encode(features.mfcc(waveform))
        codes = torch.zeros(len(vectors), 0, dtype=torch.long)
        if bottleneck != CONTINUOUS:
            codes = self._bottleneck.encode(vectors, bottleneck)
            vectors = self._bottleneck.decode(codes, bottleneck)
        content = Content(
            bottleneck,
            codes.cpu().numpy(),
            vectors.cpu().numpy(),
            self._silent(waveform),
            Contour.of(track_pitch(waveform)),
        )
        return _speech(waveform, began), content, recording.notices

    @torch.inference_mode()
    def decode(
        self,
        content: Content,
        target: str | Voice = "TF2",
        intonation: str = "keep",
        vocoder: str = "neural",
    ) -> Speech:
        """Speak content in a voice. Raises InputError for choices that do not exist."""
        _check("intonation", intonation, self.INTONATIONS)
        _check("vocoder", vocoder, self.VOCODERS)
        began = time.perf_counter()
        voice = self._voice(target)
        vectors = torch.from_numpy(content.vectors).to(self.device)
        if intonation == "keep":
            contour = torch.from_numpy(content.contour.frames(voice.pitch_std)).to(self.device)
        else:
            contour = self._predict(vectors, voice)
        mel = self._invert(vectors, contour, voice, content.bottleneck)
        pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
        waveform = self._vocode(mel, pitch, vocoder) * _gate(content.silent)
        return _speech(waveform.astype(np.float32), began)

    @torch.inference_mode()
    def voice(self, audio: Audio, name: str = "your voice") -> Voice:
        """The voice of a recording of 10 to 30 s.

        Raises InputError where it is shorter or longer, silent, or holds too little speech.
        """
        shortest, longest = self.REFERENCE_SECONDS
        recording = load(audio, SAMPLE_RATE, longest, shortest)
        waveform = self._level(recording.waveform)
        spoken = words(waveform)
        seconds = sum(end - start for start, end in spoken)
        if seconds < self.LEAST_SPEECH:
            raise InputError(
                f"Only {seconds:.0f} s of the recording are speech. Read on until "
                f"{shortest:.0f} s are full, close to the microphone, where it is quiet."
            )
        rate = SAMPLE_RATE
        said = np.concatenate([waveform[round(a * rate) : round(b * rate)] for a, b in spoken])
        mel = torch.from_numpy(features.log_mel(said))[None].to(self.device)
        vector = self._reference(self._inverter.normalize(mel))[0].cpu().numpy()
        return Voice(name, vector, *pitch_statistics(track_pitch(said)))

    def _encode(self, mfcc: np.ndarray) -> Tensor:
        """(S, 39) → content (U, content_width)."""
        normalized = self._content.normalize(torch.from_numpy(mfcc)[None].to(self.device))[0]
        return in_windows(self._content, normalized, self.WINDOW, self.OVERLAP, 1 / STRIDE)

    def _invert(self, vectors: Tensor, contour: Tensor, voice: Voice, bottleneck: str) -> Tensor:
        """Content (U, content_width) and contour (S, 2) → log-mel spectrogram (S, n_mels)."""
        width, number = vectors.shape[1], self.bottlenecks.index(bottleneck)
        chosen, voices = torch.tensor([number], device=self.device), self._tensors(voice)

        def invert(batch: Tensor) -> Tensor:
            rows = torch.zeros(len(batch), dtype=torch.long, device=self.device)
            melody = batch[..., width:].reshape(len(batch), -1, 2)
            made = self._inverter(batch[..., :width], melody, voices[rows], chosen[rows])
            return self._inverter.denormalize(made)

        given = torch.cat([vectors, contour.reshape(len(vectors), -1)], dim=1)
        return in_windows(invert, given, self.WINDOW // STRIDE, self.OVERLAP // STRIDE, STRIDE)

    def _predict(self, vectors: Tensor, voice: Voice) -> Tensor:
        """A contour (S, 2) for content (U, content_width)."""
        voices = self._tensors(voice)

        def predict(batch: Tensor) -> Tensor:
            return self._contour(batch, voices[torch.zeros(len(batch), dtype=torch.long)])

        size, overlap = self.WINDOW // STRIDE, self.OVERLAP // STRIDE
        logit, relative = in_windows(predict, vectors, size, overlap, STRIDE).T
        voiced = (logit > 0).to(relative.dtype)
        return torch.stack([voiced, voiced * relative], dim=1)

    def _vocode(self, mel: Tensor, pitch: Tensor, vocoder: str) -> np.ndarray:
        """Log-mel spectrogram (S, n_mels) and pitch (S,) in Hz → waveform (T,)."""
        if vocoder == "neural":
            return self.vocoder(mel[None], pitch[None])[0].cpu().numpy()
        return features.griffin_lim(features.linear_from_log_mel(mel.cpu().numpy()))

    def _tensors(self, voice: Voice) -> Voices:
        vector = torch.from_numpy(voice.vector)[None].to(self.device)
        numbers = torch.tensor([[voice.pitch_mean], [voice.pitch_std]], device=self.device)
        return Voices(vector, numbers[0], numbers[1])

    def _voice(self, target: str | Voice) -> Voice:
        if isinstance(target, Voice):
            return target
        _check("voice", target, self.voices)
        return self.voices[target]

    def _level(self, waveform: np.ndarray) -> np.ndarray:
        if 20 * np.log10(np.abs(waveform).max() + 1e-12) < self.GATE:
            return np.zeros_like(waveform)
        return match_loudness(waveform, SAMPLE_RATE, self.LEVEL)

    def _silent(self, waveform: np.ndarray) -> np.ndarray:
        """Whether each step and its neighbours are under the gate: (U,)."""
        power = np.square(waveform.reshape(-1, CELL)).mean(axis=1)
        loudest = np.max([np.roll(power, -1), power, np.roll(power, 1)], axis=0)
        return loudest < 10 ** (self.GATE / 10)


def _check(what: str, choice: str, choices: Mapping[str, Any] | tuple[str, ...]) -> None:
    if choice not in choices:
        raise InputError(f"There is no {what} {choice}. Choose one of {', '.join(choices)}.")


def _gate(silent: np.ndarray) -> np.ndarray:
    """Gain of every sample: 0 in silent steps, fading over 5 ms at their edges: (U * CELL,)."""
    gain = np.repeat(1.0 - silent, CELL)
    fade = np.hanning(round(0.01 * SAMPLE_RATE))
    return np.minimum(gain, np.convolve(gain, fade / fade.sum(), mode="same"))


def _speech(waveform: np.ndarray, began: float) -> Speech:
    taken = time.perf_counter() - began
    return Speech(waveform, SAMPLE_RATE, features.log_mel(waveform), taken)
