"""python -m benchmarks.words: time from a recording to its neighbours among 50,000 words.

In the same run, as a baseline, dynamic time warping over the same recordings. Writes words.md.
"""

import platform
import tempfile
from pathlib import Path

import numpy as np
import torch

from benchmarks.index_scale.vectors import resembling
from benchmarks.sound_search import percentiles
from earshot.core.errors import InputError
from earshot.media.audio import voice_activity
from earshot.media.audio.dtw import mfcc_frames, path_means
from earshot.media.audio.load import load, match_loudness, wav_bytes
from earshot.media.audio.pitch import log_mel_and_pitch
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words import Words
from earshot.systems.words.front_end import LEVEL
from earshot.systems.words.library import LibraryWord, Projection, WordLibrary
from earshot.systems.words.spoken_word import find_word

ROOT = Path(__file__).parents[1]
N_STORED = 50_000  # spoken words, and written ones
QUERIES = 200
DTW_QUERIES = 8
BLOCK = 1_000  # stored words per call of the time warping
PAUSE = 0.5  # s of silence before and after a word in its recording


def main() -> None:
    """Measure, print, and write the table."""
    words = Words.from_pretrained(ROOT / "checkpoints" / "words", "cpu")
    sounds = sorted((ROOT / "assets" / "words").glob("*.ogg"))
    with tempfile.TemporaryDirectory() as folder:
        recordings = [recording(sound, Path(folder)) for sound in sounds[:: len(sounds) // QUERIES]]
        text = "\n".join(lines(words, recordings)) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def recording(sound: Path, folder: Path) -> Path:
    """Write a WAV file of the sound between pauses, as a visitor would record it."""
    pause = np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)
    waveform = np.concatenate([pause, load(sound, SAMPLE_RATE).waveform, pause])
    path = folder / f"{sound.stem}.wav"
    path.write_bytes(wav_bytes(waveform, SAMPLE_RATE))
    return path


def lines(words: Words, recordings: list[Path]) -> list[str]:
    """Measure the search, and write the lines of words.md."""
    recorded = {path: waveform for path in recordings if (waveform := one_word(path)) is not None}
    refused, recordings, spoken = (
        len(recordings) - len(recorded),
        list(recorded),
        list(recorded.values()),
    )
    library = store(words.embed_waveforms(spoken))
    queries = recordings[:QUERIES]
    loaded = [load(path, SAMPLE_RATE).waveform for path in queries]
    cut = spoken[:QUERIES]
    vectors = list(words.embed_waveforms(cut))

    def search(vector: np.ndarray) -> None:
        words.nearest(library, vector, "spoken")
        words.nearest(library, vector, "written")

    rows = {
        "reading the file": percentiles(lambda path: load(path, SAMPLE_RATE), queries),
        "finding the word in it": percentiles(voice_activity.words, loaded),
        "features": percentiles(
            lambda word: log_mel_and_pitch(match_loudness(word, SAMPLE_RATE, LEVEL)), cut
        ),
        "features and network": percentiles(lambda word: words.embed_waveforms([word]), cut),
        "ten nearest spoken and ten nearest written words": percentiles(search, vectors),
        "**recording → neighbours**": percentiles(
            lambda path: search(words.embed_audio(path).vector), queries
        ),
    }
    dtw = time_warping(spoken)
    rows[f"DTW of MFCC with {N_STORED:,} recordings"] = dtw
    ours = rows["**recording → neighbours**"]
    return [
        "# Words: speed",
        "",
        f"`python -m benchmarks.words`, threads: {torch.get_num_threads()}, {platform.machine()}, "
        f"torch {torch.__version__}.",
        "",
        f"| {N_STORED:,} spoken and {N_STORED:,} written words | p50, ms | p95, ms |",
        "|---|---:|---:|",
        *(f"| {name} | {p50:.1f} | {p95:.1f} |" for name, (p50, p95) in rows.items()),
        "",
        f"Dynamic time warping takes {dtw[0] / ours[0]:.0f} times as long, although it starts "
        "with MFCC already made, and knows no written words. Its recordings are those of the "
        f"library, repeated, {DTW_QUERIES} of them queries; the stored vectors are mixtures "
        f"of two of the library's own, shifted. {len(queries)} recordings of one word each, with "
        f"{PAUSE:g} s of silence before and after; {refused} more were refused, as a visitor's "
        "would be in which no single word is found.",
    ]


def one_word(path: Path) -> np.ndarray | None:
    """Cut out the word (T,) in a recording; None where there is none, or several."""
    try:
        return find_word(path).waveform
    except InputError:
        return None


def store(vectors: np.ndarray) -> WordLibrary:
    """Make a library of N_STORED spoken and N_STORED written words with vectors similar to those
    given.
    """
    synthetic = resembling(vectors, 2 * N_STORED, np.random.default_rng(0))
    words = [
        LibraryWord(str(i), str(i), (), "en", "a voice" if i < N_STORED else None, None)
        for i in range(len(synthetic))
    ]
    dimension = synthetic.shape[1]
    flat = Projection(np.zeros(dimension), np.eye(dimension, 2), -np.ones(2), np.ones(2))
    return WordLibrary(words, synthetic, flat, np.zeros((len(synthetic), 2), np.float32), {}, "")


def time_warping(spoken: list[np.ndarray]) -> tuple[float, float]:
    """Measure the milliseconds, p50 and p95, to find the ten nearest of N_STORED words by DTW."""
    frames = [mfcc_frames(waveform).astype(np.float32) for waveform in spoken]
    blocks = []
    for first in range(0, N_STORED, BLOCK):
        block = [frames[i % len(frames)] for i in range(first, min(first + BLOCK, N_STORED))]
        ends = np.cumsum([0, *map(len, block)])
        blocks.append((np.concatenate(block), ends))

    def search(word: np.ndarray) -> np.ndarray:
        distances = [path_means(1 - stored @ word.T, ends) for stored, ends in blocks]
        return np.argpartition(np.concatenate(distances), 10)[:10]

    return percentiles(search, frames[:DTW_QUERIES])


if __name__ == "__main__":
    main()
