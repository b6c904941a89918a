"""Sounds as the page shows them: names, families of similar kinds, spectrograms, and the map."""

import mimetypes
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.media.pictures import spectrogram_png
from earshot.sound_index.address import in_bucket, suffix_of
from earshot.tabs.components.map import Chart, Point

if TYPE_CHECKING:
    from earshot.sound_index.library import Library as Stored
    from earshot.sound_index.sound import Sound

FAMILIES: Final = {
    "water and weather": "boiling_water bubbles crackling_fire hail lighting_a_flame "
    "pouring_water rain sea_waves splash stream thunderstorm water_drops waterfall wind",
    "animals": "bee cat chicks chirping_birds cicadas cow crickets crow cuckoo dog donkey duck "
    "elephant flapping_wings frog goose hen horse_gallop horse_neigh insects lion monkey mosquito "
    "owl pig pigeon purring rooster seagull sheep snake wolf_howl woodpecker",
    "people": "announcement breathing brushing_teeth cheering clapping coughing crowd_talking "
    "crying_baby drinking_sipping eating finger_snapping footsteps footsteps_in_snow "
    "footsteps_on_gravel footsteps_on_leaves gargling heartbeat hiccup humming kissing laughing "
    "robot_voice screaming singing_vowel sneezing sniffing snoring speech voice_over_line "
    "whispering whistling yawn",
    "home and office": "ball_bounce blender camera_shutter can_opening cash_register chopping "
    "coffee_machine coins cork_pop cutlery dishes door_lock door_slam door_wood_creaks "
    "door_wood_knock drawer electric_shaver fan frying glass_breaking glass_clink hair_dryer "
    "kettle_whistle keyboard_typing keys light_switch metal_gate mouse_click page_turn "
    "paper_crumple paper_tear printer radio_static scissors sizzling spray_can stapler "
    "toilet_flush typewriter vacuum_cleaner washing_machine zipper",
    "tools and bangs": "angle_grinder balloon_pop chainsaw drill electric_hum electric_sparks "
    "engine explosion fireworks geiger_counter gunshot hammering hand_saw jackhammer lawn_mower "
    "ratchet sanding sewing_machine steam_hiss",
    "traffic": "airplane bicycle_wheel car_brakes car_horn car_passing city_traffic helicopter "
    "motorcycle ship_horn train train_horn train_whistle",
    "bells and beeps": "air_horn bicycle_bell buzzer car_alarm church_bells clock_alarm "
    "clock_chime clock_tick computer_beeps cowbell dial_tone doorbell gong hand_bell "
    "heart_monitor kitchen_timer laser level_crossing_bell microwave_beep modem morse_code "
    "phone_keypad phone_vibrating reversing_beeper rotary_dial school_bell siren sleigh_bells "
    "smoke_alarm sonar telephone_ring video_game whistle_blown wind_chimes",
    "music": "accordion bass_guitar cymbal drum flute guitar harmonica harp maracas metronome "
    "music_box organ piano synthesizer trumpet violin xylophone",
}
OTHER_FAMILY: Final = "scenes, other"
CATEGORIES: Final = (*FAMILIES, OTHER_FAMILY)
_FAMILY: Final = {kind: name for name, kinds in FAMILIES.items() for kind in kinds.split()}
MAX_PICTURE_SECONDS: Final = 600.0  # longer sounds have no spectrogram
SPECTROGRAM_COLUMNS: Final = 360  # of a spectrogram
MAX_POINTS: Final = 20_000  # on the map
YOURS: Final = "your sounds"  # the category of a visitor's own
ROUTE: Final = "library-sounds"


def family(kind: str) -> str:
    """Name the family of a kind of sound; OTHER_FAMILY if it is in none."""
    return _FAMILY.get(kind, OTHER_FAMILY)


def kinds_of(families: Collection[str]) -> frozenset[str]:
    """List the kinds of sound in some of the families; OTHER_FAMILY has those that are in none."""
    others = {"scene", ""} if OTHER_FAMILY in families else set()
    return frozenset({kind for kind, name in _FAMILY.items() if name in families} | others)


class Catalogue:
    """The sounds of an index; needs no model. Each spectrogram is computed once."""

    def __init__(
        self, stored: Callable[[], "Stored"], own: bool = False, shipped: bool = False
    ) -> None:
        """Keep the sounds. stored: returns the current snapshot of the index; own: whether they are
        a visitor's; shipped: whether they are Earshot's, for which the threshold of a match was
        calibrated.
        """
        self.stored = stored
        self.own = own
        self.shipped = shipped
        self.pictures: dict[str, str] = {}
        self._chart: tuple[Stored, Chart] | None = None

    @property
    def sounds(self) -> Sequence["Sound"]:
        return self.stored().sounds

    @property
    def categories(self) -> Sequence[str]:
        """List the categories of the map."""
        return (YOURS,) if self.own else CATEGORIES

    def category(self, sound: "Sound") -> str:
        return YOURS if self.own else family(sound.kind)

    def picture(self, sound: "Sound") -> str:
        """Draw the sound's spectrogram as a data URI; empty if the sound is longer than
        MAX_PICTURE_SECONDS. Raises InputError if its file is gone.
        """
        if sound.seconds > MAX_PICTURE_SECONDS:
            return ""
        if sound.id not in self.pictures:
            self.pictures[sound.id] = _spectrogram(sound.file)
        return self.pictures[sound.id]

    def served(self, sound: "Sound") -> Path | str:
        """Return what the page plays: a visitor's file, or the address of a sound of the index.

        Raises InputError where a sound of a bucket cannot be fetched.
        """
        file = sound.file
        return file if self.own else address_of(sound)

    def copies(self, sound: "Sound") -> int:
        """Count the other sounds that are files of the same content."""
        return self.stored().copies(sound.content_hash) - 1

    @property
    def step(self) -> int:
        """Choose every how many of the sounds the map shows: all, unless the library is large."""
        return max(1, -(-len(self.sounds) // MAX_POINTS))

    def chart(self) -> Chart:
        """Draw the map of the sounds, once for all who look at a library."""
        stored = self.stored()
        if self.own:
            return self._draw(stored)
        if self._chart is None or self._chart[0] is not stored:
            self._chart = stored, self._draw(stored)
        return self._chart[1]

    def _draw(self, stored: "Stored") -> Chart:
        step = self.step
        sounds = zip(stored.sounds[::step], stored.layout[::step].tolist(), strict=True)
        points = [
            Point(sound.id, x, y, title(sound), self.category(sound), self._playable(sound))
            for sound, (x, y) in sounds
        ]
        of_all = f" of {len(stored.sounds)}" if step > 1 else ""
        name = f"Map of {len(points)}{of_all} sounds: similar sounds lie close together"
        return Chart(name, points, self.categories, "More like this", area="Choose an area")

    def _playable(self, sound: "Sound") -> Path | str | None:
        """Return what the map plays: no sounds of a bucket, of which there are thousands."""
        return None if in_bucket(sound.path) else self.served(sound)


def media_type(name: str) -> str:
    """Guess the type of a file that holds sound: never one that a browser runs."""
    kind = mimetypes.guess_type(name)[0] or ""
    return kind if kind.startswith(("audio/", "video/")) else "application/octet-stream"


def address_of(sound: "Sound") -> str:
    """Write the address, below the page's own, at which a sound of the index is served."""
    ending = suffix_of(sound.path) if media_type(sound.name)[:5] in ("audio", "video") else ""
    return f"{ROUTE}/{sound.id}{ending}"


def title(sound: "Sound") -> str:
    """Name a sound on the page by its first caption, else by its file name."""
    caption = sound.first_caption
    return caption[:1].upper() + caption[1:] or sound.name


def _spectrogram(path: Path) -> str:
    # Late, for they load scipy.
    from earshot.media.audio.load import load
    from earshot.media.audio.sound_features import SAMPLE_RATE, log_mel, split

    waveform = load(path, SAMPLE_RATE, MAX_PICTURE_SECONDS + 1, min_seconds=0.0).waveform
    power = log_mel(split(waveform))  # (segments, frames, bands)
    magnitude = power.reshape(-1, power.shape[-1]) / 2
    return spectrogram_png(_columns(magnitude[: max(1, len(waveform) * 100 // SAMPLE_RATE)]))


def _columns(log_mel: np.ndarray) -> np.ndarray:
    """Pool (S, M) by maxima to at most SPECTROGRAM_COLUMNS frames and half of the bands."""
    step = -(-len(log_mel) // SPECTROGRAM_COLUMNS)
    padded = np.pad(log_mel, ((0, -len(log_mel) % step), (0, 0)), mode="edge")
    return padded.reshape(-1, step, padded.shape[1] // 2, 2).max(axis=(1, 3))
