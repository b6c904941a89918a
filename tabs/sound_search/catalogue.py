"""Sounds as the page shows them: their names, their pictures, and the map they lie on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tabs.components.map.map import Chart, Point
from tabs.shared.images import spectrogram_png
from tabs.sound_search.families import CATEGORIES, family

if TYPE_CHECKING:
    from pipelines.sound_search.store import Library as Stored
    from pipelines.sound_search.store import Sound

DRAWN_SECONDS: Final = 600.0  # longer sounds have no picture
COLUMNS: Final = 360  # of a picture
OWN: Final = "your sounds"


class Shelf:
    """The sounds of an index, whether its model is loaded or not. Each picture is drawn once."""

    def __init__(self, stored: Callable[[], "Stored"], own: bool = False) -> None:
        """stored: what the index holds now; own: whether the sounds are one visitor's."""
        self.stored = stored
        self.own = own
        self.pictures: dict[str, str] = {}

    @property
    def sounds(self) -> tuple["Sound", ...]:
        return self.stored().sounds

    @property
    def categories(self) -> Sequence[str]:
        """What the map distinguishes."""
        return (OWN,) if self.own else CATEGORIES

    def category(self, sound: "Sound") -> str:
        return OWN if self.own else family(sound.kind)

    def picture(self, sound: "Sound") -> str:
        """The sound's spectrogram as a data URI; empty for one too long to draw.

        Raises InputError where its file is gone.
        """
        if sound.seconds > DRAWN_SECONDS:
            return ""
        if sound.id not in self.pictures:
            self.pictures[sound.id] = _spectrogram(sound.path)
        return self.pictures[sound.id]

    def chart(self) -> Chart:
        """The map of the sounds."""
        stored = self.stored()
        points = [
            Point(sound.id, x, y, title(sound), self.category(sound), sound.path)
            for sound, (x, y) in zip(stored.sounds, stored.layout.tolist(), strict=True)
        ]
        name = f"Map of {len(points)} sounds: those that sound alike lie side by side"
        return Chart(name, points, self.categories, "More like this")


def title(sound: "Sound") -> str:
    """What a sound is called on the page: its first caption, else its file's name."""
    caption = sound.caption.split(" | ")[0]
    return caption[:1].upper() + caption[1:] or sound.name


def _spectrogram(path: Path) -> str:
    # Late, for they load scipy.
    from media.audio.load import load
    from media.audio.sound_features import SAMPLE_RATE, log_mel, split

    waveform = load(path, SAMPLE_RATE, DRAWN_SECONDS + 1, min_seconds=0.0).waveform
    power = log_mel(split(waveform))  # (segments, frames, bands)
    magnitude = power.reshape(-1, power.shape[-1]) / 2
    return spectrogram_png(_columns(magnitude[: max(1, len(waveform) * 100 // SAMPLE_RATE)]))


def _columns(log_mel: np.ndarray) -> np.ndarray:
    """At most COLUMNS of the frames (S, M), the loudest of every few; and every second band."""
    step = -(-len(log_mel) // COLUMNS)
    padded = np.pad(log_mel, ((0, -len(log_mel) % step), (0, 0)), mode="edge")
    return padded.reshape(-1, step, padded.shape[1] // 2, 2).max(axis=(1, 3))
