"""The makers of assets/sounds: every sound of the library is computed here, from a seed.

A family is a module with RECIPES; FAMILIES lists them all.
"""

from assets.make_sounds import (
    birds,
    breath,
    calls,
    farm,
    fire,
    hands,
    insects,
    loudspeakers,
    mouth,
    pets,
    poultry,
    rain,
    sea,
    singing,
    sleep,
    songbirds,
    speech,
    steps,
    water,
    weather,
    wild,
)
from assets.make_sounds.kit import SAMPLE_RATE, Recipe, render

NATURE = (rain, weather, sea, water, fire)
ANIMALS = (pets, farm, wild, poultry, songbirds, birds, insects)
PEOPLE = (breath, sleep, mouth, calls, singing, hands, steps, speech, loudspeakers)

FAMILIES = (*NATURE, *ANIMALS, *PEOPLE)
RECIPES: tuple[Recipe, ...] = tuple(recipe for family in FAMILIES for recipe in family.RECIPES)

__all__ = ["FAMILIES", "RECIPES", "SAMPLE_RATE", "Recipe", "render"]
