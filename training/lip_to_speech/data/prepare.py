"""Turn the films into compact arrays, so that training reads no video.

Written to OUT/clips.npz, C clips of F = 75 frames (40 ms) and S = 300 mel frames (10 ms):
  crops uint8 (C, F, 80, 80) · points (C, F, 40, 2) · portraits uint8 (C, K, 64, 64, 3)
  log_mel (C, S, 80) · pitch in Hz (C, S) · waveform int16 (C, S * 160)
  words (C, 6): numbers of GRID_WORDS · spoken (C, 6, 2): seconds · speaker (C,) · split (C,)
the same of painted talkers, see painted.py, to OUT/painted.npz;
and to OUT/voices.npz all recordings of speakers who are told apart, end to end:
  log_mel (N, 80) · lengths, speaker and split of each
"""

from collections.abc import Callable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

import numpy as np

from media.audio import features
from media.audio.load import load, match_loudness, to_int16
from media.text.grammar import GRID_WORDS
from media.video import frames
from media.video.face import look
from media.video.lips import RATE, Mouth, follow
from training.common.corpora import LEVEL, Item, grid_words, speech_items, waveforms
from training.lip_to_speech.data.synthetic_heads import Line, lines

SECONDS: Final = 3
PORTRAITS: Final = 6
PROCESSES: Final = 2
ROOM: Final = 25.0  # dB: what is so much quieter than the loudest is not the talker's voice


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    _write_voices(data, out / "voices.npz")
    items = [item for item in grid_items(data) if item.split != "test"]
    _write_clips(clip_arrays, items, out / "clips.npz")
    _write_clips(painted_arrays, lines(), out / "painted.npz")


def _write_clips(arrays: Callable[[Any], dict[str, Any]], films: Sequence[Any], path: Path) -> None:
    """What ``arrays`` makes of each film, stacked."""
    clips: list[dict[str, Any]] = []
    with Pool(PROCESSES) as pool:
        for clip in pool.imap(arrays, films):
            clips.append(clip)
            if len(clips) % 50 == 0:
                print(f"{len(clips)} of {len(films)} films", flush=True)
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
    """Every film of GRID."""
    return [item for item in speech_items(data) if item.corpus == "grid"]


def clip_arrays(item: Item) -> dict[str, Any]:
    """What is written of one film: see above."""
    mouth = follow(look(frames(item.path, SECONDS + 1)))
    arrays = stack(mouth, sentence(item), grid_words(item))
    return arrays | {"speaker": item.speaker, "split": item.split}


def painted_arrays(line: Line) -> dict[str, Any]:
    """The same of a painted talker."""
    film = line.film()
    waveform = np.zeros(SECONDS * features.SAMPLE_RATE, np.float32)
    said = match_loudness(film.waveform, features.SAMPLE_RATE, LEVEL)[: len(waveform)]
    waveform[: len(said)] = said
    arrays = stack(follow(look(film.frames())), waveform, line.words())
    return arrays | {"speaker": line.talker.name, "split": "train"}


def stack(
    mouth: Mouth, waveform: np.ndarray, words: Sequence[tuple[str, float, float]]
) -> dict[str, Any]:
    """Arrays of SECONDS of a film; where it is shorter, its last frame stays. words: with their
    start and end in seconds."""
    places = np.minimum(np.arange(SECONDS * RATE), len(mouth.crops) - 1)
    return {
        "crops": mouth.crops[places],
        "points": mouth.points[places].astype(np.float16),
        "portraits": mouth.portraits[np.arange(PORTRAITS) % len(mouth.portraits)],
        "log_mel": features.log_mel(waveform).astype(np.float16),
        "pitch": voiced_pitch(waveform),
        "waveform": to_int16(waveform),
        "words": np.array([GRID_WORDS.index(word) for word, _, _ in words], np.int8),
        "spoken": np.array([(start, end) for _, start, end in words], np.float32),
    }


def voiced_pitch(waveform: np.ndarray) -> np.ndarray:
    """Pitch in Hz, 0 where unvoiced, or so quiet that it must be the room: (T,) → (S,).

    In a fifth of the frames of talker s1 that pYIN calls voiced, it finds a hum of 65 Hz after the
    sentence.
    """
    loudness = np.exp(features.log_mel(waveform)).sum(axis=1)
    heard = loudness > loudness.max() * 10 ** (-ROOM / 20)
    return np.where(heard, features.pitch(waveform), 0).astype(np.float32)


def sentence(item: Item) -> np.ndarray:
    """The sound of a film at 16 kHz and LEVEL, as long as the film: (T,). What is outside of
    start and end of the item, where there is a bang, is silent."""
    waveform = np.zeros(SECONDS * features.SAMPLE_RATE, np.float32)
    recorded = load(item.path, features.SAMPLE_RATE, SECONDS + 1).waveform[: len(waveform)]
    first = round(item.start * features.SAMPLE_RATE)
    last = len(recorded) if item.end is None else round(item.end * features.SAMPLE_RATE)
    heard = recorded[first:last]
    waveform[first : first + len(heard)] = match_loudness(heard, features.SAMPLE_RATE, LEVEL)
    return waveform
