"""python -m training.words.calibrate --data DATA: fit the probabilities of recognised words.

With them the operating curve of same-word detection.

On recordings of validation speakers, and of the probabilities also on words concatenated from
these, which nobody recorded; without noise, and in noise. Writes the config of the default
checkpoint.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.paths import CHECKPOINTS
from earshot.pipelines.words import Words
from training.common.corpora import data_root
from training.common.sounds import TRAINING_FOLDS
from training.words.data.lexicon import FREQUENT, frequent
from training.words.data.recordings import (
    RecordedWord,
    load_recordings,
    phonemes_of,
    validation_items,
    word_items,
)
from training.words.data.unrecorded import unrecorded_words
from training.words.evaluate.calibration import calibrate
from training.words.evaluate.conditions import in_noise, noises
from training.words.evaluate.metrics import operating_curve

UNRECORDED: Final = 1000  # words
SNRS: Final = (None, 10, 0)  # dB; None: without noise


def calibration(
    words: Words,
    recordings: Sequence[RecordedWord],
    vocabulary: Sequence[tuple[str, ...]],
    sounds: Sequence[np.ndarray],
) -> dict[str, Any]:
    """Fit what a config holds of validation speakers: softmax_of, and the operating curve."""
    spoken = words.embed_waveforms([word.waveform for word in recordings])
    labels = np.array([vocabulary.index(word.phonemes) for word in recordings])
    speakers = np.array([word.item.speaker for word in recordings])
    curve = operating_curve(spoken, labels, speakers)
    return {**softmax_of(words, recordings, vocabulary, sounds), "operating_curve": curve}


def softmax_of(
    words: Words,
    recordings: Sequence[RecordedWord],
    vocabulary: Sequence[tuple[str, ...]],
    sounds: Sequence[np.ndarray],
) -> dict[str, float]:
    """Fit the temperature of the softmax over written words, and the cosine of an unknown word.

    recordings: of validation speakers; vocabulary: all recorded words; sounds: noises, (T,) each.
    """
    made = unrecorded_words(recordings, vocabulary, UNRECORDED)
    said = [*recordings, *made]
    # With at least as many written words as in the app.
    known = dict.fromkeys([*vocabulary, *(word.phonemes for word in made), *frequent(FREQUENT)])
    written = words.embed_phonemes([*known])
    rows = {phonemes: row for row, phonemes in enumerate(known)}
    labels = np.array([rows[word.phonemes] for word in said])
    waveforms = [word.waveform for word in said]
    cosines = []
    for snr in SNRS if sounds else SNRS[:1]:
        heard = waveforms if snr is None else _in_noise(waveforms, sounds, snr)
        cosines.append(_own_and_nearest(words.embed_waveforms(heard) @ written.T, labels))
    own_is_first = np.zeros(len(cosines) * len(said), int)
    temperature, another = calibrate(np.concatenate(cosines), own_is_first)
    return {"temperature": round(temperature, 5), "another": round(another, 5)}


def _in_noise(
    waveforms: Sequence[np.ndarray], sounds: Sequence[np.ndarray], snr: float
) -> list[np.ndarray]:
    draws = np.random.default_rng(0).random((len(waveforms), 2))
    return [
        in_noise(waveform, sounds[int(draw * len(sounds))], snr, start)
        for waveform, (draw, start) in zip(waveforms, draws, strict=True)
    ]


def _own_and_nearest(cosines: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Take, of the cosines (N, M), that of the spoken word, and the highest others: (N,
    CANDIDATES).
    """
    rows = np.arange(len(labels))
    own = cosines[rows, labels]
    cosines[rows, labels] = -np.inf
    others = -np.partition(-cosines, Words.CANDIDATES - 2, axis=1)[:, : Words.CANDIDATES - 1]
    return np.column_stack([own, others])


def main() -> None:
    """Fit the probabilities and the curve, and write the config."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the data folder, else $EARSHOT_DATA")
    data = data_root(parser.parse_args().data)
    path = CHECKPOINTS / "words" / "config.json"
    items = word_items(data)
    fitted = calibration(
        Words.from_pretrained(path.parent, "cpu"),
        list(load_recordings(validation_items(items))),
        sorted({phonemes_of(item) for item in items}),
        noises(data, TRAINING_FOLDS),
    )
    print({name: fitted[name] for name in ("temperature", "another")})
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | fitted, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
