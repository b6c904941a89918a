"""python -m training.words.calibrate --data DATA: fit the probabilities of recognised words.

With them the operating curve of same-word detection.

The curve is of all recordings of validation speakers. The probabilities are fitted on some of
these, as they are and in noise, and on words of sentences. Writes the config of the default
checkpoint.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.paths import CHECKPOINTS
from earshot.systems.words import Words
from training.common.corpora import data_root, speech_items
from training.common.sounds import TRAINING_FOLDS
from training.common.zero_shot import is_zero_shot
from training.words.data.fluent import fluent_words
from training.words.data.lexicon import FREQUENT, frequent
from training.words.data.recordings import (
    RecordedWord,
    load_recordings,
    phonemes_of,
    validation_items,
    word_items,
)
from training.words.evaluate.calibration import calibrate
from training.words.evaluate.conditions import in_noise, noises
from training.words.evaluate.metrics import operating_curve

SNRS: Final = (None, 10, 0)  # dB; None: without noise
DRAWN: Final = 500  # recordings, in each of these conditions: not many more than words of sentences


def calibration(
    words: Words,
    recordings: Sequence[RecordedWord],
    heard: Sequence[RecordedWord],
    vocabulary: Sequence[tuple[str, ...]],
) -> dict[str, Any]:
    """Fit what a config holds: the operating curve on recordings of validation speakers, softmax_of
    on what was heard."""
    spoken = words.embed_waveforms([word.waveform for word in recordings])
    labels = np.array([vocabulary.index(word.phonemes) for word in recordings])
    speakers = np.array([word.item.speaker for word in recordings])
    curve = operating_curve(spoken, labels, speakers)
    return {**softmax_of(words, heard, vocabulary), "operating_curve": curve}


def softmax_of(
    words: Words, heard: Sequence[RecordedWord], vocabulary: Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Fit the temperature of the softmax over written words, and the cosine of an unknown word.

    heard: words that are not trained on; vocabulary: all recorded words.
    """
    # With at least as many written words as in the app.
    known = dict.fromkeys([*vocabulary, *(word.phonemes for word in heard), *frequent(FREQUENT)])
    written = words.embed_phonemes([*known])
    rows = {phonemes: row for row, phonemes in enumerate(known)}
    labels = np.array([rows[word.phonemes] for word in heard])
    cosines = words.embed_waveforms([word.waveform for word in heard]) @ written.T
    own_is_first = np.zeros(len(heard), int)
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


def _in_sentences(data: Path) -> Iterator[RecordedWord]:
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


def main() -> None:
    """Fit the probabilities and the curve, and write the config."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the data folder, else $EARSHOT_DATA")
    data = data_root(parser.parse_args().data)
    path = CHECKPOINTS / "words" / "config.json"
    items = word_items(data)
    recordings = list(load_recordings(validation_items(items)))
    drawn = np.random.default_rng(0).permutation(len(recordings))[:DRAWN]
    noisy = in_conditions([recordings[i] for i in drawn], noises(data, TRAINING_FOLDS))
    fitted = calibration(
        Words.from_pretrained(path.parent, "cpu"),
        recordings,
        [*noisy, *_in_sentences(data)],
        sorted({phonemes_of(item) for item in items}),
    )
    print({name: fitted[name] for name in ("temperature", "another")})
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | fitted, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
