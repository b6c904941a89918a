"""The makers of assets/sounds: every sound of the library is computed here, from a seed.

A family is a module with RECIPES; FAMILIES lists them all.
"""

from types import ModuleType

from assets.make_sounds.kit import SAMPLE_RATE, Recipe, render

FAMILIES: tuple[ModuleType, ...] = ()
RECIPES: tuple[Recipe, ...] = tuple(recipe for family in FAMILIES for recipe in family.RECIPES)

__all__ = ["FAMILIES", "RECIPES", "SAMPLE_RATE", "Recipe", "render"]
