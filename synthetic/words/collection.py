"""A collection of half an hour, in which words are found: six synthetic voices read sentences that
a grammar makes by seed, five minutes each.

The sentences are ours and CC0, the voices as freely usable as those of the words (voices.py). Only
its index is kept (assets/word_collection.index), which holds the sound.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import soundfile

from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words import Words
from earshot.systems.words.word_index import begin, update
from synthetic.words.voices import LOUDNESS

COLLECTION: Final = ASSETS / "word_collection.index"
SECONDS: Final = 300.0  # of a recording
PAUSE: Final = 0.5  # seconds between sentences
FLOOR: Final = 128  # of stored posteriors: what is less likely is as unlikely, and takes no room
ESPEAK: Final = {"espeak woman": ("en-gb+f3", "150"), "espeak man": ("en-us+m3", "145")}
# Recording → its voice, its sentences, and what stands for a word in braces.
SCRIPTS: Final = {
    "A day at the harbour": (
        "slt",
        (
            "At {hour}, the {ship} came past the lighthouse with {cargo} on board.",
            "The harbour master counted {number} {birds} on the {place}.",
            "Somebody had left {thing} beside the {place}.",
            "The captain of the {ship} asked for {cargo}, and paid with {thing}.",
            "Fog came in from the {side}, and the {place} could not be seen for {number} minutes.",
            "A sailor sang about {cargo} while he painted the {place}.",
            "By {hour} the tide had carried {thing} out beyond the {place}.",
        ),
        {
            "ship": "ferry|trawler|schooner|tugboat|steamer|barge|sailing boat",
            "cargo": "oranges|bicycles|cement|coffee|timber|pianos|woollen blankets|salt|copper",
            "birds": "seagulls|pelicans|cormorants|herons|swallows",
            "place": "pier|breakwater|lighthouse|customs house|fish market|anchor|harbour wall",
            "thing": "an umbrella|a barrel|a violin case|a compass|a pair of boots|a lantern",
            "side": "north|south|east|west",
        },
    ),
    "The weather by the hour": (
        "rms",
        (
            "At {hour}, {sky} over the {land}, and {number} degrees.",
            "Expect {storm} in the {land} before {hour}.",
            "A gust of {number} kilometres an hour blew {thing} across the {land}.",
            "The barometer fell, and the {animal} went home early.",
            "After the {storm} a rainbow stood above the {land} until {hour}.",
            "Farmers in the {land} covered their {crop} against {storm}.",
            "Nobody in the {land} had seen such {storm} since {month}.",
        ),
        {
            "sky": "scattered clouds|bright sunshine|a thin haze|a violet sky|steady drizzle",
            "storm": "thunder|a blizzard|hail|a hurricane|heavy rain|lightning|frost",
            "land": "valley|mountains|desert|islands|forest|lowlands|villages",
            "thing": "a tent|somebody's laundry|a newspaper|a garden chair|an umbrella",
            "animal": "cattle|sheep|crows|horses|bees",
            "crop": "strawberries|barley|pumpkins|apple trees|cabbages",
            "month": "January|February|April|August|October|December",
        },
    ),
    "A walk through the zoo": (
        "awb",
        (
            "The {animal} was asleep until {hour}, and then asked for {food}.",
            "A child showed the {animal} {thing}, and the {animal} laughed.",
            "Behind the {house} lives {count} {animal}, {number} years old.",
            "The keeper weighed the {animal} and wrote it into a yellow notebook.",
            "At {hour} the {animal} gets {food}, carrots and {food}.",
            "You may draw the {animal}, but never give it {food}.",
            "From the {house} you hear the {animal} and, far away, the {animal}.",
        ),
        {
            "animal": "elephant|giraffe|crocodile|penguin|kangaroo|tiger|parrot|zebra|tortoise",
            "food": "bananas|hay|herring|biscuits|lettuce|peanuts|watermelon",
            "thing": "a mirror|a balloon|a photograph|a wooden spoon|a trumpet",
            "house": "aquarium|reptile house|old aviary|monkey island|ticket office",
            "count": "one|the only|the oldest",
        },
    ),
    "A kitchen at noon": (
        "kal16",
        (
            "Cut the {plant} into {number} pieces, and fry it in {fat}.",
            "While the {dish} simmers, wash {plant} and {plant} under cold water.",
            "The cook burnt the {dish}, and served {dish} instead.",
            "Add a spoon of {spice}, and wait until {hour}.",
            "Who has taken the {tool} from the {place}?",
            "This {dish} needs more {spice}, and rather less {spice}.",
            "Put the {tool} back on the {place} before you open the oven.",
        ),
        {
            "plant": "spinach|onions|cauliflower|mushrooms|tomatoes|potatoes|cucumber|garlic",
            "fat": "butter|olive oil|coconut oil",
            "dish": "soup|omelette|chocolate pudding|lasagne|pancakes|rice|vegetable stew",
            "spice": "cinnamon|pepper|saffron|ginger|vinegar|honey|mustard",
            "tool": "knife|colander|frying pan|whisk|rolling pin|thermometer",
            "place": "shelf|table|window sill|refrigerator|cupboard",
        },
    ),
    "Trains of the evening": (
        "espeak woman",
        (
            "The {hour} train to {town} leaves from platform {number}.",
            "Passengers for {town} change at {town} junction.",
            "We are sorry for the delay: {cause} near {town}.",
            "There is no restaurant car, but {food} from a trolley.",
            "A {colour} suitcase was found in the train from {town}. Please ask at the {place}.",
            "The conductor had punched {number} tickets when {cause} stopped the train.",
            "Please keep your {animal} away from the edge of the platform.",
        ),
        {
            "town": "Riverton|Maple Hill|Oakbridge|Summerfield|Northgate|Silver Lake|Greenwich",
            "cause": "a fallen tree|a signal failure|snow on the track|a goat|engine trouble",
            "food": "sandwiches|lemonade|coffee and biscuits|chocolate",
            "colour": "purple|scarlet|turquoise|brown|silver",
            "place": "ticket office|information desk|waiting room",
            "animal": "dog|bicycle|children|luggage|umbrella",
        },
    ),
    "The night sky": (
        "espeak man",
        (
            "At {hour}, {planet} rises in the {side}, beside {star}.",
            "The telescope shows {number} {thing} around {planet}.",
            "An astronomer from {land} has found a {thing} that nobody expected.",
            "Light from {star} has travelled for {number} years to reach us.",
            "If clouds hide {planet}, look for {star} a little further {side}.",
            "In {month} the Earth passes through dust, and {thing} fall until {hour}.",
            "A satellite crossed the {side}, and a meteorite fell near {land}.",
        ),
        {
            "planet": "Jupiter|Saturn|Venus|Mercury|Neptune|the moon",
            "star": "Orion|the Pleiades|Andromeda|the Milky Way|the polar star|Cassiopeia",
            "thing": "moons|craters|comets|asteroids|galaxies|shooting stars|rings",
            "land": "Chile|Hawaii|Iceland|Morocco|Japan|Australia",
            "side": "north|south|east|west",
            "month": "January|March|August|November|December",
        },
    ),
}
COMMON: Final = {
    "hour": "six o'clock|half past seven|a quarter to nine|ten thirty|noon|three in the afternoon|"
    "midnight|twenty past eight|five fifteen",
    "number": "two|three|seven|eleven|fourteen|twenty|thirty-six|forty|ninety|a hundred",
}


def sentences(name: str, rng: np.random.Generator) -> Iterator[str]:
    """Make sentences of a script, without end; a word does not come twice in one."""
    _, patterns, words = SCRIPTS[name]
    lists = {key: choices.split("|") for key, choices in (words | COMMON).items()}
    while True:
        for pattern in rng.permutation(patterns).tolist():
            orders = {key: iter(rng.permutation(some).tolist()) for key, some in lists.items()}
            yield re.sub(r"\{(\w+)\}", lambda match, orders=orders: next(orders[match[1]]), pattern)


def read_aloud(sentence: str, voice: str) -> np.ndarray:
    """Synthesise a sentence: (T,) at SAMPLE_RATE."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "sentence.wav")
        if voice in ESPEAK:
            kind, speed = ESPEAK[voice]
            command = ["espeak-ng", "-v", kind, "-s", speed, "-w", path, sentence]
        else:
            command = ["flite", "-voice", voice, "-t", sentence, path]
        subprocess.run(command, check=True)
        return load(path, SAMPLE_RATE).waveform


def build() -> None:
    """Make the index of the collection anew, and print where each sentence is said."""
    shutil.rmtree(COLLECTION, ignore_errors=True)
    with TemporaryDirectory() as folder:
        for number, (name, (voice, _, _)) in enumerate(SCRIPTS.items()):
            parts, count = [], 0
            for sentence in sentences(name, np.random.default_rng(number)):
                if count > SECONDS * SAMPLE_RATE:
                    break
                print(f"{name}\t{count / SAMPLE_RATE:.1f}\t{sentence}")
                pause = np.zeros(round(PAUSE * SAMPLE_RATE), np.float32)
                parts += [read_aloud(sentence, voice), pause]
                count += len(parts[-2]) + len(parts[-1])
            waveform = match_loudness(np.concatenate(parts), SAMPLE_RATE, LOUDNESS)
            soundfile.write(Path(folder) / f"{name}.flac", waveform, SAMPLE_RATE)
        words = Words.from_pretrained(CHECKPOINTS / "words", "cpu")
        update(Path(folder), COLLECTION, words)
        begin(COLLECTION, Path(), words)  # no folder of this machine
    for path in COLLECTION.glob("*.npy"):
        np.savez_compressed(path.with_suffix(""), posteriors=np.minimum(np.load(path), FLOOR))
        path.unlink()
