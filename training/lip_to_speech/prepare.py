"""Turn the videos, and sentences of the synthetic heads, into compact arrays, so that training
decodes no video.

Written to OUT/clips.npz, B clips of N = 75 frames (40 ms) and S = 300 mel frames (10 ms):
  crops uint8 (B, N, 80, 80) · portraits uint8 (B, K, 64, 64, 3)
  log_mel (B, S, 80) · pitch in Hz (B, S) · waveform int16 (B, S * 160)
  words (B, 6): numbers of GRID_WORDS · spoken (B, 6, 2): seconds · speaker (B,) · split (B,)
the same of rendered heads to OUT/rendered.npz;
and to OUT/voices.npz all recordings of speakers who are told apart, end to end:
  log_mel (S, 80) · lengths, speaker and split of each
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.media.audio import features
from earshot.media.audio.load import load, match_loudness, to_int16
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import VIDEO_RATE
from earshot.media.text.grammar import GRID, GRID_WORDS, grid_phones
from earshot.media.video import frames
from earshot.media.video.face import track_face
from earshot.media.video.lips import MouthClip, crop_mouth
from synthetic.heads.__main__ import SENTENCES, unseen_sentences
from synthetic.heads.speaker import SPEAKERS, Speaker
from synthetic.heads.speech import align, speak
from synthetic.heads.video import RenderedVideo, render
from training.common.corpora import LEVEL, Item, grid_words, speech_items, waveforms
from training.common.processes import in_processes

SECONDS: Final = 3
PORTRAITS: Final = 6
SPEECH_RANGE: Final = 25.0  # dB below the loudest frame; what is quieter is not speech
MAX_SENTENCES: Final = 40  # sentences by each speaker


@dataclass(frozen=True)
class Line:
    """A sentence and its speaker; seed: of the head movement."""

    speaker: Speaker
    sentence: str
    seed: int

    def video(self) -> RenderedVideo:
        return render(self.speaker, self.sentence, self.seed)

    def words(self) -> list[tuple[str, float, float]]:
        """Time each word: its start and its end in seconds."""
        phones = iter(align(speak(self.speaker, self.sentence), self.sentence))
        spoken = []
        for word, names in zip(self.sentence.split(), grid_phones(self.sentence), strict=True):
            word_phones = [next(phones) for _ in names.split()]
            spoken.append((word, word_phones[0].start, word_phones[-1].end))
        return spoken


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    _write_voices(data, out / "voices.npz")
    items = [item for item in grid_items(data) if item.split != "test"]
    _write_clips(clip_arrays, items, out / "clips.npz")
    _write_clips(rendered_arrays, lines(), out / "rendered.npz")


def _write_clips(arrays: Callable[[Any], dict[str, Any]], items: Sequence[Any], path: Path) -> None:
    """Stack the arrays of each video."""
    clips: list[dict[str, Any]] = []
    for clip in in_processes(arrays, items):
        clips.append(clip)
        if len(clips) % 50 == 0:
            print(f"{len(clips)} of {len(items)} videos", flush=True)
    stacked = {name: np.stack([clip[name] for clip in clips]) for name in clips[0]}
    unfinished = path.with_suffix(".new.npz")
    np.savez(unfinished, **stacked)  # type: ignore[arg-type]
    unfinished.replace(path)


def _write_voices(data: Path, path: Path) -> None:
    items = [item for item in speech_items(data) if item.speaker and item.split != "test"]
    frames = [features.log_mel(waveform).astype(np.float16) for _, waveform in waveforms(items)]
    np.savez(
        path,
        log_mel=np.concatenate(frames),
        lengths=[len(one) for one in frames],
        speaker=[str(item.speaker) for item in items],
        split=[item.split for item in items],
    )


def grid_items(data: Path) -> list[Item]:
    """List all videos of GRID."""
    return [item for item in speech_items(data) if item.corpus == "grid"]


def clip_arrays(item: Item) -> dict[str, Any]:
    """Make the arrays of one video, which the module lists."""
    mouth = crop_mouth(track_face(frames(item.path, SECONDS + 1)))
    arrays = stack(mouth, sentence(item), grid_words(item))
    return arrays | {"speaker": item.speaker, "split": item.split}


def rendered_arrays(line: Line) -> dict[str, Any]:
    """Make the arrays of one rendered head."""
    video = line.video()
    waveform = np.zeros(SECONDS * features.SAMPLE_RATE, np.float32)
    speech = match_loudness(video.waveform, features.SAMPLE_RATE, LEVEL)[: len(waveform)]
    waveform[: len(speech)] = speech
    arrays = stack(crop_mouth(track_face(video.frames())), waveform, line.words())
    return arrays | {"speaker": line.speaker.name, "split": "train"}


def stack(
    mouth: MouthClip, waveform: np.ndarray, words: Sequence[tuple[str, float, float]]
) -> dict[str, Any]:
    """Make the arrays of SECONDS of a video; a shorter one repeats its last frame. words: each with
    its start and end in seconds.
    """
    frames = np.minimum(np.arange(SECONDS * VIDEO_RATE), len(mouth.crops) - 1)
    return {
        "crops": mouth.crops[frames],
        "portraits": mouth.portraits[np.arange(PORTRAITS) % len(mouth.portraits)],
        "log_mel": features.log_mel(waveform).astype(np.float16),
        "pitch": voiced_pitch(waveform),
        "waveform": to_int16(waveform),
        "words": np.array([GRID_WORDS.index(word) for word, _, _ in words], np.int8),
        "spoken": np.array([(start, end) for _, start, end in words], np.float32),
    }


def voiced_pitch(waveform: np.ndarray) -> np.ndarray:
    """Estimate F0 in Hz, 0 where unvoiced or more than SPEECH_RANGE below the loudest frame, where
    the room hums after the sentence: (T,) → (S,).
    """
    loudness = np.exp(features.log_mel(waveform)).sum(axis=1)
    speech = loudness > loudness.max() * 10 ** (-SPEECH_RANGE / 20)
    return np.where(speech, track_pitch(waveform), 0).astype(np.float32)


def sentence(item: Item) -> np.ndarray:
    """Load the audio of a video at 16 kHz and LEVEL, as long as the video: (T,). Outside of the
    item's start and end, which leave out noise of the recording, it is silent.
    """
    waveform = np.zeros(SECONDS * features.SAMPLE_RATE, np.float32)
    recorded = load(item.path, features.SAMPLE_RATE, SECONDS + 1).waveform[: len(waveform)]
    first = round(item.start * features.SAMPLE_RATE)
    last = len(recorded) if item.end is None else round(item.end * features.SAMPLE_RATE)
    speech = recorded[first:last]
    waveform[first : first + len(speech)] = match_loudness(speech, features.SAMPLE_RATE, LEVEL)
    return waveform


def lines() -> list[Line]:
    """Draw MAX_SENTENCES seeded sentences per speaker, none of them an example of the app."""
    rng = np.random.default_rng(0)
    slots = [list(slot) for slot in GRID]
    examples = {*SENTENCES.values(), *unseen_sentences().values()}
    sampled: list[Line] = []
    while len(sampled) < MAX_SENTENCES * len(SPEAKERS):
        sentence = " ".join(slot[rng.integers(len(slot))] for slot in slots)
        if sentence not in examples:
            number = len(sampled)
            sampled.append(Line(SPEAKERS[number % len(SPEAKERS)], sentence, 100 + number))
    return sampled
