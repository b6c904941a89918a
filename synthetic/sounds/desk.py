"""Sounds at a desk: keys, mice, printers, cameras."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import Recipe, Signal, add, mix, modes, outdoors, room, silence
from synthetic.sounds.parts import click, sequence, vary


def snap(rng: np.random.Generator, hz: float, bright: float = 1.0) -> Signal:
    """A small plastic part hits its stop."""
    shell = hz * np.array([1, 1.43, 2.11, 2.9, 3.8]) * rng.uniform(0.97, 1.03, 5)
    body = modes(0.06, shell, (0.04, 0.03, 0.025, 0.02, 0.015), (0.5, 0.5, 0.4, 0.3, 0.3))
    return mix(body, bright * click(rng, 1500, 14_000, 0.008))


def _mouse(rng: np.random.Generator, clicks: Sequence[float], hz: float) -> Signal:
    """Every click of a mouse is two: down, and up a moment later."""
    hz, parts = vary(rng, hz, 0.2), []
    for at in clicks:
        held = rng.uniform(0.07, 0.12)
        parts += [(at, snap(rng, hz)), (at + held, vary(rng, 0.6, 0.2) * snap(rng, 1.2 * hz))]
    ground = sequence(max(clicks) + 0.5, parts)
    return outdoors(rng, room(rng, ground, 0.2, 0.1), 0.003)


def _wheel(rng: np.random.Generator) -> Signal:
    """A mouse wheel is turned in strokes of many little notches."""
    ground = silence(4.0)
    for start in np.arange(0.15, 3.4, 0.65):
        at = start + rng.uniform(0, 0.12)
        for _ in range(rng.integers(5, 10)):
            add(ground, snap(rng, vary(rng, 2600, 0.05), 0.4), at, vary(rng, 0.5, 0.3))
            at += rng.uniform(0.025, 0.055)
    return outdoors(rng, room(rng, ground, 0.2, 0.1), 0.003)


def _typing(rng: np.random.Generator, rate: float, hz: float, bright: float, deep: float) -> Signal:
    """Words typed on a keyboard: every key goes down and comes up; the space bar is deeper."""
    seconds, at, parts, left = 4.5, 0.1, [], rng.integers(3, 8)
    while at < seconds - 0.3:
        key = hz * (0.55 if not left else 1) * rng.uniform(0.85, 1.2)
        gain = vary(rng, 0.8 if left else 1.1, 0.4)
        thud = modes(0.06, rng.uniform(140, 260) * np.array([1, 2.3]), 0.05, deep)
        parts += [(at, gain * mix(snap(rng, key, bright), thud))]
        parts += [(at + rng.uniform(0.05, 0.1), 0.35 * gain * snap(rng, 1.3 * key, bright))]
        at += rng.gamma(6, 1 / (6 * rate)) + (rng.exponential(0.25) if not left else 0)
        left = left - 1 if left else rng.integers(2, 9)
    return outdoors(rng, room(rng, sequence(seconds, parts), 0.25, 0.12), 0.002)


RECIPES = (
    Recipe(
        "mouse_click",
        "mouse-click-double",
        ("A computer mouse is double-clicked.", "mouse, double click, computer", "opening a file"),
        partial(_mouse, clicks=(0.2, 0.42), hz=1900),
    ),
    Recipe(
        "mouse_click",
        "mouse-clicking-here-and-there",
        ("Someone clicks a mouse now and then.", "mouse clicks, browsing", "surfing the web"),
        partial(_mouse, clicks=(0.2, 0.9, 1.15, 2.3, 3.1, 3.3, 3.5), hz=2500),
    ),
    Recipe(
        "mouse_click",
        "mouse-clicking-fast",
        ("A gamer clicks a mouse as fast as possible.", "rapid mouse clicks, game"),
        partial(_mouse, clicks=tuple(0.1 + 0.16 * i for i in range(20)), hz=1500),
    ),
    Recipe(
        "mouse_click",
        "mouse-wheel",
        ("A mouse wheel is scrolled.", "scroll wheel, tiny clicks", "scrolling down a page"),
        _wheel,
    ),
    Recipe(
        "keyboard_typing",
        "keyboard-laptop",
        ("Someone types on a laptop.", "soft keyboard, typing", "writing an e-mail"),
        partial(_typing, rate=7, hz=1500, bright=0.5, deep=0.6),
    ),
    Recipe(
        "keyboard_typing",
        "keyboard-mechanical",
        (
            "A mechanical keyboard clacks loudly.",
            "clicky keyboard, fast typing",
            "programmer at work",
        ),
        partial(_typing, rate=9, hz=2300, bright=1.5, deep=0.3),
    ),
    Recipe(
        "keyboard_typing",
        "keyboard-hunt-and-peck",
        ("Someone types slowly with two fingers.", "slow typing, old keyboard, single keys"),
        partial(_typing, rate=2.5, hz=1100, bright=0.9, deep=1),
    ),
)
