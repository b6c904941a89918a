"""The systems that are measured: our checkpoints, the best that there could be, and the least."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch

from media.audio import features
from media.video import frames
from media.video.face import look
from media.video.lips import follow
from models.vocoder import Vocoder, VocoderConfig
from pipelines.checkpoint import load_weights, read_config
from pipelines.lip_to_speech import LipToSpeech
from training.common.corpora import Item
from training.lip_to_speech.data.augment import middle
from training.lip_to_speech.data.av_sync import delay
from training.lip_to_speech.data.prepare import SECONDS, grid_items, sentence, voiced_pitch
from training.lip_to_speech.evaluate.material import Clip
from training.lip_to_speech.evaluate.metrics import comparable, earlier
from training.lip_to_speech.recipe import BASELINE, SHIPPED
from training.lip_to_speech.train.eigenlips import Eigenlips, EigenlipsConfig

PITCHED: Final = 16  # films of which the usual pitch is taken


@dataclass(frozen=True, eq=False)
class Spoken:
    """waveform (T,) at 16 kHz; caption: its words, None from a system that writes none."""

    waveform: np.ndarray
    caption: list[str] | None = None


class System(Protocol):
    """Says what is said in a film."""

    name: str
    shipped: bool

    def speak(self, film: Path) -> Spoken:
        """Raises InputError for a film that it cannot read."""
        ...


class RealAudio:
    """What was really said: the best there could be."""

    name = "real audio"
    shipped = False

    def __init__(self, clips: Sequence[Clip]) -> None:
        self._sounds = {clip.film: clip.sound for clip in clips}

    def speak(self, film: Path) -> Spoken:
        return Spoken(self._sounds[film])


class InStep:
    """What was really said, moved film by film to where it fits what a system says.

    The sound of a film of GRID is early or late beside its pictures, and no reader can see by how
    much: this is the best there could be before sounds are aligned.
    """

    name = "real audio, in step"
    shipped = False

    def __init__(self, clips: Sequence[Clip], reader: System) -> None:
        self._sounds = {clip.film: clip.sound for clip in clips}
        self._reader = reader

    def speak(self, film: Path) -> Spoken:
        real = self._sounds[film]
        said = comparable(self._reader.speak(film).waveform, real)
        drawn, heard = (torch.from_numpy(features.log_mel(sound))[None] for sound in (said, real))
        return Spoken(earlier(real, round(delay(drawn, heard) * features.HOP_LENGTH)))


class RealMel:
    """The real log-mel spectrogram as a vocoder speaks it: the best that could come of ours."""

    shipped = False

    def __init__(self, clips: Sequence[Clip], vocoder: Vocoder | None = None) -> None:
        """vocoder: None is Griffin-Lim; the network is given the real pitch too."""
        self.name = "real mel, neural" if vocoder else "real mel, griffin-lim"
        self._sounds = {clip.film: clip.sound for clip in clips}
        self._vocoder = vocoder

    def speak(self, film: Path) -> Spoken:
        sound = self._sounds[film]
        log_mel = features.log_mel(sound)
        if self._vocoder:
            return Spoken(_sound(self._vocoder, log_mel, voiced_pitch(sound)))
        return Spoken(features.griffin_lim(features.linear_from_log_mel(log_mel)))


class TrainingMean:
    """The mean log-mel spectrogram of the training films, at their median pitch: always the same,
    with a sentence's rhythm but no words."""

    name = "training mean"
    shipped = False

    def __init__(self, training: Sequence[Item], vocoder: Vocoder) -> None:
        """The pitch is that of PITCHED films, seeded."""
        log_mel = np.mean([features.log_mel(sentence(item)) for item in training], axis=0)
        drawn = np.random.default_rng(0).permutation(len(training))[:PITCHED]
        pitch = np.concatenate([voiced_pitch(sentence(training[i])) for i in drawn])
        usual = np.median(pitch[pitch > 0]) if pitch.any() else 0.0
        steady = np.full(len(log_mel), usual, np.float32)
        self._spoken = Spoken(_sound(vocoder, log_mel, steady))

    def speak(self, film: Path) -> Spoken:
        return self._spoken


class Silence:
    name = "silence"
    shipped = False

    def speak(self, film: Path) -> Spoken:
        return Spoken(np.zeros(SECONDS * features.SAMPLE_RATE, np.float32))


class OurCheckpoint:
    """One of our checkpoints, on the path of the app."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.shipped = folder.name == SHIPPED
        self._pipeline = LipToSpeech.from_pretrained(folder)

    def speak(self, film: Path) -> Spoken:
        result = self._pipeline(film)
        return Spoken(result.speech.waveform, [word.text for word in result.reading.caption])


class EigenlipsBaseline:
    """Principal components of the mouth's pictures, a recurrent network and Griffin-Lim."""

    shipped = False

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._network = Eigenlips(EigenlipsConfig(**read_config(folder)))
        load_weights(self._network, folder, torch.device("cpu"))

    @torch.inference_mode()
    def speak(self, film: Path) -> Spoken:
        crops = torch.from_numpy(follow(look(frames(film, SECONDS + 1))).crops)
        drawn = self._network(middle(crops[None]).float() / 255)[0].numpy()
        return Spoken(features.griffin_lim(features.linear_from_log_mel(drawn)))


def systems(
    data: Path, clips: Sequence[Clip], vocoder: Path, folders: Sequence[Path]
) -> list[System]:
    """Ceilings, floors, and each checkpoint that is there; what is not there is printed."""
    network = Vocoder(VocoderConfig(**read_config(vocoder)))
    load_weights(network, vocoder, torch.device("cpu"))
    checkpoints = [_checkpoint(folder) for folder in folders if _is_there(folder)]
    found: list[System] = [
        RealAudio(clips),
        *(InStep(clips, system) for system in checkpoints if system.shipped),
        RealMel(clips),
        RealMel(clips, network),
        Silence(),
    ]
    training = [item for item in grid_items(data) if item.split == "train"]
    if training:
        found.append(TrainingMean(training, network))
    else:
        print(f"{data} has no films to train on: the row of their mean is left out.")
    return found + checkpoints


def _is_there(folder: Path) -> bool:
    there = (folder / "config.json").exists()
    if not there:
        print(f"There is no checkpoint in {folder}: its row is left out.")
    return there


def _checkpoint(folder: Path) -> System:
    return (EigenlipsBaseline if folder.name == BASELINE else OurCheckpoint)(folder)


@torch.inference_mode()
def _sound(vocoder: Vocoder, log_mel: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """(S, 80), (S,) in Hz → (T,), as the pipeline does."""
    spectrogram = torch.from_numpy(log_mel.astype(np.float32))
    waveform = vocoder(spectrogram[None], torch.from_numpy(pitch)[None])[0].numpy()
    return features.filtered(waveform, log_mel, pitch)
