"""The model card of the grapheme-to-phoneme network."""

import json
from pathlib import Path
from typing import Final

from training.common.report import markdown

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
# g2p: grapheme-to-phoneme conversion of English words

Letters in, ARPAbet phones without stress out. Bidirectional LSTMs over the letters and then over
two output slots a letter, trained with CTC (Graves et al. 2006), so that a word of any length is
converted in one pass: 1.6 million weights.

## Intended use

Pronunciations of words that are not in the dictionary; the pipeline looks a word up there first.

    from earshot.systems.words.pronunciation import Pronouncer

    Pronouncer.from_pretrained("g2p")("earshotting")

## Training data and licence

The pronouncing dictionary inside pocketsphinx 5.1.1 (CMUdict without stress, BSD 2-clause), 90 % of
its words in plain letters. A hash of the stem decides the split of a word, so that "cat", "cats"
and "cat's" share one; other relatives ("catty"; "boss" and "bosses") may be in different splits.

## Training procedure

    python -m training.words prepare --data DATA --out OUT
    python -m training.words train g2p --out OUT
    python -m training.words export --data DATA --out OUT

Seed 0, {steps:,} steps of 128 words (the first 1,700 on a schedule of 12,000), {hours:.2f} hours on
half of one core of a CPU (AMD EPYC).

## Evaluation

On the {words:,} test words, 5 % of the dictionary, each against the closest of its pronunciations.
The phone error rate on the validation words, another 5 %, was {val_per:.1f} %. The baseline gives
every letter its most frequent phone.

{results}

Much of the dictionary is names of people and places, whose spelling is irregular.

## Limits

American English, one word at a time, no stress: of a spelling with two pronunciations one is given.
Abbreviations are pronounced as words. Letters without accents, and the apostrophe.
"""


def card(folder: Path) -> str:
    """Write the card, from metrics.json in the folder of the checkpoint."""
    metrics = json.loads((folder / "metrics.json").read_text())
    return CARD.format(
        steps=metrics["steps"],
        hours=metrics["training_hours"],
        words=metrics["test_words"],
        val_per=metrics["val_per"],
        results=markdown(metrics["results"], COLUMNS),
    )
