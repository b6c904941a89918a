"""Birds that whistle, hoot, coo or drum: in the garden and in the wood."""

from collections.abc import Callable, Sequence

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Point,
    Recipe,
    Signal,
    add,
    at_random,
    band,
    bump,
    clock,
    curve,
    fm,
    high_pass,
    impulses,
    in_step,
    modes,
    noise,
    outdoors,
    room,
    samples,
    scatter,
    silence,
    tone,
    wander,
)


def flute(
    rng: np.random.Generator, points: Sequence[Point], overtones: Sequence[float] = (1, 0.12, 0.03)
) -> Signal:
    """One whistled syllable along (time, Hz) points, with the small unrest of a syrinx."""
    long = points[-1][0]
    pitch = curve(long, *points) * wander(rng, long, 60, 0.992, 1.008)
    return tone(pitch, overtones) * bump(long, 0.4, 0.6)


def _syllable(rng: np.random.Generator, hz: float) -> Callable[[], Signal]:
    """A syllable invented once, that the bird can then repeat: a sweep, a hook, a trill, a buzz."""
    shape, long = rng.integers(4), rng.uniform(0.04, 0.16)
    a, b, c = hz * np.exp(rng.uniform(-0.4, 0.4, 3))
    points = [(0, a), (long * rng.uniform(0.3, 0.7), b), (long, c)]
    beat = rng.uniform(35, 110)

    def sing() -> Signal:
        sound = flute(rng, points)
        swing = np.sin(2 * np.pi * beat * clock(long)[: len(sound)])
        if shape == 2:
            sound = fm(np.interp(clock(long), *np.array(points).T), beat / hz, 0.2 * hz / beat)
            sound = sound * bump(long, 0.4, 0.6)
        return sound * (0.5 + 0.5 * swing) if shape == 3 else sound

    return sing


def _phrase(rng: np.random.Generator, hz: float, pace: float) -> Signal:
    """A few invented syllables, some of them repeated."""
    ground, at = silence(2.2), 0.0
    for _ in range(rng.integers(3, 7)):
        sing, loud = _syllable(rng, hz), rng.uniform(0.4, 1)
        for _ in range(rng.choice([1, 1, 2, 4])):
            part = sing()
            add(ground, part, at, loud)
            at += len(part) / SAMPLE_RATE + rng.uniform(0.01, 0.06) / pace
    return ground[: samples(min(at + 0.05, 2.2))]


def _songbird(rng: np.random.Generator, hz: float, pace: float, birds: int) -> Signal:
    seconds = rng.uniform(4.5, 5.5)
    ground = silence(seconds)
    for bird in range(birds):
        at, near = rng.uniform(0.05, 0.4 + 0.5 * (bird > 0)), rng.uniform(0.15, 1) if bird else 1
        own = hz * rng.uniform(0.8, 1.25) ** (1 + (birds > 2))
        while at < seconds - 0.5:
            phrase = _phrase(rng, own, pace)
            add(ground, phrase, at, near)
            at += len(phrase) / SAMPLE_RATE + rng.uniform(0.3, 1.0) / pace
    return outdoors(rng, room(rng, ground, 1.0, 0.15), 0.008)


def _sparrows(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4.5, 5.5)

    def chirp() -> Signal:
        hz, long = rng.uniform(2800, 4200), rng.uniform(0.06, 0.13)
        points = [(0, 0.8 * hz), (0.35 * long, 1.35 * hz), (0.6 * long, hz), (long, 0.75 * hz)]
        return rng.uniform(0.2, 1) * flute(rng, points, (1, 0.4, 0.15))

    chirps = scatter(seconds, at_random(rng, seconds - 0.2, rng.uniform(5, 9)), chirp)
    return outdoors(rng, room(rng, chirps, 0.5, 0.12), 0.01)


def _hooting(rng: np.random.Generator, hz: float, rhythm: Sequence[tuple[float, float]]) -> Signal:
    """An owl that hoots. rhythm: the (start, length) of every hoot."""
    seconds, pitch = rhythm[-1][0] + rng.uniform(1.6, 2.4), hz * rng.uniform(0.88, 1.12)
    ground = 0.0 * silence(seconds)
    for start, long in rhythm:
        long *= rng.uniform(0.9, 1.1)
        points = [(0, 0.93 * pitch), (0.3 * long, pitch), (long, 0.95 * pitch)]
        hoot = flute(rng, points, (1, 0.1, 0.06)) + 0.01 * noise(rng, long, 1) * bump(long)
        add(ground, hoot, start + 0.2 + rng.normal(0, 0.01), rng.uniform(0.8, 1))
    return outdoors(rng, room(rng, ground, 1.8, 0.3), 0.006)


def _cuckoo(rng: np.random.Generator, hz: float, far: float) -> Signal:
    """A falling third, again and again."""
    seconds, pitch = rng.uniform(4.5, 5.5), hz * rng.uniform(0.93, 1.07)
    ground = silence(seconds)
    for at in in_step(rng, seconds - 0.8, rng.uniform(1.2, 1.45), 0.02):
        add(ground, flute(rng, [(0, pitch), (0.2, 0.98 * pitch)], (1, 0.15, 0.05)), at, 0.9)
        low = 0.81 * pitch
        add(ground, flute(rng, [(0, low), (0.28, 0.98 * low)], (1, 0.1, 0.04)), at + 0.36)
    return outdoors(rng, room(rng, ground, 2.2, far), 0.004 + 0.02 * far)


def _cooing(rng: np.random.Generator, notes: Sequence[tuple[float, float, float]]) -> Signal:
    """A pigeon that coos. notes: (start, length, pitch) of every coo of a phrase."""
    seconds, hz = rng.uniform(4.5, 5.5), rng.uniform(0.92, 1.08)
    ground, at, phrase = silence(seconds), 0.2, notes[-1][0] + notes[-1][1]
    while at < seconds - phrase:
        for start, long, pitch in notes:
            points = [(0, 0.9 * hz * pitch), (0.4 * long, hz * pitch), (long, 0.9 * hz * pitch)]
            coo = flute(rng, points, (1, 0.3, 0.12, 0.04))
            throb = 1 + 0.5 * np.sin(2 * np.pi * rng.uniform(20, 26) * clock(long)[: len(coo)])
            add(
                ground,
                coo * throb + 0.03 * noise(rng, long, 1)[: len(coo)] * bump(long),
                at + start,
            )
        at += phrase + rng.uniform(0.25, 0.6)
    return outdoors(rng, room(rng, ground, 0.6, 0.15), 0.008)


def _drumming(rng: np.random.Generator) -> Signal:
    seconds = rng.uniform(4, 5)
    trunk = rng.uniform(0.85, 1.15) * np.array([520, 940, 1500, 2300, 3400])
    ground = silence(seconds)
    at = rng.uniform(0.1, 0.5)
    while at < seconds - 0.9:
        knocks = rng.integers(11, 18)
        for index in range(knocks):
            knock = modes(0.08, trunk * rng.uniform(0.99, 1.01, 5), 0.04, (1, 0.9, 0.8, 0.5, 0.4))
            tick = high_pass(rng.standard_normal(96), 1500, 1)
            add(ground, knock, at, np.sin(np.pi * (index + 1) / (knocks + 1)) ** 0.6)
            add(ground, tick, at, 0.25)
            at += rng.uniform(0.05, 0.054)
        at += rng.uniform(0.9, 1.6)
    return outdoors(rng, room(rng, ground, 1.8, 0.25), 0.004)


def _pecking(rng: np.random.Generator) -> Signal:
    """A woodpecker that looks for grubs: single knocks and chips that fall."""
    seconds = rng.uniform(3.5, 4.5)
    trunk = rng.uniform(0.8, 1.2) * np.array([430, 800, 1350, 2100])
    knocks = scatter(
        seconds,
        at_random(rng, seconds - 0.2, 3.5),
        lambda: rng.uniform(0.3, 1) * modes(0.1, trunk * rng.uniform(0.97, 1.03, 4), 0.05, 1),
    )
    bark = band(impulses(rng, seconds, 25, 0.8), 2000, 9000, 1)
    return outdoors(rng, room(rng, knocks + 0.3 * bark, 1.2, 0.2), 0.005)


RECIPES = (
    Recipe(
        "chirping_birds",
        "blackbird-singing",
        (
            "A blackbird sings its fluting evening song.",
            "bird song, blackbird, flute-like",
            "a bird singing in the garden at dusk",
        ),
        lambda rng: _songbird(rng, 2300, 0.8, 1),
    ),
    Recipe(
        "chirping_birds",
        "warbler-singing",
        (
            "A small songbird warbles fast and high.",
            "bird song, warbler, trills",
            "a tiny bird singing its heart out",
        ),
        lambda rng: _songbird(rng, 4600, 2, 1),
    ),
    Recipe(
        "chirping_birds",
        "dawn-chorus",
        (
            "Many birds sing at once at dawn.",
            "birds, dawn chorus, spring morning",
            "birds woke me up early",
        ),
        lambda rng: _songbird(rng, 3600, 1.2, 7),
    ),
    Recipe(
        "chirping_birds",
        "sparrows-chirping",
        (
            "Sparrows chirp in a hedge.",
            "sparrows, chirp, tweet",
            "little birds tweeting in the bush",
        ),
        _sparrows,
    ),
    Recipe(
        "owl",
        "tawny-owl-hooting",
        (
            "A tawny owl hoots at night, the last note quavering long.",
            "owl, hoot, night, forest",
            "an owl calling in the dark wood",
        ),
        lambda rng: _hooting(rng, 800, ((0, 0.5), (1.6, 0.15), (1.9, 0.9))),
    ),
    Recipe(
        "owl",
        "eagle-owl-hooting",
        (
            "A big owl hoots slowly in a deep voice.",
            "eagle owl, deep hoot, whoo",
            "hoo hoo from the old barn",
        ),
        lambda rng: _hooting(rng, 350, ((0, 0.45), (1.3, 0.4), (2.5, 0.45))),
    ),
    Recipe(
        "cuckoo",
        "cuckoo-calling",
        (
            "A cuckoo calls its name in the wood.",
            "cuckoo, bird call, spring",
            "cuckoo, cuckoo",
        ),
        lambda rng: _cuckoo(rng, 680, 0.2),
    ),
    Recipe(
        "cuckoo",
        "cuckoo-far-away",
        (
            "A cuckoo calls from far across a valley.",
            "distant cuckoo, echo, forest",
            "you can only just hear the cuckoo",
        ),
        lambda rng: _cuckoo(rng, 640, 0.65),
    ),
    Recipe(
        "pigeon",
        "wood-pigeon-cooing",
        (
            "A wood pigeon coos.",
            "pigeon, coo, dove",
            "a pigeon on the window sill",
        ),
        lambda rng: _cooing(
            rng, ((0, 0.3, 420), (0.4, 0.6, 460), (1.1, 0.35, 430), (1.6, 0.3, 410))
        ),
    ),
    Recipe(
        "pigeon",
        "turtle-dove-purring",
        (
            "A dove purrs softly in the treetop.",
            "dove, soft cooing, purr",
            "lovebirds",
        ),
        lambda rng: _cooing(rng, ((0, 0.9, 520), (1.1, 0.9, 500))),
    ),
    Recipe(
        "woodpecker",
        "woodpecker-drumming",
        (
            "A woodpecker drums on a hollow trunk.",
            "woodpecker, drumming, forest",
            "something is hammering on a tree",
        ),
        _drumming,
    ),
    Recipe(
        "woodpecker",
        "woodpecker-pecking",
        (
            "A woodpecker chisels at rotten wood.",
            "woodpecker, pecking, knocks",
            "looking for grubs under the bark",
        ),
        _pecking,
    ),
)
