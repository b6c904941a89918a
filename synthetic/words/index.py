"""The index of the words: vectors, two map layouts, and the trustworthiness of each layout."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pocketsphinx

from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet, pronunciations
from earshot.sound_index.nearest import place_on_map
from earshot.systems.words import Words
from earshot.systems.words.library import LibraryWord, Projection, WordLibrary, read_words
from synthetic.words import INDEX, WORDS

FREQUENT: Final = 5000  # English words without a recording
LANGUAGE_MODEL: Final = "en-us/en-us.lm.bin"  # of pocketsphinx; BSD, as its dictionary
VOWELS: Final = frozenset("aeiouy")
# Words that are not shown to visitors.
RUDE: Final = re.compile(
    "fuck|shit|bitch|cunt|nigg|asshole|badass|bastard|damn|hitler|nazi|piss|porn|puss|slut|whore|"
    "^crap|^rap(e|ed|ist)$|^(ass|boobs|cock|dick|fag|negro|penis|tits)$"
)
NEIGHBOURS: Final = 10  # k of the trustworthiness
PERPLEXITY: Final = 30


def make_index(
    checkpoint: str | Path = "checkpoints/words",
    sounds: Path = WORDS,
    folder: Path = INDEX,
    frequent: int = FREQUENT,
) -> WordLibrary:
    """Embed the recorded words, the same words written, and frequent words; write the index."""
    model = Words.from_pretrained(checkpoint, "cpu")
    spoken = read_words(sounds / "words.csv", sounds)
    written = _written(spoken, frequent)
    waveforms = [load(word.path, SAMPLE_RATE).waveform for word in spoken]
    vectors = np.concatenate(
        [
            model.embed_waveforms(waveforms),
            model.embed_phonemes([word.phonemes for word in written]),
        ]
    )
    spellings = {word.spelling for word in spoken}
    words = [*spoken, *written]
    is_drawn = np.array([word.spelling in spellings for word in words])
    projection = _principal(vectors[is_drawn], vectors)
    tsne = _tsne(vectors, is_drawn)
    trust = {
        "pca": _trust(vectors[is_drawn], projection(vectors[is_drawn])),
        "tsne": _trust(vectors[is_drawn], tsne[is_drawn]),
    }
    library = WordLibrary(words, vectors, projection, tsne, trust, model.fingerprint)
    library.save(folder, sounds)
    return library


def frequent_words(count: int) -> list[tuple[str, tuple[str, ...]]]:
    """List the most frequent English words with a single pronunciation, and their phonemes.

    Frequencies are the unigrams of pocketsphinx' language model.
    """
    dictionary = pronunciations()
    words = [
        word
        for word, phones in dictionary.items()
        if word.isalpha()
        and len(phones.split()) > 1
        and VOWELS & set(word)
        and not RUDE.search(word)
        and f"{word}(2)" not in dictionary
    ]
    model = pocketsphinx.NGramModel.readfile(f"{pocketsphinx.get_model_path()}/{LANGUAGE_MODEL}")
    words.sort(key=lambda word: -model.prob([word]))
    return [(word, from_arpabet(dictionary[word])) for word in words[:count]]


def _written(spoken: Sequence[LibraryWord], frequent: int) -> list[LibraryWord]:
    """List each recorded word once, and ``frequent`` other words."""
    recorded = {
        (word.language, word.spelling): replace(
            word, id=f"{word.language}:{word.spelling}:written", voice=None, path=None
        )
        for word in spoken
    }
    others = [
        LibraryWord(f"English:{spelling}:written", spelling, phonemes, "English", None, None)
        for spelling, phonemes in frequent_words(frequent + len(recorded))
        if ("English", spelling) not in recorded
    ]
    return [*recorded.values(), *others[:frequent]]


def _principal(drawn: np.ndarray, vectors: np.ndarray) -> Projection:
    """Compute the first two principal components of the vectors shown on the map (n, D)."""
    mean = drawn.mean(axis=0)
    axes = np.linalg.svd(drawn - mean, full_matrices=False)[2][:2].T
    points = (vectors - mean) @ axes
    return Projection(mean, axes, points.min(axis=0), points.max(axis=0))


def _tsne(vectors: np.ndarray, is_drawn: np.ndarray) -> np.ndarray:
    """Lay out the words shown on the map by t-SNE (van der Maaten & Hinton 2008); the others are
    placed between their neighbours. Coordinates in [0, 1]: (N, 2).
    """
    from openTSNE import TSNE  # slow to import

    few = vectors[is_drawn]
    perplexity = min(PERPLEXITY, (len(few) - 1) // 3)
    places = np.asarray(
        TSNE(perplexity=perplexity, metric="cosine", initialization="pca", random_state=0).fit(few)
    )
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - low) / (high - low)
    every = np.empty((len(vectors), 2), np.float32)
    every[is_drawn] = places
    every[~is_drawn] = place_on_map(vectors[~is_drawn] @ few.T, places)
    return every


def _trust(vectors: np.ndarray, places: np.ndarray) -> float:
    from sklearn.manifold import trustworthiness

    trust = trustworthiness(vectors, places, n_neighbors=NEIGHBOURS, metric="cosine")
    return round(float(trust), 4)
