"""Families of sounds, for colours: which kinds look alike on the map."""

from typing import Final

FAMILIES: Final = {
    "water and weather": "rain sea_waves water_drops wind pouring_water thunderstorm stream "
    "waterfall bubbles hail splash crackling_fire underwater boiling_water dripping_tap",
    "animals": "dog rooster pig cow frog cat hen insects sheep crow crickets chirping_birds horse "
    "owl duck goose seagull wolf bee mosquito cuckoo pigeon woodpecker elephant lion turkey "
    "snake whale cicada fly goat donkey monkey mouse",
    "people": "crying_baby sneezing clapping breathing coughing footsteps laughing snoring "
    "brushing_teeth drinking_sipping speech singing whispering whistling crowd hiccup yawning "
    "heartbeat screaming humming cheering burping kissing finger_snap children_playing",
    "home": "door_wood_knock mouse_click keyboard_typing door_wood_creaks can_opening "
    "washing_machine vacuum_cleaner glass_breaking toilet_flush frying kettle dishes cutlery "
    "microwave blender coins zipper paper tearing_paper door_slam fan hair_dryer camera shower "
    "crumpling_paper bouncing_ball ball_bounce dice cork typewriter printer toaster",
    "tools and machines": "chainsaw hand_saw drill hammer sewing_machine engine machine sawing "
    "lawn_mower sanding grinder jackhammer pump generator factory crane robot lathe",
    "traffic": "helicopter car_horn train airplane car motorcycle bus truck bicycle_bell "
    "train_horn ship_horn tram rocket subway boat jet car_engine race_car car_passing",
    "bells and alarms": "siren church_bells clock_alarm clock_tick doorbell telephone bell gong "
    "smoke_alarm buzzer beep wind_chime fireworks gunshot explosion sonar chime hand_bell "
    "bicycle_bell car_alarm cowbell ringtone cuckoo_clock foghorn school_bell",
    "music": "piano guitar flute violin drum cymbal trumpet organ synthesizer harp xylophone "
    "marimba bass tambourine maracas accordion clarinet music_box snare_drum kick_drum hi_hat",
}
OTHER: Final = "other"
CATEGORIES: Final = (*FAMILIES, OTHER)
_FAMILY: Final = {kind: family for family, kinds in FAMILIES.items() for kind in kinds.split()}


def family(kind: str) -> str:
    """The family of a kind of sound, OTHER for one that is in none."""
    return _FAMILY.get(kind, OTHER)
