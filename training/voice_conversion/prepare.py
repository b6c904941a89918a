"""Turn every speech corpus into arrays, so that training needs little more than torch and numpy.

Written below OUT/SPLIT (train, val), one file an array, N frames of 10 ms of all recordings:
  waveform.npy   int16 (N, 160)     levelled to -23 LUFS
  pitch.npy      float16 (N,)       Hz, 0 where unvoiced
  speaker.npy    int16 (N,)         rows of speakers.txt; whom a corpus does not name is a speaker
                                    of one recording
  corpus.npy     int8 (N,)          rows of corpora.txt
and OUT/noise.npy, int16 (T,): the beginnings of the sounds of assets/sounds, for noise;
OUT/constants.npz: the mel filters and DCT that training shares with earshot.media.audio.features.

Where hibari-tts is installed, the synthetic voice Heart reads captions of AudioCaps and lists of
words of a pronouncing dictionary, and is a corpus like the others.
"""

import csv
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.paths import ASSETS
from earshot.media.audio import features
from earshot.media.audio.load import load, match_loudness, to_int16
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, N_FFT, N_MELS, SAMPLE_RATE
from earshot.media.text.phonemes import pronunciations
from training.common.corpora import LEVEL, Item, speech_items, waveforms
from training.common.processes import in_processes
from training.common.zero_shot import has_zero_shot_word
from training.voice_conversion.speech import HEART

SOUNDS: Final = ASSETS / "sounds"
CUT: Final = 4 * HOP_LENGTH  # samples: recordings are cut to whole multiples of 40 ms
MIN_SECONDS: Final = 0.2
MAX_NOISE: Final = 4.0  # seconds of a sound
# Corpora of single words say little that these do not; their speakers do not speak on.
CORPORA: Final = (
    "librispeech_251",
    "studio_prompts",
    "npvcc2016",
    "grid",
    "picovoice_commands",
)
HEART_SENTENCES: Final = 1_300
LISTED: Final = 8  # words of a list that Heart reads
HEART_PACKAGE: Final = "hibari"
HEART_SPEEDS: Final = (0.85, 1.0, 1.15)

Arrays = dict[str, np.ndarray]


def prepare(data: Path, out: Path) -> None:
    """Write the arrays of the training and validation splits; the test split is not touched."""
    out.mkdir(parents=True, exist_ok=True)
    write_constants(out)
    np.save(out / "noise.npy", np.concatenate(list(_noises())))
    items = [
        item
        for item in speech_items(data)
        if item.corpus in CORPORA and not has_zero_shot_word(item)
    ]
    for split in ("train", "val"):
        files = [
            list(group)
            for _, group in groupby(
                (item for item in items if item.split == split), lambda item: item.path
            )
        ]
        parts = [
            part for recordings in in_processes(_arrays, files, chunk=4) for part in recordings
        ]
        if split == "train":
            parts += [(HEART, HEART, _features(spoken)) for spoken in heart(data)]
        _write(parts, out / split)


def write_constants(out: Path) -> None:
    """Write the mel filters and DCT that training shares with earshot.media.audio.features."""
    filters, dct = features.mel_filters(N_FFT, N_MELS), features.dct_matrix()
    np.savez(out / "constants.npz", mel_filters=filters, dct=dct)


def heart(data: Path) -> Iterator[np.ndarray]:
    """Yield the sentences of Heart: waveforms (T,) at 16 kHz, none where hibari-tts is not
    installed.
    """
    captions = data / "sounds" / "captions" / "audiocaps.csv"
    if find_spec(HEART_PACKAGE) is None or not captions.exists():
        return
    import soxr

    voice = import_module(HEART_PACKAGE).Hibari()
    for n, text in enumerate(heart_texts(captions)):
        spoken = voice(text, speed=HEART_SPEEDS[n % len(HEART_SPEEDS)], seed=n)
        waveform = soxr.resample(spoken, voice.sample_rate, SAMPLE_RATE)
        yield match_loudness(waveform[: len(waveform) // CUT * CUT], SAMPLE_RATE, LEVEL)


def heart_texts(captions: Path) -> Iterator[str]:
    """Yield what Heart reads: by turns a caption, and a list of words, in which every sound meets
    every other. No text has a word that no model may be trained on.
    """
    with captions.open(encoding="utf-8", newline="") as file:
        sentences = [row["caption"] for row in csv.DictReader(file) if row["split"] == "train"]
    random, words = np.random.default_rng(0), [word for word in pronunciations() if word.isalpha()]
    read = 0
    while read < HEART_SENTENCES:
        listed = ", ".join(random.choice(words, LISTED, replace=False))
        text = str(random.choice(sentences)) if read % 2 else f"{listed}."
        if not has_zero_shot_word(Item(HEART, captions, HEART, "train", text=text)):
            read += 1
            yield text


def _noises() -> Iterator[np.ndarray]:
    for path in sorted(SOUNDS.glob("*.ogg")):
        beginning = load(path, SAMPLE_RATE).waveform[: round(MAX_NOISE * SAMPLE_RATE)]
        yield to_int16(match_loudness(beginning, SAMPLE_RATE, LEVEL))


def _write(parts: list[tuple[str, str | None, Arrays]], folder: Path) -> None:
    """Write recordings with their corpora and speakers, end to end."""
    folder.mkdir(exist_ok=True)
    speakers, corpora = [], []
    for number, (corpus, speaker, arrays) in enumerate(parts):
        frames = len(arrays["pitch"])
        speakers += [speaker or f"{corpus}-{number}"] * frames
        corpora += [corpus] * frames
    for name in parts[0][2]:
        np.save(folder / f"{name}.npy", np.concatenate([arrays[name] for *_, arrays in parts]))
    _save_names(speakers, folder, "speaker", "speakers", np.int16)
    _save_names(corpora, folder, "corpus", "corpora", np.int8)
    print(f"{folder.name}: {len(speakers) / 6000:.0f} minutes, {len(set(speakers))} speakers")


def _arrays(items: list[Item]) -> list[tuple[str, str | None, Arrays]]:
    """Compute the corpus, speaker and features of all recordings in one file."""
    return [(item.corpus, item.speaker, _features(cut)) for item, cut in _cut(items)]


def _cut(items: list[Item]) -> Iterable[tuple[Item, np.ndarray]]:
    for item, waveform in waveforms(items):
        cut = waveform[: len(waveform) // CUT * CUT]
        if len(cut) >= MIN_SECONDS * SAMPLE_RATE:
            yield item, cut


def _features(waveform: np.ndarray) -> Arrays:
    return {
        "pitch": track_pitch(waveform).astype(np.float16),
        "waveform": to_int16(waveform).reshape(-1, HOP_LENGTH),
    }


def _save_names(names: list[str], folder: Path, array: str, table: str, kind: type) -> None:
    """Write names as rows of a table: folder/table.txt, and folder/array.npy with a row a frame."""
    unique, index = np.unique(names, return_inverse=True)
    (folder / f"{table}.txt").write_text("\n".join(unique) + "\n")
    np.save(folder / f"{array}.npy", index.astype(kind))
