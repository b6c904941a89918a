"""Lip to speech: a video of a speaking face → its words and its speech, in a voice that fits the
face.

Shapes: N frames of 40 ms, C width of the lip reader, W words and the CTC blank, S mel frames of
10 ms.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from scipy.ndimage import binary_opening
from torch import Tensor, nn

from earshot.core.errors import InputError
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio import features
from earshot.media.audio.load import match_loudness
from earshot.media.audio.speech import FACE, Origin, Speech, muted
from earshot.media.constants import FRAMES_PER_SECOND, SAMPLE_RATE, VIDEO_RATE
from earshot.media.video import Frame, frames
from earshot.media.video.face import track_face
from earshot.media.video.lips import MouthClip, crop_mouth
from earshot.models.any_voice import CONTINUOUS
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.pretrained.any_voice import Networks
from earshot.pretrained.checkpoint import (
    choose_device,
    companion,
    kind_of,
    load_weights,
    locate,
    read_config,
    weights_hash,
)
from earshot.pretrained.voice import Voice, voice_named
from earshot.pretrained.windows import in_windows
from earshot.provenance import manifest
from earshot.provenance.mark import marked
from earshot.systems.lip_to_speech.caption import Calibration, SpokenWord, caption
from earshot.systems.lip_to_speech.weights import LipNetworks, averaged, current_config

DEFAULT: Final = CHECKPOINTS / "lip-to-speech"
STEP: Final = 320  # samples of 20 ms, in which pauses are looked for
MAX_RANGE: Final = 25.0  # dB
MIN_PAUSE: Final = 12  # steps: stop consonants are shorter


@dataclass(frozen=True)
class FaceVoice:
    """A voice that a face suggests, or that two sliders set. pitch: mean F0 in Hz; timbre: from 0,
    the darkest of the training voices, to 1, the brightest.
    """

    pitch: float
    timbre: float

    @property
    def name(self) -> str:
        """Write how it differs from others."""
        return f"{self.pitch:.0f} Hz {self.timbre:.2f}"


@dataclass(frozen=True, eq=False)
class LipReading:
    """An encoded video, the same for every voice. mouth: the crops and their quality; states (N, C)
    and ctc_logits (N, W): encoder outputs; caption: the most likely sentence; confidence: the mean
    over its words, from 0 to 1; voice: the one suggested by the face; notices: how to record
    better; compute_seconds: the time it took; ingredient: the video's signed metadata, if any."""

    mouth: MouthClip
    states: np.ndarray
    ctc_logits: np.ndarray
    caption: tuple[SpokenWord, ...]
    confidence: float
    voice: FaceVoice
    notices: tuple[str, ...]
    compute_seconds: float
    ingredient: bytes = b""


@dataclass(frozen=True, eq=False)
class LipSpeech:
    """The speech of a video in one voice: that of a face, or one of any-voice's. predicted_mel (S,
    80): log-mel frames of the networks; speech: what the vocoder made of them; compute_seconds:
    from the video to the speech."""

    reading: LipReading
    voice: FaceVoice | Voice
    predicted_mel: np.ndarray
    speech: Speech
    compute_seconds: float

    @property
    def pitch(self) -> float:
        """Return the mean F0 of the voice in Hz."""
        voice = self.voice
        return voice.pitch if isinstance(voice, FaceVoice) else math.exp(voice.pitch_mean)


class LipToSpeech:
    """Lip readers, a face encoder and a vocoder, shared by all visitors."""

    MAX_SECONDS: Final = 30.0
    MIN_SECONDS: Final = 0.5
    PITCHES: Final = (70.0, 300.0)  # Hz
    LEVEL: Final = -23.0  # LUFS, of what any-voice encodes
    VOCODERS: Final = ("neural", "griffin-lim")  # the default first
    WINDOW: Final = 75  # frames of 40 ms per window of the network: the length of training clips
    OVERLAP: Final = 25
    HOPS: Final = round(FRAMES_PER_SECOND / VIDEO_RATE)  # mel frames per frame

    weights: str = ""  # the SHA-256 of the checkpoint

    def __init__(
        self,
        config: dict[str, Any],
        networks: LipNetworks,
        vocoder: Vocoder,
        any_voice: Path | None,
        device: torch.device,
    ) -> None:
        """Keep the networks. any_voice: the folder of what speaks in any other voice, if there is
        one.
        """
        self.name: str = config["name"]
        self.min_confidence: float = config["min_confidence"]  # below it, a notice is shown
        self.calibration = Calibration(**config["calibration"])
        self.speakers: tuple[str, ...] = tuple(config["speakers"])  # from dark to bright voices
        self.device = device
        # In the middle of the training speakers, where none is chosen.
        self.neutral = FaceVoice(math.exp(networks.faces.config.pitch), 0.5)
        self._voices = torch.tensor(config["voices"], device=device)  # (speakers, V)
        self._reader, self._word_readers, self._faces = networks
        self._vocoder = vocoder
        self._any_voice_folder = any_voice
        self.voices: tuple[str, ...] = tuple(read_config(any_voice)["voices"] if any_voice else ())

    @classmethod
    def from_pretrained(cls, name: str | Path = DEFAULT, device: str = "auto") -> "LipToSpeech":
        """Load a checkpoint: the name of one that is shipped, a folder, or a hub id.

        Raises FileNotFoundError where it is none of these, CheckpointError for one that is of
        another task or cannot be used.
        """
        folder, place = locate(name), choose_device(device)
        saved = read_config(folder)
        kind_of(folder, saved, "lip to speech", ["reader"])
        config = current_config(saved)
        networks = LipNetworks.load(folder, config, place)
        vocoder_folder = companion(folder, config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, place)
        named = config.get("any_voice")  # checkpoints of before name none
        any_voice = companion(folder, named) if named else None
        lips = cls(config, networks, vocoder, any_voice, place)
        lips.weights = weights_hash(folder)
        return lips

    def __call__(
        self,
        video: str | Path | None,
        vocoder: str = "neural",
        voice: FaceVoice | Voice | str | None = None,
    ) -> LipSpeech:
        """Read the lips of a video, and speak: in the voice that its face suggests, unless another
        is given, see speak.

        Raises InputError for a video that cannot be used.
        """
        reading = self.encode(video)
        return self.speak(reading, voice or reading.voice, vocoder)

    @torch.inference_mode()
    def encode(
        self, video: str | Path | None, on_frame: Callable[[Frame], None] = lambda _: None
    ) -> LipReading:
        """Track the face, crop the mouth and read the lips. The audio track is never decoded.

        on_frame takes each frame, so that a caller who needs the pictures decodes them only once.
        Raises InputError for a video that cannot be used.
        """
        began = time.perf_counter()
        mouth = crop_mouth(track_face(_passed_on(frames(video, self.MAX_SECONDS), on_frame)))
        if mouth.seconds < self.MIN_SECONDS:
            raise InputError("The video is too short.", "Say a whole sentence of six words.")
        states, ctc_logits = self._read_lips(mouth)
        log_probabilities = ctc_logits.float().log_softmax(dim=-1).cpu().numpy()
        words = caption(log_probabilities, self.calibration)
        confidence = float(np.mean([word.confidence for word in words])) if words else 0.0
        ingredient, notices = manifest.of_input(video)
        return LipReading(
            mouth=mouth,
            states=states.cpu().numpy(),
            ctc_logits=ctc_logits.cpu().numpy(),
            caption=words,
            confidence=confidence,
            voice=self._suggest_voice(mouth.portraits),
            notices=(*self._notices(mouth, confidence), *notices),
            compute_seconds=time.perf_counter() - began,
            ingredient=ingredient,
        )

    @torch.inference_mode()
    def speak(
        self,
        reading: LipReading,
        voice: FaceVoice | Voice | str,
        vocoder: str = "neural",
    ) -> LipSpeech:
        """Decode an encoded video in a voice; the video itself is not read again.

        voice: that of a face or of two sliders; a name of ``voices``; or a Voice, which
        VoiceConversion.voice_from makes of a recording. For the latter two any-voice converts what
        is spoken in the neutral voice. Raises InputError for a voice out of range, or that there is
        not, or an unknown vocoder.
        """
        chosen = self.voice_of(voice)
        if vocoder not in self.VOCODERS:
            raise InputError(f"There is no vocoder {vocoder}. Choose {' or '.join(self.VOCODERS)}.")
        began = time.perf_counter()
        if isinstance(chosen, FaceVoice):
            predicted, waveform = self._decode(reading, chosen, vocoder)
        else:
            predicted, waveform = self._converted(reading, chosen, vocoder)
        waveform = waveform / max(1.0, float(np.abs(waveform).max()))
        taken = time.perf_counter() - began
        kind = FACE if isinstance(chosen, FaceVoice) else chosen.kind
        origin = Origin(self.name, self.weights, kind, ("words", "timing"), reading.ingredient)
        speech = marked(Speech(waveform, SAMPLE_RATE, features.log_mel(waveform), taken, origin))
        return LipSpeech(reading, chosen, predicted, speech, reading.compute_seconds + taken)

    def voice_of(self, voice: FaceVoice | Voice | str) -> FaceVoice | Voice:
        """Find the voice of a name; others stay as they are. Raises InputError where there is none,
        or out of range.
        """
        if not isinstance(voice, FaceVoice) and not self.voices:
            raise InputError(f"{self.name} speaks in the voice of a face only.")
        if isinstance(voice, str):
            shipped = voice_named(voice)
            if shipped not in self.voices:
                names = ", ".join(self.voices)
                raise InputError(f"There is no voice {voice}. Choose one of {names}.")
            return self._any_voice.voices[shipped]
        lowest, highest = self.PITCHES
        if isinstance(voice, FaceVoice) and not (
            lowest <= voice.pitch <= highest and 0 <= voice.timbre <= 1
        ):
            raise InputError(
                f"A voice has a pitch of {lowest:g} to {highest:g} Hz and a timbre from 0 to 1."
            )
        return voice

    @cached_property
    def _any_voice(self) -> Networks:
        """Load any-voice, which few need."""
        assert self._any_voice_folder  # else there are no voices
        return Networks.load(self._any_voice_folder, self.device)

    def _decode(
        self, reading: LipReading, voice: FaceVoice, vocoder: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict log-mel frames (S, M) in a face's voice, and vocode them: (T,)."""
        log_mel, log_f0 = self._predict_mel(reading, self._voice_embedding(voice.timbre))
        predicted = log_mel.cpu().numpy()
        if vocoder == "neural":
            pitch = torch.where(log_f0.isfinite(), log_f0.exp() * voice.pitch, 0.0)
            waveform = self._vocoder(log_mel[None], pitch[None])[0].cpu().numpy()
            # The vocoder's output deviates from its input: a filter brings the mel frames back.
            return predicted, features.filtered(waveform, predicted, pitch.cpu().numpy())
        return predicted, features.griffin_lim(features.linear_from_log_mel(predicted))

    def _converted(
        self, reading: LipReading, voice: Voice, vocoder: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Speak in the neutral voice, and convert: log-mel frames (S, M) and waveform (T,).

        The recogniser makes words of pauses, so they are silenced.
        """
        networks, (_, neutral) = self._any_voice, self._decode(reading, self.neutral, "neural")
        silent = pauses(neutral)
        speech = match_loudness(muted(neutral, silent), SAMPLE_RATE, self.LEVEL)
        content = networks.encode(speech)
        contour = networks.predict_contour(content, voice)
        log_mel = networks.invert(content, contour, voice, CONTINUOUS)
        pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
        waveform = muted(networks.vocode(log_mel, pitch, vocoder), silent)
        predicted = log_mel.cpu().numpy()
        predicted[np.repeat(silent, len(predicted) // len(silent))] = predicted.min()
        return predicted, waveform

    def _read_lips(self, mouth: MouthClip) -> tuple[Tensor, Tensor]:
        """Compute encoder states (N, C) and CTC logits (N, W)."""
        side = self._reader.config.side
        edge = (mouth.crops.shape[1] - side) // 2
        crops = mouth.crops[:, edge:-edge, edge:-edge].astype(np.float32) / 255

        def encode(windows: Tensor) -> Tensor:
            crops = windows.unflatten(-1, (side, side))
            states, ctc_logits = self._reader.encode(crops)
            logits = [ctc_logits, *(reader.encode(crops)[1] for reader in self._word_readers)]
            return torch.cat([states, averaged(logits)], dim=-1)

        inputs = torch.from_numpy(crops.reshape(len(crops), -1)).to(self.device)
        encoded = in_windows(encode, inputs, self.WINDOW, self.OVERLAP)
        width = self._reader.config.width
        return encoded[:, :width], encoded[:, width:]

    def _predict_mel(self, reading: LipReading, voice: Tensor) -> tuple[Tensor, Tensor]:
        """Predict log-mel frames (S, M), and the log-F0 contour (S,) relative to the voice's mean,
        infinite where unvoiced.
        """
        encoded = torch.from_numpy(np.concatenate([reading.states, reading.ctc_logits], axis=1))
        width = reading.states.shape[1]

        def decode(windows: Tensor) -> Tensor:
            predicted = self._reader.decode(
                windows[..., :width],
                windows[..., width:],
                voice.expand(len(windows), -1),
                windows.shape[1] * self.HOPS,
            )
            source = torch.stack([predicted.voicing, predicted.log_f0], dim=-1)
            return torch.cat([predicted.log_mel, source], dim=-1)

        joined = in_windows(decode, encoded.to(self.device), self.WINDOW, self.OVERLAP, self.HOPS)
        return joined[:, :-2], torch.where(joined[:, -2] > 0, joined[:, -1], torch.inf)

    def _suggest_voice(self, portraits: np.ndarray) -> FaceVoice:
        """Choose the voice that the face suggests: its mean F0, and the timbre whose embedding is
        nearest to the face encoder's by cosine.
        """
        pictures = torch.from_numpy(portraits).to(self.device).permute(0, 3, 1, 2) / 255
        embeddings, log_f0 = self._faces(pictures)
        timbres = torch.linspace(0, 1, 101, device=self.device)
        candidates = torch.stack([self._voice_embedding(float(timbre)) for timbre in timbres])
        nearest = (candidates @ embeddings.mean(dim=0)).argmax()
        pitch = float(log_f0.mean().exp().clamp(*self.PITCHES))
        return FaceVoice(pitch, float(timbres[nearest]))

    def _voice_embedding(self, timbre: float) -> Tensor:
        """Interpolate an embedding (V,) between the two training speakers nearest to that
        timbre.
        """
        position = timbre * (len(self._voices) - 1)
        low = min(int(position), len(self._voices) - 2)
        mixed = torch.lerp(self._voices[low], self._voices[low + 1], position - low)
        return nn.functional.normalize(mixed, dim=0)

    def _notices(self, mouth: MouthClip, confidence: float) -> tuple[str, ...]:
        notices = list(mouth.quality.hints())
        if mouth.gaps:
            notices.append(f"The video has gaps, {mouth.gaps:.1f} s in all: nothing is read there.")
        if confidence < self.min_confidence:
            notices.append("This does not look like a sentence I know.")
        return tuple(notices)


def pauses(waveform: np.ndarray) -> np.ndarray:
    """Find the pauses of speech (T,), T of whole steps: one bool for each STEP samples, true where
    nothing is louder than MAX_RANGE below the loudest for MIN_PAUSE steps.
    """
    power = np.square(waveform.reshape(-1, STEP)).mean(axis=1)
    quiet = power < power.max() * 10 ** (-MAX_RANGE / 10)
    return binary_opening(quiet, np.ones(MIN_PAUSE))


def _passed_on(frames: Iterable[Frame], on_frame: Callable[[Frame], None]) -> Iterator[Frame]:
    """Yield the frames, each after on_frame took it."""
    for frame in frames:
        on_frame(frame)
        yield frame
