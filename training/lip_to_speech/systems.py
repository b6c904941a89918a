"""The test set, GRID videos with their reference audio, grouped by how well their speaker is known;
and the systems that are evaluated: our checkpoints, upper bounds and lower bounds.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch

from earshot.media.audio import features
from earshot.media.video import frames
from earshot.media.video.face import track_face
from earshot.media.video.lips import crop_mouth
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.pretrained.checkpoint import load_weights, read_config
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.lip_to_speech.caption import SpokenWord
from training.common.corpora import Item, sentence_only
from training.lip_to_speech.augment import centre_crop
from training.lip_to_speech.av_sync import av_offset
from training.lip_to_speech.eigenlips import Eigenlips, EigenlipsConfig
from training.lip_to_speech.metrics import comparable, earlier
from training.lip_to_speech.prepare import SECONDS, grid_items, sentence, voiced_pitch
from training.lip_to_speech.recipe import BASELINE, SHIPPED

SEEN: Final = ("S1",)  # in nearly all training videos
FEW_SHOT: Final = ("s4", "s26", "s31", "s11")  # in a few of them
GROUPS: Final = ("seen", "few-shot", "unseen")
F0_VIDEOS: Final = 16  # videos for the median F0
VOICES: Final = ("S1", "TF2")  # of any-voice, in which the default is measured too


@dataclass(frozen=True, eq=False)
class Clip:
    """A video; group: one of GROUPS, how well its speaker is known; audio: the reference (T,) at
    16 kHz and LEVEL."""

    item: Item
    group: str
    audio: np.ndarray

    @property
    def video(self) -> Path:
        return self.item.path

    @property
    def speaker(self) -> str:
        return str(self.item.speaker)

    @property
    def words(self) -> list[str]:
        """List the words; there are none where there is no transcript."""
        return self.item.text.split()

    def sentence(self, waveform: np.ndarray) -> np.ndarray:
        """Cut out the part of a waveform (T,) in which the words are, with 0.2 s around them:
        (T',).
        """
        return sentence_only(replace(self.item, start=0.0), waveform)


def choose(data: Path, split: str, most: int | None = None) -> list[Clip]:
    """Choose the videos of a split, or of ``all``; of each group at most so many, seeded.

    Raises SystemExit where there is nothing to measure.
    """
    items = [item for item in grid_items(data) if split in ("all", item.split)]
    if not items:
        raise SystemExit(f"{data} has no videos of GRID to test: try --split all.")
    rng = np.random.default_rng(0)
    chosen: list[Item] = []
    for group in GROUPS:
        members = [item for item in items if _group(item) == group]
        chosen += [members[i] for i in sorted(rng.permutation(len(members))[:most])]
    return [Clip(item, _group(item), sentence(item)) for item in chosen]


def summary(clips: list[Clip]) -> str:
    """Say how many videos there are of each group, by how many speakers."""
    videos = Counter(clip.group for clip in clips)
    speakers = {group: {clip.speaker for clip in clips if clip.group == group} for group in videos}
    return "; ".join(f"{g}: {n} videos by {len(speakers[g])} speakers" for g, n in videos.items())


def _group(item: Item) -> str:
    if item.speaker in SEEN:
        return "seen"
    return "few-shot" if item.speaker in FEW_SHOT else "unseen"


@dataclass(frozen=True, eq=False)
class Output:
    """The output of a system. waveform (T,) at 16 kHz; caption: the words, None from a system that
    writes none.
    """

    waveform: np.ndarray
    caption: Sequence[SpokenWord] | None = None


class System(Protocol):
    """A system that predicts the speech of a video."""

    name: str
    shipped: bool

    def speak(self, video: Path) -> Output:
        """Speak a video. Raises InputError for one that it refuses."""
        ...


class ReferenceAudio:
    """The audio of the video: an upper bound."""

    name = "reference audio"
    shipped = False

    def __init__(self, clips: Sequence[Clip]) -> None:
        self._audio = {clip.video: clip.audio for clip in clips}

    def speak(self, video: Path) -> Output:
        return Output(self._audio[video])


class SynchronisedAudio:
    """The reference audio, shifted video by video to the timing of a system's prediction.

    The audio of a GRID video has an offset to its frames that no reader can see: this is the upper
    bound of scores without alignment.
    """

    name = "reference audio, A/V-synchronised"
    shipped = False

    def __init__(self, clips: Sequence[Clip], reader: System) -> None:
        self._audio = {clip.video: clip.audio for clip in clips}
        self._reader = reader

    def speak(self, video: Path) -> Output:
        reference = self._audio[video]
        estimate = comparable(self._reader.speak(video).waveform, reference)
        log_mels = (torch.from_numpy(features.log_mel(one))[None] for one in (estimate, reference))
        return Output(earlier(reference, round(av_offset(*log_mels) * features.HOP_LENGTH)))


class ReferenceMel:
    """The reference log-mel spectrogram, vocoded: the upper bound of a vocoder."""

    shipped = False

    def __init__(self, clips: Sequence[Clip], vocoder: Vocoder | None = None) -> None:
        """Keep the reference audio and the vocoder."""
        self.name = "reference mel, neural" if vocoder else "reference mel, griffin-lim"
        self._audio = {clip.video: clip.audio for clip in clips}
        self._vocoder = vocoder

    def speak(self, video: Path) -> Output:
        reference = self._audio[video]
        log_mel = features.log_mel(reference)
        if self._vocoder:
            return Output(_vocode(self._vocoder, log_mel, voiced_pitch(reference)))
        return Output(features.griffin_lim(features.linear_from_log_mel(log_mel)))


class TrainingMean:
    """The mean log-mel spectrogram of the training videos, at their median F0: a lower bound, the
    same for every video."""

    name = "training mean"
    shipped = False

    def __init__(self, training: Sequence[Item], vocoder: Vocoder) -> None:
        self._training, self._vocoder = training, vocoder

    def speak(self, video: Path) -> Output:
        return self._output

    @cached_property
    def _output(self) -> Output:
        """Average the training videos. The F0 is that of F0_VIDEOS seeded videos."""
        training = self._training
        log_mel = np.mean([features.log_mel(sentence(item)) for item in training], axis=0)
        sampled = np.random.default_rng(0).permutation(len(training))[:F0_VIDEOS]
        pitch = np.concatenate([voiced_pitch(sentence(training[i])) for i in sampled])
        usual = np.median(pitch[pitch > 0]) if pitch.any() else 0.0
        steady = np.full(len(log_mel), usual, np.float32)
        return Output(_vocode(self._vocoder, log_mel, steady))


class Silence:
    """Silence: a lower bound."""

    name = "silence"
    shipped = False

    def speak(self, video: Path) -> Output:
        return Output(np.zeros(SECONDS * features.SAMPLE_RATE, np.float32))


class OurCheckpoint:
    """A checkpoint of ours, through the pipeline of the app; in the voice that the face suggests,
    or in one of any-voice's."""

    def __init__(self, folder: Path, voice: str | None = None) -> None:
        self.name = f"{folder.name}, {voice}" if voice else folder.name
        self.shipped = folder.name == SHIPPED and voice is None
        self._pipeline, self._voice = LipToSpeech.from_pretrained(folder), voice

    def speak(self, video: Path) -> Output:
        result = self._pipeline(video, voice=self._voice)
        return Output(result.speech.waveform, result.reading.caption)


class EigenlipsBaseline:
    """Eigenlips (principal components of mouth crops), a recurrent network and Griffin-Lim."""

    shipped = False

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._network = Eigenlips(EigenlipsConfig(**read_config(folder)))
        load_weights(self._network, folder, torch.device("cpu"))

    @torch.inference_mode()
    def speak(self, video: Path) -> Output:
        crops = torch.from_numpy(crop_mouth(track_face(frames(video, SECONDS + 1))).crops)
        predicted = self._network(centre_crop(crops[None]).float() / 255)[0].numpy()
        return Output(features.griffin_lim(features.linear_from_log_mel(predicted)))


def systems(
    data: Path, clips: Sequence[Clip], vocoder: Path, folders: Sequence[Path]
) -> list[System]:
    """Load upper and lower bounds, and each checkpoint that exists; print those that are
    missing."""
    network = Vocoder(VocoderConfig(**read_config(vocoder)))
    load_weights(network, vocoder, torch.device("cpu"))
    checkpoints = [_checkpoint(folder) for folder in folders if _exists(folder)]
    rated_systems: list[System] = [
        ReferenceAudio(clips),
        *(SynchronisedAudio(clips, system) for system in checkpoints if system.shipped),
        ReferenceMel(clips),
        ReferenceMel(clips, network),
        Silence(),
    ]
    training = [item for item in grid_items(data) if item.split == "train"]
    if training:
        rated_systems.append(TrainingMean(training, network))
    else:
        print(f"{data} has no videos to train on: the row of their mean is left out.")
    shipped = [folder for folder in folders if folder.name == SHIPPED and _exists(folder)]
    voices = [OurCheckpoint(folder, voice) for folder in shipped for voice in VOICES]
    return rated_systems + voices + checkpoints


def _exists(folder: Path) -> bool:
    exists = (folder / "config.json").exists()
    if not exists:
        print(f"There is no checkpoint in {folder}: its row is left out.")
    return exists


def _checkpoint(folder: Path) -> System:
    return (EigenlipsBaseline if folder.name == BASELINE else OurCheckpoint)(folder)


@torch.inference_mode()
def _vocode(vocoder: Vocoder, log_mel: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Turn log-mel frames (S, 80) and F0 (S,) in Hz into a waveform (T,), as the pipeline does."""
    spectrogram = torch.from_numpy(log_mel.astype(np.float32))
    waveform = vocoder(spectrogram[None], torch.from_numpy(pitch)[None])[0].numpy()
    return features.filtered(waveform, log_mel, pitch)
