"""Scenes: sounds of other families heard together, as they often are."""

from typing import Final

import numpy as np

from synthetic.sounds import (
    bells,
    birds,
    clocks,
    doors,
    fire,
    insects,
    pets,
    rain,
    ringing,
    sea,
    songbirds,
    steps,
    weather,
)
from synthetic.sounds.kit import SAMPLE_RATE, Recipe, Signal, add, render, silence

FAMILIES: Final = (
    bells, birds, clocks, doors, fire, insects, pets, rain, ringing, sea, songbirds, steps, weather,
)  # fmt: skip
PARTS: Final = {recipe.name: recipe for family in FAMILIES for recipe in family.RECIPES}


def scene(name: str, captions: tuple[str, ...], *parts: tuple[str, float, float]) -> Recipe:
    """Make a recipe of parts: each the name of a recipe, when it starts (s), and its gain."""

    def make(rng: np.random.Generator) -> Signal:
        seeds = rng.integers(1, 1000, len(parts))
        sounds = [
            render(PARTS[part[0]], int(seed)) for part, seed in zip(parts, seeds, strict=True)
        ]
        ends = [
            part[1] + len(sound) / SAMPLE_RATE for part, sound in zip(parts, sounds, strict=True)
        ]
        ground = silence(min(max(ends), 8.0))
        for (_, start, gain), sound in zip(parts, sounds, strict=True):
            room = len(ground) - round(start * SAMPLE_RATE)
            add(ground, sound[:room], start, gain)
        return ground

    return Recipe("scene", name, captions, make)


RECIPES: tuple[Recipe, ...] = (
    scene(
        "dog-barking-in-the-rain",
        ("A dog barks while it rains.", "dog and rain", "a dog left out in the rain"),
        ("heavy-rain-on-a-tin-roof", 0.0, 0.45),
        ("big-dog-barking", 1.0, 1.0),
    ),
    scene(
        "fireside-with-a-ticking-clock",
        ("A clock ticks while a fire crackles.", "fireplace, clock", "a quiet evening at home"),
        ("fireplace", 0.0, 0.8),
        ("clock-grandfather-ticking", 0.0, 0.8),
    ),
    scene(
        "blackbird-beside-a-brook",
        ("A blackbird sings beside a brook.", "birdsong and running water", "a walk in the woods"),
        ("brook-over-stones", 0.0, 0.5),
        ("blackbird-singing", 0.5, 1.0),
    ),
    scene(
        "gulls-over-the-surf",
        ("Seagulls cry over breaking waves.", "gull and surf", "a day at the seaside"),
        ("waves-breaking-on-a-beach", 0.0, 0.8),
        ("seagull-crying", 0.8, 0.8),
    ),
    scene(
        "thunder-over-crickets",
        ("Thunder rolls far away while crickets chirp.", "crickets, distant thunder"),
        ("crickets-on-a-summer-night", 0.0, 0.4),
        ("thunder-rolling-far-away", 0.5, 1.0),
    ),
    scene(
        "knock-then-a-creaking-door",
        ("Somebody knocks, then the door creaks open.", "knock, then door creak"),
        ("knock-three-polite", 0.0, 1.0),
        ("door-creaks-open-slowly", 1.8, 0.8),
    ),
    scene(
        "bell-then-footsteps",
        ("A doorbell rings, then somebody walks up.", "doorbell followed by footsteps"),
        ("doorbell-ding-dong", 0.0, 0.9),
        ("footsteps-on-a-wooden-floor", 2.0, 0.9),
    ),
    scene(
        "wind-and-wooden-chimes",
        ("Bamboo chimes clatter in the wind.", "wind and chimes", "a windy day on the porch"),
        ("wind-in-the-trees", 0.0, 0.6),
        ("wind-chimes-bamboo", 0.2, 0.9),
    ),
)
