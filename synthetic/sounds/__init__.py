"""The makers of assets/sounds: every sound of the library is computed here, from a seed.

A family is a module with RECIPES; FAMILIES lists them all.
"""

from synthetic.sounds import (
    alarms,
    beepers,
    bells,
    birds,
    bouncing,
    bowed,
    breath,
    calls,
    clocks,
    desk,
    doors,
    drinks,
    electronics,
    engines,
    explosions,
    farm,
    fire,
    fireworks,
    gadgets,
    garden_engines,
    hands,
    horns,
    household,
    insects,
    kitchen,
    laundry,
    locks,
    loudspeakers,
    mallets,
    mouth,
    office,
    percussion,
    pets,
    phones,
    poultry,
    power_tools,
    rail_and_air,
    rain,
    ringing,
    scenes,
    sea,
    singing,
    sleep,
    songbirds,
    speech,
    steps,
    strings,
    tableware,
    telegraphs,
    things,
    tools,
    traffic,
    water,
    weather,
    wild,
    winds,
)
from synthetic.sounds.kit import SAMPLE_RATE, Recipe, render

NATURE = (rain, weather, sea, water, fire)
ANIMALS = (pets, farm, wild, poultry, songbirds, birds, insects)
PEOPLE = (breath, sleep, mouth, calls, singing, hands, steps, speech, loudspeakers)
SIGNALS = (bells, ringing, clocks, alarms, beepers, horns, phones, telegraphs)
HOME = (
    kitchen,
    drinks,
    tableware,
    doors,
    locks,
    household,
    laundry,
    desk,
    office,
    things,
    bouncing,
)
WORK = (tools, power_tools, engines, garden_engines, traffic, rail_and_air, explosions, fireworks)
MUSIC = (strings, bowed, winds, percussion, mallets, electronics, gadgets)

FAMILIES = (*NATURE, *ANIMALS, *PEOPLE, *SIGNALS, *HOME, *WORK, *MUSIC, scenes)
RECIPES: tuple[Recipe, ...] = tuple(recipe for family in FAMILIES for recipe in family.RECIPES)

__all__ = ["FAMILIES", "RECIPES", "SAMPLE_RATE", "Recipe", "render"]
