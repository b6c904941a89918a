"""Recorded and synthetic words as arrays of log-mel frames, which training reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.features import log_mel
from earshot.media.audio.load import load, match_loudness
from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.constants import N_MELS, SAMPLE_RATE
from earshot.pretrained.speech_encoder import SpeechEncoder
from training.common.corpora import LEVEL
from training.common.processes import in_processes
from training.common.sounds import TRAINING_FOLDS, sound_files
from training.words.converted import write_converted, write_spliced, write_tone_changed
from training.words.frames.arrays import MAX_PHONEMES, Columns, Frames
from training.words.recordings import (
    Aligner,
    RecordedWord,
    cut_from_sentences,
    grid_vocabulary,
    is_trained_on,
    load_recordings,
    phonemes_of,
    validation_items,
    word_items,
)
from training.words.synthesis import (
    Rendition,
    Word,
    arabic,
    consistent_with_voice,
    english,
    mandarin,
    rendition,
    speak,
)

SEED: Final = 0
RENDITIONS: Final = 5  # of a synthetic word, each in another voice
MANDARIN: Final = 3500  # words
ARABIC: Final = 3500
SHARDS: Final = 8
N_CONVERTED: Final = 10_000  # synthetic words that are converted to the voices of people
NOISE: Final = 5 * SAMPLE_RATE  # samples of each environmental sound


def prepare(data: Path, out: Path, front_end: SpeechEncoder | None = None) -> None:
    """Write recorded.npz with starts.npy, synthetic-0.npz …, converted.npz, tone-changed.npz,
    spliced.npz and noise.npz; resumes.

    Frames of a front end are not augmented or converted: there is no noise.npz,
    converted.npz, tone-changed.npz or spliced.npz, and one process has the model.
    """
    out.mkdir(parents=True, exist_ok=True)
    frames_of = front_end.on_grid if front_end else log_mel_and_pitch
    if not (out / "recorded.npz").exists():
        _write_recorded(data, out / "recorded.npz", frames_of)
    if not (out / "starts.npy").exists():
        _write_starts(data, out / "starts.npy")
    plan = renditions()
    shards = [(plan[i::SHARDS], out / f"synthetic-{i}.npz") for i in range(SHARDS)]
    if front_end:
        for shard in shards:
            print(_synthetic(shard, frames_of), flush=True)
        return
    if not (out / "noise.npz").exists():
        np.savez(out / "noise.npz", frames=_noise(data))
    if not (out / "converted.npz").exists():
        write_converted(data, plan[:N_CONVERTED], out / "converted.npz")
    if not (out / "tone-changed.npz").exists():
        write_tone_changed(data, np.load(out / "starts.npy"), out / "tone-changed.npz")
    if not (out / "spliced.npz").exists():
        write_spliced(data, _trained_on(data, out / "starts.npy"), out / "spliced.npz")
    for path in in_processes(_synthetic, shards):
        print(path, flush=True)


def _trained_on(data: Path, starts: Path) -> Iterator[tuple[RecordedWord, np.ndarray]]:
    """Yield the recordings that are trained on, with the frame at which each phoneme begins."""
    for (word, _, validation), frames in zip(_recordings(data), np.load(starts), strict=True):
        if not validation:
            yield word, frames[: len(word.phonemes)]


def renditions() -> list[Rendition]:
    """Plan every synthetic word in RENDITIONS voices, in random order, seeded."""
    rng = np.random.default_rng(SEED)
    words: list[Word] = [
        *consistent_with_voice(english(rng)),
        *mandarin(MANDARIN, rng),
        *arabic(ARABIC, rng),
    ]
    plan = [rendition(word, rng) for word in words for _ in range(RENDITIONS)]
    return [plan[i] for i in rng.permutation(len(plan))]


def _write_recorded(data: Path, path: Path, frames_of: Frames) -> None:
    """Write the recordings for training, and those of validation speakers."""
    columns = Columns(frames_of)
    for word, speaker, validation in _recordings(data):
        columns.add(word.waveform, word.phonemes, speaker, word.item.language, validation)
    columns.write(path)


def _write_starts(data: Path, path: Path) -> None:
    """Write the frame at which each phoneme of a recording begins, by forced alignment:
    (N, MAX_PHONEMES)."""
    vocabulary = {phonemes_of(item) for item in word_items(data)} | grid_vocabulary()
    aligner = Aligner(vocabulary)
    starts = [aligner.starts(word) for word, _, _ in _recordings(data)]
    padded = np.zeros((len(starts), MAX_PHONEMES), np.uint16)
    for row, frames in zip(padded, starts, strict=True):
        row[: len(frames)] = frames
    np.save(path, padded)


def _recordings(data: Path) -> Iterator[tuple[RecordedWord, str, bool]]:
    """Yield every recorded word with its speaker, and whether it is for validation."""
    items = word_items(data)
    for number, word in enumerate(load_recordings([i for i in items if is_trained_on(i)])):
        # The speakers of wake words are unknown: each recording counts as another speaker.
        yield word, word.item.speaker or f"{word.item.corpus} {number}", False
    for word in load_recordings(validation_items(items)):
        yield word, str(word.item.speaker), True
    for word in cut_from_sentences(data):
        yield word, str(word.item.speaker), False


def _synthetic(shard: tuple[list[Rendition], Path], frames_of: Frames = log_mel_and_pitch) -> Path:
    plan, path = shard
    if path.exists():
        return path
    columns = Columns(frames_of)
    for each in plan:
        word = each.word
        columns.add(speak(each), word.phonemes, " ".join(each.voice[:3]), word.language)
    columns.write(path)
    return path


def _noise(data: Path) -> np.ndarray:
    """Compute frames of environmental sounds, folds 1 to 3: (clips, S, N_MELS)."""
    paths = [file.path for file in sound_files(data) if file.fold in TRAINING_FOLDS]
    sounds = [load(path, SAMPLE_RATE).waveform[:NOISE] for path in paths]
    frames = [log_mel(match_loudness(sound, SAMPLE_RATE, LEVEL)) for sound in sounds]
    longest = max(map(len, frames))
    return np.stack([np.resize(f, (longest, N_MELS)) for f in frames]).astype(np.float16)
