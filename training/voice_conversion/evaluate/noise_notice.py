"""How often the notice that noise covers the words comes, in babble and without it."""

from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion.waveforms import MIN_SECONDS, is_covered
from training.common.corpora import Item, speech_items, waveforms
from training.common.processes import Row
from training.voice_conversion.evaluate.open_vocabulary import in_babble

LEVELS: Final = (20.0, 10.0, 5.0, 0.0, -5.0)  # dB of speech to babble
MAX_OF_SPEAKER: Final = 12  # recordings
MAX_SECONDS: Final = 8.0
BABBLE: Final = "librispeech_251"  # the corpus whose validation speakers talk in it


def notice_rows(data: Path) -> list[Row]:
    """Make a row of the shares in % of validation recordings that the notice comes with.

    They are of all corpora, of MIN_SECONDS or more; the babble is of other speakers. There is no
    row without recordings.
    """
    every: dict[tuple[str, str | None], list[Item]] = defaultdict(list)
    for item in speech_items(data):
        if item.split == "val":
            every[item.corpus, item.speaker].append(item)
    some = [i for items in every.values() for i in items[:: -(-len(items) // MAX_OF_SPEAKER)]]
    recordings = [
        (item, waveform[: round(MAX_SECONDS * SAMPLE_RATE)])
        for item, waveform in waveforms(some)
        if len(waveform) >= MIN_SECONDS * SAMPLE_RATE
    ]
    if not recordings:
        return []
    warned = {f"warned_{level:.0f}db": [] for level in LEVELS} | {"warned_clean": []}
    for seed, (said, waveform) in enumerate(recordings):
        others = np.concatenate(
            [w for i, w in recordings if i.corpus == BABBLE and i.speaker != said.speaker]
        )
        warned["warned_clean"].append(is_covered(waveform))
        for level in LEVELS:
            noisy = in_babble(waveform, others, seed, level)
            warned[f"warned_{level:.0f}db"].append(is_covered(noisy))
    shares = {column: 100 * float(np.mean(found)) for column, found in warned.items()}
    group = f"validation, {len(recordings)} recordings"
    return [{"system": "notice of noise", "group": group, "shipped": False, **shares}]
