"""The systems in the table: their representations of speech, and their conversions."""

from abc import ABC, abstractmethod

import numpy as np
import torch

from earshot.media.audio import features
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import FRAME_SECONDS, SAMPLE_RATE
from earshot.systems.voice_conversion import AnyVoiceConversion, VQVAEConversion
from earshot.systems.voice_conversion.linear import LinearVC
from earshot.systems.voice_conversion.settings import MUTED
from training.judges.evaluator import nearest, normalized_mfcc
from training.voice_conversion.speech import TARGET_VOICES
from training.voice_conversion.test_set import Pair


class Representation(ABC):
    """A representation of speech: frames at 10 ms for ABX, and for units the codes that they stand
    for.
    """

    name: str

    @abstractmethod
    def __call__(self, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Map a waveform (T,) to frames (S, D), codes (U,) or None where there are no units."""


class MFCC(Representation):
    def __init__(self, normalized: bool) -> None:
        self.name = "MFCC, normalised" if normalized else "MFCC"
        self._features = normalized_mfcc if normalized else features.mfcc

    def __call__(self, waveform: np.ndarray) -> tuple[np.ndarray, None]:
        return self._features(waveform), None


class KMeansUnits(Representation):
    """The units of a k-means: the frames of one are its centroid."""

    def __init__(self, centroids: np.ndarray) -> None:
        self.name = f"k-means units, K = {len(centroids)}"
        self._centroids = centroids

    def __call__(self, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = nearest(normalized_mfcc(waveform), self._centroids)
        return self._centroids[codes], codes


class VQVAEUnits(Representation):
    """The units of a VQ-VAE: the frames of one are its codebook vector, repeated for as long as it
    lasts.
    """

    def __init__(self, pipeline: VQVAEConversion) -> None:
        self.name = pipeline.name
        self._pipeline = pipeline
        self._vectors = np.asarray(pipeline.vqvae.codebook.vectors.cpu())

    def __call__(self, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, units, _ = self._pipeline.encode((SAMPLE_RATE, waveform))
        codes = np.where(units.codes == MUTED, self._pipeline.silence, units.codes)
        repeats = round(units.step / FRAME_SECONDS)
        return np.repeat(self._vectors[codes], repeats, axis=0), units.codes


class Speaker(ABC):
    """A system whose output is speech; ``voices`` is empty where it keeps the voice."""

    name: str
    voices: tuple[str, ...] = ()

    @abstractmethod
    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        """Convert the recording (T,) to each of the voices, or once where the system keeps the
        voice.
        """

    @abstractmethod
    def pair(self, pair: Pair) -> np.ndarray:
        """Convert a pair's source: the waveform is compared with the target's own recording of the
        sentence.
        """


class Original(Speaker):
    """Unchanged recordings: the score of a conversion that does nothing."""

    name = "original"

    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        return [waveform]

    def pair(self, pair: Pair) -> np.ndarray:
        return pair.source_waveform


class CopySynthesis(Speaker):
    """Reference log-mel spectrogram and F0 through a vocoder: the upper bound."""

    def __init__(self, pipeline: VQVAEConversion, vocoder: str) -> None:
        self.name = f"copy synthesis, {vocoder}"
        self._pipeline, self._vocoder = pipeline, vocoder

    @torch.inference_mode()
    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        log_mel = features.log_mel(waveform)
        if self._vocoder == "neural":
            pitch = torch.from_numpy(track_pitch(waveform))[None].to(self._pipeline.device)
            spectrogram = torch.from_numpy(log_mel)[None].to(self._pipeline.device)
            return [self._pipeline.vocoder(spectrogram, pitch)[0].cpu().numpy()]
        return [features.griffin_lim(features.linear_from_log_mel(log_mel))]

    def pair(self, pair: Pair) -> np.ndarray:
        return self.convert(pair.target_waveform, ())[0]


class Converter(Speaker):
    """A pipeline with one of its vocoders."""

    voices = TARGET_VOICES

    def __init__(self, pipeline: VQVAEConversion, vocoder: str) -> None:
        self.name = f"{pipeline.name}, {vocoder}"
        self._pipeline, self._vocoder = pipeline, vocoder

    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        _, units, _ = self._pipeline.encode((SAMPLE_RATE, waveform))
        return [self._pipeline.decode(units, v, self._vocoder).waveform for v in voices]

    def pair(self, pair: Pair) -> np.ndarray:
        return self.convert(pair.source_waveform, (pair.target,))[0]


class AnyVoiceUnits(Representation):
    """The output of the bottleneck, repeated for the frames of a step; its units, if it has
    them.
    """

    def __init__(self, pipeline: AnyVoiceConversion) -> None:
        self.name = pipeline.name
        self._pipeline = pipeline

    def __call__(self, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        _, units, _ = self._pipeline.encode((SAMPLE_RATE, waveform))
        frames = np.repeat(self._pipeline.content(units), 2, axis=0)
        return frames, units.codes if self._pipeline.discrete else None


class AnyVoiceConverter(Speaker):
    """The pipeline with one of its vocoders, keeping the intonation or not."""

    def __init__(
        self, pipeline: AnyVoiceConversion, vocoder: str, intonation: str = "keep"
    ) -> None:
        self.name = f"{pipeline.name}, {vocoder}"
        self.name += ", intonation predicted" if intonation == "predicted" else ""
        self._pipeline, self._vocoder, self._intonation = pipeline, vocoder, intonation
        self.voices = tuple(name for name in TARGET_VOICES if name in pipeline.voices)

    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        _, units, _ = self._pipeline.encode((SAMPLE_RATE, waveform))
        spoken = [self._pipeline.decode(units, v, self._vocoder, self._intonation) for v in voices]
        return [speech.waveform for speech in spoken]

    def pair(self, pair: Pair) -> np.ndarray:
        return self.convert(pair.source_waveform, (pair.target,))[0]


class LinearConverter(Speaker):
    """The matrices of linear-vc."""

    name = "linear-vc, neural"
    voices = TARGET_VOICES

    def __init__(self, system: LinearVC) -> None:
        self._system = system

    def convert(self, waveform: np.ndarray, voices: tuple[str, ...]) -> list[np.ndarray]:
        return [self._system(waveform, SAMPLE_RATE, voice)[0] for voice in voices]

    def pair(self, pair: Pair) -> np.ndarray:
        return self.convert(pair.source_waveform, (pair.target,))[0]
