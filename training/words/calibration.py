"""Fit the probabilities of recognised words, and the operating curve of same-word detection.

The curve is of all recordings of validation speakers. The probabilities are fitted on some of
these, as they are and in noise, and on words of sentences.

Shapes: N recordings, M written words.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from earshot.core.paths import CHECKPOINTS
from earshot.systems.words import Words
from training.common.corpora import speech_items
from training.common.sounds import TRAINING_FOLDS
from training.common.zero_shot import is_zero_shot
from training.words.metrics import operating_curve
from training.words.recordings import (
    RecordedWord,
    fluent_words,
    load_recordings,
    phonemes_of,
    validation_items,
    word_items,
)
from training.words.synthesis import FREQUENT, frequent
from training.words.test_set import in_noise, noises

INITIAL: Final = 0.05  # temperature at which the search starts
BINS: Final = 10  # of probability, in the calibration error
SNRS: Final = (None, 10, 0)  # dB; None: without noise
DRAWN: Final = 500  # recordings, in each of these conditions: not many more than words of sentences


def calibrate(cosines: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Fit the temperature T and the cosine u of an unknown word that maximise the likelihood of
    softmax((u, cosines) / T), where the spoken word is in the vocabulary half of the time.

    cosines (N, M); labels (N,): which written word was spoken.
    """
    cosines = cosines.astype(np.float64)
    rows = np.arange(len(labels))
    without = cosines.copy()
    without[rows, labels] = -np.inf

    def negative_log_likelihood(parameters: np.ndarray) -> float:
        temperature, unknown = np.exp(parameters[0]), parameters[1]
        column = np.full((len(rows), 1), unknown)
        present = log_softmax(np.hstack([column, cosines]) / temperature, axis=1)[rows, labels + 1]
        missing = log_softmax(np.hstack([column, without]) / temperature, axis=1)[:, 0]
        return -float((present + missing).mean())

    result: Any = minimize(
        negative_log_likelihood, [np.log(INITIAL), cosines.max()], method="Nelder-Mead"
    )
    return float(np.exp(result.x[0])), float(result.x[1])


def probabilities(cosines: np.ndarray, temperature: float) -> np.ndarray:
    """Compute the probabilities of the written words where one of them was spoken: (N, M), from
    cosines (N, M).
    """
    return softmax(cosines.astype(np.float64) / temperature, axis=1)


def calibration_error(cosines: np.ndarray, labels: np.ndarray, temperature: float) -> float:
    """Compute the expected calibration error (Naeini et al. 2015) of the most probable word, from 0
    to 1.

    cosines (N, M), labels (N,). The predictions are binned by confidence; the error is the mean
    absolute difference of confidence and accuracy in a bin, weighted by the size of the bin.
    """
    confidence = probabilities(cosines, temperature).max(axis=1)
    overconfidence = confidence - (cosines.argmax(axis=1) == labels)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, overconfidence, BINS)).sum() / len(labels))


def calibration(
    words: Words,
    recordings: Sequence[RecordedWord],
    queries: Sequence[RecordedWord],
    vocabulary: Sequence[tuple[str, ...]],
) -> dict[str, Any]:
    """Fit what a config holds: the operating curve on recordings of validation speakers, softmax_of
    on what was heard."""
    spoken = words.embed_waveforms([word.waveform for word in recordings])
    labels = np.array([vocabulary.index(word.phonemes) for word in recordings])
    speakers = np.array([word.item.speaker for word in recordings])
    curve = operating_curve(spoken, labels, speakers)
    return {**softmax_of(words, queries, vocabulary), "operating_curve": curve}


def softmax_of(
    words: Words, recordings: Sequence[RecordedWord], vocabulary: Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Fit the temperature of the softmax over written words, and the cosine of an unknown word.

    heard: words that are not trained on; vocabulary: all recorded words.
    """
    # With at least as many written words as in the app.
    gallery = dict.fromkeys(
        [*vocabulary, *(word.phonemes for word in recordings), *frequent(FREQUENT)]
    )
    written = words.embed_phonemes([*gallery])
    rows = {phonemes: row for row, phonemes in enumerate(gallery)}
    labels = np.array([rows[word.phonemes] for word in recordings])
    cosines = words.embed_waveforms([word.waveform for word in recordings]) @ written.T
    own_is_first = np.zeros(len(recordings), int)
    temperature, another = calibrate(_own_and_nearest(cosines, labels), own_is_first)
    return {"temperature": round(temperature, 5), "another": round(another, 5)}


def in_conditions(
    words: Sequence[RecordedWord], sounds: Sequence[np.ndarray]
) -> Iterator[RecordedWord]:
    """Yield the words as they are and, where there are sounds, (T,) each, in noise."""
    draws = np.random.default_rng(0).random((len(words), 2))
    for snr in SNRS if sounds else SNRS[:1]:
        for word, (draw, start) in zip(words, draws, strict=True):
            if snr is None:
                yield word
            else:
                noise = sounds[int(draw * len(sounds))]
                yield replace(word, waveform=in_noise(word.waveform, noise, snr, start))


def in_sentences(data: Path) -> Iterator[RecordedWord]:
    """Cut words out of the English validation prompts, whose speaker said the training prompts too;
    no zero-shot ones.

    Raises SystemExit where there are no such prompts.
    """
    items = [i for i in speech_items(data) if (i.corpus, i.language) == ("studio_prompts", "en")]
    prompts = [item for item in items if item.split == "val"]
    if not prompts:
        raise SystemExit("Probabilities need the validation prompts of studio_prompts in English.")
    for word in fluent_words(prompts):
        if not is_zero_shot("en", word.item.text, word.phonemes):
            yield word


def _own_and_nearest(cosines: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Take, of the cosines (N, M), that of the spoken word, and the highest others: (N,
    CANDIDATES).
    """
    rows = np.arange(len(labels))
    own = cosines[rows, labels]
    cosines[rows, labels] = -np.inf
    others = -np.partition(-cosines, Words.CANDIDATES - 2, axis=1)[:, : Words.CANDIDATES - 1]
    return np.column_stack([own, others])


def calibrate_default(data: Path, publish: bool) -> None:
    """Fit the probabilities and the curve of the default checkpoint, print the former, and write
    them into its config if they are to be published."""
    path = CHECKPOINTS / "words" / "config.json"
    items = word_items(data)
    recordings = list(load_recordings(validation_items(items)))
    drawn = np.random.default_rng(0).permutation(len(recordings))[:DRAWN]
    noisy = in_conditions([recordings[i] for i in drawn], noises(data, TRAINING_FOLDS))
    fitted = calibration(
        Words.from_pretrained(path.parent, "cpu"),
        recordings,
        [*noisy, *in_sentences(data)],
        sorted({phonemes_of(item) for item in items}),
    )
    print({name: fitted[name] for name in ("temperature", "another")})
    if publish:
        config = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(config | fitted, indent=2) + "\n", encoding="utf-8")
