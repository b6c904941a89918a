"""Lip to speech: a film of a speaking face → what it said, heard in a voice that fits the face."""

import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from media.audio import features
from media.errors import InputError
from media.video import frames
from media.video.face import look
from media.video.lips import RATE, Mouth, follow
from models.face_encoder import FaceEncoder, FaceEncoderConfig
from models.lip_reader import LipReader, LipReaderConfig
from models.vocoder import Vocoder, VocoderConfig
from pipelines.checkpoint import choose_device, companion, load_weights, locate, read_config
from pipelines.lip_to_speech.caption import caption
from pipelines.lip_to_speech.result import LipSpeech, Reading, Voice
from pipelines.speech import Speech
from pipelines.windows import in_windows


class LipToSpeech:
    """A reader of lips, a face's voice and a vocoder, shared by all visitors."""

    MAX_SECONDS: Final = 30.0
    MIN_SECONDS: Final = 0.5
    PITCHES: Final = (70.0, 300.0)  # Hz
    VOCODERS: Final = ("neural", "griffin-lim")  # the default first
    WINDOW: Final = 75  # frames of 40 ms that the network sees at once: the length of its training
    OVERLAP: Final = 25
    HOPS: Final = round(features.SAMPLE_RATE / features.HOP_LENGTH / RATE)  # mel frames a frame

    def __init__(
        self,
        config: dict[str, Any],
        reader: LipReader,
        faces: FaceEncoder,
        vocoder: Vocoder,
        device: torch.device,
    ) -> None:
        self.name: str = config["name"]
        self.sure: float = config["sure"]  # confidence from which it looks like a sentence
        self.talkers: tuple[str, ...] = tuple(config["talkers"])  # from dark to bright
        self.device = device
        self._voices = torch.tensor(config["voices"], device=device)  # (talkers, V)
        self._reader, self._faces, self._vocoder = reader, faces, vocoder

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str = "auto") -> "LipToSpeech":
        """Load a checkpoint folder, or a hub id.

        Raises FileNotFoundError when there is none.
        """
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        reader = LipReader(LipReaderConfig(**config["reader"]))
        faces = FaceEncoder(FaceEncoderConfig(**config["faces"]))
        load_weights(nn.ModuleDict({"reader": reader, "faces": faces}), folder, place)
        vocoder_folder = companion(folder, config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, place)
        return cls(config, reader, faces, vocoder, place)

    def __call__(self, video: str | Path | None, vocoder: str = "neural") -> LipSpeech:
        """Speak what the lips of a film say, in the voice that its face suggests.

        Raises InputError for a film that cannot be used.
        """
        reading = self.watch(video)
        return self.speak(reading, reading.voice, vocoder)

    @torch.inference_mode()
    def watch(self, video: str | Path | None) -> Reading:
        """Follow the mouth through the film and read it. Its sound is never decoded.

        Raises InputError for a film that cannot be used.
        """
        began = time.perf_counter()
        mouth = follow(look(frames(video, self.MAX_SECONDS)))
        if mouth.seconds < self.MIN_SECONDS:
            raise InputError("The video is too short. Say a whole sentence of six words.")
        states, words = self._read(mouth)
        said = caption(words.float().log_softmax(dim=-1).cpu().numpy())
        confidence = float(np.mean([word.confidence for word in said])) if said else 0.0
        return Reading(
            mouth=mouth,
            states=states.cpu().numpy(),
            words=words.cpu().numpy(),
            caption=said,
            confidence=confidence,
            voice=self._guess(mouth.portraits),
            notices=self._notices(mouth, confidence),
            seconds=time.perf_counter() - began,
        )

    @torch.inference_mode()
    def speak(self, reading: Reading, voice: Voice, vocoder: str = "neural") -> LipSpeech:
        """Say it in a voice; nothing is tracked anew.

        Raises InputError for a voice outside of what there is, or an unknown vocoder.
        """
        self._check(voice, vocoder)
        began = time.perf_counter()
        log_mel, melody = self._draw(reading, self._timbre(voice.timbre))
        drawn = log_mel.cpu().numpy()
        if vocoder == "neural":
            pitch = torch.where(melody.isfinite(), melody.exp() * voice.pitch, 0.0)
            waveform = self._vocoder(log_mel[None], pitch[None])[0].cpu().numpy()
            # The vocoder alone says it a little otherwise than it was drawn.
            waveform = features.filtered(waveform, drawn, pitch.cpu().numpy())
        else:
            waveform = features.griffin_lim(features.linear_from_log_mel(drawn))
        waveform = waveform / max(1.0, float(np.abs(waveform).max()))
        taken = time.perf_counter() - began
        speech = Speech(waveform, features.SAMPLE_RATE, features.log_mel(waveform), taken)
        return LipSpeech(reading, voice, drawn, speech, reading.seconds + taken)

    def _read(self, mouth: Mouth) -> tuple[Tensor, Tensor]:
        """States (F, C) and logits of words (F, W)."""
        edge = (mouth.crops.shape[1] - self._reader.config.side) // 2
        crops = mouth.crops[:, edge:-edge, edge:-edge]
        seen = np.concatenate([crops.reshape(len(crops), -1) / 255, _flat(mouth.points)], axis=1)
        pixels, side = crops[0].size, crops.shape[1]

        def watch(windows: Tensor) -> Tensor:
            pictures = windows[..., :pixels].unflatten(-1, (side, side))
            points = windows[..., pixels:].unflatten(-1, (-1, 2))
            return torch.cat(self._reader.watch(pictures, points), dim=-1)

        inputs = torch.from_numpy(seen.astype(np.float32)).to(self.device)
        made = in_windows(watch, inputs, self.WINDOW, self.OVERLAP)
        width = self._reader.config.width
        return made[:, :width], made[:, width:]

    def _draw(self, reading: Reading, voice: Tensor) -> tuple[Tensor, Tensor]:
        """Log-mel frames (S, M), and the melody (S,): log of pitch over its mean, infinite where
        there is no voice."""
        states = torch.from_numpy(np.concatenate([reading.states, reading.words], axis=1))
        width = reading.states.shape[1]

        def draw(windows: Tensor) -> Tensor:
            drawn = self._reader.draw(
                windows[..., :width],
                windows[..., width:],
                voice.expand(len(windows), -1),
                windows.shape[1] * self.HOPS,
            )
            rest = torch.stack([drawn.voicing, drawn.melody], dim=-1)
            return torch.cat([drawn.log_mel, rest], dim=-1)

        made = in_windows(draw, states.to(self.device), self.WINDOW, self.OVERLAP, self.HOPS)
        return made[:, :-2], torch.where(made[:, -2] > 0, made[:, -1], torch.inf)

    def _guess(self, portraits: np.ndarray) -> Voice:
        """The voice that the face suggests: the place nearest to it on the way from the darkest to
        the brightest voice."""
        pictures = torch.from_numpy(portraits).to(self.device).permute(0, 3, 1, 2) / 255
        vectors, pitch = self._faces(pictures)
        timbres = torch.linspace(0, 1, 101, device=self.device)
        ways = torch.stack([self._timbre(float(timbre)) for timbre in timbres])
        nearest = (ways @ vectors.mean(dim=0)).argmax()
        hertz = float(pitch.mean().exp().clamp(*self.PITCHES))
        return Voice(hertz, float(timbres[nearest]))

    def _timbre(self, timbre: float) -> Tensor:
        """(V,): between the two talkers who are nearest to that place."""
        place = timbre * (len(self._voices) - 1)
        low = min(int(place), len(self._voices) - 2)
        mixed = torch.lerp(self._voices[low], self._voices[low + 1], place - low)
        return nn.functional.normalize(mixed, dim=0)

    def _notices(self, mouth: Mouth, confidence: float) -> tuple[str, ...]:
        unsure = ("This does not look like a sentence I know.",) if confidence < self.sure else ()
        return mouth.quality.hints() + unsure

    def _check(self, voice: Voice, vocoder: str) -> None:
        lowest, highest = self.PITCHES
        if not lowest <= voice.pitch <= highest or not 0 <= voice.timbre <= 1:
            raise InputError(
                f"A voice has a pitch of {lowest:g} to {highest:g} Hz and a timbre from 0 to 1."
            )
        if vocoder not in self.VOCODERS:
            raise InputError(f"There is no vocoder {vocoder}. Choose {' or '.join(self.VOCODERS)}.")


def _flat(points: np.ndarray) -> np.ndarray:
    return points.reshape(len(points), -1)
