"""Things that beep to warn or to report."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from synthetic.sounds.kit import Point, Recipe, Signal, clock, colour, noise, outdoors, room, tone
from synthetic.sounds.parts import gate, sequence, vary


def _pattern(
    rng: np.random.Generator,
    hz: float,
    beeps: Sequence[Point],
    harmonics: Sequence[float],
    wet: float = 0.1,
) -> Signal:
    """A sounder that beeps at these (time, length)s."""
    hz = vary(rng, hz, 0.08)
    sounds = [
        (at, tone(np.full(len(clock(held)), hz), harmonics) * gate(held, 0.004, 0.008))
        for at, held in beeps
    ]
    return outdoors(rng, room(rng, sequence(sum(beeps[-1]) + 0.3, sounds), 0.7, wet), 0.0015)


def _noisy_beeper(rng: np.random.Generator) -> Signal:
    """The hissing kind of reversing alarm: bursts of noise instead of tones."""
    seconds, period = 5.0, vary(rng, 0.75)
    points = ((300, -25), (1500, 0), (4500, 0), (12_000, -15))
    bursts = [
        (at, colour(noise(rng, 0.38), *points) * gate(0.38)) for at in np.arange(0.1, 4.3, period)
    ]
    return room(rng, sequence(seconds, bursts), 0.8, 0.25)


RECIPES = (
    Recipe(
        "smoke_alarm",
        "smoke-alarm-three-beeps",
        ("A smoke alarm goes off.", "smoke detector, three loud beeps", "the toast is burning"),
        partial(
            _pattern,
            hz=3150,
            beeps=tuple((0.1 + i * 0.9 + 1.4 * (i // 3), 0.45) for i in range(6)),
            harmonics=(1, 0.25, 0.3, 0.12),
            wet=0.3,
        ),
    ),
    Recipe(
        "smoke_alarm",
        "smoke-alarm-low-battery",
        ("A smoke detector chirps because its battery is low.", "single chirp, high, smoke alarm"),
        partial(
            _pattern,
            hz=3300,
            beeps=((0.2, 0.06), (3.4, 0.06)),
            harmonics=(1, 0.2, 0.25, 0.1),
            wet=0.2,
        ),
    ),
    Recipe(
        "reversing_beeper",
        "reversing-truck-beeps",
        ("A truck beeps while it reverses.", "reversing alarm, beeping, lorry", "mind your back"),
        partial(
            _pattern,
            hz=1250,
            beeps=tuple((0.2 + i, 0.5) for i in range(5)),
            harmonics=(1, 0.3, 0.35, 0.12, 0.12, 0.05),
            wet=0.3,
        ),
    ),
    Recipe(
        "reversing_beeper",
        "reversing-van-hiss",
        ("A delivery van backs up with a hissing alarm.", "white noise reversing alarm, bursts"),
        _noisy_beeper,
    ),
    Recipe(
        "microwave_beep",
        "microwave-done",
        ("A microwave oven beeps when it is done.", "microwave, three beeps", "dinner is warm"),
        partial(
            _pattern,
            hz=2030,
            beeps=((0.1, 0.7), (1.5, 0.7), (2.9, 0.7)),
            harmonics=(1, 0.05, 0.2, 0, 0.1),
        ),
    ),
    Recipe(
        "microwave_beep",
        "microwave-buttons",
        ("Someone taps the buttons of a microwave.", "short beeps, keypad, kitchen appliance"),
        partial(
            _pattern,
            hz=2400,
            beeps=((0.1, 0.09), (0.5, 0.09), (0.72, 0.09), (1.4, 0.22)),
            harmonics=(1, 0.05, 0.25, 0, 0.1),
        ),
    ),
    Recipe(
        "car_alarm",
        "car-unlock-chirp",
        ("A car chirps twice as it is unlocked.", "car remote, two chirps", "where did I park"),
        partial(
            _pattern,
            hz=1900,
            beeps=((0.1, 0.07), (0.28, 0.07)),
            harmonics=(1, 0.5, 0.6, 0.3, 0.2),
            wet=0.35,
        ),
    ),
)
