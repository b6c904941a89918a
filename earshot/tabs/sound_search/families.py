"""Families of sounds, for colours: which kinds look alike on the map."""

from collections.abc import Collection
from typing import Final

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
OTHER: Final = "scenes, other"
CATEGORIES: Final = (*FAMILIES, OTHER)
_FAMILY: Final = {kind: name for name, kinds in FAMILIES.items() for kind in kinds.split()}


def family(kind: str) -> str:
    """Name the family of a kind of sound; OTHER if it is in none."""
    return _FAMILY.get(kind, OTHER)


def kinds_of(families: Collection[str]) -> frozenset[str]:
    """List the kinds of sound in some of the families; OTHER has those that are in none."""
    others = {"scene", ""} if OTHER in families else set()
    return frozenset({kind for kind, name in _FAMILY.items() if name in families} | others)
