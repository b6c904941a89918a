"""python -m training.words.evaluate.fluent --data DATA: recognise words cut from fluent speech.

Words of MIN_PHONEMES or more, cut by forced alignment out of LibriSpeech's test utterances, read by
strangers, and ranked among all the written words of the app's library with those that were said.
"""

import argparse
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.systems.words.library import WORDS, read_words
from training.common.corpora import data_root, speech_items
from training.common.report import markdown
from training.words.data.fluent import fluent_words
from training.words.data.recordings import RecordedWord

CORPUS: Final = "librispeech_251"
NAMES: Final = ("words", "words-bottleneck", "words-states", "words-states-bottleneck")
LONG: Final = 5  # phonemes of the words that have columns of their own
COLUMNS: Final = {
    "p_at_1": ("P@1", ".3f"),
    "p_at_5": ("P@5", ".3f"),
    "long_p_at_1": (f"P@1, {LONG} phonemes or more", ".3f"),
    "long_p_at_5": (f"P@5, {LONG} phonemes or more", ".3f"),
}


def measure(
    words: Words, said: Sequence[RecordedWord], written: Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Measure the share of the words that are the first, and among the first five, of the written
    ones by their cosine; homophones are one word.
    """
    vocabulary = list(dict.fromkeys([*written, *(word.phonemes for word in said)]))
    row = {phonemes: i for i, phonemes in enumerate(vocabulary)}
    own = np.array([row[word.phonemes] for word in said])
    cosines = words.embed_waveforms([word.waveform for word in said])
    cosines = cosines @ words.embed_phonemes(vocabulary).T
    rank = (cosines > cosines[np.arange(len(own)), own][:, None]).sum(axis=1)
    long = np.array([len(word.phonemes) >= LONG for word in said])
    return {
        f"{prefix}p_at_{limit}": float((rank[part] < limit).mean())
        for prefix, part in (("", np.ones(len(said), bool)), ("long_", long))
        for limit in (1, 5)
    }


def main() -> None:
    """Print a table of the checkpoints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the data folder, else $EARSHOT_DATA")
    parser.add_argument("names", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    items = speech_items(data_root(arguments.data))
    said = list(fluent_words([i for i in items if (i.corpus, i.split) == (CORPUS, "test")]))
    library = read_words(ASSETS / "words.index" / WORDS, ASSETS / "words")
    written = [word.phonemes for word in library if word.voice is None]
    speakers = len({word.item.speaker for word in said})
    print(f"{len(said)} words by {speakers} speakers, {len(set(written))} written ones.")
    rows: list[dict[str, Any]] = []
    for name in arguments.names:
        words = Words.from_pretrained(name)
        rows.append({"system": name, "shipped": name == "words"} | measure(words, said, written))
    print(markdown(rows, COLUMNS))


if __name__ == "__main__":
    main()
