"""The model card of the network that reads spellings."""

import json
from pathlib import Path
from typing import Final

from training.evaluators.report import markdown

COLUMNS: Final = {
    "per": ("phone errors %", ".1f"),
    "wer": ("words with an error %", ".1f"),
    "milliseconds": ("ms of a core a word", ".2f"),
}
CARD: Final = """\
---
license: bsd-2-clause
language: en
tags: [grapheme-to-phoneme]
---
# g2p: English spelling → phones

Reads a word that no dictionary has: letters in, ARPAbet phones without stress out. Bidirectional
LSTMs (1.6 million weights) over the letters and then over two slots a letter, trained with CTC
(Graves et al. 2006), so that a word of any length is read in one pass.

    Pronouncer.from_pretrained("checkpoints/g2p")("earshotting")

The pipeline asks the dictionary first; this network only guesses what is not in it.

## Training

    python -m training.words prepare --data DATA --out OUT
    python -m training.words train g2p --out OUT
    python -m training.words export --out OUT

Seed 0, {steps:,} steps of 128 words (the first 1,700 on a schedule of 12,000), {hours:.2f} hours on
half of one core of a CPU (AMD EPYC).

On the pronouncing dictionary inside pocketsphinx 5.1.1 (CMUdict without stress, BSD 2-clause), 90 %
of its words in plain letters. A hash of the stem tells the split of a word, so that "cat", "cats"
and "cat's" are in one; other relatives ("catty"; "boss" and "bosses") may be in two.

## Results

On the {words:,} test words, 5 % of the dictionary, each against the nearest of its pronunciations.
The validation words, another 5 %, gave {val_per:.1f} % of phone errors. The baseline gives every
letter the phone that is most often in its place.

{results}

Much of the dictionary is names of people and places, whose spelling tells little.

## Limits

American English, one word at a time, no stress, no meaning: a spelling with two pronunciations
gets one. Abbreviations are read as words. Letters without accents, and the apostrophe.
"""


def card(folder: Path) -> str:
    """The card, from what metrics.json in the folder of the checkpoint tells."""
    metrics = json.loads((folder / "metrics.json").read_text())
    return CARD.format(
        steps=metrics["steps"],
        hours=metrics["training_hours"],
        words=metrics["test_words"],
        val_per=metrics["val_per"],
        results=markdown(metrics["results"], COLUMNS),
    )
