"""A small library of sounds for tests: tones, noises and clicks, with captions."""

from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.load import decode_mono, wav_bytes
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.sound import Description
from earshot.systems.sound_search import SoundSearch

RATE: Final = 32_000
CAPTIONS: Final = {
    "rain.wav": ("rain", "Rain falls on leaves. | rain"),
    "storm.wav": ("thunderstorm", "Thunder rolls far away."),
    "dog.wav": ("dog", "A dog barks twice."),
    "bell.wav": ("church_bells", "A church bell rings."),
    "whistle.wav": ("train_whistle", "A train whistles."),
    "flute.wav": ("flute", "A flute plays one note."),
    "clock.wav": ("clock_tick", "A clock ticks."),
    "steps.wav": ("footsteps", "Someone walks by."),
    "saw.wav": ("hand_saw", "Wood is sawn by hand."),
    "door.wav": ("door_wood_knock", "Someone knocks at the door."),
    "hum.wav": ("humming", "Somebody hums."),
    "bubbles.wav": ("bubbles", "Bubbles rise in water."),
}


def samples_of(file: str | Path | bytes) -> bytes:
    """The sound of a file, without its metadata, which has its time."""
    return decode_mono(file, 60.0).waveform.tobytes()


def wave(seed: int, seconds: float = 2.0) -> np.ndarray:
    """Return something like a sound, another for each seed: float32 (T,)."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    tone = np.sin(2 * np.pi * rng.uniform(150, 4000) * time)
    noise = rng.standard_normal(len(time)) * rng.uniform(0.05, 0.6)
    return (0.3 * (tone + noise) * (0.6 + 0.4 * np.sin(2 * np.pi * seed * time))).astype(np.float32)


def write_sound(path: Path, seed: int, seconds: float = 2.0) -> Path:
    """Write a WAV file of `wave`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wav_bytes(wave(seed, seconds), RATE))
    return path


def write_library(folder: Path, search: SoundSearch) -> Path:
    """Write sounds in folder/sounds → the folder of their index, next to it."""
    paths = [write_sound(folder / "sounds" / name, i) for i, name in enumerate(CAPTIONS)]
    index = SoundIndex.empty(search.encoder)
    index.add(paths, {path: Description(*CAPTIONS[path.name]) for path in paths})
    index.save(folder / "sounds.index")
    return folder / "sounds.index"
