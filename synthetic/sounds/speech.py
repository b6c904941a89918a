"""Words, spoken by espeak-ng."""

from collections.abc import Sequence

import numpy as np

from synthetic.sounds.kit import (
    SAMPLE_RATE,
    Recipe,
    Signal,
    add,
    high_pass,
    level,
    noise,
    outdoors,
    room,
    samples,
    silence,
)
from synthetic.sounds.voice import say

ENGLISH = (
    "The train to the coast leaves at half past nine from platform two.",
    "We had better take an umbrella, it looks as if it might rain.",
    "My grandmother keeps her recipes in an old biscuit tin.",
    "Turn left at the bakery and walk on until you see the river.",
    "I finished the book last night, and I did not like the ending.",
    "Could you water the plants while we are away?",
    "There is fresh coffee in the kitchen, help yourself.",
    "The museum is closed on Mondays, so let us go to the park.",
)


CHILDISH = (
    "Look, mummy, I made a castle out of sand!",
    "Can we go to the playground after lunch?",
    "My tooth is wobbly and it came out today!",
)


FOREIGN = {
    "de": ("Guten Morgen, haben Sie gut geschlafen? Der Kaffee ist schon fertig.",),
    "fr": ("Bonjour, je voudrais deux croissants et un café, s'il vous plaît.",),
    "es": ("Mañana vamos a la playa con toda la familia, si hace buen tiempo.",),
    "it": ("La sera mangiamo sempre insieme, e poi giochiamo a carte in cucina.",),
}


WOMEN = ("+f2", "+f3", "+f4")


MEN = ("+m1", "+m3", "+m7")


def pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]


def talk(
    rng: np.random.Generator, texts: Sequence[str], voice: str, pitch: float, speed: float
) -> Signal:
    """Speak one of the texts, at about that pitch (of espeak: 0 to 99) and speed (words a
    minute).
    """
    height = int(np.clip(pitch + rng.uniform(-8, 8), 0, 99))
    return say(pick(rng, texts), voice, height, int(speed * rng.uniform(0.93, 1.1)))


def _speaking(
    rng: np.random.Generator,
    texts: Sequence[str],
    voice: str,
    variants: Sequence[str],
    pitch: float = 45,
    speed: float = 165,
) -> Signal:
    speech = talk(rng, texts, voice + pick(rng, variants), pitch, speed)
    return outdoors(rng, room(rng, speech, rng.uniform(0.25, 0.5), 0.1), 0.003)


def _conversation(rng: np.random.Generator) -> Signal:
    """A woman and a man in turn."""
    ground, at = silence(7.4), 0.1
    for variants, pitch in ((WOMEN, 55), (MEN, 40)):
        turn = talk(rng, ENGLISH, "en-gb" + pick(rng, variants), pitch, 185)
        add(ground, turn, at)
        at += len(turn) / SAMPLE_RATE + rng.uniform(0.1, 0.3)
    return outdoors(rng, room(rng, ground[: samples(min(at, 7.4))], 0.5, 0.12), 0.003)


def _whispering(rng: np.random.Generator, speed: float) -> Signal:
    speech = talk(rng, ENGLISH, "en-gb+whisper", 50, speed)
    seconds = len(speech) / SAMPLE_RATE
    near = speech + 0.35 * level(high_pass(noise(rng, seconds), 3000)) * np.abs(speech) ** 0.5
    return outdoors(rng, room(rng, near, 0.25, 0.06), 0.004)


RECIPES = (
    Recipe(
        "speech",
        "man-speaking",
        (
            "A man speaks.",
            "speech, male voice, talking",
            "a guy saying something in English",
        ),
        lambda rng: _speaking(rng, ENGLISH, "en-gb", MEN),
    ),
    Recipe(
        "speech",
        "woman-speaking",
        (
            "A woman speaks.",
            "speech, female voice, talking",
            "a lady talking",
        ),
        lambda rng: _speaking(rng, ENGLISH, "en-gb", WOMEN, 58),
    ),
    Recipe(
        "speech",
        "american-man-speaking-fast",
        (
            "A man with an American accent speaks fast.",
            "fast speech, american, male",
            "somebody in a hurry to say it all",
        ),
        lambda rng: _speaking(rng, ENGLISH, "en-us", MEN, 50, 230),
    ),
    Recipe(
        "speech",
        "child-speaking",
        (
            "A child tells something.",
            "child, kid speaking, high voice",
            "what a little one has to say",
        ),
        lambda rng: _speaking(rng, CHILDISH, "en-gb", ("+f5", "+f2"), 92, 165),
    ),
    Recipe(
        "speech",
        "old-man-speaking-slowly",
        (
            "An old man speaks slowly in a deep voice.",
            "elderly man, slow speech, deep",
            "grandfather remembers the old days",
        ),
        lambda rng: _speaking(rng, ENGLISH, "en-gb-scotland", ("+m2", "+m5"), 15, 120),
    ),
    Recipe(
        "speech",
        "man-speaking-german",
        (
            "A man speaks German.",
            "speech, german, foreign language",
            "somebody from Berlin talking",
        ),
        lambda rng: _speaking(rng, FOREIGN["de"], "de", MEN),
    ),
    Recipe(
        "speech",
        "woman-speaking-french",
        (
            "A woman speaks French.",
            "speech, french, female voice",
            "ordering croissants in Paris",
        ),
        lambda rng: _speaking(rng, FOREIGN["fr"], "fr", WOMEN, 58),
    ),
    Recipe(
        "speech",
        "man-speaking-spanish",
        (
            "A man speaks Spanish.",
            "speech, spanish, male voice",
            "plans for a day at the beach in Spain",
        ),
        lambda rng: _speaking(rng, FOREIGN["es"], "es", MEN),
    ),
    Recipe(
        "speech",
        "woman-speaking-italian",
        (
            "A woman speaks Italian.",
            "speech, italian, female voice",
            "la dolce vita, an italian lady talking",
        ),
        lambda rng: _speaking(rng, FOREIGN["it"], "it", WOMEN, 55),
    ),
    Recipe(
        "speech",
        "woman-and-man-in-conversation",
        (
            "A woman and a man talk in turn.",
            "dialogue, conversation, two voices",
            "a couple chatting",
        ),
        _conversation,
    ),
    Recipe(
        "whispering",
        "whispering-a-secret",
        (
            "Somebody whispers a secret.",
            "whisper, quiet voice, secret",
            "psst, don't tell anybody",
        ),
        lambda rng: _whispering(rng, 150),
    ),
    Recipe(
        "whispering",
        "hasty-whispering",
        (
            "Somebody whispers in a hurry.",
            "whispering, fast, hushed",
            "talking in the library",
        ),
        lambda rng: _whispering(rng, 215),
    ),
)
